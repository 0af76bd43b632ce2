// SPDX-License-Identifier: Apache-2.0
//
// Implementation of contexts and device descriptions.
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
inline constexpr int kMinFrequency = 1;
inline constexpr int kMaxFrequency = 4;

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

// Copy of a client's delegate struct, which calls its release in the destructor. The context and
// its models share it.
class DelegateHolder {
 public:
  explicit DelegateHolder(const DeputyMSDelegate& delegate) : delegate_(delegate) {}
  DelegateHolder(const DelegateHolder&) = delete;
  DelegateHolder& operator=(const DelegateHolder&) = delete;
  ~DelegateHolder();

  // Copies the client's struct into the current layout. Returns null and reports an error if the
  // struct is invalid.
  static std::shared_ptr<DelegateHolder> Make(const DeputyMSDelegate* delegate);

  const DeputyMSDelegate& get() const { return delegate_; }
  // Mutex that is locked while init, build or explain runs, to serialise them. It is recursive,
  // because build may build a model with the same delegate.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  DeputyMSDelegate delegate_;
  std::recursive_mutex mutex_;
};

// A context; its handle and the models built with it share ownership.
class Context {
 public:
  static Context* Of(MSContextHandle handle) { return static_cast<Context*>(handle); }

  // Makes the calling model an owner. The first model takes over the handle's reference, later ones
  // add a reference.
  void Adopt();
  // Destroys the handle's reference. Has no effect once a model has adopted the context.
  void Destroy();
  void Release();

  // Checks devices and settings before a build. Reports an error if they are invalid.
  MSStatus Check() const;
  // Returns the number of threads for the interpreter.
  int32_t ThreadCount() const;
  bool HasDevice(MSDeviceType type) const;

  int32_t thread_count = 0;
  int affinity_mode = 0;
  std::vector<int32_t> cores;
  bool parallel = false;
  std::vector<std::unique_ptr<DeviceInfo>> devices;
  std::shared_ptr<DelegateHolder> delegate;
  std::vector<TfLiteDelegate*> tflite_delegates;
  std::shared_ptr<void> object;  // of DeputyMSContextSetObject

 private:
  std::mutex mutex_;
  int references_ = 1;
  bool adopted_ = false;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_CONTEXT_H_
