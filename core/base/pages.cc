// SPDX-License-Identifier: Apache-2.0
#include "core/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "core/base/thread_pool.h"

namespace deputy {
namespace {

// The size of a huge page. Two threads must not fault in the same one, as both would zero it.
[[maybe_unused]] constexpr size_t kPiece = size_t{2} << 20;

// Applies the advice to all pages that are completely inside the range.
void Advise(char* data, size_t bytes, int advice) {
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

void MakeResident([[maybe_unused]] char* data, [[maybe_unused]] size_t bytes,
                  [[maybe_unused]] ThreadPool* pool) {
#ifdef MADV_POPULATE_WRITE
  const auto make_resident = [](char* from, size_t count) {
    Advise(from, count, MADV_POPULATE_WRITE);
  };
  if (pool == nullptr || bytes <= kPiece) return make_resident(data, bytes);
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = begin / kPiece, last = (begin + bytes - 1) / kPiece;
  pool->ParallelFor(static_cast<int>(last - first + 1), [&](int piece, int) {
    const uintptr_t from = (first + static_cast<uintptr_t>(piece)) * kPiece, to = from + kPiece;
    const uintptr_t in_block = std::max(from, begin);
    make_resident(data + (in_block - begin), std::min(to, begin + bytes) - in_block);
  });
#endif
}

bool MapPages([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) {
#ifdef MADV_POPULATE_READ
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t in_page = reinterpret_cast<uintptr_t>(data) % page;
  char* const first = static_cast<char*>(const_cast<void*>(data)) - in_page;
  return madvise(first, in_page + bytes, MADV_POPULATE_READ) == 0;
#else
  return false;
#endif
}

bool ReadsPagesFast() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

void DiscardPages(char* data, size_t bytes) { Advise(data, bytes, MADV_DONTNEED); }

void MakeResidentForInference(char* data, size_t bytes, ThreadPool* pool) {
  if (bytes <= kMaxResidentBytes) MakeResident(data, bytes, pool);
}

}  // namespace deputy
