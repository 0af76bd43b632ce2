// SPDX-License-Identifier: Apache-2.0
//
// Builds the partitions of a plan. TensorFlow Lite sweeps the plan for each subset until a sweep
// adds nothing, which is quadratic in the number of subsets. Here every node counts the inputs it
// still waits for and is queued when the count becomes 0. Two queues, one per kind, reproduce the
// order of the sweeps: a node that becomes ready after the sweep's position is added in this sweep,
// one before it in the next.
#include "core/base/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace deputy {
namespace {

constexpr int kReady = -1;    // no node of the plan computes the tensor
constexpr int kPending = -2;  // the producer of the tensor is not scheduled yet
                              // Other values are the index of the subset that computes the tensor.

// Lists of numbers that share one array, filled in two passes: Count every entry, Reserve, Add
// every entry.
class Lists {
 public:
  explicit Lists(size_t count) : ends_(count + 1, 0) {}
  void Count(int list) { ++ends_[static_cast<size_t>(list) + 1]; }
  void Reserve() {
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    entries_.resize(ends_.back());
    next_.assign(ends_.begin(), ends_.end() - 1);
  }
  void Add(int list, int entry) { entries_[next_[static_cast<size_t>(list)]++] = entry; }
  std::span<const int> operator[](int list) const {
    const size_t begin = ends_[static_cast<size_t>(list)];
    return {entries_.data() + begin, ends_[static_cast<size_t>(list) + 1] - begin};
  }

 private:
  std::vector<size_t> ends_, next_;
  std::vector<int> entries_;
};

class Partitioner {
 public:
  Partitioner(const PartitionGraph& graph, const PartitionRules& rules)
      : graph_(graph),
        rules_(rules),
        consumers_(static_cast<size_t>(graph.tensor_count)),
        successors_(graph.plan.size()) {}

  bool Run(std::span<const int> claimed, std::string* out_error) {
    if (!MarkClaimed(claimed, out_error) || !CheckControlEdges(out_error)) return false;
    Prepare();
    while (FillSubset()) {
    }
    if (scheduled_count_ < graph_.plan.size()) {
      const auto left = std::find(scheduled_.begin(), scheduled_.end(), false);
      *out_error = "node " + std::to_string(graph_.plan[left - scheduled_.begin()]) +
                   " can never run: its inputs or control edges form a cycle";
      return false;
    }
    AddGraphOutputs();
    return true;
  }

  std::vector<NodeSubset> TakeSubsets() { return std::move(subsets_); }

 private:
  using Queue = std::priority_queue<int, std::vector<int>, std::greater<int>>;

  bool MarkClaimed(std::span<const int> claimed, std::string* out_error) {
    const int node_count = static_cast<int>(graph_.nodes.size());
    claimed_.assign(graph_.nodes.size(), false);
    for (int node : claimed) {
      if (node < 0 || node >= node_count) {
        *out_error = "node " + std::to_string(node) + " to replace: expected below " +
                     std::to_string(node_count);
        return false;
      }
      claimed_[node] = true;
    }
    return true;
  }

  bool CheckControlEdges(std::string* out_error) const {
    const int plan_size = static_cast<int>(graph_.plan.size());
    for (const auto& [from, to] : graph_.control_edges) {
      if (from >= 0 && from < plan_size && to >= 0 && to < plan_size) continue;
      *out_error = "control edge " + std::to_string(from) + " to " + std::to_string(to) +
                   ": expected plan positions below " + std::to_string(plan_size);
      return false;
    }
    return true;
  }

