// SPDX-License-Identifier: Apache-2.0
//
// L2_NORMALIZATION along the last dimension. The quantised recipes, one per 8-bit type, are
// TensorFlow Lite's in both arithmetic modes; the scale of the input does not matter to them.
#include <cmath>

#include "kernels/common/families.h"
#include "kernels/common/fixed_point.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillL2Norm(const OpOptions& options, TfLiteL2NormParams* params) {
  params->activation = options.Activation(0);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

constexpr uint32_t kTypes = kFloat32Bit | kInt8Bit | kUInt8Bit;

TfLiteStatus CheckOutputScale(TfLiteContext* context, const TfLiteTensor* output) {
  const int zero_point = output->type == kTfLiteUInt8 ? 128 : 0;
  if (output->params.scale == 1.0f / 128 && output->params.zero_point == zero_point) {
    return kTfLiteOk;
  }
  return TensorError(context, output, "expected scale 1/128 and zero point %d, found %g and %d",
                     zero_point, static_cast<double>(output->params.scale),
                     output->params.zero_point);
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kTypes));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (ParamsOf<TfLiteL2NormParams>(node).activation != kTfLiteActNone) {
    return KernelError(context, "activation: expected none");
  }
  if (input->type != kTfLiteFloat32) {
    DEPUTY_TRY(CheckZeroPoint(context, input));
    DEPUTY_TRY(CheckOutputScale(context, output));
  }
  return ResizeLike(context, output, input);
}

// ---- Reference --------------------------------------------------------------------------------

void NormalizeRow(const float* values, int depth, float* out) {
  constexpr float kSmallestNorm = 1e-6f;
  float squares = 0.0f;
  for (int c = 0; c < depth; ++c) squares += values[c] * values[c];
  const float norm = std::max(std::sqrt(squares), kSmallestNorm);
  for (int c = 0; c < depth; ++c) out[c] = values[c] / norm;
}

template <typename T>
FixedMultiplier InverseNorm(const T* values, int depth, int32_t zero_point) {
  int32_t squares = 0;
  for (int c = 0; c < depth; ++c) {
    const int32_t value = values[c] - zero_point;
    Accumulate(&squares, value * value);
  }
  return InverseSqrt(squares);
}

void NormalizeRow(const int8_t* values, int depth, int32_t zero_point, int8_t* out) {
  FixedMultiplier inverse = InverseNorm(values, depth, zero_point);
  inverse.shift += 7;
  for (int c = 0; c < depth; ++c) {
    out[c] = static_cast<int8_t>(std::clamp(Multiply(values[c] - zero_point, inverse), -128, 127));
  }
}

void NormalizeRow(const uint8_t* values, int depth, int32_t zero_point, uint8_t* out) {
  const FixedMultiplier inverse = InverseNorm(values, depth, zero_point);
  for (int c = 0; c < depth; ++c) {
    const int32_t steps = 128 + Multiply(128 * (values[c] - zero_point), inverse);
    out[c] = static_cast<uint8_t>(std::clamp(steps, 0, 255));
  }
}

// ---- Eval -------------------------------------------------------------------------------------

template <typename T, typename... Extra>
TfLiteStatus NormalizeRows(const TfLiteTensor* input, TfLiteTensor* output, Extra... extra) {
  const int depth = LastDim(input);
  const int64_t count = ElementCount(input);
  for (int64_t i = 0; i < count; i += depth) {
    NormalizeRow(Data<T>(input) + i, depth, extra..., Data<T>(output) + i);
  }
  return kTfLiteOk;
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      return NormalizeRows<float>(input, output);
    case kTfLiteInt8:
      return NormalizeRows<int8_t>(input, output, input->params.zero_point);
    case kTfLiteUInt8:
      return NormalizeRows<uint8_t>(input, output, input->params.zero_point);
    default:
      return UnexpectedType(context, input);
  }
}

// LOCAL_RESPONSE_NORMALIZATION has no kernel here yet.
bool FillLocalResponseNorm(const OpOptions& options, TfLiteLocalResponseNormParams* params) {
  params->radius = options.Int(0);
  params->bias = options.Float(1);
  params->alpha = options.Float(2);
  params->beta = options.Float(3);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<12, TfLiteL2NormParams, &FillL2Norm>(
        KernelRow<void>("L2_NORMALIZATION", kTfLiteBuiltinL2Normalization, 2, kTypes,
                        &Guarded<&Prepare>, &Guarded<&Eval>, kTfLiteInplaceOpInput0Shared)),
    ParserRow("LOCAL_RESPONSE_NORMALIZATION", kTfLiteBuiltinLocalResponseNormalization, {1, 13},
              sizeof(TfLiteLocalResponseNormParams),
              &ParseOptions<13, TfLiteLocalResponseNormParams, &FillLocalResponseNorm>),
};

}  // namespace

constexpr std::span<const OpDef> kNormalizeOps = kTable;

}  // namespace deputy
