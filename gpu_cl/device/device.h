// SPDX-License-Identifier: Apache-2.0
//
// OpenCL devices: enumeration, selection and properties, and the one context per device that all
// delegates of a process share (a context costs some drivers 100 MB and more).
//
// Thread-safe.
#ifndef DEPUTY_GPU_CL_DEVICE_DEVICE_H_
#define DEPUTY_GPU_CL_DEVICE_DEVICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy_plugin.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/storage.h"

namespace deputy::gpu_cl {

// Class of devices that code is generated for. Unlike a device's type it determines how kernels are
// written.
enum class DeviceClass {
  kCpu,      // wide vectors, no local memory
  kDesktop,  // local memory, many registers; also for unknown devices
  kMobile,   // vectors of four; filters in images on Adreno
};

// Kind of a device, in order of preference.
enum class DeviceKind { kDiscreteGpu, kIntegratedGpu, kAccelerator, kCpu, kOther };

// Properties that a device reports, as plain values; a property that it does not report is zero or
// empty.
struct DeviceProfile {
  DeviceClass device_class = DeviceClass::kDesktop;
  // True unless the device is unknown and was assigned to class desktop by default. Kernels of an
  // unknown device do not use group tiles.
  bool known = false;
  DeviceKind kind = DeviceKind::kOther;

  std::string platform_name;
  std::string platform_version;
  std::string name;
  std::string vendor;
  uint32_t vendor_id = 0;
  std::string driver_version;
  std::string device_version;
  std::string c_version;
  std::string extensions;

  // True if the device is available and has a compiler.
  bool usable = false;
  uint32_t compute_units = 0;
  // Native vector width in floats, for example 16, 8, 4 or 1.
  uint32_t float_width = 0;
  size_t max_group_size = 0;
  size_t max_item_sizes[3] = {};
  uint64_t local_bytes = 0;
  // True if local memory is dedicated memory, not a part of global memory.
  bool local_memory_is_dedicated = false;
  uint64_t global_bytes = 0;
  uint64_t global_cache_bytes = 0;
  uint64_t max_allocation = 0;
  // Required alignment, in bytes, of the origin of a sub-buffer; also the alignment of buffers.
  uint32_t base_alignment = 0;
  uint32_t pointer_bits = 0;
  // Compute capability of an NVIDIA GPU, for example 89 for 8.9; 0 if not reported.
  uint32_t nvidia_capability = 0;
  // True if launches take longer when their buffers are sub-buffers. NVIDIA's driver 580 on an H200
  // takes some 20 us per sub-buffer, and crashes if sub-buffers are released oldest first.
  bool slow_sub_buffers = false;
  // True if the device computes in the host's memory.
  bool unified_memory = false;
  bool images = false;
  ImageLimits image_limits;  // zeros if the device has no images
  // True if the device lists the extension cl_khr_fp16. Some drivers support half precision without
  // listing it; see SharedContext::ComputesInHalf.
  bool lists_fp16 = false;
  // True if the device is the host's processor, which has AVX-512 VNNI. The driver's compiler may
  // not use it: PoCL 3.1 with LLVM 14 compiles for a Skylake on newer processors.
  bool host_vnni = false;
  // True if the device has instructions for dot products of four int8 that OpenCL C can call.
  bool dot_products = false;
};

// A device of a platform. `index` is its position in the list of all devices.
struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  size_t index = 0;
  DeviceProfile profile;
};

const char* KindName(DeviceKind kind);
const char* ClassName(DeviceClass device_class);

// Lists all devices of all platforms, in the driver's order. An empty list is a failure, whose text
// lists the platforms without devices.
ClStatus ListDevices(const ClApi& api, std::vector<Device>* out_devices);
// Describes a single device, for clients that provide their own context. Its index is 0.
Device DescribeDevice(const ClApi& api, cl_device_id id);

// Returns a device's description for the plug-in interface. Its strings are owned by the device.
DeputyDeviceInfo PublicInfo(const Device& device);

