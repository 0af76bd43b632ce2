// SPDX-License-Identifier: Apache-2.0
//
// Size of this machine's second-level cache.
#ifndef DEPUTY_CORE_BASE_CPU_CACHE_H_
#define DEPUTY_CORE_BASE_CPU_CACHE_H_

#include <cstddef>

namespace deputy {

// Returns the bytes of a core's second-level cache; 512 KiB if the system does not report it.
size_t SecondLevelCacheBytes();

// For tests: overrides the size in all threads; 0 restores the machine's value.
void OverrideSecondLevelCache(size_t bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_CPU_CACHE_H_
