// SPDX-License-Identifier: Apache-2.0
//
// Description of the host's processor for plug-ins whose delegates compute on it.
#ifndef DEPUTY_CORE_SUPPORT_HOST_DEVICE_H_
#define DEPUTY_CORE_SUPPORT_HOST_DEVICE_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

// Returns the model name in /proc/cpuinfo, or "CPU" where the kernel reports none, as on Arm.
inline std::string HostProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

// Calls `callback` with the host's processor; `platform` and `version` name the library whose
// kernels compute on it. A null callback is ignored.
inline void ListHostDevice(const char* platform, const char* version, DeputyDeviceCallback callback,
                           void* user_data) {
  const std::string name = HostProcessorName();
  const auto memory = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L)) *
                      static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  DeputyDeviceInfo info = {};
  info.struct_size = sizeof info;
  info.usable = 1;
  info.platform = platform;
  info.platform_version = version;
  info.name = name.c_str();
  info.type = "CPU";
  info.device_class = "cpu";
  info.vendor = info.version = info.driver_version = info.extensions = info.options = "";
  info.memory_bytes = info.max_buffer_bytes = memory;
  info.compute_units = static_cast<uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 0L));
  info.power_class = kDeputyPowerMedium;
  info.preferred_layout = kDeputyLayoutNhwc;
  info.preferred_precision = "as in the model";
  if (callback != nullptr) callback(user_data, &info);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_HOST_DEVICE_H_
