// SPDX-License-Identifier: Apache-2.0
//
// Compares the partitioning of a plan with a literal implementation of the sweeps that abi.md 4.9
// describes: on random graphs, for every rule, with control edges, with tensors that two nodes
// write, and with nodes that can never run. Also partitions two plans for which those sweeps would
// take minutes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "core/base/partition.h"

namespace deputy::partition_order_test {
namespace {

using testing::ElementsAre;

// Partitions a plan by the sweeps of TensorFlow Lite, whose time is proportional to the number of
// sweeps times the number of nodes.
class SweepingPartitioner {
 public:
  SweepingPartitioner(const PartitionGraph& graph, const std::vector<int>& take,
                      const PartitionRules& rules)
      : graph_(graph),
        rules_(rules),
        taken_(graph.nodes.size(), false),
        scheduled_(graph.plan.size(), false),
        blockers_(graph.plan.size(), 0),
        maker_(static_cast<size_t>(graph.tensor_count), kReady) {
    for (int node : take) taken_[node] = true;
    for (const auto& [from, to] : graph.control_edges) ++blockers_[to];
    for (int node : graph.plan) {
      for (int tensor : graph.nodes[node].outputs) {
        if (tensor >= 0) maker_[tensor] = kPending;
      }
    }
  }

  // Partitions the plan; returns false if a node can never run.
  bool Run(std::vector<NodeSubset>* out_subsets) {
    while (FillSubset()) {
    }
    if (std::count(scheduled_.begin(), scheduled_.end(), false) > 0) return false;
    for (int tensor : graph_.outputs) {
      if (tensor >= 0 && maker_[tensor] >= 0) subsets_[maker_[tensor]].outputs.push_back(tensor);
    }
    for (NodeSubset& subset : subsets_) {
      for (std::vector<int>* tensors : {&subset.inputs, &subset.outputs}) {
        std::sort(tensors->begin(), tensors->end());
        tensors->erase(std::unique(tensors->begin(), tensors->end()), tensors->end());
      }
    }
    *out_subsets = subsets_;
    return true;
  }

 private:
  // States of a tensor; a state of 0 or more is the subset that writes the tensor.
  static constexpr int kReady = -1, kPending = -2;

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
    return rules_.fuse && open.claimed == taken_[node];
  }

  void Schedule(size_t position) {
    const int node = graph_.plan[position];
    const int current = static_cast<int>(subsets_.size()) - 1;
    NodeSubset& open = subsets_.back();
    open.claimed = taken_[node];
    open.nodes.push_back(node);
    // Unlike TensorFlow Lite, a tensor that a node modifies in place is an output of its producer's
    // subset.
    const std::vector<int> inputs(graph_.nodes[node].inputs.begin(),
                                  graph_.nodes[node].inputs.end());
    for (int tensor : graph_.nodes[node].outputs) {
      if (tensor < 0) continue;
      const bool read = std::count(inputs.begin(), inputs.end(), tensor) > 0;
      const int before = std::exchange(maker_[tensor], current);
      if (read && before >= 0 && before != current) subsets_[before].outputs.push_back(tensor);
    }
    for (int tensor : inputs) {
      if (tensor < 0 || maker_[tensor] == current) continue;
      open.inputs.push_back(tensor);
      if (maker_[tensor] >= 0) subsets_[maker_[tensor]].outputs.push_back(tensor);
    }
    for (const auto& [from, to] : graph_.control_edges) {
      if (from == static_cast<int>(position)) --blockers_[to];
    }
    scheduled_[position] = true;
  }

  const PartitionGraph& graph_;
  const PartitionRules& rules_;
  std::vector<bool> taken_, scheduled_;
  std::vector<int> blockers_, maker_;
  std::vector<NodeSubset> subsets_;
};

// A graph that owns the arrays of its nodes.
struct Case {
  std::vector<std::vector<int>> inputs, outputs;
  PartitionGraph graph;
  std::vector<int> take;

