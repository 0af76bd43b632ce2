// SPDX-License-Identifier: Apache-2.0
//
// Numbers for different keys, in the order of their first appearance.
#ifndef DEPUTY_KERNELS_COMMON_DISTINCT_H_
#define DEPUTY_KERNELS_COMMON_DISTINCT_H_

#include <cstdint>
#include <span>
#include <vector>

namespace deputy {

// numbers[i] is that of keys[i], and (*out_firsts)[n] the place of the first key of number n. There
// are fewer than 2^31 keys.
void NumberDistinct(std::span<const int64_t> keys, int32_t* numbers,
                    std::vector<int32_t>* out_firsts);

// Its two ways. A table of hashes gives up, and returns false, where keys share places of the table
// so often that finding them would take more than a few steps each: a model may have chosen them.
bool NumberByHash(std::span<const int64_t> keys, int32_t* numbers,
                  std::vector<int32_t>* out_firsts);
void NumberBySorting(std::span<const int64_t> keys, int32_t* numbers,
                     std::vector<int32_t>* out_firsts);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_DISTINCT_H_
