// SPDX-License-Identifier: Apache-2.0
//
// Places blocks greedily by size: the largest block first, each into the smallest sufficient gap
// among the placed blocks that are alive at the same time, or after the last of them.
//
// Finding the blocks that are alive at the same time by scanning all of them is quadratic, and a
// malicious model may have 10^6 tensors. Three measures prevent that. A block overlaps [first,
// last] if it was already alive at `first` (a path of a segment tree over the steps) or began
// inside (the lists of the steps first+1..last); each block is found once. In a chain of operators
// these are few, whatever its length. Blocks that are alive during all steps, such as the graph's
// inputs and outputs, overlap every other block: the gaps between them are kept sorted by size
// instead of being computed for every block. If neither helps, because most blocks are alive most
// of the time, the number of visited entries is limited; the remaining blocks are then placed after
// everything that is alive at the same time.
//
// TightenPlan tries other orders: each time, the block that ends highest is moved before the first
// block that is alive at the same time.
#include "core/base/planner.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/support/best_fit.h"

namespace deputy {
namespace {

// Index of placed blocks by lifetime.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(int steps)
      : steps_(steps),
        begins_at_(steps, kNone),
        alive_(2 * static_cast<size_t>(steps), kNone),
        end_of_alive_(2 * static_cast<size_t>(steps), 0),
        end_below_(2 * static_cast<size_t>(steps), 0) {}

  void Add(Extent extent, int first, int last) {
    Link(&begins_at_[first], extent);
    ForEachPart(first, last, [&](int node) {
      Link(&alive_[node], extent);
      end_of_alive_[node] = std::max(end_of_alive_[node], extent.end);
      for (; node >= 1; node /= 2) end_below_[node] = std::max(end_below_[node], extent.end);
    });
  }

  // Appends the blocks alive in [first, last]; returns the number of entries and steps visited.
  size_t FindOverlapping(int first, int last, std::vector<Extent>* out) const {
    const size_t before = out->size();
    for (int node = first + steps_; node >= 1; node /= 2) AppendList(alive_[node], out);
    for (int step = first + 1; step <= last; ++step) AppendList(begins_at_[step], out);
    return out->size() - before + static_cast<size_t>(last - first);
  }

  // Returns the end of the highest byte in use in [first, last].
  size_t EndOf(int first, int last) const {
    size_t end = 0;
    ForEachPart(first, last, [&](int node) {
      end = std::max(end, end_below_[node]);
      for (; node >= 1; node /= 2) end = std::max(end, end_of_alive_[node]);
    });
    return end;
  }

 private:
  static constexpr int kNone = -1;
  struct Entry {
    Extent extent;
    int next;
  };

  // Visits the usual bottom-up cover of [first, last] by O(log steps) tree nodes.
  template <typename Visit>
  void ForEachPart(int first, int last, Visit visit) const {
    int low = first + steps_, high = last + steps_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low & 1) visit(low++);
      if (high & 1) visit(--high);
    }
  }
  void Link(int* head, Extent extent) {
    entries_.push_back({extent, *head});
    *head = static_cast<int>(entries_.size()) - 1;
  }
  void AppendList(int head, std::vector<Extent>* out) const {
    for (int i = head; i != kNone; i = entries_[i].next) out->push_back(entries_[i].extent);
  }

  int steps_;
  std::vector<int> begins_at_;  // by step: head of the list of blocks that begin there
  // By tree node: head of its list of blocks; the leaf of step s is s + steps_.
  std::vector<int> alive_;
  std::vector<size_t> end_of_alive_;  // by tree node: maximum end of the blocks in its list
  // By tree node: maximum end of the blocks in its list and in the lists below it.
  std::vector<size_t> end_below_;
  std::vector<Entry> entries_;
};

// The gaps between a growing set of extents.
class FreeSpace {
 public:
  void Take(Extent extent) {
    if (extent.begin > end_) AddGap({end_, extent.begin});
    end_ = std::max(end_, extent.end);
    for (auto gap = FirstGapInto(extent); gap != gaps_.end() && gap->first < extent.end;) {
      const Extent cut = {gap->first, gap->second};
      by_size_.erase({cut.end - cut.begin, cut.begin});
      gap = gaps_.erase(gap);
      if (cut.begin < extent.begin) AddGap({cut.begin, extent.begin});
      if (cut.end > extent.end) AddGap({extent.end, cut.end});
    }
  }

