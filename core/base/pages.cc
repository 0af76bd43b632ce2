// SPDX-License-Identifier: Apache-2.0
#include "core/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace deputy {
namespace {

// Gives the advice for all pages that lie whole in `bytes` from `data` on.
[[maybe_unused]] void Advise(char* data, size_t bytes, int advice) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = (page - reinterpret_cast<uintptr_t>(data) % page) % page;
  if (bytes < before + page) return;
  madvise(data + before, (bytes - before) / page * page, advice);
}

}  // namespace

void UseSmallPages([[maybe_unused]] char* data, [[maybe_unused]] size_t bytes) {
#ifdef MADV_NOHUGEPAGE
  Advise(data, bytes, MADV_NOHUGEPAGE);
#endif
}

void MakeResident([[maybe_unused]] char* data, [[maybe_unused]] size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (bytes <= kMaxResidentBytes) Advise(data, bytes, MADV_POPULATE_WRITE);
#endif
}

}  // namespace deputy
