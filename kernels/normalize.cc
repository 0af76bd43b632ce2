// SPDX-License-Identifier: Apache-2.0
//
// L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION along the last dimension. The quantised
// algorithms, one per 8-bit type, are TensorFlow Lite's in both arithmetic modes; they do not
// depend on the scale of the input.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/common/families.h"
#include "kernels/common/fixed_point.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

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
int32_t SumOfSquares(const T* values, int depth, int32_t zero_point) {
  int32_t squares = 0;
  for (int c = 0; c < depth; ++c) {
    const int32_t value = values[c] - zero_point;
    Accumulate(&squares, value * value);
  }
  return squares;
}

// Returns the scaling of a row's values to outputs: the inverse norm times 128. The factor 128 is
// in the multiplier for int8, in the values for uint8, which rounds differently.
FixedScale ScaleOf(int32_t squares, int32_t zero_point, bool is_signed) {
  FixedMultiplier inverse = InverseSqrt(squares);
  if (is_signed) inverse.shift += 7;
  return {zero_point, is_signed ? 0 : 7, inverse};
}

template <typename T>
void ScaleRow(const T* values, int depth, const FixedScale& scale, int32_t zero_out, T* out) {
  for (int c = 0; c < depth; ++c) {
    const int32_t value = (values[c] - scale.zero_point) * (1 << scale.extra_bits);
    out[c] = static_cast<T>(std::clamp<int32_t>(zero_out + Multiply(value, scale.by),
                                                std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max()));
  }
}

// ---- Eval -------------------------------------------------------------------------------------

// Calls row(values, out) for every row, on all threads.
template <typename T, typename RowFunction>
TfLiteStatus NormalizeRows(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                           const RowFunction& row) {
  const int64_t depth = LastDim(input);
  if (depth == 0) return kTfLiteOk;
  ParallelRanges(context, ElementCount(input) / depth, kElementsPerTask / depth + 1,
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first * depth; i < last * depth; i += depth) {
                     row(Data<T>(input) + i, Data<T>(output) + i);
                   }
                 });
  return kTfLiteOk;
}

TfLiteStatus NormalizeFloats(TfLiteContext* context, const TfLiteTensor* input,
                             TfLiteTensor* output) {
  const int depth = LastDim(input);
  const auto loop = CpuOf(context).vector.l2_normalize;
  return NormalizeRows<float>(context, input, output, [=](const float* values, float* out) {
    loop != nullptr ? loop(values, depth, out) : NormalizeRow(values, depth, out);
  });
}

template <typename T>
TfLiteStatus NormalizeSteps(TfLiteContext* context, const TfLiteTensor* input,
                            TfLiteTensor* output) {
  const VectorKernels& vector = CpuOf(context).vector;
  const auto sum_of_squares = vector.sum_of_squares.of<T>();
  const auto scale_row = vector.scale_row.of<T>();
  const int depth = LastDim(input);
  const int32_t zero_in = input->params.zero_point, zero_out = output->params.zero_point;
  return NormalizeRows<T>(context, input, output, [=](const T* values, T* out) {
    const int32_t squares = sum_of_squares != nullptr ? sum_of_squares(values, depth, zero_in)
                                                      : SumOfSquares(values, depth, zero_in);
    const FixedScale scale = ScaleOf(squares, zero_in, std::is_signed_v<T>);
    scale_row != nullptr ? scale_row(values, depth, scale, zero_out, out)
                         : ScaleRow(values, depth, scale, zero_out, out);
  });
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  switch (input->type) {
    case kTfLiteFloat32:
      return NormalizeFloats(context, input, output);
    case kTfLiteInt8:
      return NormalizeSteps<int8_t>(context, input, output);
    case kTfLiteUInt8:
      return NormalizeSteps<uint8_t>(context, input, output);
    default:
      return UnexpectedType(context, input);
  }
}

// ---- LOCAL_RESPONSE_NORMALIZATION -------------------------------------------------------------

