// SPDX-License-Identifier: Apache-2.0
//
// Kernels for each kind of operation: the plain ones, which work for all shapes and on every
// device, one work-item for each element of the output or each row.
#ifndef DEPUTY_GPU_CL_EMIT_H_
#define DEPUTY_GPU_CL_EMIT_H_

#include <array>
#include <cstddef>
#include <string>

#include "compiler/graph.h"
#include "gpu_cl/kernel_builder.h"
#include "gpu_cl/plan.h"
#include "gpu_cl/plan_options.h"

namespace deputy::gpu_cl {

// Where an operation's steps go.
class StepWriter {
 public:
  StepWriter(const compiler::Graph& graph, int operation, const PlanOptions& options, Plan* plan)
      : graph_(graph), operation_(operation), options_(options), plan_(plan) {}

  KernelBuilder NewKernel() const {
    return {graph_, graph_.operations[static_cast<size_t>(operation_)]};
  }
  // Appends a step that runs the kernel once for each place; none where there is no place.
  void Add(const KernelBuilder& kernel, std::array<size_t, 3> global);
  // A kernel whose body is opened for every element i of `count`, and closed with the step.
  KernelBuilder OpenElements(size_t count) const;
  void AddElements(KernelBuilder* kernel, size_t count);
  const PlanOptions& options() const { return options_; }
  // The number that a step added next would get.
  int next_step() const { return static_cast<int>(plan_->steps.size()); }

 private:
  const compiler::Graph& graph_;
  const int operation_;
  const PlanOptions& options_;
  Plan* const plan_;
};

// An axis of a shape: how many elements lie before it, along it, and behind it.
struct Axis {
  Axis(const compiler::Shape& shape, int axis);

  int64_t outer = 1, extent = 1, inner = 1;
};

// What kernels use beyond OpenCL C; part of every program.
const char* Prelude();

// Products as tiles of the output that stay in registers, and windows as rows of the output, both
// in vectors; for processors. False, and nothing is added, where they do not fit the operation.
bool EmitTiles(const compiler::Conv2d& kind, StepWriter* steps);
bool EmitTiles(const compiler::MatMul& kind, StepWriter* steps);
bool EmitRows(const compiler::DepthwiseConv2d& kind, StepWriter* steps);
bool EmitRows(const compiler::Pool2d& kind, StepWriter* steps);

void Emit(const compiler::Elementwise& kind, StepWriter* steps);
void Emit(const compiler::View& kind, StepWriter* steps);
void Emit(const compiler::Copy& kind, StepWriter* steps);
void Emit(const compiler::Conv2d& kind, StepWriter* steps);
void Emit(const compiler::DepthwiseConv2d& kind, StepWriter* steps);
void Emit(const compiler::TransposedConv2d& kind, StepWriter* steps);
void Emit(const compiler::Pool2d& kind, StepWriter* steps);
void Emit(const compiler::MatMul& kind, StepWriter* steps);
void Emit(const compiler::Reduce& kind, StepWriter* steps);
void Emit(const compiler::Softmax& kind, StepWriter* steps);
void Emit(const compiler::ArgReduce& kind, StepWriter* steps);
void Emit(const compiler::CumulativeSum& kind, StepWriter* steps);
void Emit(const compiler::TopK& kind, StepWriter* steps);
void Emit(const compiler::Gather& kind, StepWriter* steps);
void Emit(const compiler::OneHot& kind, StepWriter* steps);
void Emit(const compiler::Resize& kind, StepWriter* steps);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_H_
