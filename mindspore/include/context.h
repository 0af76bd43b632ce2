// SPDX-License-Identifier: Apache-2.0
//
// Settings of a model: threads, devices, delegate. A context is plain data; Model::Build checks and
// copies its settings, so one context may serve several models. Model::Build names each setting
// that Deputy does not obey: settings that change results fail the build with kLiteNotSupport,
// settings for speed are logged as warnings (docs/mindspore.md has the table).
#ifndef DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_
#define DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "delegate_api.h"
#include "types.h"

namespace mindspore {

enum DeviceType : uint32_t {
  kCPU = 0,
  kGPU = 1,
  kKirinNPU = 2,
  kAscend = 3,
  kAscend910 = 4,
  kAscend310 = 5,
  kDSP = 6,
  kCustomDevice = 7,
  kAllDevice = 8,
  kInvalidDeviceType = 100,
};

// Delegates that MindSpore Lite has for other platforms. Deputy has none of them: Model::Build logs
// that the delegate declines with -7, or that the context has another one. The model runs without
// it.
enum DelegateMode {
  kNoDelegate = 0,
  kCoreML = 1,
  kPNNA = 2,
};

namespace detail {

// Settings of a device by name, as text.
using Settings = std::map<std::string, std::string>;

inline std::string TextOf(bool value) { return value ? "true" : "false"; }
inline std::string TextOf(uint32_t value) { return std::to_string(value); }
inline std::string TextOf(const std::string& value) { return value; }

// Returns values separated by commas.
template <typename Values>
std::string JoinValues(const Values& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace detail

// A device on which a model may run. If the context has no delegate, Model::Build applies the
// delegate library of one device, the first that is available: KirinNPU, then GPU, then the other
// kinds in the order of DeviceType, except CPU and Auto. For a device that is not available, the
// log has a line with -7 (RET_NOT_SUPPORT). Nodes that no delegate claims run on the CPU if CPU or
// Auto is among the context's devices. Otherwise Build fails: with kLiteNotSupport if a device was
// not available.
class DeviceInfoContext : public std::enable_shared_from_this<DeviceInfoContext> {
 public:
  DeviceInfoContext() = default;
  DeviceInfoContext(const DeviceInfoContext&) = delete;
  DeviceInfoContext& operator=(const DeviceInfoContext&) = delete;
  virtual ~DeviceInfoContext() = default;

  virtual enum DeviceType GetDeviceType() const = 0;

  // Returns null if this device is not a T.
  template <class T>
  std::shared_ptr<T> Cast() {
    static_assert(std::is_base_of<DeviceInfoContext, T>::value, "expected a device");
    if (GetDeviceType() != T().GetDeviceType()) return nullptr;
    return std::static_pointer_cast<T>(weak_from_this().lock());
  }

  // Name of the delegate library; see MSDeviceInfoSetProvider in context_c.h. For every device,
  // also a CPU, the provider of registered kernels (register_kernel_c.h).
  void SetProvider(const std::string& provider) { provider_ = provider; }
  std::string GetProvider() const { return provider_; }
  // Passed to the delegate library as option "device", if it declares that option, and the
  // architecture of registered kernels.
  void SetProviderDevice(const std::string& device) { provider_device_ = device; }
  std::string GetProviderDevice() const { return provider_device_; }
  // Stored. Deputy allocates the memory of models itself, and Build logs that an allocator has no
  // effect.
  void SetAllocator(const std::shared_ptr<Allocator>& allocator) { allocator_ = allocator; }
  std::shared_ptr<Allocator> GetAllocator() const { return allocator_; }

  // Deputy extension: the settings that the program has set, by the names in docs/mindspore.md.
  const detail::Settings& settings() const { return settings_; }

 protected:
  template <typename T>
  void Set(const std::string& name, const T& value) {
    settings_[name] = detail::TextOf(value);
  }
  std::string Get(const std::string& name, const std::string& otherwise = "") const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? otherwise : found->second;
  }
  bool GetBool(const std::string& name) const { return Get(name) == "true"; }
  uint32_t GetNumber(const std::string& name) const {
    return static_cast<uint32_t>(std::stoul(Get(name, "0")));
  }

 private:
  std::string provider_, provider_device_;
  std::shared_ptr<Allocator> allocator_;
  detail::Settings settings_;
};

// Any device of the host. Deputy uses the CPU.
class AutoDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kAllDevice; }
};

class CPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kCPU; }
  // Permits half precision: factors of float32 products are rounded to float16 or bfloat16 on
  // processors with instructions for it (kDeputyPrecisionFloat16 in deputy/deputy.h). If no
  // operator of the model is then computed in half precision, Build logs that.
  void SetEnableFP16(bool enable) { Set("enable_fp16", enable); }
  bool GetEnableFP16() const { return GetBool("enable_fp16"); }
};

class GPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kGPU; }
  // Number of the device, passed to the delegate library as option "device" unless
  // SetProviderDevice is set. If the library does not declare that option, a number other than 0
  // makes the device unavailable.
  void SetDeviceID(uint32_t id) { Set("device_id", id); }
  uint32_t GetDeviceID() const { return GetNumber("device_id"); }
  // Position in a group of processes; Deputy has no such groups.
  int GetRankID() const { return 0; }
  int GetGroupSize() const { return 1; }
  // "origin", the default, or "enforce_fp32"; "fp16", "preferred_fp16" and "enforce_fp16" are
  // SetEnableFP16(true).
  void SetPrecisionMode(const std::string& mode) { Set("precision_mode", mode); }
  std::string GetPrecisionMode() const { return Get("precision_mode", "origin"); }
  // Permits half precision, if it is faster.
  void SetEnableFP16(bool enable) { Set("enable_fp16", enable); }
  bool GetEnableFP16() const { return GetBool("enable_fp16"); }
  // Memory shared with OpenGL. Model::Build refuses it with kLiteNotSupport.
  void SetEnableGLTexture(bool enable) { Set("enable_gl_texture", enable); }
  bool GetEnableGLTexture() const { return GetBool("enable_gl_texture"); }
  void SetGLContext(void* context) {
    gl_context_ = context;
    Set("gl_context", context != nullptr);
  }
  void* GetGLContext() const { return gl_context_; }
  void SetGLDisplay(void* display) {
    gl_display_ = display;
    Set("gl_display", display != nullptr);
  }
  void* GetGLDisplay() const { return gl_display_; }

 private:
  void* gl_context_ = nullptr;
  void* gl_display_ = nullptr;
};

class KirinNPUDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kKirinNPU; }
  // Passed to the delegate library as option "precision" with value "fp16", if it declares that
  // option. Otherwise Build logs that it has no effect.
  void SetEnableFP16(bool enable) { Set("enable_fp16", enable); }
  bool GetEnableFP16() const { return GetBool("enable_fp16"); }
  // Frequency of the NPU: 1 low power, 2 balanced, 3 high performance (default), 4 extreme.
  // Model::Build rejects other values.
  void SetFrequency(int frequency) { frequency_ = frequency; }
  int GetFrequency() const { return frequency_; }

 private:
  int frequency_ = 3;
};

// A device whose settings are passed to the library of its provider, as options of the same names;
// the option for SetDeviceID is "device". Settings that the library does not declare are logged.
class AscendDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kAscend; }
  void SetDeviceID(uint32_t id) { Set("device_id", id); }
  uint32_t GetDeviceID() const { return GetNumber("device_id"); }
  void SetRankID(uint32_t id) { Set("rank_id", id); }
  uint32_t GetRankID() const { return GetNumber("rank_id"); }
  void SetInsertOpConfigPath(const std::string& path) { Set("insert_op_config_path", path); }
  std::string GetInsertOpConfigPath() const { return Get("insert_op_config_path"); }
  void SetInputFormat(const std::string& format) { Set("input_format", format); }
  std::string GetInputFormat() const { return Get("input_format"); }
  void SetInputShape(const std::string& shape) { Set("input_shape", shape); }
  std::string GetInputShape() const { return Get("input_shape"); }
  void SetInputShapeMap(const std::map<int, std::vector<int>>& shapes) {
    shapes_ = shapes;
    std::string text;
    for (const auto& pair : shapes) {
      text += (text.empty() ? "" : ";") + std::to_string(pair.first) + ":" +
              detail::JoinValues(pair.second);
    }
    Set("input_shape_map", text);
  }
  std::map<int, std::vector<int>> GetInputShapeMap() const { return shapes_; }
  void SetDynamicBatchSize(const std::vector<size_t>& sizes) {
    Set("dynamic_batch_size", detail::JoinValues(sizes));
  }
  std::string GetDynamicBatchSize() const { return Get("dynamic_batch_size"); }
  void SetDynamicImageSize(const std::string& sizes) { Set("dynamic_image_size", sizes); }
  std::string GetDynamicImageSize() const { return Get("dynamic_image_size"); }
  void SetOutputType(enum DataType type) { Set("output_type", static_cast<uint32_t>(type)); }
  enum DataType GetOutputType() const {
    return static_cast<enum DataType>(GetNumber("output_type"));
  }
  void SetPrecisionMode(const std::string& mode) { Set("precision_mode", mode); }
  std::string GetPrecisionMode() const { return Get("precision_mode"); }
  void SetOpSelectImplMode(const std::string& mode) { Set("op_select_impl_mode", mode); }
  std::string GetOpSelectImplMode() const { return Get("op_select_impl_mode"); }
  void SetFusionSwitchConfigPath(const std::string& path) {
    Set("fusion_switch_config_path", path);
  }
  std::string GetFusionSwitchConfigPath() const { return Get("fusion_switch_config_path"); }
  void SetBufferOptimizeMode(const std::string& mode) { Set("buffer_optimize_mode", mode); }
  std::string GetBufferOptimizeMode() const { return Get("buffer_optimize_mode"); }

 private:
  std::map<int, std::vector<int>> shapes_;
};
using Ascend310DeviceInfo = AscendDeviceInfo;
using Ascend910DeviceInfo = AscendDeviceInfo;

