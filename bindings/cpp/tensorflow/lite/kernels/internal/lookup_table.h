// SPDX-License-Identifier: Apache-2.0
//
// Tables of functions of quantised elements. 8-bit tables have an entry for every byte; int16
// tables have 513 entries, between which lookups interpolate.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOOKUP_TABLE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOOKUP_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/cppmath.h"

namespace tflite {

template <typename T>
constexpr int LUTSize() {
  static_assert(std::is_same<T, uint8_t>::value || std::is_same<T, int8_t>::value ||
                    std::is_same<T, int16_t>::value,
                "tables exist for uint8, int8 and int16");
  return sizeof(T) == 1 ? 256 : 513;
}

namespace lookup_table {

// Fills the table of an 8-bit type; int8 elements have the index of their bit pattern.
template <typename T, typename Transform>
inline void PopulateBytes(float input_scale, int32_t input_zero_point, float output_scale,
                          int32_t output_zero_point, const Transform& transform, T* lut) {
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  const float inverse_scale = 1 / output_scale;
  for (int32_t value = kMin; value <= kMax; ++value) {
    const float real = input_scale * static_cast<float>(value - input_zero_point);
    const float steps = TfLiteRound(transform(real) * inverse_scale);
    const auto quantized = static_cast<int32_t>(steps + static_cast<float>(output_zero_point));
    lut[static_cast<uint8_t>(value)] = static_cast<T>(std::max(kMin, std::min(kMax, quantized)));
  }
}

// Fills the table of int16. Each entry is moved by half of the interpolation's error in the middle
// of its interval.
template <typename Float, typename Transform>
inline void PopulateInt16(Float input_scale, int32_t input_zero_point, Float output_scale,
                          int32_t output_zero_point, const Transform& transform, int16_t* lut) {
  constexpr int32_t kMin = std::numeric_limits<int16_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int16_t>::max();
  constexpr int kSteps = 512;
  const auto real = [](Float scale, int32_t steps) { return scale * static_cast<Float>(steps); };
  const Float input_min = real(input_scale, kMin - input_zero_point);
  const Float input_max = real(input_scale, kMax - input_zero_point);
  const Float output_min = real(output_scale, kMin - output_zero_point);
  const Float output_max = real(output_scale, kMax - output_zero_point);
  const Float step = (input_max - input_min) / kSteps;
  const Float half_step = step / 2;
  const Float inverse_scale = static_cast<Float>(kMax - kMin + 1) / (output_max - output_min);
  const auto clamp = [](Float value) {
    return static_cast<int16_t>(std::min<Float>(std::max<Float>(value, static_cast<Float>(kMin)),
                                                static_cast<Float>(kMax)));
  };
  for (int i = 0; i < kSteps; ++i) {
    const Float begin = input_min + static_cast<Float>(i) * step;
    const Float value = TfLiteRound(transform(begin) * inverse_scale);
    const Float middle = TfLiteRound(transform(begin + half_step) * inverse_scale);
    const Float next = transform(input_min + static_cast<Float>(i + 1) * step) * inverse_scale;
    const Float interpolated = TfLiteRound((next + value) / 2);
    lut[i] = clamp(value - TfLiteRound((interpolated - middle) / 2));
  }
  lut[kSteps] = clamp(TfLiteRound(transform(input_max) * inverse_scale));
}

template <typename T, typename Transform>
inline void Populate(float input_scale, int32_t input_zero_point, float output_scale,
                     int32_t output_zero_point, const Transform& transform, T* lut) {
  if constexpr (sizeof(T) == 1) {
    PopulateBytes(input_scale, input_zero_point, output_scale, output_zero_point, transform, lut);
  } else {
    PopulateInt16(input_scale, input_zero_point, output_scale, output_zero_point, transform, lut);
  }
}

}  // namespace lookup_table

// Fill `lut`, which must have LUTSize<T>() entries, with the quantised values of `transform`.
template <typename T>
inline void LUTPopulate(float input_scale, int32_t input_zero_point, float output_scale,
                        int32_t output_zero_point, float (*transform)(float), T* lut) {
  lookup_table::Populate(input_scale, input_zero_point, output_scale, output_zero_point, transform,
                         lut);
}

template <typename T>
inline void LUTPopulate(float input_scale, int32_t input_zero_point, float output_scale,
                        int32_t output_zero_point, float (*transform)(float, const void*),
                        const void* transform_params, T* lut) {
  const auto with_params = [&](float value) { return transform(value, transform_params); };
  lookup_table::Populate(input_scale, input_zero_point, output_scale, output_zero_point,
                         with_params, lut);
}

inline void LUTPopulate(double input_scale, int32_t input_zero_point, double output_scale,
                        int32_t output_zero_point, double (*transform)(double), int16_t* lut) {
  lookup_table::PopulateInt16(input_scale, input_zero_point, output_scale, output_zero_point,
                              transform, lut);
}

inline int8_t LUTLookup(int8_t value, const int8_t* lut) {
  return lut[static_cast<uint8_t>(value)];
}
inline uint8_t LUTLookup(uint8_t value, const uint8_t* lut) { return lut[value]; }

// The 9 high bits are the index, the 7 low bits the position between two entries.
inline int16_t LUTLookup(int16_t value, const int16_t* lut) {
  const int index = 256 + (value >> 7);
  const int fraction = value & 0x7f;
  const auto slope = static_cast<int16_t>(lut[index + 1] - lut[index]);
  return static_cast<int16_t>(lut[index] + ((slope * fraction + 64) >> 7));
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOOKUP_TABLE_H_
