// SPDX-License-Identifier: Apache-2.0
//
// Checks limits first, then calls posix_memalign for huge pages, else aligned_alloc; a failure is
// null or false.
#include "core/base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "c_api/abi/process_memory.h"

namespace deputy {
namespace {

// Size of a huge page. Blocks that contain whole huge pages are advised to use them: each replaces
// 512 page faults of small pages by one.
constexpr size_t kHugePage = size_t{2} << 20;

// Allocates `bytes`, a multiple of kTensorAlignment. Returns null on failure.
char* Allocate(size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (const size_t whole = InLargePages(bytes); whole >= kHugePage) {
    // Not aligned_alloc: it requires a size that is a multiple of the alignment, and
    // AddressSanitizer enforces this.
    if (void* block = nullptr; posix_memalign(&block, kHugePage, whole) == 0) {
      // A failure of madvise only costs time. Memory after the last whole huge page uses small
      // ones.
      madvise(block, whole - whole % kHugePage, MADV_HUGEPAGE);
      return static_cast<char*>(block);
    }
  }
#endif
  return static_cast<char*>(std::aligned_alloc(kTensorAlignment, bytes));
}

}  // namespace

Limits::Limits() : max_block_bytes(ProcessMemoryLimit()) {}

bool MultiplySizes(size_t a, size_t b, size_t* out) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product)) return false;
  *out = product;
  return true;
}

bool AddSizes(size_t a, size_t b, size_t* out) {
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return false;
  *out = sum;
  return true;
}

size_t InLargePages(size_t bytes) {
  const size_t last = bytes % kHugePage;
  size_t whole = bytes;
  if (last >= kHugePage / 2) AddSizes(bytes, kHugePage - last, &whole);
  return whole;
}

Block::~Block() { Free(); }

Block::Block(Block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    Free();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

bool Block::Reserve(size_t bytes, size_t keep_bytes, const Limits& limits) {
  if (bytes <= size_) return true;
  size_t rounded;
  if (bytes > limits.max_block_bytes || !AddSizes(bytes, kTensorAlignment - 1, &rounded)) {
    return false;
  }
  rounded -= rounded % kTensorAlignment;  // aligned_alloc requires a multiple of the alignment
  char* const grown = Allocate(rounded);
  if (grown == nullptr) return false;
  const size_t kept = std::min(keep_bytes, size_);
  if (kept != 0) std::memcpy(grown, data_, kept);
  std::free(data_);
  data_ = grown;
  size_ = bytes;
  return true;
}

void Block::Free() {
  std::free(data_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace deputy
