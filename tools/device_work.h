// SPDX-License-Identifier: Apache-2.0
//
// What the devices of delegates did and how long it took, where the delegates take times.
#ifndef DEPUTY_TOOLS_DEVICE_WORK_H_
#define DEPUTY_TOOLS_DEVICE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deputy/deputy.h"
#include "json.h"

namespace deputy::tools {

// A kernel or a copy; see DeputyDeviceEvent.
struct DeviceWork {
  size_t delegate = 0;  // which of those that were asked
  int node = -1;
  std::string name, kernel;
  int64_t begin_ns = 0, duration_ns = 0;
};

// What the delegates' devices did since the last call. Null handles, and delegates that cannot say,
// give nothing.
std::vector<DeviceWork> TakeDeviceWork(const std::vector<TfLiteDelegate*>& delegates);

// By kernel, then by node, the most expensive first and at most `limit` nodes; times per inference.
void PrintDeviceWork(const std::vector<DeviceWork>& work, size_t inferences, size_t limit);
// "kernels" and "nodes", all of them.
Json DeviceWorkJson(const std::vector<DeviceWork>& work, size_t inferences);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DEVICE_WORK_H_
