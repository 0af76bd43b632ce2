// SPDX-License-Identifier: Apache-2.0
//
// Repeats a record with a delegate: applies the delegate to the model, runs the recorded kernels
// with the recorded inputs, and compares each call with the recorded one.
#ifndef DEPUTY_TOOLS_FAKE_HOST_H_
#define DEPUTY_TOOLS_FAKE_HOST_H_

#include "commands.h"

namespace deputy::tools {

// Prints the differences. Ends the command with kExitFailed if there are any, and with kExitUsage
// if the model is not the recorded one.
void RunFakeHost(const ReplayOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_FAKE_HOST_H_
