// SPDX-License-Identifier: Apache-2.0
//
// Code generation for each kind of operation. The basic kernels work for all shapes and on every
// device, with one work-item per element or row of the output.
#ifndef DEPUTY_GPU_CL_EMIT_EMIT_H_
#define DEPUTY_GPU_CL_EMIT_EMIT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/device/clblast.h"
#include "gpu_cl/emit/kernel_builder.h"
#include "gpu_cl/emit/plan.h"
#include "gpu_cl/emit/plan_options.h"

namespace deputy::gpu_cl {

// Appends the steps of one operation to a plan.
class StepWriter {
 public:
  StepWriter(const compiler::Graph& graph, int operation, const PlanOptions& options, Plan* plan)
      : graph_(graph), operation_(operation), options_(options), plan_(plan) {}

  KernelBuilder NewKernel() const {
    return {graph_, graph_.operations[static_cast<size_t>(operation_)]};
  }
  // Appends a step that runs the kernel's body once for each (g0, g1, g2) below (s0, s1, s2); no
  // step if one of these is 0. A work-item computes one of them or, depending on the options, a
  // range.
  void Add(KernelBuilder* kernel, std::array<size_t, 3> extents);
  // Appends a step whose kernel determines the element of a work-item itself. If the kernel
  // requires a work-group size, the global size is rounded up to a multiple of it.
  void AddItems(const KernelBuilder& kernel, std::array<size_t, 3> global);
  // Appends a call of CLBlast instead of a kernel.
  void AddClblast(const ClblastProduct& product);
  const PlanOptions& options() const { return options_; }
  // Returns true if kernels with vectors of four read the value as texels.
  bool ReadsTexels(compiler::ValueId id) const;
  // Returns the kernel variant chosen for the operation; null if the heuristics choose it.
  const KernelChoice* choice() const;
  // Index of the step that is added next.
  int next_step() const { return static_cast<int>(plan_->steps.size()); }

 private:
  std::array<size_t, 3> OpenRows(KernelBuilder* kernel, const std::array<size_t, 3>& extents) const;
  std::array<size_t, 3> OpenRange(KernelBuilder* kernel,
                                  const std::array<size_t, 3>& extents) const;
  std::array<size_t, 3> ChosenLocal(const std::array<size_t, 3>& global) const;

  const compiler::Graph& graph_;
  const int operation_;
  const PlanOptions& options_;
  Plan* const plan_;
};

// Element counts of a shape before, along and after an axis.
struct Axis {
  Axis(const compiler::Shape& shape, int axis);

  int64_t outer = 1, extent = 1, inner = 1;
};

// Returns the tile variants of products, the most generally useful first.
std::vector<KernelChoice> TileChoices(const PlanOptions& options);

// Returns the operation as a product that CLBlast can compute: a single product of float32
// matrices, at least 512 in each dimension, without bias and epilogue; else nullopt.
std::optional<ClblastProduct> FindClblastProduct(const compiler::Graph& graph,
                                                 const compiler::Operation& operation);

// Returns the type of image elements that the prelude's ADD_DOT multiplies: uint8 on CPUs, whose
// instruction for dot products requires it, int8 on other devices.
TfLiteType MultipliedType(const PlanOptions& options);

// Definitions that kernels use beyond OpenCL C; prepended to every program. LOAD(t, n, p) loads a
// vector of n elements of type t from p in global memory, STORE(t, n, x, p) stores one.
std::string Prelude(const PlanOptions& options);
// Returns the definitions that kernels for products of integers use in addition: ADD_DOT<n> and
// QUAD.
std::string PreludeOfIntegers(const PlanOptions& options);

// Vectorised kernels: products as tiles of the output in registers, per work-group (GPUs) or per
// work-item, windows as rows of the output, other operations as loops. Each function returns false
// and adds nothing if it does not support the operation; EmitClblast also if it was not chosen.
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

#endif  // DEPUTY_GPU_CL_EMIT_EMIT_H_