  void Prepare() {
    const int plan_size = static_cast<int>(graph_.plan.size());
    producer_.assign(graph_.tensor_count, kReady);
    last_consumer_.assign(graph_.tensor_count, -1);
    last_exporter_.assign(graph_.tensor_count, -1);
    for (int node : graph_.plan) {
      for (int tensor : graph_.nodes[node].outputs) {
        if (tensor >= 0) producer_[tensor] = kPending;
      }
    }
    pending_inputs_.assign(plan_size, 0);
    const auto for_each_dependency = [&](auto tensor_read, auto control_edge) {
      for (int position = 0; position < plan_size; ++position) {
        for (int tensor : graph_.nodes[graph_.plan[position]].inputs) {
          if (tensor >= 0 && producer_[tensor] == kPending) tensor_read(tensor, position);
        }
      }
      for (const auto& [from, to] : graph_.control_edges) control_edge(from, to);
    };
    for_each_dependency([&](int tensor, int) { consumers_.Count(tensor); },
                        [&](int from, int) { successors_.Count(from); });
    consumers_.Reserve();
    successors_.Reserve();
    for_each_dependency(
        [&](int tensor, int position) {
          consumers_.Add(tensor, position);
          ++pending_inputs_[position];
        },
        [&](int from, int to) {
          successors_.Add(from, to);
          ++pending_inputs_[to];
        });
    scheduled_.assign(plan_size, false);
    unscheduled_from_.resize(plan_size + 1);
    std::iota(unscheduled_from_.begin(), unscheduled_from_.end(), 0);
    for (int position = 0; position < plan_size; ++position) {
      if (pending_inputs_[position] == 0) ready_[Kind(position)].push(position);
    }
  }

  bool Kind(int position) const { return claimed_[graph_.plan[position]]; }

  // Fills the next subset. Returns false if no remaining node can run.
  bool FillSubset() {
    const int first = FirstReady();
    if (first < 0) return false;
    const bool kind = Kind(first);
    subsets_.emplace_back().claimed = kind;
    Schedule(first);
    if (rules_.fuse && rules_.greedy) Sweep(kind);
    if (rules_.fuse && !rules_.greedy) FollowPlan(kind);
    QueueMissed(kind);
    return true;
  }

  // Returns the first plan position of either kind that can run; -1: none.
  int FirstReady() {
    int first = -1;
    for (Queue& queue : ready_) {
      // Queued nodes may have been scheduled: FillSubset and FollowPlan leave them in the queue.
      while (!queue.empty() && scheduled_[queue.top()]) queue.pop();
      if (!queue.empty() && (first < 0 || queue.top() < first)) first = queue.top();
    }
    return first;
  }

  // Adds every node of the kind that can run, sweep after sweep.
  void Sweep(bool kind) {
    Queue& queue = ready_[kind];
    for (;;) {
      while (!queue.empty()) {
        const int position = queue.top();
        queue.pop();
        if (!scheduled_[position]) Schedule(position);
      }
      if (missed_.empty()) return;
      QueueMissed(kind);
    }
  }

  void QueueMissed(bool kind) {
    for (int position : missed_) ready_[kind].push(position);
    missed_.clear();
  }

  // Adds the next nodes of the plan up to one that cannot join; wraps around at the end.
  void FollowPlan(bool kind) {
    for (;;) {
      int next = UnscheduledFrom(position_);
      if (next == EndOfPlan()) next = UnscheduledFrom(0);
      if (next == EndOfPlan() || pending_inputs_[next] > 0 || Kind(next) != kind) return;
      Schedule(next);
    }
  }

  int EndOfPlan() const { return static_cast<int>(graph_.plan.size()); }

  // Returns the first unscheduled position at or after `position`, or the plan's end. Path halving
  // makes later searches shorter.
  int UnscheduledFrom(int position) {
    while (unscheduled_from_[position] != position) {
      unscheduled_from_[position] = unscheduled_from_[unscheduled_from_[position]];
      position = unscheduled_from_[position];
    }
    return position;
  }

