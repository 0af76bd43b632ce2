// SPDX-License-Identifier: Apache-2.0
//
// Best-fit placement of intervals in arenas: each interval goes into the smallest gap between those
// that overlap it in time. The best order of placement depends on the graph, so three orders are
// tried, unless there are too many intervals (kMaxForAllOrders).
#include "compiler/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "core/support/best_fit.h"

namespace deputy::compiler {
namespace {

// Maximum number of requests for which all orders are tried. Beyond it, requests are placed in the
// order of their beginning only: each placement compares with those that are live at its beginning.
constexpr size_t kMaxForAllOrders = 4096;

struct Request {
  size_t bytes = 0;  // size, rounded up to the alignment
  int first = 0, last = 0;
  size_t number = 0;
};
using Requests = std::vector<Request>;

// Rounds sizes up to the alignment. Returns false if a size or the sum overflows, or if a size
// exceeds that of a block.
bool Round(std::span<const Interval> intervals, size_t alignment, size_t max_block,
           Requests* out_requests) {
  size_t sum = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval& interval = intervals[i];
    if (interval.bytes == 0 || interval.last < interval.first) continue;
    const std::optional<size_t> bytes = CheckedRoundUp(interval.bytes, alignment);
    if (!bytes || *bytes > max_block || sum > SIZE_MAX - *bytes) return false;
    sum += *bytes;
    out_requests->push_back({*bytes, interval.first, interval.last, i});
  }
  return true;
}

// ---- Orders -------------------------------------------------------------------------------------

bool IsBefore(const Request& a, const Request& b) {
  return a.first != b.first ? a.first < b.first : a.number < b.number;
}

bool IsLarger(const Request& a, const Request& b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : IsBefore(a, b);
}

// Returns the live bytes at the beginning of each request; the requests are in order of beginning.
// If several begin at one step, the entry of the last one includes all of them.
std::vector<size_t> Breadths(const Requests& in_order) {
  std::vector<std::pair<int, size_t>> ends;  // min-heap by end
  const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::vector<size_t> breadths(in_order.size());
  size_t alive = 0;
  for (size_t i = 0; i < in_order.size(); ++i) {
    while (!ends.empty() && ends.front().first < in_order[i].first) {
      alive -= ends.front().second;
      std::pop_heap(ends.begin(), ends.end(), later);
      ends.pop_back();
    }
    alive += in_order[i].bytes;
    ends.emplace_back(in_order[i].last, in_order[i].bytes);
    std::push_heap(ends.begin(), ends.end(), later);
    breadths[i] = alive;
  }
  return breadths;
}

// Orders requests by breadth: all that are live at the step with most live bytes, largest first;
// then those of the next such step.
Requests ByBreadth(const Requests& in_order) {
  const std::vector<size_t> breadths = Breadths(in_order);
  // A step is represented by the index of a request that begins at it.
  std::vector<size_t> steps(in_order.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  std::stable_sort(steps.begin(), steps.end(),
                   [&](size_t a, size_t b) { return breadths[a] > breadths[b]; });
  std::vector<bool> is_added(in_order.size(), false);
  Requests result;
  for (size_t step : steps) {
    if (is_added[step]) continue;
    const int now = in_order[step].first;
    const size_t begin = result.size();
    for (size_t i = 0; i < in_order.size() && in_order[i].first <= now; ++i) {
      if (is_added[i] || in_order[i].last < now) continue;
      is_added[i] = true;
      result.push_back(in_order[i]);
    }
    std::sort(result.begin() + static_cast<ptrdiff_t>(begin), result.end(), IsLarger);
  }
  return result;
}

// ---- Placing ------------------------------------------------------------------------------------

struct Placed {
  size_t offset = 0, end = 0;
  int first = 0, last = 0;
};

struct Block {
  size_t bytes = 0;
  std::vector<Placed> placed;  // ordered by offset
};

// A candidate position in a block: in a gap of `gap` bytes, or at the end, where the block grows.
struct Choice {
  int block = 0;
  size_t offset = 0;
  size_t growth = 0;
  size_t gap = 0;

  bool IsBetterThan(const Choice& other) const {
    return growth != other.growth ? growth < other.growth : gap < other.gap;
  }
};

// Returns the best position in one block, which may have to grow.
Choice ChooseIn(const Block& block, const Request& request) {
  GapSearch search(request.bytes);
  for (const Placed& placed : block.placed) {
    if (placed.last < request.first || request.last < placed.first) continue;
    search.Pass({placed.offset, placed.end});
  }
  search.EndAt(block.bytes);
  const size_t offset = search.offset();
  if (search.gap() != 0) return {0, offset, 0, search.gap()};
  return {0, offset, offset + request.bytes - block.bytes, 0};
}

class Placing {
 public:
  explicit Placing(size_t max_block) : max_block_(max_block) {}

  Location Add(const Request& request) {
    const Choice choice = Choose(request);
    if (static_cast<size_t>(choice.block) == blocks_.size()) blocks_.emplace_back();
    Block& block = blocks_[static_cast<size_t>(choice.block)];
    const Placed placed{choice.offset, choice.offset + request.bytes, request.first, request.last};
    block.bytes = std::max(block.bytes, placed.end);
    const auto position =
        std::upper_bound(block.placed.begin(), block.placed.end(), placed,
                         [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
    block.placed.insert(position, placed);
    return {choice.block, choice.offset};
  }

  // Drops intervals that end before `step`; requires that no later request begins before it.
  void Forget(int step) {
    for (Block& block : blocks_) {
      std::erase_if(block.placed, [step](const Placed& placed) { return placed.last < step; });
    }
  }

  std::vector<size_t> BlockBytes() const {
    std::vector<size_t> bytes;
    for (const Block& block : blocks_) bytes.push_back(block.bytes);
    return bytes;
  }

 private:
  Choice Choose(const Request& request) const {
    Choice best{static_cast<int>(blocks_.size()), 0, request.bytes, 0};
    for (size_t i = 0; i < blocks_.size(); ++i) {
      Choice choice = ChooseIn(blocks_[i], request);
      choice.block = static_cast<int>(i);
      const bool fits = choice.offset + request.bytes <= max_block_;
      // Existing blocks grow before another one is added.
      const bool is_new = static_cast<size_t>(best.block) == blocks_.size();
      if (fits && (is_new || choice.IsBetterThan(best))) best = choice;
    }
    return best;
  }

  const size_t max_block_;
  std::vector<Block> blocks_;
};

MemoryPlan PlanIn(const char* order, const Requests& requests, size_t count, size_t max_block,
                  bool forgets) {
  MemoryPlan plan;
  plan.order = order;
  plan.locations.resize(count);
  Placing placing(max_block);
  for (const Request& request : requests) {
    if (forgets) placing.Forget(request.first);
    plan.locations[request.number] = placing.Add(request);
  }
  plan.block_bytes = placing.BlockBytes();
  plan.total_bytes = std::accumulate(plan.block_bytes.begin(), plan.block_bytes.end(), size_t{0});
  return plan;
}

}  // namespace

bool PlanMemory(std::span<const Interval> intervals, size_t alignment, size_t max_block,
                MemoryPlan* out_plan) {
  Requests in_order;
  if (!Round(intervals, alignment, max_block, &in_order)) return false;
  std::sort(in_order.begin(), in_order.end(), IsBefore);
  const size_t count = intervals.size();
  MemoryPlan best = PlanIn("in order", in_order, count, max_block, true);
  if (in_order.size() <= kMaxForAllOrders) {
    Requests by_size = in_order;
    std::sort(by_size.begin(), by_size.end(), IsLarger);
    MemoryPlan of_size = PlanIn("by size", by_size, count, max_block, false);
    MemoryPlan of_breadth = PlanIn("by breadth", ByBreadth(in_order), count, max_block, false);
    if (of_size.total_bytes < best.total_bytes) best = std::move(of_size);
    if (of_breadth.total_bytes < best.total_bytes) best = std::move(of_breadth);
  }
  best.lower_bound = LivenessBound(in_order, 1);
  *out_plan = std::move(best);
  return true;
}

}  // namespace deputy::compiler
