// SPDX-License-Identifier: Apache-2.0
//
// Cost model: estimated times on the device and on the CPU, and the gain of a partition. The
// numbers are rough, per class of device; they separate worthwhile partitions from others and are
// not predictions.
#ifndef DEPUTY_GPU_CL_COST_H_
#define DEPUTY_GPU_CL_COST_H_

#include "compiler/graph.h"
#include "core/support/cost.h"
#include "gpu_cl/device/device.h"

namespace deputy::gpu_cl {

struct CostModel {
  Rates cpu;
  Rates device;
  double border_bytes = 1;  // bytes per nanosecond between host and device
  double submit_ns = 0;     // time per run of a partition, in addition to its operations
};

// Returns the model for kernels of a class on a device, against a CPU with `threads` threads
// (values below 1 count as 1).
CostModel CostModelOf(const DeviceProfile& profile, DeviceClass device_class, int threads);

// Returns the time, in nanoseconds per inference, that a partition is expected to save, given its
// graph as imported: the nodes' time on the CPU, minus the time of the operations that remain after
// the passes on the device, of transfers between host and device, and of submission. Negative if
// the CPU is faster.
double GainNs(const CostModel& model, const compiler::Graph& imported);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_COST_H_