// Chooses the device that `requested` names: an index, a type (gpu, accelerator, cpu), or a part of
// the name of a device, its vendor or its platform, ignoring case. If `requested` is empty, the
// environment variable DEPUTY_OPENCL_DEVICE is used instead; without that, the best usable device,
// in the order discrete GPU, integrated GPU, accelerator, CPU. If several devices match, the best
// of them is chosen.
ClStatus ChooseDevice(const std::vector<Device>& devices, const std::string& requested,
                      Device* out_device);

class Program;

// A context with one device, under shared ownership. Owners may create queues, buffers and programs
// in it, and must release these before their pointer to the context.
class SharedContext {
 public:
  // Creates a context that no other call returns.
  static std::shared_ptr<SharedContext> Create(std::shared_ptr<const ClApi> api,
                                               const Device& device, ClStatus* out_status);
  // Adopts a client's context; adds a reference to it.
  static std::shared_ptr<SharedContext> Adopt(std::shared_ptr<const ClApi> api,
                                              const Device& device, cl_context context,
                                              ClStatus* out_status);
  SharedContext(const SharedContext&) = delete;
  SharedContext& operator=(const SharedContext&) = delete;

  const ClApi& api() const { return *api_; }
  const Device& device() const { return device_; }
  cl_context context() const { return context_.get(); }

  // Marks the context as unusable after the loss of its device. All instances that use it fail, and
  // the next delegate that is created gets a new context.
  void Poison() { lost_ = true; }
  bool lost() const { return lost_; }

  // Returns true if kernels may compute in half precision. For a device other than a CPU that does
  // not list the extension, the first call compiles a small kernel and checks its results.
  bool ComputesInHalf();

  // Mutex of the programs of this context, and the programs by key (program.h).
  std::mutex& program_mutex() { return program_mutex_; }
  std::map<std::string, std::weak_ptr<Program>>& programs() { return programs_; }
  // Keeps a program alive without users, for the next resize or the next interpreter of the same
  // model; only the most recent ones are kept. Requires program_mutex().
  void KeepProgram(const std::shared_ptr<Program>& program);
  // Releases the kept programs. Acquires program_mutex().
  void ForgetPrograms();

  // Return and store a tuning result for this device, as text by key (tune.h); "" if there is none.
  std::string FindTuning(const std::string& key);
  void KeepTuning(const std::string& key, const std::string& record);
  // Record and return the texts of kernels that the device failed to build or run. Operations with
  // such a kernel use another one (PlanOptions::refused).
  void RefuseKernels(const std::set<std::string>& texts);
  std::set<std::string> RefusedKernels();
  // Mutex held while execution times are measured, because concurrent measurements distort each
  // other.
  std::mutex& measuring_mutex() { return measuring_mutex_; }

 private:
  SharedContext(std::shared_ptr<const ClApi> api, Device device, ClContext context)
      : api_(std::move(api)), device_(std::move(device)), context_(std::move(context)) {}

  std::shared_ptr<const ClApi> api_;  // must outlive the context
  Device device_;
  ClContext context_;
  std::atomic<bool> lost_ = false;
  std::mutex half_mutex_;
  std::optional<bool> computes_in_half_;
  std::mutex program_mutex_;
  std::map<std::string, std::weak_ptr<Program>> programs_;
  std::deque<std::shared_ptr<Program>> kept_;  // most recently used first
  std::mutex tuning_mutex_, measuring_mutex_;
  std::map<std::string, std::string> tuning_;
  std::mutex refused_mutex_;
  std::set<std::string> refused_;
};

// Returns a failure if the device was lost. A lost context stays unusable, even if the driver's
// calls still succeed.
ClStatus CheckDevice(const SharedContext& context);

// The live contexts, by device and function table.
class ContextRegistry {
 public:
  // Returns the registry of the process.
  static ContextRegistry& Process();

  // Returns the context of the device; creates one if there is none or if it is lost. The callers
  // own it. Returns null on failure.
  std::shared_ptr<SharedContext> Acquire(const std::shared_ptr<const ClApi>& api,
                                         const Device& device, ClStatus* out_status);
  // Does the same for a client's context: its delegates share their programs.
  std::shared_ptr<SharedContext> Adopt(const std::shared_ptr<const ClApi>& api,
                                       const Device& device, cl_context context,
                                       ClStatus* out_status);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<SharedContext>> contexts_, adopted_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_DEVICE_H_
