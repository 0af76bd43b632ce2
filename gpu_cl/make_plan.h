// SPDX-License-Identifier: Apache-2.0
//
// From a graph to kernels and steps.
//
// There are up to three ways to compute an operation, the best one first: as the options say, with
// what was chosen for it and in images; by the rules, in buffers; with plain kernels. The next one
// is taken where the one before needs a kernel that the device refused.
#ifndef DEPUTY_GPU_CL_MAKE_PLAN_H_
#define DEPUTY_GPU_CL_MAKE_PLAN_H_

#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/plan.h"
#include "gpu_cl/plan_options.h"

namespace deputy::gpu_cl {

// Operations that only give contents another shape have no step where their output has its input's
// memory (compiler/lifetimes.h). Every other operation of the graph has one at least, unless there
// is nothing to write.
Plan MakePlan(const compiler::Graph& graph, const std::vector<compiler::ValueId>& storage,
              const PlanOptions& options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_MAKE_PLAN_H_
