// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators and SOFTMAX.
#include "bridges/hexagon/operators.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

namespace deputy::hexagon {
namespace {

// Converts a result to the range of the output tensor, because the DSP chooses the range of an
// 8-bit result.
void SetRequantized(const Node& node, NnOperation operation, const Quantized& computed,
                    Translation* translation) {
  translation->SetOutput(
      node, translation->graph().AddRequantize(operation, computed, RangeOf(node.output()),
                                               DimsOf(node.output())));
}

// ---- Two inputs ---------------------------------------------------------------------------------

Refusal CheckBinary(const Node& node) {
  const TfLiteTensor* second = node.input_count() == 2 ? node.input(1) : nullptr;
  if (second == nullptr) return Refuse(kDeputyReasonOther, "expected two inputs");
  if (second->type != node.input(0)->type) {
    return RefuseType(1, node.input(0)->type, second->type);
  }
  if (second->dims->size > 4) {
    return Refuse(kDeputyReasonShape, "input 1: expected at most 4 dimensions");
  }
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(second->quantization.params);
  if (second->quantization.type != kTfLiteAffineQuantization || affine == nullptr ||
      affine->scale == nullptr || affine->scale->size != 1 || affine->zero_point == nullptr) {
    return Refuse(kDeputyReasonQuantization, "input 1: expected one scale and zero point");
  }
  if (IsConstant(*node.input(0)) && IsConstant(*second)) {
    return Refuse(kDeputyReasonNotConstant, "expected an input that is not a constant");
  }
  return {};
}

template <typename Params>
Refusal CheckArithmetic(const Node& node) {
  const Refusal refusal = CheckBinary(node);
  return refusal.reason != 0 ? refusal : CheckActivation(node, node.params<Params>().activation);
}

std::vector<NnInput> BinaryInputs(const Node& node, Translation* translation) {
  const Quantized a = translation->TensorWithRange(node, 0);
  const Quantized b = translation->TensorWithRange(node, 1);
  return {a.data, b.data, a.min, a.max, b.min, b.max};
}

void AppendOutputRange(const Node& node, Translation* translation, std::vector<NnInput>* inputs) {
  const Range range = RangeOf(node.output());
  inputs->push_back(translation->graph().AddFloat(range.min));
  inputs->push_back(translation->graph().AddFloat(range.max));
}

void TranslateAdd(const Node& node, Translation* translation) {
  std::vector<NnInput> inputs = BinaryInputs(node, translation);
  AppendOutputRange(node, translation, &inputs);
  const Quantized computed =
      translation->graph().AddQuantized(kNnAdd8p8to8, kNnPadNone, inputs, DimsOf(node.output()));
  SetRequantized(node, kNnRequantize8to8, computed, translation);
}

void TranslateSub(const Node& node, Translation* translation) {
  const Quantized computed = translation->graph().AddQuantized(
      kNnSub8p8to8, kNnPadNone, BinaryInputs(node, translation), DimsOf(node.output()));
  SetRequantized(node, kNnRequantize8to8, computed, translation);
}

void TranslateMul(const Node& node, Translation* translation) {
  const Quantized computed =
      translation->graph().AddQuantized(kNnMul8x8to32, kNnPadNone, BinaryInputs(node, translation),
                                        DimsOf(node.output()), sizeof(int32_t));
  SetRequantized(node, kNnRequantize32to8, computed, translation);
}

template <NnOperation operation>
void TranslateExtremum(const Node& node, Translation* translation) {
  std::vector<NnInput> inputs = BinaryInputs(node, translation);
  AppendOutputRange(node, translation, &inputs);
  const Quantized computed =
      translation->graph().AddQuantized(operation, kNnPadNone, inputs, DimsOf(node.output()));
  SetRequantized(node, kNnRequantize8to8, computed, translation);
}

// ---- One input ----------------------------------------------------------------------------------

Refusal CheckUnary(const Node& node) {
  return node.input_count() == 1 ? Refusal() : Refuse(kDeputyReasonOther, "expected one input");
}

template <NnOperation operation>
void TranslateUnary(const Node& node, Translation* translation) {
  const Quantized from = translation->TensorWithRange(node, 0);
  std::vector<NnInput> inputs = {from.data, from.min, from.max};
  if (operation == kNnReluX8) inputs.push_back(translation->graph().AddFloat(6));
  const Quantized computed =
      translation->graph().AddQuantized(operation, kNnPadNone, inputs, DimsOf(node.output()));
  SetRequantized(node, kNnRequantize8to8, computed, translation);
}

void TranslateSoftmax(const Node& node, Translation* translation) {
  const Quantized from = translation->TensorWithRange(node, 0);
  const NnInput beta = translation->graph().AddFloat(node.params<TfLiteSoftmaxParams>().beta);
  const Quantized computed = translation->graph().AddQuantized(
      kNnSoftmax8, kNnPadNone, {from.data, from.min, from.max, beta}, DimsOf(node.output()));
  SetRequantized(node, kNnRequantize8to8, computed, translation);
}

void TranslateQuantize(const Node& node, Translation* translation) {
  SetRequantized(node, kNnRequantize8to8, translation->TensorWithRange(node, 0), translation);
}

constexpr OperatorRow kRows[] = {
    {kTfLiteBuiltinAdd, 2, true, CheckArithmetic<TfLiteAddParams>, TranslateAdd},
    {kTfLiteBuiltinSub, 2, true, CheckArithmetic<TfLiteSubParams>, TranslateSub},
    {kTfLiteBuiltinMul, 2, true, CheckArithmetic<TfLiteMulParams>, TranslateMul},
    {kTfLiteBuiltinMaximum, 2, false, CheckBinary, TranslateExtremum<kNnMaximum8>},
    {kTfLiteBuiltinMinimum, 2, false, CheckBinary, TranslateExtremum<kNnMinimum8>},
    {kTfLiteBuiltinRelu, 2, false, CheckUnary, TranslateUnary<kNnRelu8>},
    {kTfLiteBuiltinRelu6, 2, false, CheckUnary, TranslateUnary<kNnReluX8>},
    {kTfLiteBuiltinLogistic, 2, false, CheckUnary, TranslateUnary<kNnSigmoid8>},
    {kTfLiteBuiltinTanh, 2, false, CheckUnary, TranslateUnary<kNnTanh8>},
    {kTfLiteBuiltinSoftmax, 2, true, CheckUnary, TranslateSoftmax},
    {kTfLiteBuiltinQuantize, 2, false, CheckUnary, TranslateQuantize},
};

}  // namespace

std::span<const OperatorRow> ElementOperators() { return kRows; }

}  // namespace deputy::hexagon