bool FillLocalResponseNorm(const OpOptions& options, TfLiteLocalResponseNormParams* params) {
  params->radius = options.Int(0);
  params->bias = options.Float(1);
  params->alpha = options.Float(2);
  params->beta = options.Float(3);
  return true;
}

TfLiteStatus PrepareLocalResponse(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const int radius = ParamsOf<TfLiteLocalResponseNormParams>(node).radius;
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, input, 4));
  if (radius < 0) return KernelError(context, "radius: expected 0 or more, found %d", radius);
  return ResizeLike(context, Output(context, node, 0), input);
}

// Function that replaces each value x by x^-beta.
using InversePowers = void (*)(float* values, int count, float beta);

void PlainInversePowers(float* values, int count, float beta) {
  for (int i = 0; i < count; ++i) values[i] = std::pow(values[i], -beta);
}

// Computes x^-beta for a beta that can be computed with roots, in a few vector instructions.
template <typename Root>
void RootInversePowers(float* values, int count, float beta) {
  bool negative = false;
  for (int i = 0; i < count; ++i) negative |= values[i] < 0.0f;
  // Negative values use pow, which differs from roots for -infinity.
  if (negative) return PlainInversePowers(values, count, beta);
  for (int i = 0; i < count; ++i) values[i] = 1.0f / Root()(values[i]);
}

InversePowers InversePowersOf(const VectorKernels& vector, float beta) {
  const bool plain = vector.l2_normalize == nullptr;
  if (!plain && beta == 0.5f) {
    return &RootInversePowers<decltype([](float x) { return std::sqrt(x); })>;
  }
  if (!plain && beta == 0.75f) {
    return &RootInversePowers<decltype([](float x) {
      const float root = std::sqrt(x);
      return root * std::sqrt(root);
    })>;
  }
  return &PlainInversePowers;
}

// Normalises each channel by the squares of its neighbours within `radius`, in a moving sum.
void NormalizeByNeighbours(const float* values, int depth,
                           const TfLiteLocalResponseNormParams& params, InversePowers powers,
                           float* out) {
  const auto square = [&](int64_t c) {
    return c < 0 || c >= depth ? 0.0f : values[c] * values[c] * params.alpha;
  };
  const int64_t radius = params.radius;
  float sum = 0.0f;
  for (int64_t c = 0; c < std::min<int64_t>(radius, depth); ++c) sum += square(c);
  constexpr int kChunk = 64;
  for (int first = 0; first < depth; first += kChunk) {
    const int count = std::min(kChunk, depth - first);
    float scales[kChunk];
    for (int i = 0; i < count; ++i) {
      const int64_t c = int64_t{first} + i;
      sum += square(c + radius);
      scales[i] = params.bias + sum;
      sum -= square(c - radius);
    }
    powers(scales, count, params.beta);
    for (int i = 0; i < count; ++i) out[first + i] = values[first + i] * scales[i];
  }
}

TfLiteStatus EvalLocalResponse(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const int depth = LastDim(input);
  const auto& params = ParamsOf<TfLiteLocalResponseNormParams>(node);
  const InversePowers powers = InversePowersOf(CpuOf(context).vector, params.beta);
  return NormalizeRows<float>(context, input, Output(context, node, 0),
                              [&](const float* values, float* out) {
                                NormalizeByNeighbours(values, depth, params, powers, out);
                              });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<12, TfLiteL2NormParams, &FillL2Norm>(
        KernelRow<void>("L2_NORMALIZATION", kTfLiteBuiltinL2Normalization, 2, kTypes,
                        &Guarded<&Prepare>, &Guarded<&Eval>, kTfLiteInplaceOpInput0Shared)),
    WithOptions<13, TfLiteLocalResponseNormParams, &FillLocalResponseNorm>(KernelRow<void>(
        "LOCAL_RESPONSE_NORMALIZATION", kTfLiteBuiltinLocalResponseNormalization, 1, kFloat32Bit,
        &Guarded<&PrepareLocalResponse>, &Guarded<&EvalLocalResponse>)),
};

}  // namespace

constexpr std::span<const OpDef> kNormalizeOps = kTable;

}  // namespace deputy
