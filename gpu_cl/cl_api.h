// SPDX-License-Identifier: Apache-2.0
//
// OpenCL as a table of function pointers. The library is opened when a delegate is created, never
// linked: on a machine without OpenCL everything else still works. Headers of OpenCL are used for
// types alone.
//
// The table is passed to whoever needs it and is never a global. So a test may pass one with
// functions of its own, which fail at a chosen call or count what is created and released.
//
// Threads: a table does not change once it is made. OpenCL's functions may be called from any
// thread, but no two may set arguments of one kernel at the same time.
#ifndef DEPUTY_GPU_CL_CL_API_H_
#define DEPUTY_GPU_CL_CL_API_H_

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

// The entry points of OpenCL 1.2 that a library must have, without their "cl".
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

// Those that may be missing; they are null then.
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
  X(UnloadPlatformCompiler)

// All of them: api.EnqueueNDRangeKernel(...) is clEnqueueNDRangeKernel(...). Two tables are equal
// if they call the same functions.
struct ClApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member has none
#define DEPUTY_CL_MEMBER(name) decltype(&::cl##name) name = nullptr;
  DEPUTY_CL_REQUIRED(DEPUTY_CL_MEMBER)
  DEPUTY_CL_OPTIONAL(DEPUTY_CL_MEMBER)
#undef DEPUTY_CL_MEMBER

  bool operator==(const ClApi&) const = default;
};

// How a call ended: a code of OpenCL, and what happened in words. Failures that are not OpenCL's
// carry the code that fits best, so that a code alone tells success from failure.
struct [[nodiscard]] ClStatus {
  cl_int code = CL_SUCCESS;
  std::string text;

  bool ok() const { return code == CL_SUCCESS; }
};

// "CL_OUT_OF_RESOURCES (-5)"; codes without a name are "OpenCL error -77".
std::string ClErrorName(cl_int code);
// "<call>: <name of code>", or success.
ClStatus ClCall(const char* call, cl_int code);
// Whether the code means that the context is of no use any more: after such a failure whoever made
// the call poisons the shared context (device.h).
bool IsDeviceLost(cl_int code);
// Whether it means that less use of memory might help.
bool IsMemoryShort(cl_int code);

// What a search for the library came to.
struct LoadedCl {
  // Null if no library would do.
  std::shared_ptr<const ClApi> api;
  // The library's name as it was opened.
  std::string library;
  // Every name that was tried, with the reason why it would not do.
  std::string tried;
};

// Tries the names in their order. A library that was opened stays so until the process ends, even
// if it would not do: drivers register handlers that run at exit. Any thread.
LoadedCl LoadCl(std::span<const std::string> names);
// Tries what the environment's DEPUTY_OPENCL_LIBRARY names, then where libraries of OpenCL usually
// are. The value "none" is the way to have no OpenCL: nothing is tried.
LoadedCl LoadCl();
// The names that the latter tries.
std::vector<std::string> ClLibraryNames();

// An object of OpenCL with one reference of its own, which is released through the table. The table
// must outlive it. Movable; null if empty.
template <typename Handle, auto kRelease>
class ClObject {
 public:
  ClObject() = default;
  // Takes over the caller's reference.
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
  // Gives the reference to the caller.
  Handle Release() { return std::exchange(handle_, nullptr); }
  void Reset() {
    // A failure to release leaves nothing to be done about it.
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

#endif  // DEPUTY_GPU_CL_CL_API_H_
