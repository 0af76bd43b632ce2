// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/hybrid.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace deputy {
namespace {

struct RowQuantization {
  float scale = 1.0f;
  float inverse_scale = 0.0f;
  int32_t zero_point = 0;
  int32_t low = -127;
};

// Symmetric quantisation: the maximum magnitude maps to 127.
RowQuantization Symmetric(float min, float max) {
  const float range = std::max(std::fabs(min), std::fabs(max));
  if (range == 0.0f) return {};
  return {range / 127.0f, 127.0f / range, 0, -127};
}

// Asymmetric quantisation: the range, extended to include 0, maps to -128 to 127. The end of the
// range with the smaller rounding error determines the zero point. The range is a difference of
// floats; the scale and the zero point are computed from it in double, the inverse scale in float
// from the rounded scale.
RowQuantization Asymmetric(float min, float max) {
  const float low = std::min(0.0f, min), high = std::max(0.0f, max);
  if (low == high) return {};
  const double scale = static_cast<double>(high - low) / 255.0;
  const double low_steps = static_cast<double>(low) / scale;
  const double high_steps = static_cast<double>(high) / scale;
  const double from_low = -128.0 - low_steps, from_high = 127.0 - high_steps;
  const double low_error = 128.0 + std::fabs(low_steps);
  const double high_error = 127.0 + std::fabs(high_steps);
  const double zero_point = low_error < high_error ? from_low : from_high;
  RowQuantization result;
  result.scale = static_cast<float>(scale);
  result.inverse_scale = 1.0f / result.scale;
  result.low = -128;
  // The comparison is false for NaN, which results from infinite inputs and thus becomes a valid
  // zero point.
  result.zero_point =
      zero_point > -128.0 ? static_cast<int32_t>(std::round(std::min(zero_point, 127.0))) : -128;
  return result;
}

// Limits a value to bounds beyond the range of int8 in both directions; NaN becomes the lower
// bound.
inline float Bounded(float steps) { return std::min(std::max(-1000.0f, steps), 1000.0f); }

inline int8_t Shifted(int32_t steps, const RowQuantization& row) {
  return static_cast<int8_t>(std::min(std::max(steps + row.zero_point, row.low), 127));
}

// Quantises a row: rounds to nearest with ties away from zero, and only then adds the zero point.
// TensorFlow Lite rounds groups of 8 values by adding 0.5 and truncating, which rounds the float
// just below 0.5 up to one; the remaining values are rounded exactly.
void QuantizeRow(const float* values, int64_t count, const RowQuantization& row, int8_t* out) {
  constexpr int kGroup = 8;
  int64_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    for (int j = 0; j < kGroup; ++j) {
      const float steps = Bounded(values[i + j] * row.inverse_scale);
      out[i + j] = Shifted(static_cast<int32_t>(steps + (steps < 0.0f ? -0.5f : 0.5f)), row);
    }
  }
  for (; i < count; ++i) {
    out[i] = Shifted(static_cast<int32_t>(std::round(Bounded(values[i] * row.inverse_scale))), row);
  }
}

}  // namespace

size_t HybridRows::ScratchBytes(int64_t rows, int64_t row_values) {
  size_t values, numbers, bytes;
  const bool fits =
      MultiplySizes(static_cast<size_t>(rows), static_cast<size_t>(row_values), &values) &&
      MultiplySizes(static_cast<size_t>(rows), sizeof(float) + sizeof(int32_t), &numbers) &&
      AddSizes(values, numbers, &bytes) && AddSizes(bytes, 1, &bytes);
  return fits ? bytes : 0;
}

TfLiteStatus HybridRows::Quantize(TfLiteContext* context, const TfLiteTensor* what,
                                  const float* values, int64_t rows, int64_t row_values,
                                  bool asymmetric) {
  const size_t bytes = ScratchBytes(rows, row_values);
  if (bytes == 0 || !scratch_.Acquire(context, bytes)) {
    return TensorError(context, what, "out of memory for its quantised copy");
  }
  scales_ = scratch_.as<float>();
  zero_points_ = reinterpret_cast<int32_t*>(scales_ + rows);
  values_ = reinterpret_cast<int8_t*>(zero_points_ + rows);
  int8_t* out = values_;
  for (int64_t row = 0; row < rows; ++row, values += row_values, out += row_values) {
    RowQuantization quantization;
    if (row_values > 0) {
      float min = values[0], max = values[0];
      for (int64_t i = 1; i < row_values; ++i) {
        min = std::min(min, values[i]);
        max = std::max(max, values[i]);
      }
      quantization = asymmetric ? Asymmetric(min, max) : Symmetric(min, max);
      QuantizeRow(values, row_values, quantization, out);
    }
    scales_[row] = quantization.scale;
    zero_points_[row] = quantization.zero_point;
  }
  return kTfLiteOk;
}

}  // namespace deputy