  void Schedule(int position) {
    const PartitionGraph::Node& node = graph_.nodes[graph_.plan[position]];
    const int current = static_cast<int>(subsets_.size()) - 1;
    position_ = position;
    scheduled_[position] = true;
    unscheduled_from_[position] = position + 1;
    ++scheduled_count_;
    subsets_.back().nodes.push_back(graph_.plan[position]);
    for (int tensor : node.outputs) {
      if (tensor < 0) continue;
      // A custom operator that works in place reads the tensor from another subset. Upstream
      // ignores that, and a delegate would not write the tensor.
      const bool in_place =
          producer_[tensor] >= 0 && producer_[tensor] != current && Reads(node, tensor);
      if (in_place) AddOutput(tensor);
      const bool was_pending = producer_[tensor] == kPending;
      producer_[tensor] = current;
      if (was_pending) Release(consumers_[tensor]);
    }
    for (int tensor : node.inputs) {
      if (tensor >= 0 && producer_[tensor] != current) AddInput(tensor);
    }
    Release(successors_[position]);
  }

  static bool Reads(const PartitionGraph::Node& node, int tensor) {
    return std::find(node.inputs.begin(), node.inputs.end(), tensor) != node.inputs.end();
  }

  void Release(std::span<const int> positions) {
    for (int position : positions) {
      if (--pending_inputs_[position] > 0) continue;
      const bool kind = Kind(position);
      const bool missed = position < position_ && kind == subsets_.back().claimed;
      if (missed) {
        missed_.push_back(position);
      } else {
        ready_[kind].push(position);
      }
    }
  }

  // Adds an input of the open subset that another subset, or no node, computes.
  void AddInput(int tensor) {
    const int current = static_cast<int>(subsets_.size()) - 1;
    if (last_consumer_[tensor] == current) return;
    last_consumer_[tensor] = current;
    subsets_.back().inputs.push_back(tensor);
    if (producer_[tensor] >= 0) AddOutput(tensor);
  }

  void AddOutput(int tensor) {
    if (last_exporter_[tensor] == producer_[tensor]) return;
    last_exporter_[tensor] = producer_[tensor];
    subsets_[producer_[tensor]].outputs.push_back(tensor);
  }

  void AddGraphOutputs() {
    for (int tensor : graph_.outputs) {
      if (tensor >= 0 && producer_[tensor] >= 0) AddOutput(tensor);
    }
    for (NodeSubset& subset : subsets_) {
      std::sort(subset.inputs.begin(), subset.inputs.end());
      std::sort(subset.outputs.begin(), subset.outputs.end());
    }
  }

  const PartitionGraph& graph_;
  const PartitionRules& rules_;
  std::vector<bool> claimed_;          // by node index: true if the delegate claims the node
  std::vector<bool> scheduled_;        // by plan position: true if the node is in a subset
  std::vector<int> unscheduled_from_;  // by plan position: link towards the next unscheduled one
  // By plan position: number of unscheduled inputs and predecessors.
  std::vector<int> pending_inputs_;
  Lists consumers_;   // by computed tensor: plan positions of its consumers
  Lists successors_;  // by plan position: plan positions that must run later
  Queue ready_[2];    // by kind: positions that can run, except missed_; may have scheduled ones
  // Positions of the open kind that became ready after the sweep had passed them.
  std::vector<int> missed_;
  int position_ = 0;  // plan position that the sweep has reached
  // By tensor: index of the subset that computes it, kReady or kPending.
  std::vector<int> producer_;
  std::vector<int> last_consumer_;  // by tensor: the newest subset that has it as an input
  std::vector<int> last_exporter_;  // by tensor: the newest subset that has it as an output
  std::vector<NodeSubset> subsets_;
  size_t scheduled_count_ = 0;
};

}  // namespace

bool Partition(const PartitionGraph& graph, std::span<const int> claimed,
               const PartitionRules& rules, std::vector<NodeSubset>* out_subsets,
               std::string* out_error) {
  Partitioner partitioner(graph, rules);
  if (!partitioner.Run(claimed, out_error)) return false;
  *out_subsets = partitioner.TakeSubsets();
  return true;
}

}  // namespace deputy
