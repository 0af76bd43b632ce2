// SPDX-License-Identifier: Apache-2.0
//
// Implementation of contexts and device descriptions.
#ifndef DEPUTY_MINDSPORE_SRC_CONTEXT_H_
#define DEPUTY_MINDSPORE_SRC_CONTEXT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mindspore/include/extensions_c.h"

namespace deputy::ms_api {

inline constexpr int kDefaultFrequency = 3;
inline constexpr int kMinFrequency = 1;
inline constexpr int kMaxFrequency = 4;

// Settings by name, as text.
using Settings = std::map<std::string, std::string>;

// Types of devices that only the C++ API names.
inline constexpr int kAscend = 3;
inline constexpr int kDSP = 6;
inline constexpr int kAllDevices = 8;

// Returns the name of a type of devices, such as "KirinNPU".
const char* DeviceName(int type);

struct DeviceInfo {
  explicit DeviceInfo(MSDeviceType device_type) : type(device_type) {}
  static DeviceInfo* Of(MSDeviceInfoHandle handle) { return static_cast<DeviceInfo*>(handle); }

  const MSDeviceType type;
  bool owned_by_context = false;
  bool enable_fp16 = false;
  int frequency = kDefaultFrequency;
  std::string provider;
  std::string provider_device;
  Settings settings;

  std::string Setting(const std::string& setting) const {
    const auto found = settings.find(setting);
    return found == settings.end() ? "" : found->second;
  }
  const char* name() const { return DeviceName(static_cast<int>(type)); }
};

// Lock that is held while init, build or explain of a delegate runs. A thread may acquire it
// several times, because build may build a model with the same delegate.
class DelegateCalls {
 public:
  // Waits until no other thread holds the lock. Returns false if threads would wait for each other
  // forever: the holder waits, directly or through other threads, for a lock of this thread.
  bool Lock();
  void Unlock();

 private:
  bool WouldDeadlock() const;

  std::thread::id owner_;
  int depth_ = 0;
};

// RAII guard: holds a lock of DelegateCalls, if status() is kMSStatusSuccess.
class DelegateCallGuard {
 public:
  explicit DelegateCallGuard(DelegateCalls& calls);
  DelegateCallGuard(const DelegateCallGuard&) = delete;
  DelegateCallGuard& operator=(const DelegateCallGuard&) = delete;
  ~DelegateCallGuard() {
    if (status_ == kMSStatusSuccess) calls_.Unlock();
  }
  MSStatus status() const { return status_; }

 private:
  DelegateCalls& calls_;
  const MSStatus status_;
};

// Copy of a client's delegate struct, which calls its release in the destructor. The context and
// its models share it.
class DelegateHolder {
 public:
  explicit DelegateHolder(const DeputyMSDelegate& delegate);
  DelegateHolder(const DelegateHolder&) = delete;
  DelegateHolder& operator=(const DelegateHolder&) = delete;
  ~DelegateHolder();

  // Copies the client's struct into the current layout. Returns null and reports an error if the
  // struct is invalid.
  static std::shared_ptr<DelegateHolder> Make(const DeputyMSDelegate* delegate);

  const DeputyMSDelegate& get() const { return delegate_; }
  // Serialises init, build and explain; holders of delegates with the same identity share the lock.
  DelegateCalls& calls() { return *calls_; }

 private:
  DeputyMSDelegate delegate_;
  std::shared_ptr<DelegateCalls> calls_;
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

  // Sets a setting. Reports an error if the name is unknown.
  MSStatus Set(const std::string& name, const char* value);
  // Checks devices and settings before a build. Reports an error if they are invalid.
  MSStatus Check() const;
  // Returns the number of threads for the interpreter.
  int32_t ThreadCount() const;
  bool HasDevice(int type) const;
  // Returns true if the CPU is among the devices.
  bool HasCpu() const { return HasDevice(kMSDeviceTypeCPU) || HasDevice(kAllDevices); }
  // Returns true if the CPU may compute in half precision.
  bool AllowsHalfOnCpu() const;

  int32_t thread_count = 0;
  int affinity_mode = 0;
  std::vector<int32_t> cores;
  bool parallel = false;
  Settings settings;
  std::vector<std::unique_ptr<DeviceInfo>> devices;
  std::shared_ptr<DelegateHolder> delegate;
  std::vector<TfLiteDelegate*> tflite_delegates;
  std::shared_ptr<void> object;  // of DeputyMSContextSetObject

 private:
  MSStatus CheckSettings() const;
  static MSStatus CheckDevice(const DeviceInfo& device);

  std::mutex mutex_;
  int references_ = 1;
  bool adopted_ = false;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_CONTEXT_H_
