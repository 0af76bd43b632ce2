// SPDX-License-Identifier: Apache-2.0
#include "core/base/small_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace deputy {

void UseSmallPages([[maybe_unused]] char* data, [[maybe_unused]] size_t bytes) {
#ifdef MADV_NOHUGEPAGE
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = (page - reinterpret_cast<uintptr_t>(data) % page) % page;
  if (bytes < before + page) return;
  // A refusal costs memory, nothing else.
  madvise(data + before, (bytes - before) / page * page, MADV_NOHUGEPAGE);
#endif
}

}  // namespace deputy
