// SPDX-License-Identifier: Apache-2.0
//
// Devices of all plug-ins, and the choice of one. What plug-ins list is checked and copied.
#include <cstdarg>
#include <cstring>
#include <forward_list>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy_devices.h"
#include "c_api/src/plugin_handle.h"
#include "c_api/src/struct_io.h"
#include "core/base/error.h"
#include "core/base/guard.h"
#include "core/plugin/device_policy.h"
#include "core/plugin/plugin_delegate.h"
#include "core/support/option_list.h"

using deputy::ErrorReporter;
using deputy::Guard;

struct DeputyDeviceList {
  // `path`, `name` and `problem` of an entry; the device, if there is one, is in `devices`.
  std::vector<DeputyDeviceEntry> entries;
  std::vector<const DeputyDeviceInfo*> devices;
  // Owners of the devices and of the texts, whose addresses must not change.
  std::forward_list<DeputyDeviceInfo> infos;
  std::forward_list<std::string> texts;
  DeputyPluginList* plugins = nullptr;

  ~DeputyDeviceList() { DeputyPluginListDelete(plugins); }
};

namespace {

constexpr size_t kMaxDevices = 1024;  // of a plug-in
constexpr size_t kMaxText = 65535;    // bytes

void DiscardMessage(void*, const char*, va_list) {}

// Adds the devices of one plug-in to a list.
class Listing {
 public:
  Listing(DeputyDeviceList* list, size_t index) : list_(list) {
    entry_.struct_size = sizeof entry_;
    entry_.plugin = DeputyPluginListGetPlugin(list->plugins, index);
    entry_.path = entry_.name = DeputyPluginListGetPath(list->plugins, index);
    entry_.problem = DeputyPluginListGetError(list->plugins, index);
  }

  void Run() {
    if (entry_.plugin == nullptr) return AddEntry(nullptr);
    DeputyPluginInfo info = {};
    info.struct_size = sizeof info;
    DeputyPluginDescribe(entry_.plugin, &info);
    entry_.name = info.name;
    for (size_t i = 0; i < info.option_count; ++i) {
      has_device_option_ |= std::strcmp(info.options[i].name, "device") == 0;
    }
    ErrorReporter reporter(DiscardMessage, nullptr);  // the entry contains the error
    const TfLiteStatus status =
        deputy::ListPluginDevices(*entry_.plugin->library, &AddDevice, this, &reporter);
    if (out_of_memory_) throw std::bad_alloc();
    if (count_ > kMaxDevices) {
      AddProblem("listed more than " + std::to_string(kMaxDevices) + " devices");
    } else if (status != kTfLiteOk) {
      AddProblem(reporter.last_error());
    } else if (count_ == 0) {
      AddProblem("listed no device and gave no reason");
    }
  }

 private:
  static void AddDevice(void* listing, const DeputyDeviceInfo* device) {
    auto* self = static_cast<Listing*>(listing);
    if (++self->count_ > kMaxDevices) return;
    Guard([self] { self->out_of_memory_ = true; }, [&] { self->Add(device); });
  }

  void Add(const DeputyDeviceInfo* device) {
    if (device == nullptr) return AddProblem("expected a device, found NULL");
    if (device->struct_size < deputy::kFirstDeviceInfoSize) {
      return AddProblem("DeputyDeviceInfo: expected a struct_size of at least " +
                        std::to_string(deputy::kFirstDeviceInfoSize) + ", found " +
                        std::to_string(device->struct_size));
    }
    if (device->index < 0) {
      return AddProblem("DeputyDeviceInfo.index: expected at least 0, found " +
                        std::to_string(device->index));
    }
    list_->infos.push_front(deputy::KnownFields(*device));
    DeputyDeviceInfo& info = list_->infos.front();
    for (const char** text : {&info.platform, &info.platform_version, &info.name, &info.vendor,
                              &info.type, &info.device_class, &info.version, &info.driver_version,
                              &info.extensions, &info.preferred_precision, &info.options}) {
      *text = *text == nullptr ? "" : Keep(std::string(*text, strnlen(*text, kMaxText)));
    }
    if (info.options[0] == '\0' && has_device_option_) {
      info.options = Keep("device=" + std::to_string(info.index));
    }
    entry_.problem = "";
    AddEntry(&info);
  }

  const char* Keep(std::string text) {
    list_->texts.push_front(std::move(text));
    return list_->texts.front().c_str();
  }

  void AddProblem(std::string problem) {
    entry_.problem = Keep(std::move(problem));
    AddEntry(nullptr);
  }

