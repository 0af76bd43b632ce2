// SPDX-License-Identifier: Apache-2.0
//
// Dot products of contiguous values, for the plain code of operators. The loops over 8-bit values
// have a constant number of lanes, which compilers vectorise.
#ifndef DEPUTY_KERNELS_LINALG_DOT_H_
#define DEPUTY_KERNELS_LINALG_DOT_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/common/requantize.h"

namespace deputy {

// Returns the dot product of floats, summed in ascending order.
inline float Dot(const float* a, const float* b, int64_t count, float, float) {
  float sum = 0.0f;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Returns the sum of (a - a_zero) * (b - b_zero) of int8 or uint8 values, wrapping in 32 bits.
template <typename T>
int32_t Dot(const T* a, const T* b, int64_t count, int32_t a_zero, int32_t b_zero) {
  constexpr int kLanes = 16;
  uint32_t lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      lanes[j] += static_cast<uint32_t>((a[i + j] - a_zero) * (b[i + j] - b_zero));
    }
  }
  for (; i < count; ++i) lanes[0] += static_cast<uint32_t>((a[i] - a_zero) * (b[i] - b_zero));
  uint32_t sum = 0;
  for (uint32_t lane : lanes) sum += lane;
  return static_cast<int32_t>(sum);
}

// Returns the 64-bit sum of int16 times (int8 less `b_zero`). Zero points of int16 are always 0.
inline int64_t Dot(const int16_t* a, const int8_t* b, int64_t count, int32_t, int32_t b_zero) {
  constexpr int kLanes = 16;
  // Number of products per block. A product is below 2^23, so a block's sum fits in a 32-bit lane.
  constexpr int64_t kBlock = kLanes * 256;
  int64_t sum = 0;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t last = std::min(count, first + kBlock);
    int32_t lanes[kLanes] = {};
    int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * (b[i + j] - b_zero);
    }
    for (; i < last; ++i) sum += a[i] * (b[i] - b_zero);
    for (int32_t lane : lanes) sum += lane;
  }
  return sum;
}

// Returns the 64-bit sum of int16 times int16.
inline int64_t Dot(const int16_t* a, const int16_t* b, int64_t count, int32_t, int32_t) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

// Result type of Dot for an input and weights of these types.
template <typename In, typename Weight>
using DotSum =
    decltype(Dot(std::declval<const In*>(), std::declval<const Weight*>(), int64_t{}, {}, {}));

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_DOT_H_
