// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/run/whole_buffers.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "core/support/int_math.h"

namespace deputy::gpu_cl {

using compiler::Interval;
using compiler::MemoryPlan;

bool PlanWholeBuffers(std::span<const Interval> intervals, size_t alignment, size_t max_block,
                      MemoryPlan* out_plan) {
  MemoryPlan plan;
  plan.locations.resize(intervals.size());
  plan.order = "whole buffers";
  std::vector<size_t> order;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].last < intervals[i].first) continue;
    if (intervals[i].bytes > max_block - std::min(max_block, alignment)) return false;
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return intervals[a].first < intervals[b].first; });
  using Ending = std::pair<int, int>;  // last step and index of a block
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> taken;
  std::set<std::pair<size_t, int>> free;  // size and index of each free block
  for (const size_t i : order) {
    const Interval& interval = intervals[i];
    while (!taken.empty() && taken.top().first < interval.first) {
      const int block = taken.top().second;
      free.emplace(plan.block_bytes[static_cast<size_t>(block)], block);
      taken.pop();
    }
    const size_t bytes = RoundUp(interval.bytes, alignment);
    auto found = free.lower_bound({bytes, 0});
    if (found == free.end() && !free.empty()) found = std::prev(free.end());
    int block = static_cast<int>(plan.block_bytes.size());
    if (found != free.end()) {
      block = found->second;
      free.erase(found);
    } else {
      plan.block_bytes.push_back(0);
    }
    size_t& block_bytes = plan.block_bytes[static_cast<size_t>(block)];
    block_bytes = std::max(block_bytes, bytes);
    plan.locations[i] = {block, 0};
    taken.emplace(interval.last, block);
  }
  for (const size_t bytes : plan.block_bytes) plan.total_bytes += bytes;
  *out_plan = std::move(plan);
  return true;
}

}  // namespace deputy::gpu_cl
