// SPDX-License-Identifier: Apache-2.0
//
// SOFTMAX along the last dimension, on float32 and int8. int8 follows TensorFlow Lite's integer
// recipe in both arithmetic modes; since a row's differences to its maximum have 256 values, their
// exponentials are tabulated in prepare, which changes no bit.
#include <cmath>

#include "kernels/fixed_point.h"
#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillSoftmax(const OpOptions& options, TfLiteSoftmaxParams* params) {
  params->beta = options.Float(0);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct SoftmaxData {
  // exp(-scale * beta * i) in Q0, for the differences that count: smaller ones are zero and do not
  // even enter the sum.
  int32_t exponentials[256];
  int differences = 0;
};

// The exponent of the recipe has 5 integer bits; what lies below -31 counts as zero.
TfLiteStatus Tabulate(TfLiteContext* context, const TfLiteTensor* input, float beta,
                      SoftmaxData* data) {
  constexpr int kIntegerBits = 5;
  const double factor =
      std::min(static_cast<double>(beta) * static_cast<double>(input->params.scale) *
                   static_cast<double>(1 << (31 - kIntegerBits)),
               2147483647.0);
  if (!(factor > 1.0)) {
    return TensorError(context, input, "expected scale times beta of more than 2^-26, found %g",
                       static_cast<double>(input->params.scale) * static_cast<double>(beta));
  }
  const FixedMultiplier multiplier = ToFixedMultiplier(factor);
  const double radius = 31.0 * static_cast<double>(1 << (31 - kIntegerBits)) /
                        static_cast<double>(int64_t{1} << multiplier.shift);
  data->differences = static_cast<int>(std::min(std::floor(radius), 255.0)) + 1;
  for (int i = 0; i < data->differences; ++i) {
    data->exponentials[i] = ExpOfNegativeQ5(Multiply(-i, multiplier));
  }
  return kTfLiteOk;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (input->type == kTfLiteInt8) {
    DEPUTY_TRY(CheckQuantized(context, input));
    if (output->params.zero_point != -128 ||
        !(std::fabs(output->params.scale - 1.0f / 256) <= 0.001f / 256)) {
      return TensorError(context, output,
                         "expected scale 1/256 and zero point -128, found %g and %d",
                         static_cast<double>(output->params.scale), output->params.zero_point);
    }
    DEPUTY_TRY(Tabulate(context, input, ParamsOf<TfLiteSoftmaxParams>(node).beta,
                        &DataOf<SoftmaxData>(node)));
  }
  return ResizeLike(context, output, input);
}

// ---- Reference --------------------------------------------------------------------------------

void SoftmaxRow(const float* values, int depth, float beta, float* out) {
  float largest = std::numeric_limits<float>::lowest();
  for (int c = 0; c < depth; ++c) largest = std::max(largest, values[c]);
  float sum = 0.0f;
  for (int c = 0; c < depth; ++c) {
    out[c] = std::exp((values[c] - largest) * beta);
    sum += out[c];
  }
  for (int c = 0; c < depth; ++c) out[c] /= sum;
}

void SoftmaxRow(const int8_t* values, int depth, const SoftmaxData& data, int8_t* out) {
  constexpr int kSumIntegerBits = 12;
  int largest = -128;
  for (int c = 0; c < depth; ++c) largest = std::max<int>(largest, values[c]);
  int32_t sum = 0;
  for (int c = 0; c < depth; ++c) {
    const int difference = largest - values[c];
    if (difference < data.differences) {
      Accumulate(&sum, RoundingShiftRight(data.exponentials[difference], kSumIntegerBits));
    }
  }
  int excess_bits = 0;
  const int32_t scale = Reciprocal(sum, kSumIntegerBits, &excess_bits);
  // 31 fraction bits become the 8 of the output. Very long and flat rows shift everything out
  // (upstream's debug checks end the process there).
  const int shift = excess_bits + 31 - 8;
  for (int c = 0; c < depth; ++c) {
    const int difference = largest - values[c];
    int32_t step = -128;
    if (difference < data.differences && shift <= 31) {
      step += RoundingShiftRight(DoublingHighMultiply(scale, data.exponentials[difference]), shift);
    }
    out[c] = static_cast<int8_t>(std::clamp(step, -128, 127));
  }
}

// ---- Eval -------------------------------------------------------------------------------------

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const int depth = Dim(input, Rank(input) - 1);
  if (depth == 0) return kTfLiteOk;
  const float beta = ParamsOf<TfLiteSoftmaxParams>(node).beta;
  const int64_t values = ElementCount(input);
  switch (input->type) {
    case kTfLiteFloat32:
      for (int64_t i = 0; i < values; i += depth) {
        SoftmaxRow(Data<float>(input) + i, depth, beta, Data<float>(output) + i);
      }
      return kTfLiteOk;
    case kTfLiteInt8:
      for (int64_t i = 0; i < values; i += depth) {
        SoftmaxRow(Data<int8_t>(input) + i, depth, DataOf<SoftmaxData>(node),
                   Data<int8_t>(output) + i);
      }
      return kTfLiteOk;
    default:
      return UnexpectedType(context, input);
  }
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "SOFTMAX",
     .code = kTfLiteBuiltinSoftmax,
     .min_version = 1,
     .max_version = 3,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 9},
     .params_size = sizeof(TfLiteSoftmaxParams),
     .parse = &ParseOptions<9, TfLiteSoftmaxParams, &FillSoftmax>,
     .init = &GuardedInit<&NewData<SoftmaxData>>,
     .free = &DeleteData<SoftmaxData>,
     .prepare = &Guarded<&Prepare>,
     .invoke = &Guarded<&Eval>,
     .inplace = kTfLiteInplaceOpInput0Shared},
};

}  // namespace

constexpr std::span<const OpDef> kSoftmaxOps = kTable;

}  // namespace deputy
