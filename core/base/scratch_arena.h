// SPDX-License-Identifier: Apache-2.0
//
// Temporary memory: one block, allocated and released as a stack.
#ifndef DEPUTY_CORE_BASE_SCRATCH_ARENA_H_
#define DEPUTY_CORE_BASE_SCRATCH_ARENA_H_

#include <vector>

#include "core/base/memory.h"

namespace deputy {

class ThreadPool;

// A block of memory used as a stack. Must be used by one thread at a time.
class ScratchArena {
 public:
  // Returns `bytes`, aligned for tensors and uninitialised, valid until the matching Release. Null,
  // without a Release, if a limit is exceeded or memory is exhausted.
  char* Acquire(size_t bytes, const Limits& limits);
  // Releases the piece that was acquired last.
  void Release();

  // Announces the number of bytes that will be in use at once; allocates nothing yet.
  void Announce(size_t bytes);
  // Grows the block to the announced size, which includes earlier pieces that did not fit, unless
  // the block is in use, and prefaults a block of at most kMaxResidentBytes (pages.h) with the
  // pool's threads (null: the calling thread). Returns false on failure.
  bool Grow(const Limits& limits, ThreadPool* pool);

  // Frees the block unless it is in use; the next Acquire allocates it again.
  void Free() {
    if (pieces_.empty()) block_.Free();
  }

  // Size of the block.
  size_t bytes() const { return block_.size(); }

 private:
  struct Piece {
    size_t end;      // end of the block's used memory after this piece was acquired
    Block separate;  // memory of this piece if the block was too small for it
  };

  bool Grow(size_t bytes, const Limits& limits);

  Block block_;
  std::vector<Piece> pieces_;
  size_t separate_bytes_ = 0;
  size_t announced_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_SCRATCH_ARENA_H_
