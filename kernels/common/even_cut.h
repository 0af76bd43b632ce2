// SPDX-License-Identifier: Apache-2.0
//
// How rows, tiles or columns are cut into tasks for threads. Each thread gets a share of the same
// size, whatever its blocks are: the pool gives tasks to its caller from the front and to its
// workers from the back (core/base/thread_pool.h), so that blocks of a fixed size would leave one
// of two threads with a block more than the other. Where they meet, blocks may be small: threads
// that are late, or that have the slower core, then wait for little.
#ifndef DEPUTY_KERNELS_COMMON_EVEN_CUT_H_
#define DEPUTY_KERNELS_COMMON_EVEN_CUT_H_

#include <algorithm>
#include <cstdint>

namespace deputy {

// [0, count) in `shares` shares that differ by one at most, each in blocks of whole units but for
// the last one, which takes what is left of the share.
class EvenCut {
 public:
  EvenCut() = default;
  // Blocks of one size. At least one share and block; no more blocks than units. `unit` is
  // positive.
  EvenCut(int64_t count, int64_t unit, int64_t shares, int64_t blocks)
      : count_(count),
        unit_(unit),
        shares_(std::clamp<int64_t>(shares, 1, std::max<int64_t>(count, 1))),
        blocks_(std::clamp<int64_t>(blocks, 1, std::max<int64_t>(count / shares_ / unit, 1))),
        units_(UnitsOf(count)) {}

  // Each block half as large as what is left of the share: in the first share from its begin on, in
  // others from their end on. The smallest has `least` or more, if the share has; no share has more
  // than four blocks.
  static EvenCut Halving(int64_t count, int64_t unit, int64_t shares, int64_t least) {
    EvenCut cut(count, unit, shares, 1);
    const int64_t smallest = cut.UnitsOf(std::max<int64_t>(least, 1));
    int64_t units = cut.count_ / cut.shares_ / unit;
    for (; cut.blocks_ < 4 && units >= 2 * smallest; units /= 2) ++cut.blocks_;
    cut.halves_ = true;
    return cut;
  }

  // For `threads`: shares of `least_share` or more, in blocks that halve down to `least_block`.
  // With one thread there is one part.
  static EvenCut ForThreads(int64_t count, int64_t unit, int64_t least_share, int64_t least_block,
                            int threads) {
    if (threads <= 1) return {count, unit, 1, 1};
    return Halving(count, unit, std::clamp<int64_t>(count / least_share, 1, threads), least_block);
  }

  int64_t parts() const { return shares_ * blocks_; }
  // Where a part begins; of parts(): where the last one ends.
  int64_t Begin(int64_t part) const {
    // One thread's blocks. Divisions count in small tasks.
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
  // What the largest part has at most.
  int64_t Most() const {
    const int64_t share = (count_ + shares_ - 1) / shares_, units = UnitsOf(share);
    const int64_t parts = halves_ ? std::min<int64_t>(blocks_, 2) : blocks_;
    return std::min((units + parts - 1) / parts * unit_, share);
  }

 private:
  int64_t UnitsOf(int64_t size) const { return (size + unit_ - 1) / unit_; }
  int64_t ShareBegin(int64_t share) const {
    if (shares_ == 1) return share * count_;
    return count_ / shares_ * share + std::min(share, count_ % shares_);
  }

  int64_t count_ = 0, unit_ = 1, shares_ = 1, blocks_ = 1;
  int64_t units_ = 0;  // of the whole count
  bool halves_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_EVEN_CUT_H_
