// SPDX-License-Identifier: Apache-2.0
//
// A block of memory that several tensors share by lifetime. The plan may grow during an inference,
// when a dynamic shape becomes known: tensors that have an offset and are alive keep it, and their
// contents are copied when the block is reallocated.
#ifndef DEPUTY_CORE_BASE_ARENA_H_
#define DEPUTY_CORE_BASE_ARENA_H_

#include <limits>
#include <vector>

#include "core/base/memory.h"
#include "core/base/planner.h"

namespace deputy {

class ThreadPool;

inline constexpr int kForever = std::numeric_limits<int>::max();

// Lifetime of a tensor's memory in plan positions, both inclusive. Unused: first > last.
struct Lifetime {
  int first = kForever;
  int last = -1;

  bool used() const { return first <= last; }
  void Include(int position) {
    if (position < first) first = position;
    if (position > last) last = position;
  }
};

class Arena {
 public:
  struct Slot {
    // Byte offset in the block; kNoOffset: the tensor has no memory in it.
    size_t offset = kNoOffset;
    size_t bytes = 0;
    Lifetime lifetime;
    // Index of the tensor whose memory this one uses, starting at byte `owner_offset` of that
    // tensor. The owner has no owner itself, is large enough, and lives at least as long. -1: the
    // tensor has memory of its own.
    int owner = -1;
    size_t owner_offset = 0;
    // True if the tensor is rarely accessed, as are all tensors that use its memory.
    bool idle = false;
  };

  // Reserves this number of bytes, a multiple of the alignment, before and after every tensor
  // during its lifetime. For the validation layer; 0 otherwise. Must be set before Plan.
  void SetGuard(size_t bytes) { guard_bytes_ = bytes; }
  size_t guard_bytes() const { return guard_bytes_; }

  // Discards all offsets; keeps the block for the next plan.
  void Reset() {
    slots_.clear();
    placed_.clear();
  }

  // Discards all offsets and frees the block.
  void Release() {
    Reset();
    block_.Free();
    planned_bytes_ = 0;
  }

  // Discards the offsets of tensors first used at or after `position`, except for those with
  // unlimited lifetimes.
  void ForgetFrom(int position);

  // Assigns an offset to every requested tensor: one entry per tensor index, bytes 0 = not
  // requested. Tensors that have an offset keep it unless they need more bytes. If the block was
  // reallocated and its part for tensors that are not idle has at most kMaxResidentBytes (pages.h),
  // the pool's threads (null: the calling thread) prefault that part. Returns false, with unchanged
  // offsets, if a limit is exceeded or memory is exhausted.
  bool Plan(std::vector<Slot> wanted, const Limits& limits, ThreadPool* pool);

  // Releases the pages that contain only tensors with limited lifetimes, whose contents are not
  // needed between inferences. Addresses stay valid. No effect with guard bytes, which must keep
  // their contents.
  void DiscardPages();

  // Returns a tensor's address, null if it has none. Plan may change it; Reset, Release and
  // ForgetFrom discard it.
  char* Address(int tensor) const;

  const std::vector<Slot>& slots() const { return slots_; }
  // Indices of the tensors that have an offset, ascending.
  const std::vector<int>& placed() const { return placed_; }
  size_t bytes() const { return planned_bytes_; }

 private:
  Block block_;
  std::vector<Slot> slots_;
  std::vector<int> placed_;
  size_t planned_bytes_ = 0;
  size_t guard_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ARENA_H_