  void AddEntry(const DeputyDeviceInfo* info) {
    list_->entries.push_back(entry_);
    list_->devices.push_back(info);
  }

  DeputyDeviceList* const list_;
  DeputyDeviceEntry entry_ = {};
  bool has_device_option_ = false, out_of_memory_ = false;
  size_t count_ = 0;  // number of devices that the plug-in has listed
};

bool AreValid(const DeputyDeviceInfo* const* devices, size_t count, const int64_t* index) {
  return index != nullptr && (devices != nullptr || count == 0);
}

TfLiteStatus Refuse(const char* problem) {
  ErrorReporter reporter;
  return deputy::Fail(&reporter, kTfLiteError, "DeputyChooseDeviceByCallback: %s", problem);
}

}  // namespace

// ---- Choice -------------------------------------------------------------------------------------

TfLiteStatus DeputyChooseDevice(DeputyDevicePolicy policy, const DeputyDeviceInfo* const* devices,
                                size_t count, int64_t* index) {
  const auto number = static_cast<unsigned>(policy);
  if (number > kDeputyDevicePolicyPreferGpu || !AreValid(devices, count, index)) {
    return kTfLiteError;
  }
  *index = deputy::ChooseDevice(policy, {devices, count});
  return kTfLiteOk;
}

TfLiteStatus DeputyChooseDeviceByCallback(DeputyDeviceChooser chooser, void* user_data,
                                          const DeputyDeviceInfo* const* devices, size_t count,
                                          int64_t* index) {
  if (chooser == nullptr || !AreValid(devices, count, index)) return kTfLiteError;
  *index = -1;
  int64_t chosen = -1;
  try {
    chosen = chooser(user_data, devices, count);
  } catch (...) {
    return Refuse("the callback threw an exception");
  }
  if (chosen < -1 || (chosen >= 0 && static_cast<uint64_t>(chosen) >= count)) {
    return Refuse("the callback's result is out of range");
  }
  if (chosen >= 0 && !deputy::IsUsableDevice(devices[chosen])) {
    return Refuse("the callback chose a device that is not usable");
  }
  *index = chosen;
  return kTfLiteOk;
}

// ---- Lists --------------------------------------------------------------------------------------

DeputyDeviceList* DeputyDeviceListCreate(const char* paths) {
  return Guard(nullptr, [&]() -> DeputyDeviceList* {
    auto list = std::make_unique<DeputyDeviceList>();
    list->plugins = DeputyPluginListCreate(paths);
    if (list->plugins == nullptr) return nullptr;
    for (size_t i = 0; i < DeputyPluginListGetCount(list->plugins); ++i) {
      Listing(list.get(), i).Run();
    }
    return list.release();
  });
}

void DeputyDeviceListDelete(DeputyDeviceList* list) { delete list; }

size_t DeputyDeviceListGetCount(const DeputyDeviceList* list) {
  return list == nullptr ? 0 : list->devices.size();
}

const DeputyDeviceInfo* const* DeputyDeviceListGetDevices(const DeputyDeviceList* list) {
  return list == nullptr ? nullptr : list->devices.data();
}

TfLiteStatus DeputyDeviceListGetEntry(const DeputyDeviceList* list, size_t index,
                                      DeputyDeviceEntry* entry) {
  if (index >= DeputyDeviceListGetCount(list)) return kTfLiteError;
  return deputy::WriteStruct(list->entries[index], entry);
}

TfLiteDelegate* DeputyDeviceListCreateDelegate(const DeputyDeviceList* list, size_t index,
                                               const char* const* keys, const char* const* values,
                                               size_t count) {
  return Guard(nullptr, [&]() -> TfLiteDelegate* {
    if (index >= DeputyDeviceListGetCount(list) || list->devices[index] == nullptr) {
      ErrorReporter().Report("DeputyDeviceListCreateDelegate: entry %zu has no device", index);
      return nullptr;
    }
    std::vector<std::pair<std::string, std::string>> own;
    for (const std::string& option : deputy::SplitOptions(list->devices[index]->options)) {
      own.push_back(deputy::SplitOption(option));
    }
    std::vector<const char*> all_keys, all_values;
    for (const auto& [key, value] : own) {
      all_keys.push_back(key.c_str());
      all_values.push_back(value.c_str());
    }
    all_keys.insert(all_keys.end(), keys, keys + count);
    all_values.insert(all_values.end(), values, values + count);
    return DeputyPluginCreateDelegate(list->entries[index].plugin, all_keys.data(),
                                      all_values.data(), all_keys.size());
  });
}
