// SPDX-License-Identifier: Apache-2.0
//
// Row-wise execution, within fusion groups, of unary operators and of binary operators that
// broadcast: the loops of map_vectors.h on rows of float32.
#ifndef DEPUTY_KERNELS_CPU_MAP_ROWS_H_
#define DEPUTY_KERNELS_CPU_MAP_ROWS_H_

#include "core/kernel_api/fusion.h"
#include "kernels/common/broadcast.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Row function of a unary operator that is a loop of VectorKernels and has no parameter.
template <MapF32 VectorKernels::*loop>
void MapRows(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) {
  const float* const in = rows.computed[0] != nullptr ? rows.computed[0]
                                                      : Data<float>(Input(context, node, 0)) +
                                                            rows.first * int64_t{rows.columns};
  (rows.cpu->vector.*loop)(in, int64_t{rows.count} * rows.columns, 0.0f, rows.out);
}

template <ElementOpKind kind>
ElementOp MapElement(TfLiteContext*, TfLiteNode*, const ChainedNode&) {
  return {.kind = kind};
}

// Returns the function with which the operator joins an element chain; null if there is none.
template <MapF32 VectorKernels::*loop>
constexpr auto ElementOf() -> decltype(RowKernel::element) {
  if (loop == &VectorKernels::tanh) return &MapElement<ElementOpKind::kTanh>;
  if (loop == &VectorKernels::logistic) return &MapElement<ElementOpKind::kLogistic>;
  return nullptr;
}

template <MapF32 VectorKernels::*loop>
constexpr RowKernel kMapRows = {.rows = &MapRows<loop>, .element = ElementOf<loop>()};

// Offers row-wise fusion of a float32 unary operator, in prepare, if the CPU table has the loop.
template <MapF32 VectorKernels::*loop>
void OfferMapRows(TfLiteContext* context, const TfLiteNode* node,
                  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  if (Output(context, node, 0)->type != kTfLiteFloat32 || CpuOf(context).vector.*loop == nullptr)
    return;
  OfferFusion(context, node,
              {.invoke = invoke, .by_rows = {&kMapRows<loop>, RowKind::kElementwise, 1}});
}

// Returns the address at which the whole matrix would begin if its elements from `first` on are at
// `part`. Earlier elements are never accessed.
template <typename T>
T* MatrixBegin(T* part, int64_t first) {
  return part - first;
}

// Calls run(BinaryRun) for runs of a node's two inputs that together cover rows of its output.
template <typename RunFunction>
void RunVectorRows(TfLiteContext* context, const TfLiteNode* node, const BroadcastPlan& plan,
                   const GroupRows& rows, const RunFunction& run) {
  const float* inputs[kMaxComputedInputs];
  for (int i = 0; i < kMaxComputedInputs; ++i) {
    inputs[i] = rows.computed[i] != nullptr
                    ? MatrixBegin(rows.computed[i], rows.first * rows.computed_columns[i])
                    : Data<float>(Input(context, node, i));
  }
  const int64_t first = rows.first * rows.columns;
  plan.RunPart(first, first + int64_t{rows.count} * rows.columns, inputs[0], inputs[1],
               MatrixBegin(rows.out, first),
               [&run](const float* a, const float* b, float* out, int64_t count, bool a_moves,
                      bool b_moves) {
                 run(BinaryRun<float>{a, b, out, count, a_moves, b_moves});
               });
}

// Returns true if `input` has one element for each row (last dimension) of `output`.
inline bool IsOneOfEachRow(const TfLiteTensor* input, const TfLiteTensor* output) {
  const int rank = Rank(output), own = Rank(input);
  if (own == 0 || own > rank || Dim(input, own - 1) != 1) return false;
  for (int back = 2; back <= rank; ++back) {
    if ((back > own ? 1 : Dim(input, own - back)) != Dim(output, rank - back)) return false;
  }
  return true;
}

// Returns the row offer of a binary node with the plan `plan`, in prepare; `kernel` computes rows
// by RunVectorRows.
inline RowOffer BroadcastRows(TfLiteContext* context, const TfLiteNode* node,
                              const BroadcastPlan& plan, const RowKernel* kernel) {
  const TfLiteTensor *a = Input(context, node, 0), *b = Input(context, node, 1);
  const TfLiteTensor* const output = Output(context, node, 0);
  const uint32_t of_rows =
      (IsOneOfEachRow(a, output) ? 1u : 0u) | (IsOneOfEachRow(b, output) ? 2u : 0u);
  return {kernel, RowKind::kElementwise, plan.matching_inputs(a, b), of_rows};
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_MAP_ROWS_H_
