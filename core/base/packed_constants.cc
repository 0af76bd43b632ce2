// SPDX-License-Identifier: Apache-2.0
#include "core/base/packed_constants.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace deputy {
namespace {

constexpr size_t kSmallestChunk = size_t{64} << 10, kLargestChunk = size_t{8} << 20;

}  // namespace

char* PackedConstants::Place(size_t bytes, const Limits& limits) {
  size_t rounded;
  if (!AddSizes(bytes, kTensorAlignment - 1, &rounded)) return nullptr;
  rounded -= rounded % kTensorAlignment;
  for (Chunk& chunk : chunks_) {
    if (chunk.block.size() - chunk.used < rounded) continue;
    return chunk.block.data() + std::exchange(chunk.used, chunk.used + rounded);
  }
  // Few chunks, and soon large ones: what stays empty is given back.
  const size_t room = std::clamp(4 * bytes_, kSmallestChunk, kLargestChunk);
  const size_t expected = expected_ > bytes_ ? expected_ - bytes_ : 0;
  Chunk chunk;
  if (!chunk.block.Reserve(InLargePages(std::max({room, expected, rounded})), 0, limits) &&
      !chunk.block.Reserve(std::max(room, rounded), 0, limits) &&
      !chunk.block.Reserve(rounded, 0, limits)) {
    return nullptr;
  }
  chunk.used = rounded;
  chunks_.push_back(std::move(chunk));
  return chunks_.back().block.data();
}

char* PackedConstants::Reserve(size_t bytes, const Limits& limits) {
  const std::lock_guard lock(mutex_);
  char* const place = Place(bytes, limits);
  if (place != nullptr) bytes_ += bytes;
  return place;
}

void PackedConstants::Expect(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!AddSizes(bytes_, bytes, &expected_)) expected_ = 0;
}

void PackedConstants::ReleaseUnused() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : chunks_) {
    char* const data = chunk.block.data();
    const size_t in_page = reinterpret_cast<uintptr_t>(data) % page;
    const size_t first = (in_page + chunk.used + page - 1) / page * page;
    const size_t last = (in_page + chunk.block.size()) / page * page;
    // A refusal costs memory, nothing else.
    if (first < last) madvise(data + (first - in_page), last - first, MADV_DONTNEED);
  }
}

}  // namespace deputy
