// SPDX-License-Identifier: Apache-2.0
#include "core/base/process_id.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace deputy {
namespace {

// The memory that ProcessId() reads; null before the first call, never unmapped. Lock-free, because
// a forked child might find a lock held by a thread that it does not have.
std::atomic<std::atomic<pid_t>*> note{nullptr};
// Value of `note` if the page cannot be mapped or cannot be zeroed in a forked child.
std::atomic<pid_t> no_note{0};

// No advice of madvise(). QEMU's emulation of Linux ignores most advice and reports success.
constexpr int kUnknownAdvice = -1;

bool ZeroInForkedChild(void* page, size_t bytes) {
  return madvise(page, bytes, kUnknownAdvice) != 0 && madvise(page, bytes, MADV_WIPEONFORK) == 0;
}

// Maps a page that the kernel zeroes in a forked child.
std::atomic<pid_t>* MapNote(size_t bytes) {
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &no_note;
  if (ZeroInForkedChild(page, bytes)) return new (page) std::atomic<pid_t>(0);
  munmap(page, bytes);
  return &no_note;
}

std::atomic<pid_t>* Note() {
  std::atomic<pid_t>* known = note.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::atomic<pid_t>* const made = MapNote(bytes);
  if (note.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
  if (made != &no_note) munmap(static_cast<void*>(made), bytes);
  return known;
}

}  // namespace

pid_t ProcessId() {
  std::atomic<pid_t>* const own = Note();
  if (own == &no_note) return getpid();
  pid_t known = own->load(std::memory_order_relaxed);
  if (known == 0) {
    known = getpid();
    own->store(known, std::memory_order_relaxed);
  }
  return known;
}

}  // namespace deputy
