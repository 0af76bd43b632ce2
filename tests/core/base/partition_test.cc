// SPDX-License-Identifier: Apache-2.0
//
// Compares the partitioning of a plan into subsets with the measured table of abi.md 4.9, with a
// plain implementation of the rule on random graphs, and with the invariants of any partitioning.
#include "core/base/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace deputy::partition_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A PartitionGraph with the arrays that it refers to.
struct OwnedGraph {
  std::vector<std::vector<int>> inputs, outputs;
  PartitionGraph graph;

  void AddNode(std::vector<int> in, std::vector<int> out) {
    inputs.push_back(std::move(in));
    outputs.push_back(std::move(out));
  }
  const PartitionGraph& Build(int tensor_count, std::vector<int> graph_outputs) {
    graph.tensor_count = tensor_count;
    graph.nodes.clear();
    graph.plan.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      graph.nodes.push_back({inputs[i], outputs[i]});
      graph.plan.push_back(static_cast<int>(i));
    }
    graph.outputs = std::move(graph_outputs);
    return graph;
  }
};

std::vector<NodeSubset> CutOrFail(const PartitionGraph& graph, std::vector<int> take,
                                  const PartitionRules& rules = {}) {
  std::vector<NodeSubset> subsets;
  std::string error;
  EXPECT_TRUE(Partition(graph, take, rules, &subsets, &error)) << error;
  return subsets;
}

// Three ADD nodes over tensors: 1, 2 -> 4; 0, 4 -> 5; 3, 4 -> 6.
OwnedGraph ThreeAdds() {
  OwnedGraph g;
  g.AddNode({1, 2}, {4});
  g.AddNode({0, 4}, {5});
  g.AddNode({3, 4}, {6});
  g.Build(7, {5, 6});
  return g;
}

struct MeasuredRow {
  std::vector<int> take;
  std::vector<int> plan;  // plan after claiming; 3 is the new node
  std::vector<int> nodes, inputs, outputs;
};

TEST(Partition, equals_the_measured_table) {
  const MeasuredRow rows[] = {
      {{0}, {3, 1, 2}, {0}, {1, 2}, {4}},
      {{1}, {0, 2, 3}, {1}, {0, 4}, {5}},
      {{0, 1}, {3, 2}, {0, 1}, {0, 1, 2}, {4, 5}},
      {{2}, {0, 1, 3}, {2}, {3, 4}, {6}},
      {{0, 2}, {3, 1}, {0, 2}, {1, 2, 3}, {4, 6}},
      {{1, 2}, {0, 3}, {1, 2}, {0, 3, 4}, {5, 6}},
      {{0, 1, 2}, {3}, {0, 1, 2}, {0, 1, 2, 3}, {5, 6}},
  };
  const OwnedGraph g = ThreeAdds();
  for (const MeasuredRow& row : rows) {
    std::vector<int> plan;
    for (const NodeSubset& subset : CutOrFail(g.graph, row.take)) {
      if (!subset.claimed) {
        plan.insert(plan.end(), subset.nodes.begin(), subset.nodes.end());
        continue;
      }
      plan.push_back(3);
      EXPECT_EQ(subset.nodes, row.nodes);
      EXPECT_EQ(subset.inputs, row.inputs);
      EXPECT_EQ(subset.outputs, row.outputs);
    }
    EXPECT_EQ(plan, row.plan);
  }
}

TEST(Partition, without_greedy_search_keeps_the_order_of_the_plan) {
  const OwnedGraph g = ThreeAdds();
  const auto subsets = CutOrFail(g.graph, {1}, {.greedy = false});
  ASSERT_EQ(subsets.size(), 3u);
  EXPECT_THAT(subsets[0].nodes, ElementsAre(0));
  EXPECT_THAT(subsets[1].nodes, ElementsAre(1));
  EXPECT_THAT(subsets[2].nodes, ElementsAre(2));
}

TEST(Partition, without_fusion_every_node_is_a_subset) {
  const OwnedGraph g = ThreeAdds();
  EXPECT_EQ(CutOrFail(g.graph, {0, 1, 2}, {.fuse = false}).size(), 3u);
}

TEST(Partition, control_edges_delay_nodes) {
  OwnedGraph g = ThreeAdds();
  g.graph.control_edges = {{2, 1}};
  const auto subsets = CutOrFail(g.graph, {0, 1});
  ASSERT_EQ(subsets.size(), 3u);
  EXPECT_THAT(subsets[0].nodes, ElementsAre(0));
  EXPECT_THAT(subsets[1].nodes, ElementsAre(2));
  EXPECT_THAT(subsets[2].nodes, ElementsAre(1));
}

// Nodes and their tensors: 0 -> 1; 1 -> 1 in place; 1, 0 -> 2.
TEST(Partition, outputs_include_tensors_modified_in_place_by_other_subsets) {
  OwnedGraph g;
  g.AddNode({0}, {1});
  g.AddNode({1}, {1});
  g.AddNode({1, 0}, {2});
  g.Build(3, {2});
  const auto subsets = CutOrFail(g.graph, {0});
  ASSERT_EQ(subsets.size(), 2u);
  EXPECT_THAT(subsets[0].nodes, ElementsAre(0));
  EXPECT_THAT(subsets[0].outputs, ElementsAre(1));
  EXPECT_THAT(subsets[1].nodes, ElementsAre(1, 2));
}

