// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/device_policy.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

namespace deputy {
namespace {

struct DeviceType {
  std::string_view name;
  // Class of devices that state none.
  uint8_t power_class;
  // Rank by policy, in the order of DeputyDevicePolicy; the highest is chosen.
  uint8_t rank[5];
};

constexpr DeviceType kTypes[] = {
    {"discrete GPU", kDeputyPowerHigh, {4, 1, 2, 3, 4}},
    {"accelerator", kDeputyPowerMedium, {3, 3, 1, 2, 2}},
    {"integrated GPU", kDeputyPowerMedium, {2, 2, 3, 1, 3}},
    {"NPU", kDeputyPowerLow, {1, 4, 4, 4, 1}},
};

// Compared from left to right; the greatest key is chosen. 0 in the first field: never.
using Key = std::tuple<int, int, uint64_t>;

Key KeyOf(DeputyDevicePolicy policy, const DeputyDeviceInfo& device) {
  const std::string_view name = device.type == nullptr ? "" : device.type;
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const DeviceType& each) { return each.name == name; });
  if (type == std::end(kTypes)) return {};
  const bool has_power =
      device.power_class >= kDeputyPowerLow && device.power_class <= kDeputyPowerHigh;
  const int power = has_power ? device.power_class : type->power_class;
  const int rank = type->rank[policy];
  switch (policy) {
    case kDeputyDevicePolicyEfficiency:
      return {kDeputyPowerHigh - power, rank, 0};
    case kDeputyDevicePolicyLatency:
      return {device.preferred_batch > 1 ? 1 : 2, rank, 0};
    default:
      return {rank, power, device.memory_bytes};
  }
}

}  // namespace

DeputyDeviceInfo KnownFields(const DeputyDeviceInfo& device) {
  DeputyDeviceInfo known = {};
  std::memcpy(&known, &device, std::min(device.struct_size, sizeof known));
  known.struct_size = sizeof known;
  return known;
}

bool IsUsableDevice(const DeputyDeviceInfo* device) {
  return device != nullptr && device->struct_size >= kFirstDeviceInfoSize && device->usable != 0 &&
         device->index >= 0;
}

int64_t ChooseDevice(DeputyDevicePolicy policy, std::span<const DeputyDeviceInfo* const> devices) {
  int64_t chosen = -1;
  Key best;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!IsUsableDevice(devices[i])) continue;
    const Key key = KeyOf(policy, KnownFields(*devices[i]));
    if (std::get<0>(key) == 0 || key <= best) continue;
    best = key;
    chosen = static_cast<int64_t>(i);
  }
  return chosen;
}

}  // namespace deputy
