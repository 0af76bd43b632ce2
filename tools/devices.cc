// SPDX-License-Identifier: Apache-2.0
//
// `deputy devices`: lists the devices that delegates can use, or the reason why there are none. The
// text is written from the JSON document, so that both agree.
#include <cstdio>
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

void AddDevice(void* entry, const DeputyDeviceInfo* device) {
  // Plug-ins of an earlier release would have fewer fields; no such release exists yet.
  if (device->struct_size < sizeof *device) return;
  (*static_cast<Json*>(entry))["devices"].push_back(
      {{"index", device->index},
       {"usable", device->usable != 0},
       {"name", OrEmpty(device->name)},
       {"vendor", OrEmpty(device->vendor)},
       {"type", OrEmpty(device->type)},
       {"class", OrEmpty(device->device_class)},
       {"platform", OrEmpty(device->platform)},
       {"platform_version", OrEmpty(device->platform_version)},
       {"version", OrEmpty(device->version)},
       {"driver_version", OrEmpty(device->driver_version)},
       {"memory_bytes", device->memory_bytes},
       {"max_buffer_bytes", device->max_buffer_bytes},
       {"compute_units", device->compute_units},
       {"fp16", device->fp16 != 0},
       {"extensions", SplitText(OrEmpty(device->extensions), ' ')}});
}

Json EntryJson(const std::string& library) {
  const QuietReports quiet;
  const std::string path = LibraryPath(library);
  Json entry = {{"name", library}, {"path", path}, {"devices", Json::array()}};
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(path.c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin != nullptr && DeputyPluginDescribe(plugin.get(), &info) == kTfLiteOk) {
    entry["name"] = info.name;
  }
  if (plugin == nullptr || DeputyPluginListDevices(plugin.get(), &AddDevice, &entry) != kTfLiteOk) {
    entry["problem"] = DeputyLastError();
  }
  return entry;
}

std::string Field(const Json& json, const char* name) {
  return OneLine(json[name].get<std::string>());
}

void PrintDevice(const Json& device) {
  std::printf("  [%d] %s, %s\n", device["index"].get<int>(), Field(device, "name").c_str(),
              Field(device, "vendor").c_str());
  if (!device["usable"]) {
    std::printf("      not usable: it is not available, or has no compiler\n");
  }
  std::printf("      type      %s, kernels for %s\n", Field(device, "type").c_str(),
              Field(device, "class").c_str());
  std::printf("      driver    %s %s; %s\n", Field(device, "platform").c_str(),
              Field(device, "platform_version").c_str(), Field(device, "driver_version").c_str());
  std::printf("      device    %s, %s\n", Field(device, "version").c_str(),
              PluralText(device["compute_units"], "compute unit", "compute units").c_str());
  std::printf("      memory    %s, buffers up to %s\n", BytesText(device["memory_bytes"]).c_str(),
              BytesText(device["max_buffer_bytes"]).c_str());
  std::printf("      fp16      %s\n", device["fp16"] ? "yes" : "no");
}

}  // namespace

void ListDevices(const DevicesOptions& options) {
  std::vector<std::string> libraries = options.libraries;
  if (libraries.empty()) libraries.emplace_back("gpu");
  Json entries = Json::array();
  size_t devices = 0;
  for (const std::string& library : libraries) {
    entries.push_back(EntryJson(library));
    devices += entries.back()["devices"].size();
  }
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
