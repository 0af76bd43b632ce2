// SPDX-License-Identifier: Apache-2.0
//
// The 64-bit fingerprint of bytes that LSH_PROJECTION is defined by: FarmHash's Fingerprint64.
#ifndef DEPUTY_KERNELS_COMMON_FINGERPRINT_H_
#define DEPUTY_KERNELS_COMMON_FINGERPRINT_H_

#include <cstdint>
#include <span>

namespace deputy {

uint64_t Fingerprint(std::span<const uint8_t> bytes);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FINGERPRINT_H_
