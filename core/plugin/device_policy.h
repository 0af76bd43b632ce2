// SPDX-License-Identifier: Apache-2.0
//
// Ranking of devices by policies.
#ifndef DEPUTY_CORE_PLUGIN_DEVICE_POLICY_H_
#define DEPUTY_CORE_PLUGIN_DEVICE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "c_api/include/deputy_devices.h"

namespace deputy {

// Size of DeputyDeviceInfo in its first release.
inline constexpr size_t kFirstDeviceInfoSize = offsetof(DeputyDeviceInfo, power_class);

// Returns the fields that both versions of the struct have; the others are zero.
DeputyDeviceInfo KnownFields(const DeputyDeviceInfo& device);

// Returns true for a device that delegates can be created on.
bool IsUsableDevice(const DeputyDeviceInfo* device);

// Returns the position of the device that the policy, a value of the enum, chooses, or -1 for the
// CPU.
int64_t ChooseDevice(DeputyDevicePolicy policy, std::span<const DeputyDeviceInfo* const> devices);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_DEVICE_POLICY_H_
