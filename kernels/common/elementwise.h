// SPDX-License-Identifier: Apache-2.0
//
// Operators with one input whose output depends on nothing but the same element: loops over whole
// tensors, and tables for quantised ones. A function of an 8-bit value has 256 results, worked out
// in prepare, so that its cost at run time is a byte load whatever the function. For 16 bits there
// is TensorFlow Lite's interpolating table of 513 entries, bit by bit.
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

// out[i] = function(values[i]). Its arguments are values: a loop that stores bytes loads again for
// every element what it reaches through references.
template <typename T, typename Function>
void MapRange(const T* values, int64_t count, const Function& function, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = function(values[i]);
}

// output[i] = function(input[i]), on all threads. The two may be the same memory.
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

// The same on float16 with a function on float.
template <typename Function>
TfLiteStatus MapHalves(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                       const Function& function) {
  return MapElements<uint16_t>(context, input, output, [&](uint16_t half) {
    return FloatToHalf(function(HalfToFloat(half)));
  });
}

// The same on bfloat16.
template <typename Function>
TfLiteStatus MapBFloat16(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                         const Function& function) {
  return MapElements<BFloat16>(context, input, output,
                               [&](BFloat16 x) { return BFloat16(function(x)); });
}

// A real number as a step of T, saturating. Upstream converts to int32 first, where numbers that
// do not fit become the lowest step whatever their sign. NaN becomes the lowest step.
template <typename T>
T ClampToStep(float value) {
  constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  return value >= kLow ? static_cast<T>(std::min(value, kHigh)) : std::numeric_limits<T>::min();
}

// A function of an 8-bit type.
class ByteTable {
 public:
  // table[x] = function(x) for all x of T, which is int8_t or uint8_t.
  template <typename T, typename Function>
  void Fill(const Function& function) {
    for (int x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); ++x) {
      bytes_[static_cast<uint8_t>(x)] = static_cast<uint8_t>(function(x));
    }
  }

  // As above for a function of real numbers, from and to quantised tensors of type T.
  template <typename T, typename Function>
  void FillReal(const TfLiteTensor* input, const TfLiteTensor* output, const Function& function) {
    const float inverse_scale = 1.0f / output->params.scale;
    Fill<T>([&](int x) {
      const float real = input->params.scale * static_cast<float>(x - input->params.zero_point);
      const float steps = std::round(function(real) * inverse_scale);
      return ClampToStep<T>(steps + static_cast<float>(output->params.zero_point));
    });
  }

  // By the byte of x.
  const uint8_t* bytes() const { return bytes_; }

 private:
  uint8_t bytes_[256];
};

// FillReal for whichever of int8 and uint8 the input is; false for other types.
template <typename Function>
bool FillByteTable(const TfLiteTensor* input, const TfLiteTensor* output, ByteTable* table,
                   const Function& function) {
  if (input->type == kTfLiteInt8) table->FillReal<int8_t>(input, output, function);
  if (input->type == kTfLiteUInt8) table->FillReal<uint8_t>(input, output, function);
  return input->type == kTfLiteInt8 || input->type == kTfLiteUInt8;
}

// A function of int16: samples at every 128th step, each moved by half of the error that linear
// interpolation would make in the middle to the next. Real is the type the samples are computed in.
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
      // A function that leaves the range of Real has nothing to correct: its sample saturates.
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
