// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/make_plan.h"

#include "gpu_cl/emit.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Operation;
using compiler::ValueId;

Plan MakePlan(const Graph& graph, const std::vector<ValueId>& storage, const PlanOptions& options) {
  Plan plan;
  plan.prelude = Prelude();
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    const ValueId output = operation.output();
    if (storage[static_cast<size_t>(output)] != output) continue;
    StepWriter steps(graph, static_cast<int>(i), options, &plan);
    std::visit([&](const auto& kind) { Emit(kind, &steps); }, operation.kind);
  }
  return plan;
}

}  // namespace deputy::gpu_cl
