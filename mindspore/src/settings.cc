// SPDX-License-Identifier: Apache-2.0
//
// Settings of contexts and devices that the runtime does not obey. Those that would change results
// fail the build; the others are logged.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "mindspore/src/context.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

// A setting that is not obeyed. `text` explains it, as the end of a sentence.
struct Refusal {
  const char* setting;
  const char* member;  // function of the C++ API, for messages
  const char* text;
};

constexpr Refusal kContextRefusals[] = {
    {"multi_modal_hw", "SetMultiModalHW(true)", "quantised models run as they are"},
    {"group_info_file", "SetGroupInfoFile", "a model runs in one process"},
};

constexpr Refusal kDeviceRefusals[] = {
    {"enable_gl_texture", "SetEnableGLTexture(true)", "memory is not shared with OpenGL"},
    {"gl_context", "SetGLContext", "memory is not shared with OpenGL"},
    {"gl_display", "SetGLDisplay", "memory is not shared with OpenGL"},
};

constexpr const char* kContextSettings[] = {"inter_op_parallel_num", "multi_modal_hw",
                                            "group_info_file", "built_in_delegate"};

bool IsSet(const Settings& settings, const char* name) {
  const auto found = settings.find(name);
  return found != settings.end() && !found->second.empty() && found->second != "false";
}

MSStatus Refuse(const Refusal& refusal) {
  return Fail(kMSStatusLiteNotSupport, "the context: %s is not supported: %s", refusal.member,
              refusal.text);
}

}  // namespace

const char* DeviceName(int type) {
  constexpr const char* kNames[] = {"CPU",       "GPU", "KirinNPU", "Ascend", "Ascend910",
                                    "Ascend310", "DSP", "Custom",   "Auto"};
  const bool known = type >= 0 && static_cast<size_t>(type) < std::size(kNames);
  return known ? kNames[type] : "Invalid";
}

MSStatus Context::Set(const std::string& name, const char* value) {
  const auto known = std::find(std::begin(kContextSettings), std::end(kContextSettings), name);
  if (known == std::end(kContextSettings)) {
    return Fail(kMSStatusLiteParamInvalid, "the context: unknown setting '%s'", name.c_str());
  }
  settings[name] = value;
  return kMSStatusSuccess;
}

MSStatus Context::CheckSettings() const {
  for (const Refusal& refusal : kContextRefusals) {
    if (IsSet(settings, refusal.setting)) return Refuse(refusal);
  }
  if (parallel) {
    Log(kDeputyMSLogWarning,
        "the context: SetEnableParallel(true) has no effect: operators run one after another");
  }
  const auto found = settings.find("inter_op_parallel_num");
  if (found != settings.end() && std::atoi(found->second.c_str()) > 1) {
    Log(kDeputyMSLogWarning,
        "the context: SetInterOpParallelNum(%s) has no effect: operators run one after another",
        found->second.c_str());
  }
  if (affinity_mode != 0 && !cores.empty()) {
    Log(kDeputyMSLogWarning,
        "the context: SetThreadAffinity(%d) has no effect: the list of cores takes precedence",
        affinity_mode);
  }
  if (IsSet(settings, "built_in_delegate") && delegate != nullptr) {
    Log(kDeputyMSLogWarning,
        "the context: SetBuiltInDelegate(%s) has no effect: the context has a delegate",
        settings.at("built_in_delegate").c_str());
  } else if (IsSet(settings, "built_in_delegate")) {
    Log(kDeputyMSLogWarning,
        "the context: the delegate %s of SetBuiltInDelegate declined: Init returned -7 (not "
        "supported)",
        settings.at("built_in_delegate").c_str());
  }
  for (const auto& device : devices) {
    if (const MSStatus status = CheckDevice(*device); status != kMSStatusSuccess) return status;
  }
  return kMSStatusSuccess;
}

MSStatus Context::CheckDevice(const DeviceInfo& device) {
  for (const Refusal& refusal : kDeviceRefusals) {
    if (IsSet(device.settings, refusal.setting)) return Refuse(refusal);
  }
  if (IsSet(device.settings, "allocator")) {
    Log(kDeputyMSLogWarning,
        "device %s: SetAllocator has no effect: the runtime allocates the model's memory",
        device.name());
  }
  if (device.type == kMSDeviceTypeCPU || static_cast<int>(device.type) == kAllDevices) {
    for (const auto& [name, value] : device.settings) {
      if (name == "allocator" || value.empty()) continue;
      Log(kDeputyMSLogWarning, "device %s: setting '%s' has no effect", device.name(),
          name.c_str());
    }
  }
  const std::string mode = device.Setting("precision_mode");
  constexpr const char* kGpuModes[] = {"",     "origin",         "enforce_fp32",
                                       "fp16", "preferred_fp16", "enforce_fp16"};
  if (device.type == kMSDeviceTypeGPU &&
      std::find(std::begin(kGpuModes), std::end(kGpuModes), mode) == std::end(kGpuModes)) {
    return Fail(kMSStatusLiteParamInvalid,
                "device GPU: SetPrecisionMode: expected 'origin', 'enforce_fp32', 'fp16', "
                "'preferred_fp16' or 'enforce_fp16', found '%s'",
                mode.c_str());
  }
  return kMSStatusSuccess;
}

}  // namespace deputy::ms_api
