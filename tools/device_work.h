// SPDX-License-Identifier: Apache-2.0
//
// Operations of the delegates' devices and their durations, for delegates that measure times.
#ifndef DEPUTY_TOOLS_DEVICE_WORK_H_
#define DEPUTY_TOOLS_DEVICE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deputy/deputy.h"
#include "json.h"

namespace deputy::tools {

// A kernel or a copy that a device has executed (DeputyDeviceEvent).
struct DeviceWork {
  size_t delegate = 0;  // index among the requested delegates
  int node = -1;
  std::string name, kernel;
  int64_t begin_ns = 0, duration_ns = 0;
};

// Returns and clears the operations of the delegates' devices since the last call. Null handles and
// delegates without this feature are skipped.
std::vector<DeviceWork> TakeDeviceWork(const std::vector<TfLiteDelegate*>& delegates);

// Prints one table by kernel and one by node, most expensive first, the latter with at most `limit`
// rows; times are per inference.
void PrintDeviceWork(const std::vector<DeviceWork>& work, size_t inferences, size_t limit);
// Returns all rows of the two tables, as "kernels" and "nodes".
Json DeviceWorkJson(const std::vector<DeviceWork>& work, size_t inferences);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DEVICE_WORK_H_
