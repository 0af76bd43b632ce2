// SPDX-License-Identifier: Apache-2.0
#include "core/base/scratch_arena.h"

#include <algorithm>
#include <utility>

#include "core/base/pages.h"

namespace deputy {
namespace {

// Computes the size of a piece, rounded up; false on overflow.
bool PieceBytes(size_t bytes, size_t* out) {
  size_t rounded;
  if (!AddSizes(std::max<size_t>(bytes, 1), kTensorAlignment - 1, &rounded)) return false;
  *out = rounded - rounded % kTensorAlignment;
  return true;
}

}  // namespace

char* ScratchArena::Acquire(size_t bytes, const Limits& limits) {
  size_t rounded;
  if (!PieceBytes(bytes, &rounded)) return nullptr;
  const size_t begin = pieces_.empty() ? 0 : pieces_.back().end;
  size_t end;
  if (!AddSizes(begin, rounded, &end)) return nullptr;
  // If the announced size is not available, the smaller size that is needed now may be.
  if (pieces_.empty() && !Grow(std::max(end, announced_bytes_), limits)) Grow(end, limits);
  if (end <= block_.size()) {
    pieces_.push_back({end, {}});
    return block_.data() + begin;
  }
  // Memory in use cannot move. Announces the total, so that the block will be large enough next
  // time.
  Block separate;
  if (!separate.Reserve(rounded, 0, limits)) return nullptr;
  pieces_.push_back({begin, std::move(separate)});
  separate_bytes_ += rounded;
  Announce(begin + separate_bytes_);
  return pieces_.back().separate.data();
}

void ScratchArena::Release() {
  separate_bytes_ -= pieces_.back().separate.size();
  pieces_.pop_back();
}

void ScratchArena::Announce(size_t bytes) {
  if (bytes == 0) return;
  PieceBytes(bytes, &bytes);  // an overflow is detected when the memory is acquired
  announced_bytes_ = std::max(announced_bytes_, bytes);
}

bool ScratchArena::Grow(const Limits& limits, ThreadPool* pool) {
  const size_t old_size = block_.size();
  if (!Grow(announced_bytes_, limits)) return false;
  if (block_.size() > old_size) MakeResidentForInference(block_.data(), block_.size(), pool);
  return true;
}

bool ScratchArena::Grow(size_t bytes, const Limits& limits) {
  if (!pieces_.empty() || bytes <= block_.size()) return true;
  // The contents are unused, so the old block can be freed before the new one is allocated.
  block_.Free();
  return block_.Reserve(bytes, 0, limits);
}

}  // namespace deputy
