// SPDX-License-Identifier: Apache-2.0
//
// `deputy devices`: lists the devices that delegates can use, or the reason why there are none. The
// text is written from the JSON document, so that both agree.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "delegate_option.h"
#include "deputy/deputy.h"
#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

const char* PowerText(int32_t power_class) {
  switch (power_class) {
    case kDeputyPowerLow:
      return "low";
    case kDeputyPowerMedium:
      return "medium";
    case kDeputyPowerHigh:
      return "high";
    default:
      return "";
  }
}

const char* PreferredLayout(int32_t layout) {
  switch (layout) {
    case kDeputyLayoutNhwc:
      return "NHWC";
    case kDeputyLayoutNchw:
      return "NCHW";
    default:
      return "";
  }
}

// Size of the struct in its first release.
constexpr size_t kFirstSize = offsetof(DeputyDeviceInfo, power_class);

void AddDevice(void* entry, const DeputyDeviceInfo* listed) {
  if (listed == nullptr || listed->struct_size < kFirstSize) return;
  DeputyDeviceInfo device = {};
  std::memcpy(&device, listed, std::min(listed->struct_size, sizeof device));
  (*static_cast<Json*>(entry))["devices"].push_back(
      {{"index", device.index},
       {"usable", device.usable != 0},
       {"name", OrEmpty(device.name)},
       {"vendor", OrEmpty(device.vendor)},
       {"type", OrEmpty(device.type)},
       {"class", OrEmpty(device.device_class)},
       {"platform", OrEmpty(device.platform)},
       {"platform_version", OrEmpty(device.platform_version)},
       {"version", OrEmpty(device.version)},
       {"driver_version", OrEmpty(device.driver_version)},
       {"memory_bytes", device.memory_bytes},
       {"max_buffer_bytes", device.max_buffer_bytes},
       {"compute_units", device.compute_units},
       {"fp16", device.fp16 != 0},
       {"extensions", SplitText(OrEmpty(device.extensions), ' ')},
       {"power", PowerText(device.power_class)},
       {"prefers",
        {{"precision", OrEmpty(device.preferred_precision)},
         {"layout", PreferredLayout(device.preferred_layout)},
         {"batch", std::max(device.preferred_batch, 0)}}},
       {"options", OrEmpty(device.options)}});
}

Json EntryJson(const std::string& name, const std::string& path, const DeputyPlugin* plugin,
               const char* error) {
  Json entry = {{"name", name}, {"path", path}, {"devices", Json::array()}};
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin == nullptr || DeputyPluginDescribe(plugin, &info) != kTfLiteOk) {
    entry["problem"] = OrEmpty(error);
    return entry;
  }
  entry["name"] = info.name;
  if (DeputyPluginListDevices(plugin, &AddDevice, &entry) != kTfLiteOk) {
    entry["problem"] = DeputyLastError();
  } else if (entry["devices"].empty()) {
    entry["problem"] = path + ": listed no device and gave no reason";
  }
  return entry;
}

Json EntryOf(const std::string& library) {
  const std::string path = LibraryPath(library);
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(path.c_str()), &DeputyPluginRelease);
  return EntryJson(library, path, plugin.get(), DeputyLastError());
}

// Returns an entry for each plug-in of the search path and of Deputy.
Json AllEntries() {
  // With this variable, a library that ends the process while it is loaded becomes an entry with a
  // problem.
  setenv("DEPUTY_PLUGIN_PROBE", "1", /*replace=*/0);
  const std::unique_ptr<DeputyPluginList, void (*)(DeputyPluginList*)> list(
      DeputyPluginListCreate(PluginSearchPath().c_str()), &DeputyPluginListDelete);
  Json entries = Json::array();
  for (size_t i = 0; i < DeputyPluginListGetCount(list.get()); ++i) {
    const std::string path = OrEmpty(DeputyPluginListGetPath(list.get(), i));
    entries.push_back(EntryJson(path, path, DeputyPluginListGetPlugin(list.get(), i),
                                DeputyPluginListGetError(list.get(), i)));
  }
  return entries;
}

std::string Field(const Json& json, const char* name) {
  return OneLine(json[name].get<std::string>());
}

// Joins the texts that are not empty.
std::string Joined(const std::vector<std::string>& texts, const char* separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!text.empty()) joined += (joined.empty() ? "" : separator) + text;
  }
  return joined;
}

// Returns what a device prefers, for example "fp16, NHWC, batch 4"; "" if it prefers nothing.
std::string PreferenceText(const Json& prefers) {
  const int batch = prefers["batch"].get<int>();
  return Joined({Field(prefers, "precision"), prefers["layout"].get<std::string>(),
                 batch > 0 ? "batch " + std::to_string(batch) : ""},
                ", ");
}

void PrintDevice(const Json& device) {
  const auto print = [](const char* name, const std::string& value) {
    if (!value.empty()) std::printf("      %-9s %s\n", name, value.c_str());
  };
  const auto field = [&](const char* name) { return Field(device, name); };
  std::printf("  [%d] %s\n", device["index"].get<int>(),
              Joined({field("name"), field("vendor")}, ", ").c_str());
  if (!device["usable"]) {
    std::printf("      not usable: it is not available, or has no compiler\n");
  }
  print("type", field("type") + ", kernels for " + field("class"));
  print("driver", Joined({Joined({field("platform"), field("platform_version")}, " "),
                          field("driver_version")},
                         "; "));
  print("device", Joined({field("version"),
                          PluralText(device["compute_units"], "compute unit", "compute units")},
                         ", "));
  print("memory", BytesText(device["memory_bytes"]) + ", buffers up to " +
                      BytesText(device["max_buffer_bytes"]));
  print("fp16", device["fp16"] ? "yes" : "no");
  print("prefers", PreferenceText(device["prefers"]));
  print("power", field("power"));
  print("options", field("options"));
}

}  // namespace

void ListDevices(const DevicesOptions& options) {
  const QuietReports quiet;
  Json entries = options.libraries.empty() ? AllEntries() : Json::array();
  for (const std::string& library : options.libraries) entries.push_back(EntryOf(library));
  size_t devices = 0;
  for (const Json& entry : entries) devices += entry["devices"].size();
  if (options.json) {
    std::printf("%s\n", JsonText(entries, 2).c_str());
  } else {
    for (const Json& entry : entries) {
      std::printf("%s\n", Field(entry, "name").c_str());
      if (entry.contains("problem")) std::printf("  none: %s\n", Field(entry, "problem").c_str());
      for (const Json& device : entry["devices"]) PrintDevice(device);
    }
  }
  if (devices == 0) FailWork("no device");
}

}  // namespace deputy::tools
