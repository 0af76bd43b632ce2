// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/fold.h"

#include <algorithm>

#include "kernels/common/shape_input.h"
#include "kernels/common/views.h"

namespace deputy {
namespace {

std::span<const int> Indices(const TfLiteIntArray* array) {
  return {array->data, static_cast<size_t>(array->size)};
}

bool IsFoldableInput(const TfLiteContext* context, int index) {
  if (index == kTfLiteOptionalTensor) return true;
  const TfLiteTensor& tensor = context->tensors[index];
  return IsKnown(&tensor) && tensor.bytes <= kMaxFoldedBytes && tensor.sparsity == nullptr;
}

// Returns true for a small integer or bool tensor in the arena. Client memory is excluded: the
// client may overwrite it between inferences.
bool IsFoldableOutput(const TfLiteContext* context, int index) {
  const TfLiteTensor& tensor = context->tensors[index];
  return tensor.allocation_type == kTfLiteArenaRw && !tensor.is_variable &&
         tensor.bytes <= kMaxFoldedBytes &&
         (tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64 || tensor.type == kTfLiteBool);
}

bool CanFold(const TfLiteContext* context, const TfLiteNode* node) {
  const std::span<const int> inputs = Indices(node->inputs), outputs = Indices(node->outputs);
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](int index) { return IsFoldableInput(context, index); }) &&
         std::all_of(outputs.begin(), outputs.end(),
                     [&](int index) { return IsFoldableOutput(context, index); });
}

// Makes the outputs persistent, with the shapes that prepare computed.
TfLiteStatus MakeOutputsPersistent(TfLiteContext* context, const TfLiteNode* node) {
  for (const int index : Indices(node->outputs)) {
    TfLiteTensor* output = &context->tensors[index];
    DEPUTY_TRY(MakePersistent(context, output));
    DEPUTY_TRY(ResizeLike(context, output, output));
  }
  return kTfLiteOk;
}

// Undoes the folding by the previous prepare: persistent outputs become arena tensors again.
void UnfoldOutputs(TfLiteContext* context, const TfLiteNode* node) {
  for (const int index : Indices(node->outputs)) {
    if (index == kTfLiteOptionalTensor) continue;
    TfLiteTensor& output = context->tensors[index];
    if (output.allocation_type != kTfLitePersistentRo) continue;
    TfLiteTensorDataFree(&output);
    output.allocation_type = kTfLiteArenaRw;
  }
}

}  // namespace

TfLiteStatus PrepareAndFold(TfLiteContext* context, TfLiteNode* node, OpFunction prepare,
                            OpFunction eval) {
  UnfoldOutputs(context, node);
  DEPUTY_TRY(prepare(context, node));
  // A foreign runtime (without Runtime) manages memory by its own rules, so nothing is folded under
  // it.
  if (RuntimeOf(context) == nullptr || !CanFold(context, node)) return kTfLiteOk;
  DEPUTY_TRY(MakeOutputsPersistent(context, node));
  if (eval(context, node) != kTfLiteOk) {
    UnfoldOutputs(context, node);
    return kTfLiteOk;
  }
  OfferViews(context, node, {});
  return kTfLiteOk;
}

TfLiteStatus EvalUnlessFolded(TfLiteContext* context, TfLiteNode* node, OpFunction eval) {
  const bool folded =
      node->outputs->size > 0 && node->outputs->data[0] != kTfLiteOptionalTensor &&
      context->tensors[node->outputs->data[0]].allocation_type == kTfLitePersistentRo;
  return folded ? kTfLiteOk : eval(context, node);
}

}  // namespace deputy
