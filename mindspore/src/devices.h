// SPDX-License-Identifier: Apache-2.0
//
// Delegate libraries of the devices of a context.
#ifndef DEPUTY_MINDSPORE_SRC_DEVICES_H_
#define DEPUTY_MINDSPORE_SRC_DEVICES_H_

#include <string>

#include "mindspore/src/config.h"
#include "mindspore/src/context.h"

struct TfLiteDelegate;

namespace deputy::ms_api {

// Creates the delegate of a device that is not the CPU, with the settings of the device and of the
// configuration as options of its library. Returns null, and the reason in `out_problem`, if the
// device or its library is not available, or if a device number other than 0 is set and the library
// does not declare the option "device". Other settings that it does not declare are logged. The
// caller deletes the delegate with DeputyPluginDeleteDelegate.
TfLiteDelegate* CreateDeviceDelegate(const DeviceInfo& device, const Config& config,
                                     std::string* out_problem);

// Logs the settings of a device whose library is not used. `reason` is the end of a sentence.
void LogUnusedSettings(const DeviceInfo& device, const char* reason);

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_DEVICES_H_
