// SPDX-License-Identifier: Apache-2.0
//
// Operators of one input, and of two that broadcast, in steps by rows: the loops of map_vectors.h
// on rows of float32.
#ifndef DEPUTY_KERNELS_CPU_MAP_ROWS_H_
#define DEPUTY_KERNELS_CPU_MAP_ROWS_H_

#include "core/kernel_api/step.h"
#include "kernels/common/broadcast.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// What a loop of the table computes without a parameter: of rows.
template <MapF32 VectorKernels::*loop>
void MapRows(TfLiteContext* context, TfLiteNode* node, const StepRows& rows) {
  const float* const in = rows.made[0] != nullptr ? rows.made[0]
                                                  : Data<float>(Input(context, node, 0)) +
                                                        rows.first * int64_t{rows.columns};
  (Cpu().vector.*loop)(in, int64_t{rows.count} * rows.columns, 0.0f, rows.out);
}

template <ElementOpKind kind>
ElementOp MapElement(TfLiteContext*, TfLiteNode*, const ChainedNode&) {
  return {.kind = kind};
}

// What the loop is in a chain; null: nothing.
template <MapF32 VectorKernels::*loop>
constexpr auto ElementOf() -> decltype(RowKernel::element) {
  if (loop == &VectorKernels::tanh) return &MapElement<ElementOpKind::kTanh>;
  if (loop == &VectorKernels::logistic) return &MapElement<ElementOpKind::kLogistic>;
  return nullptr;
}

template <MapF32 VectorKernels::*loop>
constexpr RowKernel kMapRows = {.rows = &MapRows<loop>, .element = ElementOf<loop>()};

// For prepare: offers that, where the table has the loop.
template <MapF32 VectorKernels::*loop>
void OfferMapRows(TfLiteContext* context, const TfLiteNode* node,
                  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  if (Output(context, node, 0)->type != kTfLiteFloat32 || Cpu().vector.*loop == nullptr) return;
  OfferStep(context, node, {.invoke = invoke, .by_rows = {&kMapRows<loop>, RowKind::kElements, 1}});
}

// Where a matrix would begin of which `part` holds elements from `first` on; those before are never
// read.
template <typename T>
T* WholeOf(T* part, int64_t first) {
  return part - first;
}

// run(BinaryRun) for runs of a node's two inputs that together are rows of its output.
template <typename RunFunction>
void RunVectorRows(TfLiteContext* context, const TfLiteNode* node, const BroadcastPlan& plan,
                   const StepRows& rows, const RunFunction& run) {
  const float* inputs[kMaxMadeInputs];
  for (int i = 0; i < kMaxMadeInputs; ++i) {
    inputs[i] = rows.made[i] != nullptr ? WholeOf(rows.made[i], rows.first * rows.made_columns[i])
                                        : Data<float>(Input(context, node, i));
  }
  const int64_t first = rows.first * rows.columns;
  plan.RunPart(first, first + int64_t{rows.count} * rows.columns, inputs[0], inputs[1],
               WholeOf(rows.out, first),
               [&run](const float* a, const float* b, float* out, int64_t count, bool a_moves,
                      bool b_moves) {
                 run(BinaryRun<float>{a, b, out, count, a_moves, b_moves});
               });
}

// One element for each run of the output's last dimension.
inline bool IsOneOfEachRow(const TfLiteTensor* input, const TfLiteTensor* output) {
  const int rank = Rank(output), own = Rank(input);
  if (own == 0 || own > rank || Dim(input, own - 1) != 1) return false;
  for (int back = 2; back <= rank; ++back) {
    if ((back > own ? 1 : Dim(input, own - back)) != Dim(output, rank - back)) return false;
  }
  return true;
}

// For prepare: `kernel`, which computes rows by RunVectorRows, for a node of that plan.
inline RowOffer BroadcastRows(TfLiteContext* context, const TfLiteNode* node,
                              const BroadcastPlan& plan, const RowKernel* kernel) {
  const TfLiteTensor *a = Input(context, node, 0), *b = Input(context, node, 1);
  const TfLiteTensor* const output = Output(context, node, 0);
  const uint32_t of_rows =
      (IsOneOfEachRow(a, output) ? 1u : 0u) | (IsOneOfEachRow(b, output) ? 2u : 0u);
  return {kernel, RowKind::kElements, plan.matching_inputs(a, b), of_rows};
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_MAP_ROWS_H_
