// SPDX-License-Identifier: Apache-2.0
//
// OpenCL as a table of function pointers. The library is opened by LoadCl, when a delegate is
// created or devices are listed, and never linked: on a machine without OpenCL everything else
// still works. OpenCL's headers are used for types only.
//
// The table is passed as a parameter and is never global, so that a test can pass its own
// functions, which fail at a chosen call or count created and released objects.
//
// Threads: a table is immutable once filled. OpenCL's functions may be called from any thread, but
// no two threads may set arguments of one kernel at the same time.
#ifndef DEPUTY_GPU_CL_DEVICE_CL_API_H_
#define DEPUTY_GPU_CL_DEVICE_CL_API_H_

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deputy::gpu_cl {

// The entry points of OpenCL 1.2 that a library must have, without the prefix "cl".
#define DEPUTY_CL_REQUIRED(X) \
  X(GetPlatformIDs)           \
  X(GetPlatformInfo)          \
  X(GetDeviceIDs)             \
  X(GetDeviceInfo)            \
  X(CreateContext)            \
  X(RetainContext)            \
  X(ReleaseContext)           \
  X(GetContextInfo)           \
  X(CreateCommandQueue)       \
  X(RetainCommandQueue)       \
  X(ReleaseCommandQueue)      \
  X(GetCommandQueueInfo)      \
  X(CreateBuffer)             \
  X(CreateSubBuffer)          \
  X(RetainMemObject)          \
  X(ReleaseMemObject)         \
  X(GetMemObjectInfo)         \
  X(CreateProgramWithSource)  \
  X(CreateProgramWithBinary)  \
  X(RetainProgram)            \
  X(ReleaseProgram)           \
  X(BuildProgram)             \
  X(GetProgramInfo)           \
  X(GetProgramBuildInfo)      \
  X(CreateKernel)             \
  X(RetainKernel)             \
  X(ReleaseKernel)            \
  X(SetKernelArg)             \
  X(GetKernelInfo)            \
  X(GetKernelWorkGroupInfo)   \
  X(WaitForEvents)            \
  X(GetEventInfo)             \
  X(RetainEvent)              \
  X(ReleaseEvent)             \
  X(GetEventProfilingInfo)    \
  X(Flush)                    \
  X(Finish)                   \
  X(EnqueueReadBuffer)        \
  X(EnqueueWriteBuffer)       \
  X(EnqueueFillBuffer)        \
  X(EnqueueCopyBuffer)        \
  X(EnqueueMapBuffer)         \
  X(EnqueueUnmapMemObject)    \
  X(EnqueueNDRangeKernel)

// Entry points that may be missing; their pointers are null then.
#define DEPUTY_CL_OPTIONAL(X)               \
  X(GetExtensionFunctionAddressForPlatform) \
  X(CreateImage)                            \
  X(GetSupportedImageFormats)               \
  X(GetKernelArgInfo)                       \
  X(EnqueueReadBufferRect)                  \
  X(EnqueueWriteBufferRect)                 \
  X(EnqueueCopyBufferRect)                  \
  X(EnqueueMarkerWithWaitList)              \
  X(EnqueueBarrierWithWaitList)             \
  X(EnqueueMigrateMemObjects)               \
  X(SetEventCallback)                       \
  X(CreateUserEvent)                        \
  X(SetUserEventStatus)                     \
  X(UnloadPlatformCompiler)

// The table: api.EnqueueNDRangeKernel(...) calls clEnqueueNDRangeKernel(...). Two tables are equal
// if all of their pointers are equal.
struct ClApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name cannot be parenthesised
#define DEPUTY_CL_MEMBER(name) decltype(&::cl##name) name = nullptr;
  DEPUTY_CL_REQUIRED(DEPUTY_CL_MEMBER)
  DEPUTY_CL_OPTIONAL(DEPUTY_CL_MEMBER)
#undef DEPUTY_CL_MEMBER

  bool operator==(const ClApi&) const = default;
};

// Result of a call: OpenCL's error code and a description. Failures outside of OpenCL use the code
// that fits best, so that the code alone distinguishes success from failure.
struct [[nodiscard]] ClStatus {
  cl_int code = CL_SUCCESS;
  std::string text;

  bool ok() const { return code == CL_SUCCESS; }
};

// Formats an error code: "CL_OUT_OF_RESOURCES (-5)", or "OpenCL error -77" for one without a name.
std::string ClErrorName(cl_int code);
// Returns success, or a failure with the text "<call>: <name of code>".
ClStatus ClCall(const char* call, cl_int code);
// Returns true if the code means that the context is unusable. After such a failure the caller must
// poison the shared context (device.h).
bool IsDeviceLost(cl_int code);
// Returns true if the code means out of memory, so that using less memory may help.
bool IsOutOfMemory(cl_int code);

// Result of a search for the OpenCL library.
struct LoadedCl {
  // Table of OpenCL's functions; null if no usable library was found.
  std::shared_ptr<const ClApi> api;
  // Name under which the library was opened.
  std::string library;
  // Every name that was tried, with the reason why it was not used.
  std::string tried;
};

// Tries the names in their order. An opened library stays open until the process ends, even if it
// is unusable: drivers register handlers that run at exit. Thread-safe.
LoadedCl LoadCl(std::span<const std::string> names);
// Tries the library named by the environment variable DEPUTY_OPENCL_LIBRARY, if it is set, and then
// the usual names of OpenCL libraries. The value "none" disables OpenCL: nothing is tried.
LoadedCl LoadCl();
// Returns the names that LoadCl() tries.
std::vector<std::string> ClLibraryNames();

// Owns one reference to an OpenCL object, which is released through the table. The table must
// outlive it. Movable; null if empty.
template <typename Handle, auto kRelease>
class ClObject {
 public:
  ClObject() = default;
  // Takes ownership of the caller's reference.
  ClObject(const ClApi* api, Handle handle) : api_(api), handle_(handle) {}
  ~ClObject() { Reset(); }
  ClObject(ClObject&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  ClObject& operator=(ClObject&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    api_ = other.api_;
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  // Transfers the reference to the caller.
  Handle Release() { return std::exchange(handle_, nullptr); }
  void Reset() {
    // The result is ignored: a failure to release cannot be handled.
    if (handle_ != nullptr) (api_->*kRelease)(std::exchange(handle_, nullptr));
  }

 private:
  const ClApi* api_ = nullptr;
  Handle handle_ = nullptr;
};

using ClContext = ClObject<cl_context, &ClApi::ReleaseContext>;
using ClQueue = ClObject<cl_command_queue, &ClApi::ReleaseCommandQueue>;
using ClMemory = ClObject<cl_mem, &ClApi::ReleaseMemObject>;
using ClProgram = ClObject<cl_program, &ClApi::ReleaseProgram>;
using ClKernel = ClObject<cl_kernel, &ClApi::ReleaseKernel>;
using ClEvent = ClObject<cl_event, &ClApi::ReleaseEvent>;

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_CL_API_H_
