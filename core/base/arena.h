// SPDX-License-Identifier: Apache-2.0
//
// One block of memory that several tensors share by lifetime. The plan may grow while an inference
// runs (a dynamic shape becomes known): what already has an offset and is still alive stays where
// it is, and its bytes survive when the block moves.
#ifndef DEPUTY_CORE_BASE_ARENA_H_
#define DEPUTY_CORE_BASE_ARENA_H_

#include <limits>
#include <vector>

#include "core/base/memory.h"
#include "core/base/planner.h"

namespace deputy {

class ThreadPool;

inline constexpr int kForever = std::numeric_limits<int>::max();

// When a tensor's memory is needed, in plan positions, both inclusive. Never used: first > last.
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
    size_t offset = kNoOffset;  // kNoOffset: the tensor has no memory here
    size_t bytes = 0;
    Lifetime lifetime;
    // The tensor in whose place it lies, from byte `place` on, which has no owner itself, is large
    // enough, and lives at least as long; -1: a place of its own.
    int owner = -1;
    size_t place = 0;
    // Hardly ever touched; counts for the owner.
    bool idle = false;
  };

  // Leaves so many bytes, a multiple of the alignment, before and behind every tensor that
  // belong to none during its lifetime. For the validation layer; 0 otherwise. Set before Plan.
  void SetGuard(size_t bytes) { guard_bytes_ = bytes; }
  size_t guard_bytes() const { return guard_bytes_; }

  // Forgets all offsets; the block itself is kept for the next plan.
  void Reset() {
    slots_.clear();
    placed_.clear();
  }

  // Forgets the offsets of tensors first used at or after `position`, but for those that live
  // forever.
  void ForgetFrom(int position);

  // Gives every wanted tensor an offset: one entry per tensor index, bytes 0 = none wanted. Tensors
  // that have an offset keep it. The pool's threads (null: the caller) make the memory ready. False
  // when the limits or the allocator refuse; offsets are then unchanged.
  bool Plan(std::vector<Slot> wanted, const Limits& limits, ThreadPool* pool);

  // Address of a tensor, null when it has none. Changes only in Plan.
  char* Address(int tensor) const;

  const std::vector<Slot>& slots() const { return slots_; }
  // The tensors that have an offset, ascending.
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