  // Returns the begin of the smallest gap of at least `bytes` that `others` also leave free (the
  // lowest of equal ones), else the end of all extents. Reorders `others`.
  size_t FindGap(std::vector<Extent>* others, size_t bytes) const {
    std::sort(others->begin(), others->end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    std::vector<Extent> touched = GapsTouchedBy(*others);
    GapSearch search(bytes);
    auto other = others->begin();
    touched.push_back({end_, SIZE_MAX});
    for (const Extent& gap : touched) {
      search.SkipTo(gap.begin);
      for (; other != others->end() && other->begin < gap.end; ++other) search.Pass(*other);
      if (gap.end != SIZE_MAX) search.EndAt(gap.end);
    }
    for (auto gap = by_size_.lower_bound({bytes, 0}); gap != by_size_.end(); ++gap) {
      const bool whole =
          !std::binary_search(touched.begin(), touched.end(), Extent{gap->second, 0},
                              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
      if (!whole) continue;
      search.Offer({gap->second, gap->second + gap->first});
      break;
    }
    return search.offset();
  }

  size_t end() const { return end_; }

 private:
  void AddGap(Extent gap) {
    gaps_.emplace(gap.begin, gap.end);
    by_size_.emplace(gap.end - gap.begin, gap.begin);
  }
  // Returns the first gap that ends after the extent's begin.
  std::map<size_t, size_t>::const_iterator FirstGapInto(Extent extent) const {
    auto gap = gaps_.upper_bound(extent.begin);
    if (gap != gaps_.begin() && std::prev(gap)->second > extent.begin) --gap;
    return gap;
  }
  std::vector<Extent> GapsTouchedBy(const std::vector<Extent>& sorted) const {
    std::vector<Extent> touched;
    for (const Extent& extent : sorted) {
      for (auto gap = FirstGapInto(extent); gap != gaps_.end() && gap->first < extent.end; ++gap) {
        const bool known = !touched.empty() && touched.back().begin >= gap->first;
        if (!known) touched.push_back({gap->first, gap->second});
      }
    }
    return touched;
  }

  size_t end_ = 0;                               // end of the last extent
  std::map<size_t, size_t> gaps_;                // begin of each gap -> its end
  std::set<std::pair<size_t, size_t>> by_size_;  // size and begin of each gap
};

// Assigns offsets to blocks in a given order.
class Placer {
 public:
  Placer(int steps, size_t max_visits)
      : last_step_(steps - 1), max_visits_(max_visits), transient_(steps) {}

  // Returns the offset for a block that is alive in [first, last].
  size_t FindOffset(size_t bytes, int first, int last) {
    others_.clear();
    if (IsAlwaysAlive(first, last)) return all_.FindGap(&others_, bytes);
    if (visits_ > max_visits_) return std::max(permanent_.end(), transient_.EndOf(first, last));
    visits_ += transient_.FindOverlapping(first, last, &others_);
    return permanent_.FindGap(&others_, bytes);
  }

  void Place(Extent extent, int first, int last) {
    all_.Take(extent);
    if (IsAlwaysAlive(first, last)) {
      permanent_.Take(extent);
    } else {
      transient_.Add(extent, first, last);
    }
  }

 private:
  bool IsAlwaysAlive(int first, int last) const { return first == 0 && last == last_step_; }

  const int last_step_;
  const size_t max_visits_;
  PlacedBlocks transient_;  // blocks that are not always alive
  FreeSpace permanent_;     // gaps between blocks that are always alive
  FreeSpace all_;           // gaps between all blocks
  std::vector<Extent> others_;
  size_t visits_ = 0;
};

// Returns the order in which blocks are placed: fixed blocks first, idle ones last, then by size,
// then by time. Equal blocks are ordered by index.
std::vector<int> PlacementOrder(std::span<const BlockRequest> requests) {
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const BlockRequest &x = requests[a], &y = requests[b];
    const bool x_fixed = x.fixed_offset != kNoOffset, y_fixed = y.fixed_offset != kNoOffset;
    if (x_fixed != y_fixed) return x_fixed;
    if (!x_fixed && x.idle != y.idle) return y.idle;
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    if (x.first != y.first) return x.first < y.first;
    return a < b;
  });
  return order;
}

