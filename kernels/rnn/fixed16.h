// SPDX-License-Identifier: Apache-2.0
//
// gemmlowp's 16-bit fixed-point functions, used by the quantised LSTM algorithms. As in
// kernels/common/fixed_point.h, Q3 means value = raw / 2^(15 - 3), and every constant and every
// rounding is part of the algorithm.
#ifndef DEPUTY_KERNELS_RNN_FIXED16_H_
#define DEPUTY_KERNELS_RNN_FIXED16_H_

#include <algorithm>
#include <cstdint>

#include "kernels/common/requantize.h"

namespace deputy {

inline int16_t Saturate16(int32_t x) {
  return static_cast<int16_t>(std::clamp(x, int32_t{-32768}, int32_t{32767}));
}

// Product of two numbers in Q0, rounded to nearest, ties upwards.
inline int16_t Multiply16(int16_t a, int16_t b) {
  const int32_t product = int32_t{a} * b;
  const int32_t nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return Saturate16((product + nudge) / (1 << 15));
}

// 1 / (1 + e^-x) in Q0, for x in Q3.
int16_t LogisticOfQ3(int16_t x);

// tanh(x) in Q0, for x with 0 to 6 integer bits.
int16_t Tanh16(int16_t x, int integer_bits);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_FIXED16_H_
