// SPDX-License-Identifier: Apache-2.0
//
// Kernels for each kind of operation: the plain ones, which work for all shapes and on every
// device, one work-item for each element of the output or each row.
#ifndef DEPUTY_GPU_CL_EMIT_H_
#define DEPUTY_GPU_CL_EMIT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/clblast.h"
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
  // Appends a step that runs the kernel's body once for each place (g0, g1, g2) below (s0, s1, s2);
  // none where there is no place. A work-item takes one of them, or, as the options say, a range.
  void Add(KernelBuilder* kernel, std::array<size_t, 3> places);
  // The same, of a kernel that asks for its work-item itself. Where it requires a group there are
  // as many more items as that takes.
  void AddItems(const KernelBuilder& kernel, std::array<size_t, 3> global);
  // A step of CLBlast in place of kernels.
  void AddClblast(const ClblastProduct& product);
  const PlanOptions& options() const { return options_; }
  // Whether a kernel of vectors of four reads the value as texels.
  bool ReadsTexels(compiler::ValueId id) const;
  // How the operation's kernel is made; null: by the rules.
  const KernelChoice* choice() const;
  // The number that a step added next would get.
  int next_step() const { return static_cast<int>(plan_->steps.size()); }

 private:
  std::array<size_t, 3> OpenRows(KernelBuilder* kernel, const std::array<size_t, 3>& places) const;
  std::array<size_t, 3> OpenRange(KernelBuilder* kernel, const std::array<size_t, 3>& places) const;
  std::array<size_t, 3> ChosenLocal(const std::array<size_t, 3>& global) const;

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

// The tiles of products that a choice may have, the one for most products first.
std::vector<KernelChoice> TileChoices(const PlanOptions& options);

// The product of an operation that CLBlast could compute: float32 matrices of 512 and more in each
// direction, one product, with nothing done to the result.
std::optional<ClblastProduct> FindClblastProduct(const compiler::Graph& graph,
                                                 const compiler::Operation& operation);

// What kernels use beyond OpenCL C; part of every program. LOAD(t, n, p) is the vector of n
// elements of type t at p in global memory, STORE(t, n, x, p) puts one there.
std::string Prelude(const PlanOptions& options);

// All in vectors: products as tiles of the output that stay in registers, of a group of work-items
// (for GPUs) or of each, windows as rows of the output, the rest as loops. False, and nothing is
// added, where they do not fit the operation. So it is of CLBlast, which must have been chosen.
bool EmitClblast(const compiler::MatMul& kind, StepWriter* steps);
bool EmitFewRows(const compiler::Conv2d& kind, StepWriter* steps);
bool EmitFewRows(const compiler::MatMul& kind, StepWriter* steps);
bool EmitMatrixTiles(const compiler::Conv2d& kind, StepWriter* steps);
bool EmitMatrixTiles(const compiler::MatMul& kind, StepWriter* steps);
bool EmitGroupTiles(const compiler::Conv2d& kind, StepWriter* steps);
bool EmitGroupTiles(const compiler::MatMul& kind, StepWriter* steps);
bool EmitTiles(const compiler::Conv2d& kind, StepWriter* steps);
bool EmitTiles(const compiler::MatMul& kind, StepWriter* steps);
bool EmitRows(const compiler::DepthwiseConv2d& kind, StepWriter* steps);
bool EmitRows(const compiler::Pool2d& kind, StepWriter* steps);
bool EmitVectors(const compiler::Elementwise& kind, StepWriter* steps);
bool EmitVectors(const compiler::Softmax& kind, StepWriter* steps);
bool EmitVectors(const compiler::Reduce& kind, StepWriter* steps);

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
