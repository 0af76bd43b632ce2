// SPDX-License-Identifier: Apache-2.0
//
// FAKE_QUANT: rounds float32 to the values of a quantised type.
#include <algorithm>
#include <cmath>

#include "kernels/common/activation_range.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/map_vectors.h"
#include "kernels/quantize.h"

namespace deputy {

bool FillFakeQuant(const OpOptions& options, TfLiteFakeQuantParams* params) {
  params->min = options.Float(0);
  params->max = options.Float(1);
  params->num_bits = options.Int(2);
  params->narrow_range = options.Bool(3);
  return true;
}

TfLiteStatus PrepareFakeQuant(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const auto& params = ParamsOf<TfLiteFakeQuantParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  if (params.narrow_range) return KernelError(context, "narrow_range: expected false, found true");
  if (params.num_bits < 1 || params.num_bits > 16) {
    return KernelError(context, "num_bits: expected 1 to 16, found %d", params.num_bits);
  }
  if (!std::isfinite(params.min) || !std::isfinite(params.max - params.min) ||
      params.min >= params.max) {
    return KernelError(context, "expected a range of real numbers, found %g to %g",
                       static_cast<double>(params.min), static_cast<double>(params.max));
  }
  output->type = kTfLiteFloat32;
  return ResizeLike(context, output, input);
}

// Computes FAKE_QUANT. The range is shifted so that 0 is representable.
TfLiteStatus EvalFakeQuant(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteFakeQuantParams>(node);
  const auto max_quantized = static_cast<float>((1 << params.num_bits) - 1);
  const float scale = (params.max - params.min) / max_quantized;
  const float zero_point = std::round(std::clamp(-params.min / scale, 0.0f, max_quantized));
  const Range<float> range = {-zero_point * scale, (max_quantized - zero_point) * scale};
  const float inverse = 1.0f / scale;
  return MapRuns<float, float>(
      context, Input(context, node, 0), Output(context, node, 0),
      [&](const float* values, int64_t count, float* out) {
        for (int64_t i = 0; i < count; ++i) {
          const float above = std::min(range.high, std::max(range.low, values[i])) - range.low;
          out[i] = std::round(above * inverse) * scale + range.low;
        }
      });
}

}  // namespace deputy