class DSPDeviceInfo : public DeviceInfoContext {
 public:
  enum DeviceType GetDeviceType() const override { return kDSP; }
  void SetDeviceID(uint32_t id) { Set("device_id", id); }
  uint32_t GetDeviceID() const { return GetNumber("device_id"); }
};

class Context {
 public:
  // Number of threads. 0, the default, lets the runtime choose.
  void SetThreadNum(int32_t count) { thread_count_ = count; }
  int32_t GetThreadNum() const { return thread_count_; }
  // Number of operators that run concurrently. Deputy runs one after another: Build logs that a
  // number above 1 has no effect, and fails if the number is negative or exceeds the number of
  // threads that is set.
  void SetInterOpParallelNum(int32_t count) { inter_op_parallel_ = count; }
  int32_t GetInterOpParallelNum() const { return inter_op_parallel_; }
  // Affinity mode: 0 none, 1 big cores, 2 middle and little cores. Other values are replaced by 0.
  // See MSContextSetThreadAffinityMode in context_c.h; the list of cores takes precedence.
  void SetThreadAffinity(int mode) {
    const bool known = mode >= 0 && mode <= 2;
    affinity_mode_ = known ? mode : 0;
    if (known) return;
    const std::string text = "SetThreadAffinity: mode " + std::to_string(mode) + " is unknown";
    DeputyMSLog(kDeputyMSLogWarning, (text + "; 0 is used").c_str());
  }
  void SetThreadAffinity(const std::vector<int>& cores) { cores_ = cores; }
  int GetThreadAffinityMode() const { return affinity_mode_; }
  std::vector<int32_t> GetThreadAffinityCoreList() const { return cores_; }
  // Permits operators to run concurrently. Build logs that it has no effect.
  void SetEnableParallel(bool parallel) { parallel_ = parallel; }
  bool GetEnableParallel() const { return parallel_; }
  // Runs quantised models in float32. Build refuses it.
  void SetMultiModalHW(bool float_mode) { float_mode_ = float_mode; }
  bool GetMultiModalHW() const { return float_mode_; }
  // File that describes a group of processes. Build refuses it.
  void SetGroupInfoFile(const std::string& path) { group_info_file_ = path; }
  std::string GetGroupInfoFile() const { return group_info_file_; }

  // Devices. Model::Build requires one to three, and tries their libraries in the order of
  // DeviceInfoContext. The order of the list matters only for devices of the same type and for
  // registered kernels.
  std::vector<std::shared_ptr<DeviceInfoContext>>& MutableDeviceInfo() { return devices_; }
  const std::vector<std::shared_ptr<DeviceInfoContext>>& GetDeviceInfo() const { return devices_; }

  // Delegate of models that are built with this context, which hold a reference to it; null for
  // none. set_delegate accepts every kind of delegate; Build refuses one that does not derive from
  // Delegate.
  template <class T>
  void SetDelegate(const std::shared_ptr<T>& delegate) {
    delegate_ = delegate;
  }
  void SetDelegate(std::nullptr_t) { delegate_ = nullptr; }
  std::shared_ptr<Delegate> GetDelegate() const {
    if (delegate_ == nullptr || delegate_->AsDelegate() == nullptr) return nullptr;
    return {delegate_, delegate_->AsDelegate()};
  }
  void set_delegate(const std::shared_ptr<AbstractDelegate>& delegate) { delegate_ = delegate; }
  std::shared_ptr<AbstractDelegate> get_delegate() const { return delegate_; }
  void SetBuiltInDelegate(DelegateMode mode) { built_in_ = mode; }
  DelegateMode GetBuiltInDelegate() const { return built_in_; }

  // Deputy extension: adds a TensorFlow Lite delegate, which is applied after the delegate of
  // SetDelegate. The caller owns it and must delete it after the models.
  void AddTfLiteDelegate(struct TfLiteDelegate* delegate) { tflite_delegates_.push_back(delegate); }
  const std::vector<struct TfLiteDelegate*>& tflite_delegates() const { return tflite_delegates_; }

 private:
  int32_t thread_count_ = 0;
  int32_t inter_op_parallel_ = 0;
  int affinity_mode_ = 0;
  std::vector<int32_t> cores_;
  bool parallel_ = false;
  bool float_mode_ = false;
  std::string group_info_file_;
  std::vector<std::shared_ptr<DeviceInfoContext>> devices_;
  std::shared_ptr<AbstractDelegate> delegate_;
  DelegateMode built_in_ = kNoDelegate;
  std::vector<struct TfLiteDelegate*> tflite_delegates_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_
