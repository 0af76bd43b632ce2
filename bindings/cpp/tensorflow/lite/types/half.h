// SPDX-License-Identifier: Apache-2.0
//
// A float16 element of a tensor. Arithmetic is that of float.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_HALF_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_HALF_H_

#include <cstdint>

#include "tensorflow/lite/types/fp16.h"

namespace tflite {

class half {
 public:
  half() = default;
  half(float value) : bits_(fp16_ieee_from_fp32_value(value)) {}
  explicit half(int value) : half(static_cast<float>(value)) {}

  operator float() const { return fp16_ieee_to_fp32_value(bits_); }

  static constexpr half from_bits(uint16_t bits) { return half(Bits{bits}); }
  constexpr uint16_t to_bits() const { return bits_; }
  constexpr bool is_zero() const { return (bits_ & 0x7fff) == 0; }

  // Difference of 1 and the next value, infinity, lowest and highest finite value, smallest normal
  // value.
  static constexpr half epsilon() { return from_bits(0x1400); }
  static constexpr half infinity() { return from_bits(0x7c00); }
  static constexpr half min() { return from_bits(0xfbff); }
  static constexpr half max() { return from_bits(0x7bff); }
  static constexpr half smallest_normal() { return from_bits(0x0400); }

  // Neutral elements of minimum, maximum and sum.
  static constexpr half min_identity() { return from_bits(0x7c00); }
  static constexpr half max_identity() { return from_bits(0xfc00); }
  static constexpr half sum_identity() { return from_bits(0); }

  uint16_t bits_;

 private:
  struct Bits {
    uint16_t bits;
  };
  explicit constexpr half(Bits bits) : bits_(bits.bits) {}
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_HALF_H_
