// SPDX-License-Identifier: Apache-2.0
//
// Constant folding of shape arithmetic. Converters compute shapes with ordinary operators: SHAPE,
// STRIDED_SLICE, PACK, MUL, REDUCE_PROD. If such an operator reads only constants, its prepare
// computes the result and makes the outputs constants (PersistentRo), so that operators that read
// the shape can use it in prepare and keep static outputs. The node stays in the plan; its invoke
// does nothing.
//
// A row of an operator's table names kFoldingPrepare and kFoldedInvoke in place of Guarded.
#ifndef DEPUTY_KERNELS_COMMON_FOLD_H_
#define DEPUTY_KERNELS_COMMON_FOLD_H_

#include <cstddef>

#include "kernels/common/kernel.h"

namespace deputy {

// Maximum size of each input and output of a folded node, in bytes: bounds the time and memory that
// a model with many constants takes in prepare.
inline constexpr size_t kMaxFoldedBytes = 1024;

// Runs `prepare`, then `eval` if all inputs are known constants, all outputs are integers or bools
// in the arena, and none is larger than kMaxFoldedBytes. If `eval` fails, invoke computes the
// outputs and reports the error.
TfLiteStatus PrepareAndFold(TfLiteContext* context, TfLiteNode* node, OpFunction prepare,
                            OpFunction eval);

// Runs `eval` unless the last prepare has already computed the outputs.
TfLiteStatus EvalUnlessFolded(TfLiteContext* context, TfLiteNode* node, OpFunction eval);

template <OpFunction prepare, OpFunction eval>
TfLiteStatus PrepareAndFold(TfLiteContext* context, TfLiteNode* node) {
  return PrepareAndFold(context, node, prepare, eval);
}

template <OpFunction eval>
TfLiteStatus EvalUnlessFolded(TfLiteContext* context, TfLiteNode* node) {
  return EvalUnlessFolded(context, node, eval);
}

template <OpFunction prepare, OpFunction eval>
inline constexpr OpFunction kFoldingPrepare = &Guarded<&PrepareAndFold<prepare, eval>>;
template <OpFunction eval>
inline constexpr OpFunction kFoldedInvoke = &Guarded<&EvalUnlessFolded<eval>>;

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FOLD_H_
