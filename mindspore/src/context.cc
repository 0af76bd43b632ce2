// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/context.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "deputy/deputy_process.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

constexpr size_t kMaxDevices = 3;
constexpr int32_t kManyCores = 32;
constexpr int kMaxAffinityMode = 2;

// Copies a struct of a client that may have been compiled with an older or newer header.
template <typename Struct>
Struct ReadStruct(const Struct* source) {
  Struct copy = {};
  std::memcpy(&copy, source, std::min(source->struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

// Returns the lock for the calls of a delegate. It exists as long as a holder refers to it.
std::shared_ptr<DelegateCalls> CallsOf(const void* identity) {
  if (identity == nullptr) return std::make_shared<DelegateCalls>();
  static std::mutex lock;
  static std::map<const void*, std::weak_ptr<DelegateCalls>> known;
  const std::scoped_lock guard(lock);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DelegateCalls>& shared = known[identity];
  std::shared_ptr<DelegateCalls> calls = shared.lock();
  if (calls == nullptr) shared = calls = std::make_shared<DelegateCalls>();
  return calls;
}

// State of all locks of delegates. One mutex guards it, so that the search for a cycle sees no
// change; it is not held while a delegate runs.
struct Waiting {
  std::mutex mutex;
  std::condition_variable released;
  std::map<std::thread::id, const DelegateCalls*> locks;  // for which each thread waits

  static Waiting& Get() {
    static Waiting waiting;
    return waiting;
  }
};

}  // namespace

bool DelegateCalls::Lock() {
  Waiting& waiting = Waiting::Get();
  std::unique_lock lock(waiting.mutex);
  const std::thread::id self = std::this_thread::get_id();
  while (depth_ > 0 && owner_ != self) {
    if (WouldDeadlock()) return false;
    waiting.locks[self] = this;
    waiting.released.wait(lock);
    waiting.locks.erase(self);
  }
  owner_ = self;
  ++depth_;
  return true;
}

void DelegateCalls::Unlock() {
  Waiting& waiting = Waiting::Get();
  const std::scoped_lock lock(waiting.mutex);
  if (--depth_ == 0) waiting.released.notify_all();
}

// Follows the owners of locks and the locks for which they wait.
bool DelegateCalls::WouldDeadlock() const {
  const auto& locks = Waiting::Get().locks;
  for (const DelegateCalls* calls = this; calls->depth_ > 0;) {
    if (calls->owner_ == std::this_thread::get_id()) return true;
    const auto next = locks.find(calls->owner_);
    if (next == locks.end()) return false;
    calls = next->second;
  }
  return false;
}

DelegateCallGuard::DelegateCallGuard(DelegateCalls& calls)
    : calls_(calls),
      status_(calls.Lock() ? kMSStatusSuccess
                           : Fail(kMSStatusLiteError,
                                  "the delegate is in a call of another thread, which waits for a "
                                  "delegate that is in a call of this thread")) {}

DelegateHolder::DelegateHolder(const DeputyMSDelegate& delegate)
    : delegate_(delegate), calls_(CallsOf(delegate.identity)) {}

DelegateHolder::~DelegateHolder() {
  if (delegate_.release == nullptr) return;
  Guard([this] { return delegate_.release(delegate_.user_data), kMSStatusSuccess; });
}

std::shared_ptr<DelegateHolder> DelegateHolder::Make(const DeputyMSDelegate* delegate) {
  if (delegate == nullptr) {
    Fail(kMSStatusLiteNullptr, "the delegate is NULL");
    return nullptr;
  }
  if (delegate->struct_size < offsetof(DeputyMSDelegate, release) + sizeof delegate->release ||
      delegate->abi_version != DEPUTY_MS_DELEGATE_ABI_VERSION) {
    Fail(kMSStatusLiteParamInvalid,
         "the delegate: expected a struct of %zu bytes and ABI version %d, found %zu and %u",
         sizeof(DeputyMSDelegate), DEPUTY_MS_DELEGATE_ABI_VERSION, delegate->struct_size,
         delegate->abi_version);
    return nullptr;
  }
  if (delegate->build == nullptr) {
    Fail(kMSStatusLiteNullptr, "the delegate has no function 'build'");
    return nullptr;
  }
  return std::make_shared<DelegateHolder>(ReadStruct(delegate));
}

void Context::Adopt() {
  const std::scoped_lock lock(mutex_);
  if (adopted_) {
    ++references_;
  }
  adopted_ = true;
}

void Context::Destroy() {
  {
    const std::scoped_lock lock(mutex_);
    if (adopted_) return;
  }
  Release();
}

void Context::Release() {
  {
    const std::scoped_lock lock(mutex_);
    if (--references_ > 0) return;
  }
  delete this;
}

MSStatus Context::Check() const {
  if (devices.empty() || devices.size() > kMaxDevices) {
    return Fail(kMSStatusLiteNullptr, "the context: expected 1 to %zu devices, found %zu",
                kMaxDevices, devices.size());
  }
  for (const auto& device : devices) {
    if (device->type != kMSDeviceTypeKirinNPU) continue;
    if (device->frequency < kMinFrequency || device->frequency > kMaxFrequency) {
      return Fail(kMSStatusLiteParamInvalid,
                  "the context: device KirinNPU: SetFrequency: expected %d to %d, found %d",
                  kMinFrequency, kMaxFrequency, device->frequency);
    }
  }
  if (thread_count < 0) {
    return Fail(kMSStatusLiteParamInvalid,
                "the context: SetThreadNum: expected 0 or more threads, found %d", thread_count);
  }
  return CheckSettings();
}

int32_t Context::ThreadCount() const {
  if (thread_count > 0) return thread_count;
  return DeputyGetProcessorCount() > kManyCores ? 4 : 2;
}

bool Context::HasDevice(int type) const {
  return std::any_of(devices.begin(), devices.end(),
                     [type](const auto& device) { return static_cast<int>(device->type) == type; });
}

bool Context::AllowsHalfOnCpu() const {
  return std::any_of(devices.begin(), devices.end(), [](const auto& device) {
    return device->type == kMSDeviceTypeCPU && device->enable_fp16;
  });
}

}  // namespace deputy::ms_api

// ---- The C API ----------------------------------------------------------------------------------

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

Context* CheckedContext(MSContextHandle handle, const char* function) {
  if (handle == nullptr) Fail(kMSStatusLiteNullptr, "%s: the context is NULL", function);
  return Context::Of(handle);
}

DeviceInfo* CheckedInfo(MSDeviceInfoHandle handle, const char* function) {
  if (handle == nullptr) Fail(kMSStatusLiteNullptr, "%s: the device is NULL", function);
  return DeviceInfo::Of(handle);
}

// Returns a copy of the text that the caller frees.
char* CopyForCaller(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

MSContextHandle MSContextCreate() { return new (std::nothrow) Context; }

void MSContextDestroy(MSContextHandle* context) {
  if (context == nullptr || *context == nullptr) return;
  Context* const target = Context::Of(*context);
  *context = nullptr;
  target->Destroy();
}

void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num) {
  if (Context* const target = CheckedContext(context, "MSContextSetThreadNum")) {
    target->thread_count = thread_num;
  }
}

int32_t MSContextGetThreadNum(const MSContextHandle context) {
  const Context* const source = CheckedContext(context, "MSContextGetThreadNum");
  return source == nullptr ? 0 : source->thread_count;
}

void MSContextSetThreadAffinityMode(MSContextHandle context, int mode) {
  Context* const target = CheckedContext(context, "MSContextSetThreadAffinityMode");
  if (target == nullptr) return;
  const bool known = mode >= 0 && mode <= kMaxAffinityMode;
  if (!known) Log(kDeputyMSLogWarning, "affinity mode %d is unknown; 0 is used", mode);
  target->affinity_mode = known ? mode : 0;
}

int MSContextGetThreadAffinityMode(const MSContextHandle context) {
  const Context* const source = CheckedContext(context, "MSContextGetThreadAffinityMode");
  return source == nullptr ? 0 : source->affinity_mode;
}

void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t* core_list,
                                        size_t core_num) {
  Context* const target = CheckedContext(context, "MSContextSetThreadAffinityCoreList");
  if (target == nullptr || (core_list == nullptr && core_num > 0)) return;
  Guard([&] {
    target->cores.assign(core_list, core_list + core_num);
    return kMSStatusSuccess;
  });
}

