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

// Symmetric: the greatest magnitude becomes 127.
RowQuantization Symmetric(float least, float greatest) {
  const float range = std::max(std::fabs(least), std::fabs(greatest));
  if (range == 0.0f) return {};
  return {range / 127.0f, 127.0f / range, 0, -127};
}

// Asymmetric: the range, which always holds 0, becomes -128 to 127. Of the two ends the one that
// loses fewer bits decides the zero point.
RowQuantization Asymmetric(float least, float greatest) {
  const double low = static_cast<double>(std::min(0.0f, least));
  const double high = static_cast<double>(std::max(0.0f, greatest));
  if (low == high) return {};
  const double scale = (high - low) / 255.0;
  const double from_low = -128.0 - low / scale, from_high = 127.0 - high / scale;
  const double low_error = 128.0 + std::fabs(low / scale);
  const double high_error = 127.0 + std::fabs(high / scale);
  const double zero_point = low_error < high_error ? from_low : from_high;
  RowQuantization result;
  result.scale = static_cast<float>(scale);
  result.inverse_scale = 1.0f / result.scale;
  result.low = -128;
  // Written so that NaN, from infinite inputs, gives a number.
  result.zero_point =
      zero_point > -128.0 ? static_cast<int32_t>(std::round(std::min(zero_point, 127.0))) : -128;
  return result;
}

// To nearest with ties away from zero, without a call so that it becomes vector code; NaN becomes
// the lower bound.
inline int8_t RoundToStep(float value, float low) {
  const float bounded = std::min(std::max(low, value), 127.0f);
  const int32_t whole = static_cast<int32_t>(bounded);
  const float rest = bounded - static_cast<float>(whole);
  return static_cast<int8_t>(whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0));
}

void QuantizeRow(const float* values, int64_t count, const RowQuantization& row, int8_t* out) {
  const float zero_point = static_cast<float>(row.zero_point), low = static_cast<float>(row.low);
  constexpr int kChunk = 16;
  int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    for (int j = 0; j < kChunk; ++j) {
      out[i + j] = RoundToStep(zero_point + values[i + j] * row.inverse_scale, low);
    }
  }
  for (; i < count; ++i) out[i] = RoundToStep(zero_point + values[i] * row.inverse_scale, low);
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
      float least = values[0], greatest = values[0];
      for (int64_t i = 1; i < row_values; ++i) {
        least = std::min(least, values[i]);
        greatest = std::max(greatest, values[i]);
      }
      quantization = asymmetric ? Asymmetric(least, greatest) : Symmetric(least, greatest);
      QuantizeRow(values, row_values, quantization, out);
    }
    scales_[row] = quantization.scale;
    zero_points_[row] = quantization.zero_point;
  }
  return kTfLiteOk;
}

}  // namespace deputy
