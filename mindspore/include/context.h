// SPDX-License-Identifier: Apache-2.0
//
// Settings of a model: threads, devices, delegate. A context is plain data; Model::Build checks and
// copies it, so one context may serve several models.
#ifndef DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_
#define DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "types.h"

namespace mindspore {

class Delegate;

// A device on which a model may run. The three kinds are CPUDeviceInfo, GPUDeviceInfo and
// KirinNPUDeviceInfo.
class DeviceInfoContext : public std::enable_shared_from_this<DeviceInfoContext> {
 public:
  DeviceInfoContext() = default;
  DeviceInfoContext(const DeviceInfoContext&) = delete;
  DeviceInfoContext& operator=(const DeviceInfoContext&) = delete;
  virtual ~DeviceInfoContext() = default;

  virtual enum DeviceType GetDeviceType() const = 0;

  // Returns null if this device is not a T.
  template <class T>
  std::shared_ptr<T> Cast();

  // Name of the delegate library, used for GPU and KirinNPU; see MSDeviceInfoSetProvider in
  // context_c.h.
  void SetProvider(const std::string& provider) { provider_ = provider; }
  std::string GetProvider() const { return provider_; }
  void SetProviderDevice(const std::string& device) { provider_device_ = device; }
  std::string GetProviderDevice() const { return provider_device_; }

 private:
  std::string provider_, provider_device_;
};

class CPUDeviceInfo : public DeviceInfoContext {
 public:
  static constexpr enum DeviceType kType = kCPU;
  enum DeviceType GetDeviceType() const override { return kType; }
  void SetEnableFP16(bool enable) { enable_fp16_ = enable; }
  bool GetEnableFP16() const { return enable_fp16_; }

 private:
  bool enable_fp16_ = false;
};

class GPUDeviceInfo : public DeviceInfoContext {
 public:
  static constexpr enum DeviceType kType = kGPU;
  enum DeviceType GetDeviceType() const override { return kType; }
  void SetDeviceID(uint32_t id) { device_id_ = id; }
  uint32_t GetDeviceID() const { return device_id_; }
  void SetEnableFP16(bool enable) { enable_fp16_ = enable; }
  bool GetEnableFP16() const { return enable_fp16_; }

 private:
  uint32_t device_id_ = 0;
  bool enable_fp16_ = false;
};

class KirinNPUDeviceInfo : public DeviceInfoContext {
 public:
  static constexpr enum DeviceType kType = kKirinNPU;
  enum DeviceType GetDeviceType() const override { return kType; }
  void SetEnableFP16(bool enable) { enable_fp16_ = enable; }
  bool GetEnableFP16() const { return enable_fp16_; }
  // Frequency of the NPU: 1 low power, 2 balanced, 3 high performance (default), 4 extreme.
  // Model::Build rejects other values.
  void SetFrequency(int frequency) { frequency_ = frequency; }
  int GetFrequency() const { return frequency_; }

 private:
  bool enable_fp16_ = false;
  int frequency_ = 3;
};

template <class T>
std::shared_ptr<T> DeviceInfoContext::Cast() {
  static_assert(std::is_base_of<DeviceInfoContext, T>::value, "expected a device");
  if (GetDeviceType() != T::kType) return nullptr;
  return std::static_pointer_cast<T>(weak_from_this().lock());
}

class Context {
 public:
  // Number of threads. 0, the default, lets the runtime choose.
  void SetThreadNum(int32_t count) { thread_count_ = count; }
  int32_t GetThreadNum() const { return thread_count_; }
  void SetInterOpParallelNum(int32_t count) { inter_op_parallel_ = count; }
  int32_t GetInterOpParallelNum() const { return inter_op_parallel_; }
  // Affinity mode: 0 none, 1 big cores, 2 middle and little cores. Other values are replaced by 0.
  void SetThreadAffinity(int mode) { affinity_mode_ = mode >= 0 && mode <= 2 ? mode : 0; }
  void SetThreadAffinity(const std::vector<int>& cores) { cores_ = cores; }
  int GetThreadAffinityMode() const { return affinity_mode_; }
  std::vector<int32_t> GetThreadAffinityCoreList() const { return cores_; }
  void SetEnableParallel(bool parallel) { parallel_ = parallel; }
  bool GetEnableParallel() const { return parallel_; }

  // Devices in order of priority. Model::Build requires one to three.
  std::vector<std::shared_ptr<DeviceInfoContext>>& MutableDeviceInfo() { return devices_; }
  const std::vector<std::shared_ptr<DeviceInfoContext>>& GetDeviceInfo() const { return devices_; }

  // Delegate of models that are built with this context; null for none. The delegate must outlive
  // these models.
  void SetDelegate(const std::shared_ptr<Delegate>& delegate) { delegate_ = delegate; }
  std::shared_ptr<Delegate> GetDelegate() const { return delegate_; }
  void set_delegate(const std::shared_ptr<Delegate>& delegate) { delegate_ = delegate; }
  std::shared_ptr<Delegate> get_delegate() const { return delegate_; }

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
  std::vector<std::shared_ptr<DeviceInfoContext>> devices_;
  std::shared_ptr<Delegate> delegate_;
  std::vector<struct TfLiteDelegate*> tflite_delegates_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_CONTEXT_H_
