// SPDX-License-Identifier: Apache-2.0
//
// What this machine says of its caches.
#ifndef DEPUTY_CORE_BASE_CPU_CACHE_H_
#define DEPUTY_CORE_BASE_CPU_CACHE_H_

#include <cstddef>

namespace deputy {

// Bytes of the second-level cache of a core; a usual size where the machine does not say.
size_t SecondLevelCacheBytes();

// For tests: that size from now on, in all threads; 0 restores the machine's.
void OverrideSecondLevelCache(size_t bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_CPU_CACHE_H_
