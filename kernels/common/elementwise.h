// SPDX-License-Identifier: Apache-2.0
//
// Operators with one input in which each output element depends only on the same input element:
// loops over whole tensors, and tables for quantised types. A function of an 8-bit value is
// tabulated in prepare, so that it costs one byte load at run time. For 16 bits the results are bit
// by bit those of TensorFlow Lite's interpolating table of 513 entries.
#ifndef DEPUTY_KERNELS_COMMON_ELEMENTWISE_H_
#define DEPUTY_KERNELS_COMMON_ELEMENTWISE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/half.h"
#include "kernels/common/kernel.h"
#include "kernels/common/short_entry.h"

namespace deputy {

// Computes out[i] = function(values[i]). `function` should hold its data by value: a loop that
// stores bytes must reload memory that it reaches through references.
template <typename T, typename Function>
void MapRange(const T* values, int64_t count, const Function& function, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = function(values[i]);
}

// Computes output[i] = function(input[i]) on all threads. `input` and `output` may be the same
// memory.
template <typename T, typename Function>
TfLiteStatus MapElements(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                         const Function& function) {
  const T* values = Data<T>(input);
  T* out = Data<T>(output);
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    MapRange(values + first, last - first, function, out + first);
  });
  return kTfLiteOk;
}

// Computes output[i] = function(input[i]) for float16 tensors with a function on float.
template <typename Function>
TfLiteStatus MapHalves(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                       const Function& function) {
  return MapElements<uint16_t>(context, input, output, [&](uint16_t half) {
    return FloatToHalf(function(HalfToFloat(half)));
  });
}

// Computes output[i] = function(input[i]) for bfloat16 tensors with a function on float.
template <typename Function>
TfLiteStatus MapBFloat16(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                         const Function& function) {
  return MapElements<BFloat16>(context, input, output,
                               [&](BFloat16 x) { return BFloat16(function(x)); });
}

// Converts a real number to a quantised value of T, saturating; NaN becomes the minimum. Upstream
// converts to int32 first, where out-of-range values of either sign become the minimum.
template <typename T>
T ClampToStep(float value) {
  constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  return value >= kLow ? static_cast<T>(std::min(value, kHigh)) : std::numeric_limits<T>::min();
}

// Table of a function of an 8-bit type, one result for each of the 256 values.
class ByteTable {
 public:
  // Sets table[x] = function(x) for all x of T, which is int8_t or uint8_t.
  template <typename T, typename Function>
  void Fill(const Function& function) {
    for (int x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); ++x) {
      bytes_[static_cast<uint8_t>(x)] = static_cast<uint8_t>(function(x));
    }
  }

  // Tabulates a function of real numbers for quantised input and output of type T.
  template <typename T, typename Function>
  void FillReal(const TfLiteTensor* input, const TfLiteTensor* output, const Function& function) {
    const float inverse_scale = 1.0f / output->params.scale;
    Fill<T>([&](int x) {
      const float real = input->params.scale * static_cast<float>(x - input->params.zero_point);
      const float steps = std::round(function(real) * inverse_scale);
      return ClampToStep<T>(steps + static_cast<float>(output->params.zero_point));
    });
  }

  // Returns the table, indexed by x as an unsigned byte.
  const uint8_t* bytes() const { return bytes_; }

 private:
  uint8_t bytes_[256];
};

// Fills the table with FillReal if the input is int8 or uint8; returns false for other types.
template <typename Function>
bool FillByteTable(const TfLiteTensor* input, const TfLiteTensor* output, ByteTable* table,
                   const Function& function) {
  if (input->type == kTfLiteInt8) table->FillReal<int8_t>(input, output, function);
  if (input->type == kTfLiteUInt8) table->FillReal<uint8_t>(input, output, function);
  return input->type == kTfLiteInt8 || input->type == kTfLiteUInt8;
}

// Table of a function of int16: samples at every 128th value, each but the last corrected by half
// of the error of linear interpolation at the midpoint to the next sample. Samples are computed in
// type Real.
template <typename Real>
class ShortTable {
 public:
  template <typename Function>
  void Fill(Real input_scale, int32_t input_zero_point, Real output_scale,
            int32_t output_zero_point, const Function& function) {
    constexpr int kMin = std::numeric_limits<int16_t>::min();
    constexpr int kMax = std::numeric_limits<int16_t>::max();
    const Real low = input_scale * static_cast<Real>(kMin - input_zero_point);
    const Real high = input_scale * static_cast<Real>(kMax - input_zero_point);
    const Real out_low = output_scale * static_cast<Real>(kMin - output_zero_point);
    const Real out_high = output_scale * static_cast<Real>(kMax - output_zero_point);
    const Real step = (high - low) / kSteps;
    const Real half_step = step / 2;
    const Real to_steps = static_cast<Real>(kMax - kMin + 1) / (out_high - out_low);
    const auto clamp = [](Real value) {
      return value >= Real{kMin} ? static_cast<int16_t>(std::min(value, Real{kMax}))
                                 : static_cast<int16_t>(kMin);
    };
    int16_t samples[kSteps + 1];
    for (int i = 0; i < kSteps; ++i) {
      const Real at = low + static_cast<Real>(i) * step;
      const Real value = function(at);
      const Real middle = function(at + half_step);
      const Real next = function(low + static_cast<Real>(i + 1) * step);
      const Real sample = std::round(value * to_steps);
      const Real interpolated = std::round((next * to_steps + std::round(value * to_steps)) / 2);
      const Real error = interpolated - std::round(middle * to_steps);
      // If the function overflows Real there is nothing to correct: the sample saturates.
      const bool is_finite = std::isfinite(sample) && std::isfinite(error);
      samples[i] = clamp(is_finite ? sample - std::round(error / 2) : sample);
    }
    samples[kSteps] = clamp(std::round(function(high) * to_steps));
    for (int i = 0; i < kSteps; ++i) entries_[i] = ShortEntry(samples[i], samples[i + 1]);
  }

  int16_t operator()(int16_t x) const { return LookUpShort(entries_, x); }
  const int32_t* entries() const { return entries_; }

 private:
  static constexpr int kSteps = kShortEntries;
  int32_t entries_[kSteps];
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_ELEMENTWISE_H_
