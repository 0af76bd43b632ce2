// SPDX-License-Identifier: Apache-2.0
//
// Constant folding of shape arithmetic. Converters compute shapes with ordinary operators: SHAPE,
// STRIDED_SLICE, PACK, MUL, REDUCE_PROD. If such an operator reads constants only, its prepare
// computes the result and makes the outputs constants (PersistentRo), so that the operators that
// read a shape find it while preparing and keep static outputs. The node stays in the plan; its
// invoke then does nothing.
//
// A row of an operator's table names kFoldingPrepare and kFoldedInvoke in place of Guarded.
#ifndef DEPUTY_KERNELS_COMMON_FOLD_H_
#define DEPUTY_KERNELS_COMMON_FOLD_H_

#include <cstddef>

#include "kernels/common/kernel.h"

namespace deputy {

using KernelFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);

// Largest input and output of a folded node, in bytes: bounds the time and the memory that a model
// of many constants takes in prepare.
inline constexpr size_t kMaxFoldedBytes = 1024;

// Turns outputs that the last prepare folded back into tensors of the arena.
void UnfoldOutputs(TfLiteContext* context, const TfLiteNode* node);

// Runs `eval` if all inputs are known constants and all outputs are small integers of the arena.
// If `eval` fails, the outputs are left to invoke, which reports the error.
TfLiteStatus FoldNode(TfLiteContext* context, TfLiteNode* node, KernelFunction eval);

bool IsFolded(const TfLiteContext* context, const TfLiteNode* node);

template <KernelFunction prepare, KernelFunction eval>
TfLiteStatus PrepareAndFold(TfLiteContext* context, TfLiteNode* node) {
  UnfoldOutputs(context, node);
  DEPUTY_TRY(prepare(context, node));
  return FoldNode(context, node, eval);
}

template <KernelFunction eval>
TfLiteStatus EvalUnlessFolded(TfLiteContext* context, TfLiteNode* node) {
  return IsFolded(context, node) ? kTfLiteOk : eval(context, node);
}

template <KernelFunction prepare, KernelFunction eval>
inline constexpr KernelFunction kFoldingPrepare = &Guarded<&PrepareAndFold<prepare, eval>>;
template <KernelFunction eval>
inline constexpr KernelFunction kFoldedInvoke = &Guarded<&EvalUnlessFolded<eval>>;

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FOLD_H_
