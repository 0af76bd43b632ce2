// SPDX-License-Identifier: Apache-2.0
//
// 2-bit and 4-bit integers, stored several per byte, the first in the lowest bits. Kernels compute
// with them as int8.
#ifndef DEPUTY_KERNELS_COMMON_PACKED_INTS_H_
#define DEPUTY_KERNELS_COMMON_PACKED_INTS_H_

#include <cstdint>

#include "c_api/include/c_api_types.h"
#include "core/support/type_size.h"

namespace deputy {

// Bits per element of a packed type; 0 for any other type.
constexpr int PackedBits(TfLiteType type) {
  const auto bits = static_cast<int>(TypeBits(type));
  return bits < 8 ? bits : 0;
}

struct PackedRange {
  int8_t low, high;
};
constexpr PackedRange RangeOf(TfLiteType packed) {
  if (packed == kTfLiteUInt4) return {0, 15};
  return packed == kTfLiteInt4 ? PackedRange{-8, 7} : PackedRange{-2, 1};
}

// Returns element `index` of an array of packed integers.
inline int8_t UnpackedAt(TfLiteType packed, const uint8_t* values, int64_t index) {
  const int bits = PackedBits(packed);
  const int64_t bit = index * bits;
  const int value = values[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
  return static_cast<int8_t>(value > RangeOf(packed).high ? value - (1 << bits) : value);
}

inline void Unpack(TfLiteType packed, const uint8_t* values, int64_t count, int8_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = UnpackedAt(packed, values, i);
}

// Packs `count` integers; unused bits after the last element become 0.
inline void Pack(TfLiteType packed, const int8_t* values, int64_t count, uint8_t* out) {
  const int bits = PackedBits(packed), per_byte = 8 / bits;
  for (int64_t i = 0; i < count; i += per_byte) {
    int byte = 0;
    for (int j = 0; j < per_byte && i + j < count; ++j) {
      byte |= (values[i + j] & ((1 << bits) - 1)) << (j * bits);
    }
    out[i / per_byte] = static_cast<uint8_t>(byte);
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_PACKED_INTS_H_
