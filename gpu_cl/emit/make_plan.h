// SPDX-License-Identifier: Apache-2.0
//
// Translates a graph to kernels and steps.
//
// An operation has up to three implementations, tried in this order: the tuned one, with the
// choices and storage of the options; the heuristic one, with buffers; and the basic kernels. The
// next one is used if the previous one needs a kernel that the device refused.
#ifndef DEPUTY_GPU_CL_EMIT_MAKE_PLAN_H_
#define DEPUTY_GPU_CL_EMIT_MAKE_PLAN_H_

#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/emit/plan.h"
#include "gpu_cl/emit/plan_options.h"

namespace deputy::gpu_cl {

// Makes the plan of a graph. Operations that only change the shape have no step if their output
// shares its input's memory (compiler/lifetimes.h). Every other operation has at least one step,
// unless its output is empty.
Plan MakePlan(const compiler::Graph& graph, const std::vector<compiler::ValueId>& storage,
              const PlanOptions& options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_MAKE_PLAN_H_
