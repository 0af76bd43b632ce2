// SPDX-License-Identifier: Apache-2.0
//
// Greedy by size: the largest block first, each into the smallest gap that fits among the blocks
// placed already which live at the same time, or behind the last of them.
//
// What would surprise a reader: finding "the blocks that live at the same time" by looking at all
// of them is quadratic, and a hostile model may bring 10^6 tensors. A block overlaps [first, last]
// if it was alive at `first` already (a path of a segment tree over the steps) or began inside it
// (the lists of the steps first+1..last); each block found is found once. In a chain of operators
// these are a handful, however long the chain.
#include "core/planner.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <numeric>
#include <optional>

namespace deputy {
namespace {

// The smallest multiple of `alignment` that is not below `bytes`, nothing when it does not fit.
std::optional<size_t> RoundUp(size_t bytes, size_t alignment) {
  const size_t mask = alignment - 1;
  if (bytes > SIZE_MAX - mask) return std::nullopt;
  return (bytes + mask) & ~mask;
}

// Steps as ranks: only the order of the first and last steps matters, and clients may well write
// INT_MAX for "to the end".
class Timeline {
 public:
  explicit Timeline(std::span<const BlockRequest> requests) {
    steps_.reserve(2 * requests.size());
    for (const BlockRequest& request : requests) {
      steps_.push_back(request.first);
      steps_.push_back(request.last);
    }
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  }
  int size() const { return static_cast<int>(steps_.size()); }
  int Rank(int step) const {
    return static_cast<int>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
  }

 private:
  std::vector<int> steps_;
};

// Placed blocks, found by the time they live.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(int steps)
      : steps_(steps), begins_at_(steps, kNone), alive_(2 * static_cast<size_t>(steps), kNone) {}

  void Add(int block, int first, int last) {
    Link(&begins_at_[first], block);
    // The usual bottom-up cover of [first, last] by O(log steps) tree nodes.
    int low = first + steps_, high = last + steps_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low & 1) Link(&alive_[low++], block);
      if (high & 1) Link(&alive_[--high], block);
    }
  }

  template <typename Visit>
  void VisitOverlapping(int first, int last, Visit visit) const {
    for (int node = first + steps_; node >= 1; node /= 2) VisitList(alive_[node], visit);
    for (int step = first + 1; step <= last; ++step) VisitList(begins_at_[step], visit);
  }

 private:
  static constexpr int kNone = -1;
  struct Entry {
    int block;
    int next;
  };

  void Link(int* head, int block) {
    entries_.push_back({block, *head});
    *head = static_cast<int>(entries_.size()) - 1;
  }
  template <typename Visit>
  void VisitList(int head, Visit& visit) const {
    for (int i = head; i != kNone; i = entries_[i].next) visit(entries_[i].block);
  }

  int steps_;
  std::vector<int> begins_at_;  // heads of lists, per step
  std::vector<int> alive_;      // heads of lists, per tree node; leaf of step s is s + steps_
  std::vector<Entry> entries_;
};

struct Extent {
  size_t begin, end;
};

// The lowest of the smallest gaps of at least `bytes` between `taken`, else the end of the last.
// Reorders `taken`.
size_t FindGap(std::vector<Extent>* taken, size_t bytes) {
  std::sort(taken->begin(), taken->end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  size_t best = kNoOffset, best_bytes = SIZE_MAX, covered = 0;
  for (const Extent& extent : *taken) {
    if (extent.begin > covered) {
      const size_t gap = extent.begin - covered;
      if (gap >= bytes && gap < best_bytes) {
        best = covered;
        best_bytes = gap;
      }
    }
    covered = std::max(covered, extent.end);
  }
  return best != kNoOffset ? best : covered;
}

// Fixed blocks first, then by size, then by time; the index makes it a total order.
std::vector<int> PlacementOrder(std::span<const BlockRequest> requests) {
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const BlockRequest &x = requests[a], &y = requests[b];
    const bool x_fixed = x.fixed_offset != kNoOffset, y_fixed = y.fixed_offset != kNoOffset;
    if (x_fixed != y_fixed) return x_fixed;
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    if (x.first != y.first) return x.first < y.first;
    return a < b;
  });
  return order;
}

}  // namespace

bool PlanMemory(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* out_plan) {
  assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
  const Timeline timeline(requests);
  PlacedBlocks placed(timeline.size());
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<size_t> ends(requests.size(), 0);
  std::vector<Extent> taken;
  for (const int block : PlacementOrder(requests)) {
    const BlockRequest& request = requests[block];
    if (request.bytes == 0) continue;
    assert(request.first <= request.last);
    const int first = timeline.Rank(request.first), last = timeline.Rank(request.last);
    const std::optional<size_t> bytes = RoundUp(request.bytes, alignment);
    if (!bytes) return false;
    size_t offset = request.fixed_offset;
    if (offset == kNoOffset) {
      taken.clear();
      placed.VisitOverlapping(first, last, [&](int other) {
        taken.push_back({plan.offsets[other], ends[other]});
      });
      offset = FindGap(&taken, *bytes);
    }
    // The end is rounded too: what follows a fixed block at an odd offset must be aligned.
    if (offset > SIZE_MAX - *bytes) return false;
    const std::optional<size_t> end = RoundUp(offset + *bytes, alignment);
    if (!end) return false;
    plan.offsets[block] = offset;
    ends[block] = *end;
    plan.total_bytes = std::max(plan.total_bytes, *end);
    placed.Add(block, first, last);
  }
  *out_plan = std::move(plan);
  return true;
}

size_t LivenessLowerBound(std::span<const BlockRequest> requests, size_t alignment) {
  const Timeline timeline(requests);
  std::vector<size_t> born(timeline.size(), 0), dead_after(timeline.size(), 0);
  for (const BlockRequest& request : requests) {
    const std::optional<size_t> bytes = RoundUp(request.bytes, alignment);
    if (!bytes) return SIZE_MAX;
    // Sums may wrap around: they are only ever taken away again in full, and the running sum below
    // is checked where it grows.
    born[timeline.Rank(request.first)] += *bytes;
    dead_after[timeline.Rank(request.last)] += *bytes;
  }
  size_t alive = 0, most = 0;
  for (int step = 0; step < timeline.size(); ++step) {
    if (born[step] > SIZE_MAX - alive) return SIZE_MAX;
    alive += born[step];
    most = std::max(most, alive);
    alive -= dead_after[step];
  }
  return most;
}

}  // namespace deputy
