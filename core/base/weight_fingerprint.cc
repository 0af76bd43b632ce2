// SPDX-License-Identifier: Apache-2.0
//
// FingerprintOf is in a separate file, which is compiled for speed.
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/base/weight_file.h"

namespace deputy {

// Eight independent lanes keep the multiplier busy. Every step is invertible, so a change of one
// word changes the result.
DeputyFingerprint FingerprintOf(const void* data, size_t bytes) {
  constexpr size_t kLanes = 8, kBlock = kLanes * sizeof(uint64_t);
  constexpr uint64_t kFactor = 0x9fb21c651e98df25;
  uint64_t lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = kFactor * (i + 1);
  const auto* at = static_cast<const char*>(data);
  const size_t whole = bytes - bytes % kBlock;
  for (const char* const end = at + whole; at != end; at += kBlock) {
    uint64_t words[kLanes];
    std::memcpy(words, at, kBlock);
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * kFactor, 29);
  }
  DeputyFingerprint sum;
  DeputyFingerprintInit(&sum);
  DeputyFingerprintAdd(&sum, lanes, sizeof lanes);
  DeputyFingerprintAdd(&sum, at, bytes - whole);
  DeputyFingerprintStep(&sum, bytes);
  return sum;
}

}  // namespace deputy