  void PointNodes() {
    graph.nodes.clear();
    for (size_t i = 0; i < inputs.size(); ++i) graph.nodes.push_back({inputs[i], outputs[i]});
  }
};

// Unusual properties that a graph may have.
struct Oddities {
  bool shuffled = false;       // the plan is not in topological order
  bool two_producers = false;  // two nodes may write the same tensor
};

Case MakeCase(const Oddities& oddities, std::mt19937* random) {
  const auto up_to = [&](int n) {
    return static_cast<int>((*random)() % static_cast<unsigned>(n));
  };
  Case c;
  const int nodes = 1 + up_to(60), locality = 1 + up_to(20), taken_of = 1 + up_to(4);
  int tensors = 3;  // number of tensors, of which the first 3 are the graph's inputs
  for (int n = 0; n < nodes; ++n) {
    std::vector<int> in, out;
    for (int i = up_to(4); i > 0; --i) {
      in.push_back(up_to(8) == 0 ? -1 : tensors - 1 - up_to(std::min(tensors, locality)));
    }
    for (int i = up_to(3); i > 0; --i) {
      const bool again = oddities.two_producers && up_to(6) == 0;
      out.push_back(again ? up_to(tensors) : tensors++);
    }
    c.inputs.push_back(in);
    c.outputs.push_back(out);
    c.graph.plan.push_back(n);
    if (up_to(taken_of) == 0) c.take.push_back(n);
  }
  for (int i = up_to(4); i > 0; --i) c.graph.outputs.push_back(up_to(tensors));
  for (int i = up_to(6); i > 0 && nodes > 1; --i) {
    const int from = up_to(nodes - 1);
    c.graph.control_edges.emplace_back(from, from + 1 + up_to(nodes - from - 1));
  }
  if (oddities.shuffled) std::shuffle(c.graph.plan.begin(), c.graph.plan.end(), *random);
  if (up_to(4) == 0) c.graph.plan.resize(static_cast<size_t>(nodes - up_to(nodes)));
  std::erase_if(c.graph.control_edges, [&](const auto& edge) {
    return edge.second >= static_cast<int>(c.graph.plan.size());
  });
  c.graph.tensor_count = tensors;
  return c;
}

// Compares the partitions of 1500 random graphs with those of the sweeps. Returns the number of
// graphs that can be partitioned.
int CompareWithSweeps(const PartitionRules& rules, const Oddities& oddities) {
  std::mt19937 random(1129);
  int cut_count = 0;
  for (int round = 0; round < 1500; ++round) {
    Case c = MakeCase(oddities, &random);
    c.PointNodes();
    std::vector<NodeSubset> expected, found;
    std::string error;
    const bool can_be_cut = SweepingPartitioner(c.graph, c.take, rules).Run(&expected);
    EXPECT_EQ(Partition(c.graph, c.take, rules, &found, &error), can_be_cut) << "round " << round;
    cut_count += can_be_cut;
    EXPECT_EQ(found.size(), expected.size()) << "round " << round;
    for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      EXPECT_EQ(found[i].claimed, expected[i].claimed) << "round " << round;
      EXPECT_EQ(found[i].nodes, expected[i].nodes) << "round " << round;
      EXPECT_EQ(found[i].inputs, expected[i].inputs) << "round " << round;
      EXPECT_EQ(found[i].outputs, expected[i].outputs) << "round " << round;
    }
    if (testing::Test::HasFailure()) break;
  }
  return cut_count;
}

constexpr PartitionRules kRules[] = {
    {.greedy = true, .fuse = true},
    {.greedy = false, .fuse = true},
    {.greedy = true, .fuse = false},
    {.greedy = false, .fuse = false},
};

TEST(PartitionOrder, graphs_in_order_equal_the_reference) {
  for (const PartitionRules& rules : kRules) EXPECT_EQ(CompareWithSweeps(rules, {}), 1500);
}

TEST(PartitionOrder, shuffled_plans_equal_the_reference) {
  for (const PartitionRules& rules : kRules) {
    EXPECT_GT(CompareWithSweeps(rules, {.shuffled = true}), 300);
  }
}

TEST(PartitionOrder, graphs_with_two_producers_of_a_tensor_equal_the_reference) {
  for (const PartitionRules& rules : kRules) {
    EXPECT_GT(CompareWithSweeps(rules, {.shuffled = true, .two_producers = true}), 100);
    EXPECT_GT(CompareWithSweeps(rules, {.two_producers = true}), 100);
  }
}

// Every second one of 200 000 nodes in a chain is claimed, so that each node is a subset; the
// sweeps would take 4 * 10^10 steps.
TEST(PartitionOrder, a_long_plan_becomes_one_subset_per_node) {
  Case c;
  constexpr int kNodes = 200000;
  for (int node = 0; node < kNodes; ++node) {
    c.inputs.push_back({node});
    c.outputs.push_back({node + 1});
    c.graph.plan.push_back(node);
    if (node % 2 == 1) c.take.push_back(node);
  }
  c.graph.tensor_count = kNodes + 1;
  c.graph.outputs = {kNodes};
  c.PointNodes();
  std::vector<NodeSubset> subsets;
  std::string error;
  for (const PartitionRules& rules : kRules) {
    ASSERT_TRUE(Partition(c.graph, c.take, rules, &subsets, &error)) << error;
    ASSERT_EQ(subsets.size(), static_cast<size_t>(kNodes));
    EXPECT_FALSE(subsets[0].claimed);
    EXPECT_TRUE(subsets[1].claimed);
    EXPECT_THAT(subsets[kNodes - 1].nodes, ElementsAre(kNodes - 1));
    EXPECT_THAT(subsets[kNodes - 1].inputs, ElementsAre(kNodes - 1));
    EXPECT_THAT(subsets[kNodes - 1].outputs, ElementsAre(kNodes));
  }
}

// Each node depends on the next one in the plan, so one sweep schedules one node. No node is
// claimed, so that all nodes are one subset.
TEST(PartitionOrder, a_reversed_plan_is_partitioned) {
  Case c;
  constexpr int kNodes = 200000;
  for (int node = 0; node < kNodes; ++node) {
    c.inputs.push_back({node + 1});
    c.outputs.push_back({node});
    c.graph.plan.push_back(node);
  }
  c.graph.tensor_count = kNodes + 1;
  c.graph.outputs = {0};
  c.PointNodes();
  std::vector<NodeSubset> subsets;
  std::string error;
  ASSERT_TRUE(Partition(c.graph, {}, {}, &subsets, &error)) << error;
  ASSERT_EQ(subsets.size(), 1u);
  ASSERT_EQ(subsets[0].nodes.size(), static_cast<size_t>(kNodes));
  EXPECT_TRUE(std::is_sorted(subsets[0].nodes.rbegin(), subsets[0].nodes.rend()));
}

}  // namespace
}  // namespace deputy::partition_order_test
