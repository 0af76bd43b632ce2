// SPDX-License-Identifier: Apache-2.0
//
// Numbers distinct keys in the order of their first occurrence.
#ifndef DEPUTY_KERNELS_COMMON_DISTINCT_H_
#define DEPUTY_KERNELS_COMMON_DISTINCT_H_

#include <cstdint>
#include <span>
#include <vector>

namespace deputy {

// Numbers the distinct keys from 0 in the order of their first occurrence. Sets numbers[i] to the
// number of keys[i], and (*out_firsts)[n] to the index of the first key with number n. There must
// be fewer than 2^31 keys.
void NumberDistinct(std::span<const int64_t> keys, int32_t* numbers,
                    std::vector<int32_t>* out_firsts);

// Implementation of NumberDistinct by hashing. Returns false if collisions take more than about 16
// probes per key, since a hostile model may have chosen the keys.
bool NumberByHash(std::span<const int64_t> keys, int32_t* numbers,
                  std::vector<int32_t>* out_firsts);
// Implementation of NumberDistinct by sorting, which always succeeds.
void NumberBySorting(std::span<const int64_t> keys, int32_t* numbers,
                     std::vector<int32_t>* out_firsts);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_DISTINCT_H_
