// SPDX-License-Identifier: Apache-2.0
#include "core/partition.h"

#include <algorithm>

namespace deputy {
namespace {

constexpr int kReady = -1;    // no node of the plan makes the tensor
constexpr int kPending = -2;  // its maker is not scheduled yet
                              // otherwise: the subset that makes it

class Partitioner {
 public:
  Partitioner(const PartitionGraph& graph, const PartitionRules& rules)
      : graph_(graph), rules_(rules) {}

  bool Run(std::span<const int> take, std::string* out_error) {
    if (!Prepare(take, out_error)) return false;
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
  bool Prepare(std::span<const int> take, std::string* out_error) {
    const int node_count = static_cast<int>(graph_.nodes.size());
    const int plan_size = static_cast<int>(graph_.plan.size());
    taken_.assign(graph_.nodes.size(), false);
    for (int node : take) {
      if (node < 0 || node >= node_count) {
        *out_error = "node " + std::to_string(node) + " to replace: expected below " +
                     std::to_string(node_count);
        return false;
      }
      taken_[node] = true;
    }
    blockers_.assign(plan_size, 0);
    successors_.resize(plan_size);
    for (const auto& [from, to] : graph_.control_edges) {
      if (from < 0 || from >= plan_size || to < 0 || to >= plan_size) {
        *out_error = "control edge " + std::to_string(from) + " to " + std::to_string(to) +
                     ": expected plan positions below " + std::to_string(plan_size);
        return false;
      }
      successors_[from].push_back(to);
      ++blockers_[to];
    }
    scheduled_.assign(plan_size, false);
    maker_.assign(graph_.tensor_count, kReady);
    for (int node : graph_.plan) {
      for (int tensor : graph_.nodes[node].outputs) {
        if (tensor >= 0) maker_[tensor] = kPending;
      }
    }
    return true;
  }

  // Sweeps the plan until a sweep schedules nothing. False when the new subset stayed empty.
  bool FillSubset() {
    subsets_.emplace_back();
    bool progress = true;
    while (progress) {
      progress = false;
      for (size_t position = 0; position < graph_.plan.size(); ++position) {
        if (scheduled_[position]) continue;
        if (CanSchedule(position)) {
          Schedule(position);
          progress = true;
        } else if (!rules_.greedy && !subsets_.back().nodes.empty()) {
          return true;
        }
      }
    }
    if (!subsets_.back().nodes.empty()) return true;
    subsets_.pop_back();
    return false;
  }

  bool CanSchedule(size_t position) const {
    const int node = graph_.plan[position];
    if (blockers_[position] > 0) return false;
    for (int tensor : graph_.nodes[node].inputs) {
      if (tensor >= 0 && maker_[tensor] == kPending) return false;
    }
    const NodeSubset& open = subsets_.back();
    if (open.nodes.empty()) return true;
    return rules_.fuse && open.taken == taken_[node];
  }

  void Schedule(size_t position) {
    const int node = graph_.plan[position];
    const int current = static_cast<int>(subsets_.size()) - 1;
    NodeSubset& open = subsets_.back();
    open.taken = taken_[node];
    open.nodes.push_back(node);
    for (int tensor : graph_.nodes[node].outputs) {
      if (tensor >= 0) maker_[tensor] = current;
    }
    for (int tensor : graph_.nodes[node].inputs) {
      if (tensor < 0 || maker_[tensor] == current) continue;
      open.inputs.push_back(tensor);
      if (maker_[tensor] >= 0) subsets_[maker_[tensor]].outputs.push_back(tensor);
    }
    for (int successor : successors_[position]) --blockers_[successor];
    scheduled_[position] = true;
    ++scheduled_count_;
  }

  void AddGraphOutputs() {
    for (int tensor : graph_.outputs) {
      if (tensor >= 0 && maker_[tensor] >= 0) subsets_[maker_[tensor]].outputs.push_back(tensor);
    }
    for (NodeSubset& subset : subsets_) {
      for (std::vector<int>* tensors : {&subset.inputs, &subset.outputs}) {
        std::sort(tensors->begin(), tensors->end());
        tensors->erase(std::unique(tensors->begin(), tensors->end()), tensors->end());
      }
    }
  }

  const PartitionGraph& graph_;
  const PartitionRules& rules_;
  std::vector<bool> taken_;      // per node of the table
  std::vector<bool> scheduled_;  // per plan position
  std::vector<int> blockers_;    // per plan position: control predecessors still to run
  std::vector<std::vector<int>> successors_;
  std::vector<int> maker_;  // per tensor
  std::vector<NodeSubset> subsets_;
  size_t scheduled_count_ = 0;
};

}  // namespace

bool Partition(const PartitionGraph& graph, std::span<const int> take, const PartitionRules& rules,
               std::vector<NodeSubset>* out_subsets, std::string* out_error) {
  Partitioner partitioner(graph, rules);
  if (!partitioner.Run(take, out_error)) return false;
  *out_subsets = partitioner.TakeSubsets();
  return true;
}

}  // namespace deputy
