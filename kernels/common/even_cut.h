// SPDX-License-Identifier: Apache-2.0
//
// Partition of rows, tiles or columns into tasks for threads. Each thread gets a share of equal
// size, whatever the block size: the pool gives tasks from the front to its caller and from the
// back to its workers (core/base/thread_pool.h), so that with fixed-size blocks one of two threads
// would get one block more than the other. Blocks near the boundary between two threads may be
// small, which limits the waiting time for a thread that starts late or runs on a slower core.
#ifndef DEPUTY_KERNELS_COMMON_EVEN_CUT_H_
#define DEPUTY_KERNELS_COMMON_EVEN_CUT_H_

#include <algorithm>
#include <cstdint>

#include "core/support/int_math.h"

namespace deputy {

// Divides [0, count) into `shares` shares whose sizes differ by at most one, each in blocks of
// whole units except for the last block, which has the remainder of the share.
class EvenCut {
 public:
  EvenCut() = default;
  // Divides each share into blocks of equal numbers of units, up to one. Counts are adjusted so
  // that there are at least one share and one block, and no more blocks than units in a share.
  // `unit` is positive.
  EvenCut(int64_t count, int64_t unit, int64_t shares, int64_t blocks)
      : count_(count),
        unit_(unit),
        shares_(std::clamp<int64_t>(shares, 1, std::max<int64_t>(count, 1))),
        blocks_(std::clamp<int64_t>(blocks, 1, std::max<int64_t>(count / shares_ / unit, 1))),
        units_(UnitsOf(count)) {}

  // Divides each share into blocks, each of which has half of the share's remaining elements, and a
  // last one with the other half. The largest block is at the beginning of the first share, and at
  // the end of any other share. If the share has at least `min_size` elements, the smallest block
  // may fall short of that by less than a unit; no share has more than four blocks.
  static EvenCut Halving(int64_t count, int64_t unit, int64_t shares, int64_t min_size) {
    EvenCut cut(count, unit, shares, 1);
    const int64_t smallest = cut.UnitsOf(std::max<int64_t>(min_size, 1));
    int64_t units = cut.count_ / cut.shares_ / unit;
    for (; cut.blocks_ < 4 && units >= 2 * smallest; units /= 2) ++cut.blocks_;
    cut.halves_ = true;
    return cut;
  }

  // Partition for `threads` threads: shares of at least `min_share`, in blocks that halve down to
  // `min_block`. One thread gets a single part.
  static EvenCut ForThreads(int64_t count, int64_t unit, int64_t min_share, int64_t min_block,
                            int threads) {
    if (threads <= 1) return {count, unit, 1, 1};
    return Halving(count, unit, std::clamp<int64_t>(count / min_share, 1, threads), min_block);
  }

  int64_t parts() const { return shares_ * blocks_; }
  // Returns the first element of a part; Begin(parts()) is the end of the last part.
  int64_t Begin(int64_t part) const {
    // Fast path for one thread: divisions are noticeable in small tasks.
    if (shares_ == 1 && !halves_) {
      return part == blocks_ ? count_ : part * units_ / blocks_ * unit_;
    }
    const int64_t share = part / blocks_, block = part % blocks_;
    const int64_t first = ShareBegin(share);
    if (block == 0) return first;
    const int64_t units = UnitsOf(ShareBegin(share + 1) - first);
    if (!halves_) return first + block * units / blocks_ * unit_;
    return first + (share == 0 ? units - (units >> block) : units >> (blocks_ - block)) * unit_;
  }
  int64_t End(int64_t part) const { return Begin(part + 1); }
  // Upper bound on the size of a part.
  int64_t MaxPart() const {
    const int64_t share = CeilDiv(count_, shares_), units = UnitsOf(share);
    const int64_t parts = halves_ ? std::min<int64_t>(blocks_, 2) : blocks_;
    return std::min(CeilDiv(units, parts) * unit_, share);
  }

 private:
  int64_t UnitsOf(int64_t size) const { return CeilDiv(size, unit_); }
  int64_t ShareBegin(int64_t share) const {
    if (shares_ == 1) return share * count_;
    return count_ / shares_ * share + std::min(share, count_ % shares_);
  }

  int64_t count_ = 0, unit_ = 1, shares_ = 1, blocks_ = 1;
  int64_t units_ = 0;  // number of units in `count_`
  bool halves_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_EVEN_CUT_H_