TEST(Partition, refuses_invalid_graphs) {
  OwnedGraph g = ThreeAdds();
  std::vector<NodeSubset> subsets;
  std::string error;
  for (const std::vector<int>& take : {std::vector<int>{3}, std::vector<int>{-1}}) {
    EXPECT_FALSE(Partition(g.graph, take, {}, &subsets, &error));
    EXPECT_THAT(error, testing::HasSubstr("expected below 3"));
  }
  g.graph.control_edges = {{0, 3}};
  EXPECT_FALSE(Partition(g.graph, {}, {}, &subsets, &error));
  g.graph.control_edges = {{0, 1}, {1, 0}};
  EXPECT_FALSE(Partition(g.graph, {}, {}, &subsets, &error));
  EXPECT_THAT(error, testing::HasSubstr("cycle"));
}

TEST(Partition, ignores_repeated_nodes_and_nodes_outside_the_plan) {
  OwnedGraph g = ThreeAdds();
  g.graph.plan = {0, 1};
  const auto subsets = CutOrFail(g.graph, {1, 1, 2});
  ASSERT_EQ(subsets.size(), 2u);
  EXPECT_THAT(subsets[1].nodes, ElementsAre(1));
}

TEST(Partition, empty_plan_has_no_subsets) {
  PartitionGraph graph;
  EXPECT_THAT(CutOrFail(graph, {}), IsEmpty());
}

// ---- Random graphs ------------------------------------------------------------------------------

struct RandomCase {
  OwnedGraph graph;
  std::vector<int> take;
};

RandomCase MakeRandom(std::mt19937* random) {
  const auto up_to = [&](int n) {
    return static_cast<int>((*random)() % static_cast<unsigned>(n));
  };
  RandomCase result;
  const int nodes = 1 + up_to(40);
  int tensors = 3;  // number of tensors, of which the first 3 are the graph's inputs
  for (int n = 0; n < nodes; ++n) {
    std::vector<int> in, out;
    for (int i = 1 + up_to(3); i > 0; --i) in.push_back(up_to(8) == 0 ? -1 : up_to(tensors));
    for (int i = 1 + up_to(2); i > 0; --i) out.push_back(tensors++);
    result.graph.AddNode(in, out);
    if (up_to(2) == 0) result.take.push_back(n);
  }
  std::vector<int> outputs;
  for (int i = 0; i < 1 + up_to(4); ++i) outputs.push_back(up_to(tensors));
  result.graph.Build(tensors, outputs);
  const int edges = up_to(3);
  for (int i = 0; i < edges && nodes > 1; ++i) {
    const int from = up_to(nodes - 1);
    result.graph.graph.control_edges.emplace_back(from, from + 1 + up_to(nodes - from - 1));
  }
  return result;
}

// A plain implementation of the rule: open a subset with the first node that may run, then traverse
// the plan repeatedly, adding every node of the subset's kind that may run.
std::vector<std::vector<int>> Restate(const RandomCase& c) {
  const PartitionGraph& graph = c.graph.graph;
  const std::set<int> take(c.take.begin(), c.take.end());
  std::set<int> done;
  const auto may_run = [&](int node) {
    for (int input : c.graph.inputs[node]) {
      for (int other : graph.plan) {
        const auto& made = c.graph.outputs[other];
        if (input >= 0 && std::count(made.begin(), made.end(), input) > 0 &&
            !done.contains(other)) {
          return false;
        }
      }
    }
    for (const auto& [from, to] : graph.control_edges) {
      if (to == node && !done.contains(from)) return false;
    }
    return true;
  };
  std::vector<std::vector<int>> subsets;
  while (done.size() < graph.plan.size()) {
    std::vector<int> subset;
    for (size_t before = 1; before != subset.size() || before == 0;) {
      before = subset.size();
      for (int node : graph.plan) {
        if (done.contains(node) || !may_run(node)) continue;
        if (!subset.empty() && take.contains(node) != take.contains(subset[0])) continue;
        subset.push_back(node);
        done.insert(node);
      }
      if (subset.size() == before) break;
    }
    subsets.push_back(subset);
  }
  return subsets;
}

TEST(Partition, equals_brute_force_on_random_graphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const RandomCase c = MakeRandom(&random);
    const auto subsets = CutOrFail(c.graph.graph, c.take);
    std::vector<std::vector<int>> nodes;
    for (const NodeSubset& subset : subsets) nodes.push_back(subset.nodes);
    ASSERT_EQ(nodes, Restate(c)) << "round " << round;
    // Checks the boundary tensors of each subset against their definition.
    for (size_t i = 0; i < subsets.size(); ++i) {
      std::set<int> made, read, wanted;
      for (int node : subsets[i].nodes) {
        made.insert(c.graph.outputs[node].begin(), c.graph.outputs[node].end());
        for (int input : c.graph.inputs[node]) {
          if (input >= 0) read.insert(input);
        }
      }
      for (size_t k = 0; k < subsets.size(); ++k) {
        if (k == i) continue;
        for (int node : subsets[k].nodes) {
          wanted.insert(c.graph.inputs[node].begin(), c.graph.inputs[node].end());
        }
      }
      wanted.insert(c.graph.graph.outputs.begin(), c.graph.graph.outputs.end());
      std::vector<int> expected_inputs, expected_outputs;
      std::set_difference(read.begin(), read.end(), made.begin(), made.end(),
                          std::back_inserter(expected_inputs));
      std::set_intersection(made.begin(), made.end(), wanted.begin(), wanted.end(),
                            std::back_inserter(expected_outputs));
      ASSERT_EQ(subsets[i].inputs, expected_inputs) << "round " << round;
      ASSERT_EQ(subsets[i].outputs, expected_outputs) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace deputy::partition_test