const int32_t* MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t* core_num) {
  if (core_num == nullptr) return nullptr;
  *core_num = 0;
  const Context* const source = CheckedContext(context, "MSContextGetThreadAffinityCoreList");
  if (source == nullptr || source->cores.empty()) return nullptr;
  const size_t bytes = source->cores.size() * sizeof(int32_t);
  auto* copy = static_cast<int32_t*>(std::malloc(bytes));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, source->cores.data(), bytes);
  *core_num = source->cores.size();
  return copy;
}

void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel) {
  if (Context* const target = CheckedContext(context, "MSContextSetEnableParallel")) {
    target->parallel = is_parallel;
  }
}

bool MSContextGetEnableParallel(const MSContextHandle context) {
  const Context* const source = CheckedContext(context, "MSContextGetEnableParallel");
  return source != nullptr && source->parallel;
}

void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info) {
  Context* const target = CheckedContext(context, "MSContextAddDeviceInfo");
  DeviceInfo* const info = CheckedInfo(device_info, "MSContextAddDeviceInfo");
  if (target == nullptr || info == nullptr) return;
  if (info->owned_by_context) {
    Fail(kMSStatusLiteParamInvalid, "MSContextAddDeviceInfo: the device belongs to a context");
    return;
  }
  Guard([target, info] {
    target->devices.reserve(target->devices.size() + 1);
    info->owned_by_context = true;
    target->devices.emplace_back(info);
    return kMSStatusSuccess;
  });
}

MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type) {
  if (static_cast<int>(device_type) < 0 || static_cast<int>(device_type) > kAllDevices) {
    Fail(kMSStatusLiteNotSupport, "MSDeviceInfoCreate: device type %d is not supported",
         static_cast<int>(device_type));
    return nullptr;
  }
  return new (std::nothrow) DeviceInfo(device_type);
}

void MSDeviceInfoDestroy(MSDeviceInfoHandle* device_info) {
  if (device_info == nullptr || *device_info == nullptr) return;
  DeviceInfo* const target = DeviceInfo::Of(*device_info);
  *device_info = nullptr;
  if (!target->owned_by_context) delete target;
}

void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char* provider) {
  DeviceInfo* const target = CheckedInfo(device_info, "MSDeviceInfoSetProvider");
  if (target == nullptr || provider == nullptr) return;
  Guard([&] { return target->provider = provider, kMSStatusSuccess; });
}

char* MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info) {
  const DeviceInfo* const source = CheckedInfo(device_info, "MSDeviceInfoGetProvider");
  return source == nullptr ? nullptr : CopyForCaller(source->provider);
}

void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char* device) {
  DeviceInfo* const target = CheckedInfo(device_info, "MSDeviceInfoSetProviderDevice");
  if (target == nullptr || device == nullptr) return;
  Guard([&] { return target->provider_device = device, kMSStatusSuccess; });
}

char* MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info) {
  const DeviceInfo* const source = CheckedInfo(device_info, "MSDeviceInfoGetProviderDevice");
  return source == nullptr ? nullptr : CopyForCaller(source->provider_device);
}

MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info) {
  const DeviceInfo* const source = CheckedInfo(device_info, "MSDeviceInfoGetDeviceType");
  return source == nullptr ? kMSDeviceTypeInvalid : source->type;
}

void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16) {
  DeviceInfo* const target = CheckedInfo(device_info, "MSDeviceInfoSetEnableFP16");
  if (target == nullptr) return;
  if (target->type == kMSDeviceTypeKirinNPU) {
    Fail(kMSStatusLiteNotSupport, "MSDeviceInfoSetEnableFP16: for CPU and GPU only");
    return;
  }
  target->enable_fp16 = is_fp16;
}

bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info) {
  const DeviceInfo* const source = CheckedInfo(device_info, "MSDeviceInfoGetEnableFP16");
  return source != nullptr && source->enable_fp16;
}

void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency) {
  DeviceInfo* const target = CheckedInfo(device_info, "MSDeviceInfoSetFrequency");
  if (target == nullptr) return;
  if (target->type != kMSDeviceTypeKirinNPU) {
    Fail(kMSStatusLiteNotSupport, "MSDeviceInfoSetFrequency: for KirinNPU only");
    return;
  }
  target->frequency = frequency;
}

int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info) {
  const DeviceInfo* const source = CheckedInfo(device_info, "MSDeviceInfoGetFrequency");
  return source == nullptr || source->type != kMSDeviceTypeKirinNPU ? -1 : source->frequency;
}

MSStatus DeputyMSContextSetSetting(MSContextHandle context, const char* name, const char* value) {
  Context* const target = CheckedContext(context, "DeputyMSContextSetSetting");
  if (target == nullptr || name == nullptr || value == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->Set(name, value); });
}

MSStatus DeputyMSDeviceInfoSetSetting(MSDeviceInfoHandle device_info, const char* name,
                                      const char* value) {
  DeviceInfo* const target = CheckedInfo(device_info, "DeputyMSDeviceInfoSetSetting");
  if (target == nullptr || name == nullptr || value == nullptr) return kMSStatusLiteNullptr;
  if (std::strcmp(name, "enable_fp16") == 0) {
    target->enable_fp16 = std::strcmp(value, "true") == 0;
    return kMSStatusSuccess;
  }
  return Guard([&] { return target->settings[name] = value, kMSStatusSuccess; });
}

MSStatus DeputyMSContextSetDelegate(MSContextHandle context, const DeputyMSDelegate* delegate) {
  Context* const target = CheckedContext(context, "DeputyMSContextSetDelegate");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&]() -> MSStatus {
    if (delegate == nullptr) {
      target->delegate = nullptr;
      return kMSStatusSuccess;
    }
    std::shared_ptr<DelegateHolder> holder = DelegateHolder::Make(delegate);
    if (holder == nullptr) {
      return delegate->build == nullptr ? kMSStatusLiteNullptr : kMSStatusLiteParamInvalid;
    }
    target->delegate = std::move(holder);
    return kMSStatusSuccess;
  });
}

MSStatus DeputyMSContextAddTfLiteDelegate(MSContextHandle context, TfLiteDelegate* delegate) {
  Context* const target = CheckedContext(context, "DeputyMSContextAddTfLiteDelegate");
  if (target == nullptr) return kMSStatusLiteNullptr;
  if (delegate == nullptr) {
    return Fail(kMSStatusLiteNullptr, "DeputyMSContextAddTfLiteDelegate: the delegate is NULL");
  }
  return Guard([&] { return target->tflite_delegates.push_back(delegate), kMSStatusSuccess; });
}
