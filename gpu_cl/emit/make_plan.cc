// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/make_plan.h"

#include <algorithm>
#include <cstddef>

#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Operation;
using compiler::ValueId;

namespace {

enum Strategy { kTuned, kHeuristic, kFallback };

PlanOptions OptionsOf(Strategy strategy, int operation, PlanOptions options) {
  if (strategy == kTuned) return options;
  options.storage = Storage::kBuffer;
  options.choices.erase(operation);
  options.group_tiles = strategy == kHeuristic && options.matrix_units;
  options.matrix_units = false;
  if (strategy == kFallback) options.vector_width = 0;
  return options;
}

// Appends the steps of an operation with the given options.
void AddSteps(const Graph& graph, size_t operation, const PlanOptions& options, Plan* plan) {
  StepWriter steps(graph, static_cast<int>(operation), options, plan);
  std::visit([&](const auto& kind) { Emit(kind, &steps); }, graph.operations[operation].kind);
}

// Sizes of a plan before an operation is added, so that the operation's steps can be removed again.
struct Checkpoint {
  explicit Checkpoint(const Plan& plan)
      : kernels(plan.kernels.size()), steps(plan.steps.size()), packings(plan.packings.size()) {}

  void Rollback(Plan* plan) const {
    plan->kernels.resize(kernels);
    plan->steps.resize(steps);
    plan->packings.resize(packings);
  }

  const size_t kernels, steps, packings;
};

bool IsRefused(const Plan& plan, const Checkpoint& checkpoint, const PlanOptions& options) {
  return std::any_of(
      plan.steps.begin() + static_cast<std::ptrdiff_t>(checkpoint.steps), plan.steps.end(),
      [&](const Step& step) { return options.refused.count(plan.TextOf(step)) != 0; });
}

}  // namespace

Plan MakePlan(const Graph& graph, const std::vector<ValueId>& storage, const PlanOptions& options) {
  Plan plan;
  plan.prelude = Prelude(options);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    const ValueId output = operation.output();
    if (storage[static_cast<size_t>(output)] != output) continue;
    const Checkpoint checkpoint(plan);
    AddSteps(graph, i, options, &plan);
    for (const Strategy strategy : {kHeuristic, kFallback}) {
      if (options.refused.empty() || !IsRefused(plan, checkpoint, options)) break;
      checkpoint.Rollback(&plan);
      AddSteps(graph, i, OptionsOf(strategy, static_cast<int>(i), options), &plan);
    }
  }
  if (std::any_of(plan.kernels.begin(), plan.kernels.end(), [](const std::string& text) {
        return text.find("ADD_DOT") != std::string::npos;
      })) {
    plan.prelude += PreludeOfIntegers(options);
  }
  return plan;
}

}  // namespace deputy::gpu_cl
