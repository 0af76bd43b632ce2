// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu_cache.h"

#include <unistd.h>

#include <atomic>

namespace deputy {
namespace {

std::atomic<size_t> overridden_bytes{0};

size_t DetectedBytes() {
  constexpr size_t kDefault = size_t{512} << 10;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : kDefault;
#else
  return kDefault;
#endif
}

}  // namespace

size_t SecondLevelCacheBytes() {
  static const size_t detected_bytes = DetectedBytes();
  const size_t overridden = overridden_bytes.load(std::memory_order_relaxed);
  return overridden != 0 ? overridden : detected_bytes;
}

void OverrideSecondLevelCache(size_t bytes) {
  overridden_bytes.store(bytes, std::memory_order_relaxed);
}

}  // namespace deputy
