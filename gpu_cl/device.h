// SPDX-License-Identifier: Apache-2.0
//
// Devices of OpenCL: which there are, which one to take, what one is like, and the one context per
// device that all delegates of a process share (a context costs some drivers 100 MB and more).
//
// Threads: all functions may be called from any thread.
#ifndef DEPUTY_GPU_CL_DEVICE_H_
#define DEPUTY_GPU_CL_DEVICE_H_

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
#include "gpu_cl/cl_api.h"
#include "gpu_cl/storage.h"

namespace deputy::gpu_cl {

// What code is generated for. Unlike a device's type it says how kernels are written.
enum class DeviceClass {
  kCpu,      // wide vectors, no local memory
  kDesktop,  // local memory, many registers; also whatever is unknown
  kMobile,   // slices of four channels
};

// In the order of preference.
enum class DeviceKind { kDiscreteGpu, kIntegratedGpu, kAccelerator, kCpu, kOther };

// What a device says of itself, as plain values; whatever it does not say is zero or empty.
struct DeviceProfile {
  DeviceClass device_class = DeviceClass::kDesktop;
  // False for a device of class desktop that is there only because nothing better is known of it:
  // its kernels take small tiles and leave the local size to the driver.
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

  // Whether it can be used: it is there, and it has a compiler.
  bool usable = false;
  uint32_t compute_units = 0;
  // Floats in a native vector: 16, 8, 4 or 1.
  uint32_t float_width = 0;
  size_t max_group_size = 0;
  size_t max_item_sizes[3] = {};
  uint64_t local_bytes = 0;
  // Whether local memory is memory of its own, and not ordinary memory under another name.
  bool local_memory_is_dedicated = false;
  uint64_t global_bytes = 0;
  uint64_t global_cache_bytes = 0;
  uint64_t max_allocation = 0;
  // In bytes: what the origin of a sub-buffer must be a multiple of, as the memory of a buffer is.
  uint32_t base_alignment = 0;
  uint32_t pointer_bits = 0;
  // Of a GPU of NVIDIA that says so: 89 for compute capability 8.9.
  uint32_t nvidia_capability = 0;
  // Whether launches take longer where their buffers are parts of another one: NVIDIA's driver took
  // some 20 us for each (580, an H200), and it crashes where parts are released the oldest first.
  bool parts_are_dear = false;
  // Whether it computes in the host's memory.
  bool unified_memory = false;
  bool images = false;
  ImageLimits image_limits;  // zeros without images
  // Whether the extension cl_khr_fp16 is listed. Some drivers compute in half precision without
  // listing it: SharedContext::ComputesInHalf.
  bool lists_fp16 = false;
};

// A device of a platform. `index` is the place in the list of all.
struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  size_t index = 0;
  DeviceProfile profile;
};

const char* KindName(DeviceKind kind);
const char* ClassName(DeviceClass device_class);

// All devices of all platforms, in the driver's order. None at all is a failure, and the text says
// where there were none.
ClStatus ListDevices(const ClApi& api, std::vector<Device>* out_devices);
// One device, for clients that bring a context of their own. Its index is 0.
Device DescribeDevice(const ClApi& api, cl_device_id id);

// What the plug-in says of a device. Its strings are the device's.
DeputyDeviceInfo PublicInfo(const Device& device);

// The device that `wish` names: an index, a type (gpu, accelerator, cpu), or a part of the name of
// a device, its vendor or its platform, in any case of letters. An empty wish is the environment's
// DEPUTY_OPENCL_DEVICE, and without that the best usable device: a discrete GPU, an integrated one,
// an accelerator, the CPU. Where several fit the best of them is taken.
ClStatus ChooseDevice(const std::vector<Device>& devices, const std::string& wish,
                      Device* out_device);

class Program;

// A context with one device. It is shared: whoever holds a pointer may make queues, buffers and
// programs in it, and lets go of the pointer after these.
class SharedContext {
 public:
  // Makes a context of its own, which no other call returns.
  static std::shared_ptr<SharedContext> Create(std::shared_ptr<const ClApi> api,
                                               const Device& device, ClStatus* out_status);
  // Takes a client's context, with a reference of its own.
  static std::shared_ptr<SharedContext> Adopt(std::shared_ptr<const ClApi> api,
                                              const Device& device, cl_context context,
                                              ClStatus* out_status);
  SharedContext(const SharedContext&) = delete;
  SharedContext& operator=(const SharedContext&) = delete;

  const ClApi& api() const { return *api_; }
  const Device& device() const { return device_; }
  cl_context context() const { return context_.get(); }

  // After the loss of its device a context is of no use. All instances on it fail, and the next
  // delegate to be created gets a new one.
  void Poison() { lost_ = true; }
  bool lost() const { return lost_; }

  // Whether kernels may compute in half precision. Where a device other than a CPU does not list
  // the extension a small kernel is compiled and its results are checked, at the first call.
  bool ComputesInHalf();

  // Programs of this context by their key (program.h).
  std::mutex& program_mutex() { return program_mutex_; }
  std::map<std::string, std::weak_ptr<Program>>& programs() { return programs_; }
  // The newest programs are kept although nobody uses them: the next resize, or the next
  // interpreter of the same model, will. Under the mutex.
  void KeepProgram(const std::shared_ptr<Program>& program);
  // Lets go of them. Takes the mutex.
  void ForgetPrograms();

  // What tuning has found on this device, as text by a key (tune.h); "" if nothing is known.
  std::string FindTuning(const std::string& key);
  void KeepTuning(const std::string& key, const std::string& record);
  // Texts of kernels that the device did not build or run: operations are computed otherwise there
  // (PlanOptions::refused).
  void RefuseKernels(const std::set<std::string>& texts);
  std::set<std::string> RefusedKernels();
  // Held while times are taken: two who measure at once measure each other.
  std::mutex& measuring_mutex() { return measuring_mutex_; }

 private:
  SharedContext(std::shared_ptr<const ClApi> api, Device device, ClContext context)
      : api_(std::move(api)), device_(std::move(device)), context_(std::move(context)) {}

  std::shared_ptr<const ClApi> api_;  // outlives the context
  Device device_;
  ClContext context_;
  std::atomic<bool> lost_ = false;
  std::mutex half_mutex_;
  std::optional<bool> computes_in_half_;
  std::mutex program_mutex_;
  std::map<std::string, std::weak_ptr<Program>> programs_;
  std::deque<std::shared_ptr<Program>> kept_;  // the one used last in front
  std::mutex tuning_mutex_, measuring_mutex_;
  std::map<std::string, std::string> tuning_;
  std::mutex refused_mutex_;
  std::set<std::string> refused_;
};

// The contexts that live, by device and table.
class ContextRegistry {
 public:
  // That of the process.
  static ContextRegistry& Process();

  // The context of the device, a new one if there is none or if it is lost. It lives as long as
  // somebody holds it. Null on failure.
  std::shared_ptr<SharedContext> Acquire(const std::shared_ptr<const ClApi>& api,
                                         const Device& device, ClStatus* out_status);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<SharedContext>> contexts_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_H_
