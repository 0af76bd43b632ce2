// SPDX-License-Identifier: Apache-2.0
#include "c_api/abi/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace deputy {
namespace {

size_t PhysicalMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  size_t bytes;
  if (pages <= 0 || page_bytes <= 0 ||
      __builtin_mul_overflow(static_cast<size_t>(pages), static_cast<size_t>(page_bytes), &bytes)) {
    return SIZE_MAX / 2;
  }
  return bytes;
}

}  // namespace

size_t ProcessMemoryLimit() {
  const size_t physical = PhysicalMemory();
  rlimit address_space;
  if (getrlimit(RLIMIT_AS, &address_space) != 0 || address_space.rlim_cur == RLIM_INFINITY) {
    return physical;
  }
  return std::min<size_t>(physical, address_space.rlim_cur);
}

}  // namespace deputy