// Assigns offsets to the blocks in the given order. Returns false if sizes overflow.
bool PlaceInOrder(std::span<const BlockRequest> requests, const Timeline& timeline,
                  size_t alignment, size_t max_visits, std::span<const int> order,
                  MemoryPlan* out_plan) {
  Placer placer(timeline.size(), max_visits);
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  for (const int block : order) {
    const BlockRequest& request = requests[block];
    if (request.bytes == 0) continue;
    assert(request.first <= request.last);
    const int first = timeline.Rank(request.first), last = timeline.Rank(request.last);
    const std::optional<size_t> bytes = CheckedRoundUp(request.bytes, alignment);
    if (!bytes) return false;
    const bool fixed = request.fixed_offset != kNoOffset;
    const size_t offset = fixed ? request.fixed_offset : placer.FindOffset(*bytes, first, last);
    // The end is rounded, too, since blocks after a fixed one at an odd offset must be aligned.
    if (offset > SIZE_MAX - *bytes) return false;
    const std::optional<size_t> end = CheckedRoundUp(offset + *bytes, alignment);
    if (!end) return false;
    plan.offsets[block] = offset;
    plan.total_bytes = std::max(plan.total_bytes, *end);
    if (!request.idle) plan.busy_bytes = std::max(plan.busy_bytes, *end);
    placer.Place({offset, *end}, first, last);
  }
  *out_plan = std::move(plan);
  return true;
}

// Sorts movable blocks: those that live to the end first, and small idle ones before large ones,
// which rarely fit into gaps.
std::vector<int> AlternativeOrder(std::span<const BlockRequest> requests,
                                  const Timeline& timeline) {
  std::vector<int> order = PlacementOrder(requests);
  const int end = timeline.size() - 1;
  const auto kind = [&](int block) {
    const BlockRequest& request = requests[block];
    if (request.fixed_offset != kNoOffset) return 0;
    if (request.idle) return 3;
    return timeline.Rank(request.last) == end ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const int kinds[] = {kind(a), kind(b)};
    if (kinds[0] != kinds[1]) return kinds[0] < kinds[1];
    return kinds[0] == 3 && requests[a].bytes < requests[b].bytes;
  });
  return order;
}

// Moves the block that ends highest before the first movable block of the order whose lifetime
// overlaps its own. Returns false if there is none.
bool MoveTopForward(std::span<const BlockRequest> requests, size_t alignment,
                    const MemoryPlan& plan, std::vector<int>* order) {
  const auto is_top = [&](int block) {
    const BlockRequest& request = requests[block];
    return request.bytes != 0 && request.fixed_offset == kNoOffset &&
           plan.total_bytes - plan.offsets[block] - request.bytes < alignment;
  };
  const auto top = std::find_if(order->begin(), order->end(), is_top);
  if (top == order->end()) return false;
  const BlockRequest& moved = requests[*top];
  const auto first = std::find_if(order->begin(), top, [&](int block) {
    const BlockRequest& request = requests[block];
    return request.fixed_offset == kNoOffset && request.bytes != 0 && request.first <= moved.last &&
           moved.first <= request.last;
  });
  if (first == top) return false;
  std::rotate(first, top, top + 1);
  return true;
}

}  // namespace

bool PlanMemory(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* out_plan) {
  assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
  const Timeline timeline(requests);
  // Maximum number of visited entries and steps: about one second of work; sufficient for any plan
  // of 3000 blocks.
  constexpr size_t kMaxVisits = 16'000'000;
  MemoryPlan plan;
  if (!PlaceInOrder(requests, timeline, alignment, kMaxVisits, PlacementOrder(requests), &plan)) {
    return false;
  }
  *out_plan = std::move(plan);
  return true;
}

void TightenPlan(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* plan) {
  // Upper bounds on blocks, and on visited entries and steps: the attempts must be fast compared
  // with the first plan, also for malicious models.
  constexpr size_t kMaxBlocks = 2000, kMaxVisits = 100'000;
  constexpr int kMaxAttempts = 12;
  if (requests.size() > kMaxBlocks) return;
  const size_t bound = LivenessLowerBound(requests, alignment);
  const auto is_tight = [&] { return plan->total_bytes / 21 * 20 <= bound; };
  if (is_tight()) return;
  const Timeline timeline(requests);
  std::vector<int> order = AlternativeOrder(requests, timeline);
  for (int attempts = 0; attempts < kMaxAttempts && !is_tight(); ++attempts) {
    MemoryPlan other;
    if (!PlaceInOrder(requests, timeline, alignment, kMaxVisits, order, &other)) return;
    const bool moved = MoveTopForward(requests, alignment, other, &order);
    if (other.total_bytes < plan->total_bytes && other.busy_bytes <= plan->busy_bytes) {
      *plan = std::move(other);
    }
    if (!moved) return;
  }
}

size_t LivenessLowerBound(std::span<const BlockRequest> requests, size_t alignment) {
  return LivenessBound(requests, alignment);
}

}  // namespace deputy
