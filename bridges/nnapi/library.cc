// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "core/support/option_list.h"

namespace deputy::nnapi {
namespace {

constexpr char kDefaultName[] = "libneuralnetworks.so";

constexpr const char* kResults[] = {
    "NO_ERROR",
    "OUT_OF_MEMORY",
    "INCOMPLETE",
    "UNEXPECTED_NULL",
    "BAD_DATA",
    "OP_FAILED",
    "BAD_STATE",
    "UNMAPPABLE",
    "OUTPUT_INSUFFICIENT_SIZE",
    "UNAVAILABLE_DEVICE",
    "MISSED_DEADLINE_TRANSIENT",
    "MISSED_DEADLINE_PERSISTENT",
    "RESOURCE_EXHAUSTED_TRANSIENT",
    "RESOURCE_EXHAUSTED_PERSISTENT",
    "DEAD_OBJECT",
};

// Returns the library's name in the environment; "" if there is none.
std::string NameInEnvironment() {
  const char* const name = std::getenv("DEPUTY_NNAPI_LIBRARY");
  return name == nullptr ? "" : name;
}

std::string NameFor(const std::string& option) {
  if (!option.empty()) return option;
  const std::string name = NameInEnvironment();
  return name.empty() ? kDefaultName : name;
}

// Describes the origin of the library's name, for messages: "'libneuralnetworks.so', its default
// name".
std::string Describe(const std::string& name, const std::string& option) {
  if (!option.empty()) return "'" + name + "', which the options name";
  return "'" + name + "', " +
         (NameInEnvironment().empty() ? "its default name" : "which DEPUTY_NNAPI_LIBRARY names");
}

// Loads the function table. Returns the names of missing required functions.
std::string LoadFunctions(void* library, Functions* functions) {
  std::string missing;
#define DEPUTY_NNAPI_FIND(member, symbol, result, arguments) \
  functions->member =                                        \
      reinterpret_cast<decltype(functions->member)>(dlsym(library, "ANeuralNetworks" #symbol));
#define DEPUTY_NNAPI_NEED(member, symbol, result, arguments)                       \
  DEPUTY_NNAPI_FIND(member, symbol, result, arguments)                             \
  if (functions->member == nullptr) {                                              \
    missing.append(missing.empty() ? "" : ", ").append("ANeuralNetworks" #symbol); \
  }
  DEPUTY_NNAPI_REQUIRED(DEPUTY_NNAPI_NEED)
  DEPUTY_NNAPI_LEVEL_2(DEPUTY_NNAPI_FIND)
  DEPUTY_NNAPI_LEVEL_3(DEPUTY_NNAPI_FIND)
  DEPUTY_NNAPI_LEVEL_4(DEPUTY_NNAPI_FIND)
  DEPUTY_NNAPI_LEVEL_5(DEPUTY_NNAPI_FIND)
#undef DEPUTY_NNAPI_NEED
#undef DEPUTY_NNAPI_FIND
  return missing;
}

int ClampLevel(int64_t level) {
  return static_cast<int>(std::clamp<int64_t>(level, kFeatureLevel1, kFeatureLevel5));
}

// Returns the feature level of a library. Libraries before level 5 do not report it, so that it is
// derived from the functions that each level added.
int LevelOf(const Functions& functions) {
  if (functions.getRuntimeFeatureLevel != nullptr) {
    return ClampLevel(functions.getRuntimeFeatureLevel());
  }
  if (functions.Model_relaxComputationFloat32toFloat16 == nullptr) return kFeatureLevel1;
  if (functions.getDeviceCount == nullptr) return kFeatureLevel2;
  return functions.Compilation_setPriority == nullptr ? kFeatureLevel3 : kFeatureLevel4;
}

struct Device {
  ANeuralNetworksDevice* handle = nullptr;
  std::string name;
  int32_t type = 0;
  int64_t level = kFeatureLevel1;
};

// Lists all devices. Returns "" or an error message.
std::string ListDevices(const Functions& functions, std::vector<Device>* out_devices) {
  uint32_t count = 0;
  std::string problem = ErrorText("_getDeviceCount", functions.getDeviceCount(&count));
  for (uint32_t i = 0; i < count && problem.empty(); ++i) {
    Device device;
    const char* name = nullptr;
    problem = ErrorText("_getDevice", functions.getDevice(i, &device.handle));
    if (problem.empty()) {
      problem = ErrorText("Device_getName", functions.Device_getName(device.handle, &name));
    }
    if (problem.empty()) {
      problem = ErrorText("Device_getType", functions.Device_getType(device.handle, &device.type));
    }
    if (problem.empty()) {
      problem = ErrorText("Device_getFeatureLevel",
                          functions.Device_getFeatureLevel(device.handle, &device.level));
    }
    if (!problem.empty()) break;
    device.name = name == nullptr ? "" : name;
    out_devices->push_back(device);
  }
  return problem;
}

bool CanChoose(const Functions& functions) {
  return functions.getDeviceCount != nullptr && functions.getDevice != nullptr &&
         functions.Device_getName != nullptr && functions.Device_getType != nullptr &&
         functions.Device_getFeatureLevel != nullptr &&
         functions.Compilation_createForDevices != nullptr;
}

const char* TypeName(int32_t type) {
  switch (type) {
    case kDeviceCpu:
      return "CPU";
    case kDeviceGpu:
      return "integrated GPU";  // NNAPI is part of Android, whose chips have no other GPUs
    case kDeviceAccelerator:
      return "NPU";
    default:
      return "other";
  }
}

void ReportDevice(const Device& device, int32_t index, const std::string& path,
                  DeputyDeviceCallback callback, void* user_data) {
  std::string options;
  AppendOption("accelerator_name=" + device.name, &options);
  const std::string level = "feature level " + std::to_string(device.level);
  DeputyDeviceInfo info = {};
  info.struct_size = sizeof info;
  info.index = index;
  info.usable = 1;
  info.platform = "NNAPI";
  info.platform_version = path.c_str();
  info.name = device.name.c_str();
  info.type = TypeName(device.type);
  info.device_class = device.type == kDeviceCpu ? "cpu" : "mobile";
  info.version = level.c_str();
  info.vendor = info.driver_version = info.extensions = "";
  info.power_class = device.type == kDeviceCpu ? kDeputyPowerMedium : kDeputyPowerLow;
  info.preferred_layout = kDeputyLayoutNhwc;
  info.preferred_precision = device.type == kDeviceAccelerator ? "int8" : "";
  info.options = options.c_str();
  if (callback != nullptr) callback(user_data, &info);
}

}  // namespace

std::shared_ptr<const Library> OpenLibrary(const std::string& path, std::string* out_error) {
  const std::string name = NameFor(path);
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    *out_error = "NNAPI's library, " + Describe(name, path) +
                 ", cannot be opened: " + (why == nullptr ? "" : why);
    return nullptr;
  }
  auto library = std::make_shared<Library>();
  library->path = name;
  const std::string missing = LoadFunctions(handle, &library->functions);
  if (!missing.empty()) {
    *out_error = "NNAPI's library, " + Describe(name, path) + ", lacks " + missing;
    dlclose(handle);
    return nullptr;
  }
  library->feature_level = LevelOf(library->functions);
  return library;
}

std::string ChooseDevices(const Library& library, const std::string& accelerator, bool disable_cpu,
                          Devices* out_devices) {
  out_devices->feature_level = library.feature_level;
  if (accelerator.empty() && !disable_cpu) return "";
  if (!CanChoose(library.functions)) {
    if (accelerator.empty()) return "";
    return "option 'accelerator_name': '" + library.path +
           "' has no functions to choose a device, which require feature level 29";
  }
  std::vector<Device> devices;
  std::string problem = ListDevices(library.functions, &devices);
  if (!problem.empty()) return problem;
  std::string names;
  for (const Device& device : devices) {
    names.append(names.empty() ? "" : ", ").append("'" + device.name + "'");
    const bool matches =
        accelerator.empty() ? device.type != kDeviceCpu : device.name == accelerator;
    if (!matches) continue;
    out_devices->chosen.push_back(device.handle);
    out_devices->feature_level = std::min(out_devices->feature_level, ClampLevel(device.level));
  }
  if (!out_devices->chosen.empty()) return "";
  return (accelerator.empty() ? "option 'disable_cpu': expected a device that is not a CPU"
                              : "option 'accelerator_name': expected one of the devices, found '" +
                                    accelerator + "'") +
         std::string("; '") + library.path + "' has " + (names.empty() ? "none" : names);
}

std::string ErrorText(const char* function, int code) {
  if (code == kNoError) return "";
  const bool is_known = code > 0 && static_cast<size_t>(code) < std::size(kResults);
  return "ANeuralNetworks" + std::string(function) + ": " +
         (is_known ? "ANEURALNETWORKS_" + std::string(kResults[code]) : "unknown result") + " (" +
         std::to_string(code) + ")";
}

std::string ListDevices(const Library& library, DeputyDeviceCallback callback, void* user_data) {
  if (!CanChoose(library.functions)) {
    return "NNAPI's library '" + library.path +
           "' has no functions to list devices, which require feature level 29";
  }
  std::vector<Device> devices;
  std::string problem = ListDevices(library.functions, &devices);
  if (problem.empty() && devices.empty()) problem = "NNAPI has no devices";
  for (size_t i = 0; i < devices.size() && problem.empty(); ++i) {
    ReportDevice(devices[i], static_cast<int32_t>(i), library.path, callback, user_data);
  }
  return problem;
}

}  // namespace deputy::nnapi
