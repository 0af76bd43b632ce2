// SPDX-License-Identifier: Apache-2.0
//
// FarmHash's Fingerprint64, a 64-bit fingerprint of bytes, which defines LSH_PROJECTION.
#ifndef DEPUTY_KERNELS_COMMON_FINGERPRINT_H_
#define DEPUTY_KERNELS_COMMON_FINGERPRINT_H_

#include <cstdint>
#include <span>

namespace deputy {

uint64_t Fingerprint(std::span<const uint8_t> bytes);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FINGERPRINT_H_
