// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/devices.h"

#include <cctype>
#include <cstdarg>
#include <memory>
#include <vector>

#include "deputy/deputy.h"
#include "mindspore/src/log.h"
#include "mindspore/src/registry.h"

namespace deputy::ms_api {
namespace {

// Returns the delegate library of a device; "" if none is known.
std::string LibraryOf(const DeviceInfo& device) {
  if (!device.provider.empty()) return device.provider;
  if (device.type == kMSDeviceTypeGPU) return "libdeputy_gpu.so";
  return device.type == kMSDeviceTypeKirinNPU ? "libdeputy_npu_stub.so" : "";
}

struct PluginDeleter {
  void operator()(DeputyPlugin* plugin) const { DeputyPluginRelease(plugin); }
};

// Error reporter that discards messages, for calls whose failure is logged with DeputyLastError.
void DiscardError(void* /*user_data*/, const char* /*format*/, va_list /*args*/) {}

// Returns the function of the C++ API that sets an option: "SetInputShape" for "input_shape".
std::string MemberOf(const std::string& key) {
  if (key == "rank_id") return "SetRankID";
  std::string member = "Set";
  bool upper = true;
  for (const char c : key) {
    if (c != '_') member += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return member;
}

// A setting as an option of a delegate library.
struct Option {
  std::string key, value;
  std::string member;    // name of the setting, for messages
  bool selects = false;  // it selects the device, so that it must not be ignored
  bool implied = false;  // a default of the device, which is not logged if it is not declared
};

// Adds the options for precision. A GPU's `auto` uses half precision if it is faster; the precision
// mode of another device is passed as it is.
void AddPrecision(const DeviceInfo& device, const Config& config, std::vector<Option>* options) {
  std::string mode = device.Setting("precision_mode");
  std::string member = "SetPrecisionMode";
  if (device.type != kMSDeviceTypeGPU && !mode.empty()) {
    options->push_back({"precision_mode", mode, member});
  }
  const std::string configured = config.Get("gpu_context", "precision_mode");
  if (device.type == kMSDeviceTypeGPU && !configured.empty()) {
    mode = configured;
    member = "precision_mode of the configuration";
  }
  if (mode == "enforce_fp16" || mode == "preferred_fp16") mode = "fp16";
  if (device.type == kMSDeviceTypeGPU && mode == "fp16") {
    options->push_back({"precision", "auto", member});
  } else if (device.enable_fp16) {
    const bool gpu = device.type == kMSDeviceTypeGPU;
    options->push_back({"precision", gpu ? "auto" : "fp16", "SetEnableFP16"});
  }
}

std::vector<Option> OptionsOf(const DeviceInfo& device, const Config& config) {
  std::vector<Option> options;
  if (device.type == kMSDeviceTypeKirinNPU) {
    const bool is_default = device.frequency == kDefaultFrequency;
    options.push_back(
        {"frequency", std::to_string(device.frequency), "SetFrequency", false, is_default});
  }
  AddPrecision(device, config, &options);
  const std::string id = device.Setting("device_id");
  if (!device.provider_device.empty()) {
    options.push_back({"device", device.provider_device, "SetProviderDevice"});
  } else if (!id.empty()) {
    options.push_back({"device", id, "SetDeviceID(" + id + ")", id != "0", id == "0"});
  }
  const std::string cache = config.Get("common_context", "model_cache_dir");
  if (!cache.empty()) {
    options.push_back({"cache_dir", cache, "model_cache_dir of the configuration"});
  }
  for (const auto& [key, value] : device.settings) {
    const bool handled = key == "device_id" || key == "precision_mode" || key == "allocator" ||
                         key.starts_with("gl_") || key == "enable_gl_texture";
    if (!handled && !value.empty()) options.push_back({key, value, MemberOf(key)});
  }
  return options;
}

}  // namespace

TfLiteDelegate* CreateDeviceDelegate(const DeviceInfo& device, const Config& config,
                                     std::string* out_problem) {
  const std::string library = LibraryOf(device);
  if (library.empty()) {
    *out_problem = "it has no delegate library; name one with SetProvider";
    return nullptr;
  }
  const std::unique_ptr<DeputyPlugin, PluginDeleter> plugin(
      DeputyPluginLoadWithErrorReporter(library.c_str(), DiscardError, nullptr));
  if (plugin == nullptr) {
    *out_problem = DeputyLastError();
    return nullptr;
  }
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyPluginDescribe(plugin.get(), &info) != kTfLiteOk) info.option_count = 0;
  const std::vector<Option> options = OptionsOf(device, config);
  std::vector<const char*> keys, values;
  for (const Option& option : options) {
    bool declared = false;
    for (size_t i = 0; i < info.option_count; ++i) {
      declared = declared || option.key == info.options[i].name;
    }
    if (declared) {
      keys.push_back(option.key.c_str());
      values.push_back(option.value.c_str());
    } else if (option.selects) {
      *out_problem = option.member + ": " + library + " has no option '" + option.key + "'";
      return nullptr;
    } else if (!option.implied) {
      Log(kDeputyMSLogWarning, "device %s: %s has no effect: %s has no option '%s'", device.name(),
          option.member.c_str(), library.c_str(), option.key.c_str());
    }
  }
  TfLiteDelegate* delegate = DeputyPluginCreateDelegateWithErrorReporter(
      plugin.get(), keys.data(), values.data(), keys.size(), DiscardError, nullptr);
  if (delegate == nullptr) *out_problem = DeputyLastError();
  return delegate;
}

void LogUnusedSettings(const DeviceInfo& device, const char* reason) {
  const auto log = [&](const std::string& member, const char* why) {
    Log(kDeputyMSLogWarning, "device %s: %s has no effect: %s", device.name(), member.c_str(), why);
  };
  const bool is_cpu =
      device.type == kMSDeviceTypeCPU || static_cast<int>(device.type) == kAllDevices;
  const char* const why = is_cpu ? "no kernel is registered for it" : reason;
  Registry& registry = Registry::Get();
  if (!device.provider.empty() && !registry.HasKernels(device.provider, "")) {
    log("SetProvider(" + device.provider + ")", why);
  }
  const bool has_kernels = registry.HasKernels(device.provider, device.provider_device);
  if (!device.provider_device.empty() && !has_kernels) {
    log("SetProviderDevice(" + device.provider_device + ")", why);
  }
  if (is_cpu) return;
  for (const Option& option : OptionsOf(device, Config())) {
    if (!option.implied && option.member != "SetProviderDevice") log(option.member, reason);
  }
}

}  // namespace deputy::ms_api
