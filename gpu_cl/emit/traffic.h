// SPDX-License-Identifier: Apache-2.0
//
// Bytes that the kernels of a plan read and write in the device's global memory, as a measure that
// does not depend on a device. Each buffer of a kernel counts once and in full, however often or
// partially the kernel accesses it.
#ifndef DEPUTY_GPU_CL_EMIT_TRAFFIC_H_
#define DEPUTY_GPU_CL_EMIT_TRAFFIC_H_

#include <cstddef>
#include <string>

#include "compiler/graph.h"
#include "gpu_cl/emit/plan.h"

namespace deputy::gpu_cl {

struct Traffic {
  size_t read = 0, written = 0;

  size_t total() const { return read + written; }
};

// Returns the bytes of a step of the graph's plan.
Traffic TrafficOf(const compiler::Graph& graph, const Plan& plan, const Step& step);
// Returns the bytes of all steps.
Traffic TrafficOf(const compiler::Graph& graph, const Plan& plan);
// Returns a line per step, and one for all steps.
std::string TrafficText(const compiler::Graph& graph, const Plan& plan);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_TRAFFIC_H_
