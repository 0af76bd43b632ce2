// SPDX-License-Identifier: Apache-2.0
//
// How long work is expected to take on the device and on the CPU, and what a partition gains. Rough
// numbers per class of device, which tell a worthwhile partition from one that is not; none is a
// promise.
#ifndef DEPUTY_GPU_CL_COST_H_
#define DEPUTY_GPU_CL_COST_H_

#include "compiler/graph.h"
#include "compiler/work.h"
#include "gpu_cl/device.h"

namespace deputy::gpu_cl {

// What is done in a nanosecond, and what an operation takes besides.
struct Rates {
  double macs = 1;
  double steps = 1;
  double bytes = 1;
  double launch_ns = 0;
  double bytewise = 1;  // how many times as fast int8 is
};

struct CostModel {
  Rates cpu;
  Rates device;
  double border_bytes = 1;  // between host and device, in a nanosecond
  double submit_ns = 0;     // of every run of a partition
};

// For kernels of a class on a device, against a CPU with so many threads (below 1: one).
CostModel CostModelOf(const DeviceProfile& profile, DeviceClass device_class, int threads);

// Arithmetic and memory overlap: the slower of both counts.
double TimeNs(const Rates& rates, const compiler::Work& work);

// What a partition is expected to save, from its graph as it was imported: the nodes' time on the
// CPU, less that of the operations that the passes leave on the device, of the copies over the
// border, and of submitting it. Negative: the CPU is faster.
double GainNs(const CostModel& model, const compiler::Graph& imported);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_COST_H_
