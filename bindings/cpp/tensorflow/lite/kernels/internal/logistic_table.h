// SPDX-License-Identifier: Apache-2.0
//
// The table from which LOGISTIC and TANH of int16 interpolate: tanh(x) = 2 * logistic(2x) - 1.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOGISTIC_TABLE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOGISTIC_TABLE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tflite {

// Returns the interpolated entry for |x| in steps of 1/24, with `index_shift` fraction bits.
// Entries have 16 fraction bits, so the result has 16 + index_shift; `saturated` beyond the table.
inline uint32_t LogisticTableAt(uint32_t magnitude, int index_shift, uint32_t saturated) {
  static const std::array<uint16_t, 256> table = [] {
    // Some entries are one above the nearest value, which improves the interpolated values.
    constexpr uint8_t kRaised[] = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                   30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                   54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
    std::array<uint16_t, 256> entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      const double logistic = 1.0 / (1.0 + std::exp(-static_cast<double>(i) / 24.0));
      entries[i] = static_cast<uint16_t>(std::floor(65536.0 * logistic + 0.5));
    }
    for (const uint8_t i : kRaised) ++entries[i];
    return entries;
  }();
  const uint32_t index = magnitude >> index_shift;
  if (index >= 255) return saturated;
  const uint32_t fraction = magnitude & ((1u << index_shift) - 1);
  const uint32_t low = table[index];
  return (low << index_shift) + fraction * (table[index + 1] - low);
}

// Scales an input. A multiplier of 0 stands for a scale that is a power of two.
inline int32_t ScaleToLogisticTable(int16_t input, int32_t multiplier, int32_t left_shift) {
  if (multiplier == 0) return input * (int32_t{3} << left_shift);
  const int32_t half = left_shift > 0 ? int32_t{1} << (left_shift - 1) : 0;
  return (input * multiplier + half) >> left_shift;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_LOGISTIC_TABLE_H_
