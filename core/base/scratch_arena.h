// SPDX-License-Identifier: Apache-2.0
//
// Memory that whoever runs now uses for a while: one block for all, handed out and taken back last
// in, first out.
#ifndef DEPUTY_CORE_BASE_SCRATCH_ARENA_H_
#define DEPUTY_CORE_BASE_SCRATCH_ARENA_H_

#include <vector>

#include "core/base/memory.h"

namespace deputy {

class ThreadPool;

// One thread at a time may use it.
class ScratchArena {
 public:
  // `bytes`, aligned for tensors and uninitialised, until the matching Release; null when the
  // limits or the allocator refuse, and then there is nothing to release.
  char* Acquire(size_t bytes, const Limits& limits);
  // Takes back what was acquired last.
  void Release();

  // The block will hold so much at once; no memory is taken yet.
  void Announce(size_t bytes);
  // Makes the block as large as was announced or used, unless it is in use, and resident, with the
  // help of the pool's threads (null: the caller's alone). False when refused.
  bool Grow(const Limits& limits, ThreadPool* pool);

  // Size of the block.
  size_t bytes() const { return block_.size(); }

 private:
  struct Piece {
    size_t end;    // of what is in use in the block, the piece included
    Block beside;  // where the piece is when the block was too small for it
  };

  bool Grow(size_t bytes, const Limits& limits);

  Block block_;
  std::vector<Piece> pieces_;
  size_t beside_bytes_ = 0;
  size_t announced_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_SCRATCH_ARENA_H_
