// SPDX-License-Identifier: Apache-2.0
//
// Parts of the format of compiled models that ParseCompiledModel and the writer share.
#ifndef DEPUTY_CORE_SUPPORT_COMPILED_MODEL_FORMAT_H_
#define DEPUTY_CORE_SUPPORT_COMPILED_MODEL_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "c_api/include/delegate_serialization.h"

namespace deputy {

inline constexpr char kCompiledMagic[8] = {'D', 'P', 'T', 'Y', 'C', 'M', 'P', '2'};
inline constexpr size_t kMaxCompiledText = 4096;

// Last bytes of a file.
struct CompiledFooter {
  uint64_t index_offset;
  uint64_t index_bytes;
  DeputyFingerprint checksum;  // checksum of the two numbers and the index
  char magic[8];
};

inline DeputyFingerprint SumOf(std::span<const char> bytes) {
  DeputyFingerprint sum;
  DeputyFingerprintInit(&sum);
  DeputyFingerprintAdd(&sum, bytes.data(), bytes.size());
  return sum;
}

inline DeputyFingerprint SumOf(const CompiledFooter& footer, std::span<const char> index) {
  DeputyFingerprint sum = SumOf(index);
  DeputyFingerprintStep(&sum, footer.index_offset);
  DeputyFingerprintStep(&sum, footer.index_bytes);
  return sum;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_COMPILED_MODEL_FORMAT_H_
