// SPDX-License-Identifier: Apache-2.0
//
// --trace FILE: writes when every node ran, on which thread or delegate, and the operations of the
// delegates' devices, in the JSON format of chrome://tracing and Perfetto.
#ifndef DEPUTY_TOOLS_TRACE_H_
#define DEPUTY_TOOLS_TRACE_H_

#include <string>
#include <vector>

#include "device_work.h"
#include "profile.h"

namespace deputy::tools {

// Option that makes delegates measure times, if they declare it.
inline constexpr const char* kTimesFlag = "profiling";

// Writes the file; ends the command with kExitUsage if it cannot be opened. `profile` must have
// kept its events; `delegates` are those that `work` was taken from, in the same order.
void WriteTrace(const std::string& path, const Profile& profile,
                const std::vector<TfLiteDelegate*>& delegates, const std::vector<DeviceWork>& work);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TRACE_H_
