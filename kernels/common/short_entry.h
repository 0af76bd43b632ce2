// SPDX-License-Identifier: Apache-2.0
//
// Entry of a table of 512 entries for an int16 function, one for every 128 values, between which
// the function is interpolated. Always inlined, because kernels/vector compiles it for several
// instruction sets.
#ifndef DEPUTY_KERNELS_COMMON_SHORT_ENTRY_H_
#define DEPUTY_KERNELS_COMMON_SHORT_ENTRY_H_

#include <cstdint>

namespace deputy {

inline constexpr int kShortEntries = 512;

// Packs the value at the entry and its difference to the next entry's value, 16 bits each, so that
// one load reads both. A difference of more than half of the range wraps, as upstream's does.
[[gnu::always_inline]] inline int32_t ShortEntry(int16_t value, int16_t next) {
  const auto slope = static_cast<uint32_t>(next) - static_cast<uint32_t>(value);
  return static_cast<int32_t>(slope << 16 | (static_cast<uint32_t>(value) & 0xffff));
}

[[gnu::always_inline]] inline int16_t LookUpShort(const int32_t* entries, int16_t x) {
  const int32_t entry = entries[kShortEntries / 2 + (x >> 7)];
  const int32_t value = static_cast<int16_t>(entry), slope = entry >> 16;
  return static_cast<int16_t>(value + ((slope * (x & 127) + 64) >> 7));
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_SHORT_ENTRY_H_
