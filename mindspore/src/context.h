// SPDX-License-Identifier: Apache-2.0
//
// What stands behind contexts and device descriptions.
#ifndef DEPUTY_MINDSPORE_SRC_CONTEXT_H_
#define DEPUTY_MINDSPORE_SRC_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mindspore/include/delegate_c.h"

namespace deputy::ms_api {

inline constexpr int kDefaultFrequency = 3;
inline constexpr int kLowestFrequency = 1;
inline constexpr int kHighestFrequency = 4;

struct DeviceInfo {
  explicit DeviceInfo(MSDeviceType device_type) : type(device_type) {}
  static DeviceInfo* Of(MSDeviceInfoHandle handle) { return static_cast<DeviceInfo*>(handle); }

  const MSDeviceType type;
  bool owned_by_context = false;
  bool enable_fp16 = false;
  int frequency = kDefaultFrequency;
  std::string provider;
  std::string provider_device;
};

// A client's delegate struct with what its release needs; models share it with the context.
class DelegateHolder {
 public:
  explicit DelegateHolder(const DeputyMSDelegate& delegate) : delegate_(delegate) {}
  DelegateHolder(const DelegateHolder&) = delete;
  DelegateHolder& operator=(const DelegateHolder&) = delete;
  ~DelegateHolder();

  // What the client's struct says, in today's size; an empty pointer, with a failure, if it is
  // none.
  static std::shared_ptr<DelegateHolder> Make(const DeputyMSDelegate* delegate);

  const DeputyMSDelegate& get() const { return delegate_; }
  // Held while init, build or explain runs: they come one at a time. Recursive: build may build a
  // model with the same delegate.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  DeputyMSDelegate delegate_;
  std::recursive_mutex mutex_;
};

// Shared by its handle and the models that were built with it.
class Context {
 public:
  static Context* Of(MSContextHandle handle) { return static_cast<Context*>(handle); }

  // For a model: the first one takes over the handle's reference.
  void Adopt();
  // For the handle: nothing once a model has adopted it.
  void Destroy();
  void Release();

  // What Build asks of a context: devices and their settings. Fails with a text.
  MSStatus Check() const;
  // Threads for the interpreter.
  int32_t ThreadCount() const;
  bool HasDevice(MSDeviceType type) const;

  int32_t thread_count = 0;
  int affinity_mode = 0;
  std::vector<int32_t> cores;
  bool parallel = false;
  std::vector<std::unique_ptr<DeviceInfo>> devices;
  std::shared_ptr<DelegateHolder> delegate;
  std::vector<TfLiteDelegate*> tflite_delegates;

 private:
  std::mutex mutex_;
  int references_ = 1;
  bool adopted_ = false;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_CONTEXT_H_
