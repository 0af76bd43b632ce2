// SPDX-License-Identifier: Apache-2.0
#include "core/base/packed_constants.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "core/base/pages.h"
#include "core/base/thread_pool.h"
#include "core/support/int_math.h"

namespace deputy {
namespace {

constexpr size_t kMinChunk = size_t{64} << 10, kMaxChunk = size_t{8} << 20;

std::atomic<bool> overwrites_discarded{false};

// Estimates the packed size of constants, which grow because columns are padded to whole panels.
constexpr size_t Packed(size_t bytes) { return bytes / 8 * 9; }

}  // namespace

char* PackedConstants::Chunk::Take(size_t bytes, ThreadPool* pool) {
  const size_t begin = std::exchange(used, used + bytes);
  // A single thread gains nothing by prefaulting: it writes each page right after its page fault.
  if (pool != nullptr && pool->threads() > 1 && used > resident && resident < expected) {
    // Number of bytes to prefault at a time, limited so that the zeroed memory is still in the
    // cache when it is written.
    constexpr size_t kAtOnce = size_t{8} << 20;
    const size_t end = std::min(expected, std::max(used, resident + kAtOnce));
    MakeResident(block.data() + resident, end - resident, pool);
    resident = end;
  }
  return block.data() + begin;
}

char* PackedConstants::Place(size_t bytes, const Limits& limits, ThreadPool* pool) {
  size_t rounded;
  if (!AddSizes(bytes, kTensorAlignment - 1, &rounded)) return nullptr;
  rounded -= rounded % kTensorAlignment;
  for (Chunk& chunk : chunks_) {
    if (chunk.block.size() - chunk.used < rounded) continue;
    return chunk.Take(rounded, pool);
  }
  // Chunk sizes grow quickly, so that there are few chunks; unused pages are released.
  const size_t chunk_bytes = std::clamp(4 * bytes_, kMinChunk, kMaxChunk);
  const size_t expected = expected_ > bytes_ ? expected_ - bytes_ : 0;
  Chunk chunk;
  if (!chunk.block.Reserve(InLargePages(std::max({chunk_bytes, Packed(expected), rounded})), 0,
                           limits) &&
      !chunk.block.Reserve(std::max(chunk_bytes, rounded), 0, limits) &&
      !chunk.block.Reserve(rounded, 0, limits)) {
    return nullptr;
  }
  chunk.expected = std::min(InLargePages(expected), chunk.block.size());
  chunks_.push_back(std::move(chunk));
  return chunks_.back().Take(rounded, pool);
}

const char* PackedConstants::FindOrMake(const PackedKey& key, std::string parameters, size_t bytes,
                                        const Limits& limits, ThreadPool* pool, FillFunction call,
                                        const void* fill) {
  std::pair<PackedKey, std::string> full_key(key, std::move(parameters));
  // The lock is held during the fill, so that a second caller waits for the values instead of
  // computing them again.
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(full_key);
  if (found != places_.end() && found->second.is_filled) return found->second.data;
  char* const place = found == places_.end() ? Place(bytes, limits, pool) : found->second.data;
  if (place == nullptr) return nullptr;
  // The fill may throw, so the entry is added or changed afterwards.
  call(fill, place);
  if (found == places_.end()) {
    places_.emplace(std::move(full_key), Values{place, bytes, true});
  } else {
    found->second.is_filled = true;
  }
  bytes_ += bytes;
  return place;
}

char* PackedConstants::Reserve(size_t bytes, const Limits& limits, ThreadPool* pool) {
  const std::lock_guard lock(mutex_);
  char* const place = Place(bytes, limits, pool);
  if (place != nullptr) bytes_ += bytes;
  return place;
}

void PackedConstants::Expect(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!AddSizes(bytes_, bytes, &expected_)) expected_ = 0;
}

void PackedConstants::OverwriteDiscarded(bool overwrites) { overwrites_discarded = overwrites; }

void PackedConstants::BeginUse() {
  const std::lock_guard lock(mutex_);
  ++users_;
}

void PackedConstants::EndUse() {
  const std::lock_guard lock(mutex_);
  if (--users_ > 0) return;
  for (auto& [key, values] : places_) values.is_filled = false;
  if (!places_.empty()) bytes_ = 0;
  for (Chunk& chunk : chunks_) DiscardBytes(chunk.block.data(), chunk.used);
}

void PackedConstants::DiscardBytes(char* data, size_t bytes) {
  if (overwrites_discarded) std::memset(data, 0xa5, bytes);
  DiscardPages(data, bytes);
}

PackedConstants::Discarded PackedConstants::Discard(std::vector<std::span<const char>> constants) {
  const std::less<> before;
  const auto begins_before = [&](const auto& a, const auto& b) {
    return before(a.data(), b.data());
  };
  const auto contains = [&](const std::vector<std::span<const char>>& sorted, const void* address) {
    const auto* const byte = static_cast<const char*>(address);
    const auto next =
        std::upper_bound(sorted.begin(), sorted.end(), std::span(byte, 1), begins_before);
    return next != sorted.begin() &&
           before(byte, std::prev(next)->data() + std::prev(next)->size());
  };
  Discarded result;
  const std::lock_guard lock(mutex_);
  if (users_ > 1) return result;
  // Each round handles the values that were computed from those of the previous one.
  while (!constants.empty()) {
    std::sort(constants.begin(), constants.end(), begins_before);
    std::vector<std::span<const char>> found;
    for (auto& [key, values] : places_) {
      if (!contains(constants, key.first.constant)) continue;
      found.emplace_back(values.data, values.bytes);
      result.values.push_back(values.data);
      result.bytes += values.bytes;
      if (!std::exchange(values.is_filled, false)) continue;
      bytes_ -= values.bytes;
      DiscardBytes(values.data, values.bytes);
    }
    constants = std::move(found);
  }
  std::sort(result.values.begin(), result.values.end());
  return result;
}

bool PackedConstants::Contains(const void* data) const {
  const std::less<> before;
  const std::lock_guard lock(mutex_);
  return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    const char* const first = chunk.block.data();
    return !before(data, first) && before(data, first + chunk.used);
  });
}

void PackedConstants::ReleaseUnused() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : chunks_) {
    char* const data = chunk.block.data();
    const size_t in_page = reinterpret_cast<uintptr_t>(data) % page;
    const size_t first = RoundUp(in_page + chunk.used, page);
    const size_t last = (in_page + chunk.block.size()) / page * page;
    // A failure of madvise only costs memory.
    if (first < last) madvise(data + (first - in_page), last - first, MADV_DONTNEED);
  }
}

}  // namespace deputy
