// SPDX-License-Identifier: Apache-2.0
//
// Fused activations as a range to which results are clamped. TANH and SIGN_BIT are not ranges;
// kernels that require a range ignore them, like upstream's kernels.
#ifndef DEPUTY_KERNELS_COMMON_ACTIVATION_RANGE_H_
#define DEPUTY_KERNELS_COMMON_ACTIVATION_RANGE_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/kernel.h"

namespace deputy {

template <typename T>
struct Range {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};
using FloatRange = Range<float>;
using IntRange = Range<int32_t>;

// Clamps `value` to the range. Operand order matters: NaN passes through, and a range with low >
// high returns `high`.
template <typename T>
T Clamp(T value, const Range<T>& range) {
  return std::min(std::max(value, range.low), range.high);
}

// Returns the real bounds of the activation. Without an activation they are the largest finite
// values: an infinite sum becomes the largest float, as in TensorFlow Lite.
inline FloatRange ActivationRange(TfLiteFusedActivation activation) {
  switch (activation) {
    case kTfLiteActRelu:
      return {0.0f, std::numeric_limits<float>::max()};
    case kTfLiteActRelu6:
      return {0.0f, 6.0f};
    case kTfLiteActReluN1To1:
      return {-1.0f, 1.0f};
    default:
      return {};
  }
}

// Returns the bounds as quantised values of the output, within its type. Fails for types other than
// int8, uint8 and int16, and if the scale is so small that a bound is not representable.
inline TfLiteStatus QuantizedActivationRange(TfLiteContext* context,
                                             TfLiteFusedActivation activation,
                                             const TfLiteTensor* output, IntRange* out_range) {
  IntRange range;
  if (!QuantizedLimits(output->type, &range.low, &range.high)) {
    return UnexpectedType(context, output);
  }
  const FloatRange real = ActivationRange(activation);
  const auto clip = [&](float bound, bool lower) {
    const float steps = std::round(bound / output->params.scale);
    if (!(std::fabs(steps) < 2147483648.0f)) return false;
    const int64_t step = static_cast<int64_t>(steps) + output->params.zero_point;
    if (lower) range.low = static_cast<int32_t>(std::max<int64_t>(range.low, step));
    if (!lower) range.high = static_cast<int32_t>(std::min<int64_t>(range.high, step));
    return true;
  };
  const FloatRange unbounded;
  if ((real.low != unbounded.low && !clip(real.low, true)) ||
      (real.high != unbounded.high && !clip(real.high, false))) {
    return TensorError(context, output, "its scale %g is too small for the fused activation",
                       static_cast<double>(output->params.scale));
  }
  *out_range = range;
  return kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_ACTIVATION_RANGE_H_
