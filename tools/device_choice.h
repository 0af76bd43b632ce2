// SPDX-License-Identifier: Apache-2.0
//
// --device-policy: applies the delegate of the device that a policy chooses from those of all
// plug-ins (deputy_devices.h).
#ifndef DEPUTY_TOOLS_DEVICE_CHOICE_H_
#define DEPUTY_TOOLS_DEVICE_CHOICE_H_

#include <string>
#include <vector>

#include "json.h"
#include "provide.h"

namespace deputy::tools {

// Names of the policies, in the order of DeputyDevicePolicy.
const std::vector<std::string>& DevicePolicyNames();

// Chooses a device and appends the request for its delegate. Returns an object with "policy";
// "order", the types of devices that it prefers to the CPU, the best first; "chosen", null for the
// CPU; "devices", all devices with the reason why they were or were not chosen; and "without", the
// plug-ins without devices. Returns null, and does nothing, if `policy` is "". Ends the command
// with kExitUsage if there is a request already.
Json ChooseDevice(const std::string& policy, std::vector<DelegateRequest>* requests);

// Prints one line on standard error, "deputy: device policy prefer-npu: npu [0] NPU X (NPU)";
// nothing for null.
void WarnOfChoice(const Json& choice);

// Prints the choice and all devices in lines for a terminal; nothing for null.
void PrintChoice(const Json& report);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DEVICE_CHOICE_H_
