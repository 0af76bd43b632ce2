// SPDX-License-Identifier: Apache-2.0
//
// Compares predicted costs with literal sums, and the solution of random problems with the best of
// all assignments.
#include "core/delegation/placement_problem.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace deputy::placement_problem_test {
namespace {

// A plan in which every node has one output, the tensor with the node's index plus one; tensor 0 is
// the graph's input and the last tensor its output.
struct Graph {
  explicit Graph(std::vector<std::vector<int>> node_inputs) : inputs(std::move(node_inputs)) {
    for (size_t i = 0; i < inputs.size(); ++i) outputs.push_back({static_cast<int>(i) + 1});
    problem.graph.tensor_count = static_cast<int>(inputs.size()) + 1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      problem.graph.nodes.push_back({inputs[i], outputs[i]});
      problem.graph.plan.push_back(static_cast<int>(i));
    }
    problem.graph.outputs = outputs.back();
    problem.tensor_bytes.assign(inputs.size() + 1, 0);
    problem.cpu_ns.assign(inputs.size(), 100);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::vector<std::vector<int>> inputs, outputs;
  PlacementProblem problem;
};

Graph Chain(int nodes) {
  std::vector<std::vector<int>> inputs;
  for (int i = 0; i < nodes; ++i) inputs.push_back({i});
  return Graph(std::move(inputs));
}

double TotalNs(const PlacementProblem& problem, const Assignment& assignment) {
  Prediction prediction;
  EXPECT_TRUE(Predict(problem, assignment, &prediction));
  return prediction.total_ns;
}

TEST(PlacementProblem, costs_are_nodes_launches_and_copies) {
  const Graph graph = Chain(4);
  PlacementProblem problem = graph.problem;
  problem.tensor_bytes = {1000, 10, 20, 30, 40};
  problem.delegates.push_back({{1, 2, 3, 4}, 50, 2, {}});
  EXPECT_EQ(TotalNs(problem, {kCpuOwner, kCpuOwner, kCpuOwner, kCpuOwner}), 400);
  Prediction prediction;
  ASSERT_TRUE(Predict(problem, {kCpuOwner, 0, 0, kCpuOwner}, &prediction));
  EXPECT_EQ(prediction.total_ns, 200 + 50 + 2 + 3 + 2 * (10 + 30));
  EXPECT_EQ(prediction.estimated_ns, 135);
  ASSERT_EQ(prediction.partitions.size(), 1u);
  EXPECT_EQ(prediction.partitions[0].nodes, (std::vector<int>{1, 2}));
  // Two partitions, with two launches.
  EXPECT_EQ(TotalNs(problem, {kCpuOwner, 0, kCpuOwner, 0}),
            200 + 2 * 50 + 2 + 4 + 2 * (10 + 20 + 30 + 40));
}

TEST(PlacementProblem, measured_partitions_replace_estimates) {
  const Graph graph = Chain(3);
  PlacementProblem problem = graph.problem;
  problem.delegates.push_back({{1, 1, 1}, 0, 0, {{{0, 1}, 77}}});
  Prediction prediction;
  ASSERT_TRUE(Predict(problem, {0, 0, kCpuOwner}, &prediction));
  EXPECT_EQ(prediction.total_ns, 177);
  EXPECT_EQ(prediction.estimated_ns, 0);
  EXPECT_TRUE(prediction.partitions[0].is_measured);
  EXPECT_EQ(TotalNs(problem, {0, 0, 0}), 3);
}

// Node 1 depends on node 0, node 2 on the graph's input only: nodes 0 and 2 can run in one
// partition, unless a control edge requires node 1 before node 2.
TEST(PlacementProblem, partitions_follow_dependencies_and_control_edges) {
  const Graph graph({{0}, {1}, {0}, {2, 3}});
  PlacementProblem problem = graph.problem;
  problem.delegates.push_back({{1, 1, 1, 1}, 10, 0, {}});
  problem.delegates.push_back({{5, 5, 5, 5}, 10, 0, {}});
  EXPECT_EQ(TotalNs(problem, {0, kCpuOwner, 0, kCpuOwner}), 200 + 10 + 2);
  EXPECT_EQ(TotalNs(problem, {0, 1, 0, 1}), 10 + 2 + 10 + 10);
  problem.graph.control_edges = {{1, 2}};
  EXPECT_EQ(TotalNs(problem, {0, kCpuOwner, 0, kCpuOwner}), 200 + 20 + 2);
  // The edge begins at the partition that replaced node 1.
  EXPECT_EQ(TotalNs(problem, {0, 1, 0, 1}), 20 + 2 + 20 + 10);
}

TEST(PlacementProblem, partitions_do_not_depend_on_themselves) {
  // Node 3 depends on node 0 through node 1, which the CPU runs.
  const Graph graph({{0}, {1}, {0}, {2, 3}});
  PlacementProblem problem = graph.problem;
  problem.delegates.push_back({{1, 1, 1, 1}, 10, 0, {}});
  Prediction prediction;
  ASSERT_TRUE(Predict(problem, {0, kCpuOwner, 0, 0}, &prediction));
  ASSERT_EQ(prediction.partitions.size(), 2u);
  EXPECT_EQ(prediction.partitions[0].nodes, (std::vector<int>{0, 2}));
  EXPECT_EQ(prediction.partitions[1].nodes, std::vector<int>{3});
}

TEST(PlacementProblem, small_partitions_are_not_worth_a_launch) {
  const Graph graph = Chain(6);
  PlacementProblem problem = graph.problem;
  // The delegate cannot run node 2; nodes 3 to 5 gain 270 ns, nodes 0 and 1 gain 180 ns.
  problem.delegates.push_back({{10, 10, -1, 10, 10, 10}, 200, 0, {}});
  EXPECT_EQ(Solve(problem, {}), (Assignment{kCpuOwner, kCpuOwner, kCpuOwner, 0, 0, 0}));
  problem.delegates[0].launch_ns = 100;
  EXPECT_EQ(Solve(problem, {}), (Assignment{0, 0, kCpuOwner, 0, 0, 0}));
  problem.delegates[0].launch_ns = 300;
  EXPECT_EQ(Solve(problem, {}), (Assignment(6, kCpuOwner)));
}

// Nodes that depend on the graph's input only. A step moves adjacent nodes, so that it cannot lead
// from the CPU to the measured partition of nodes 1 and 3.
TEST(PlacementProblem, starts_are_considered) {
  const Graph graph({{0}, {0}, {0}, {0}});
  PlacementProblem problem = graph.problem;
  problem.delegates.push_back({{500, 500, 500, 500}, 0, 0, {{{1, 3}, 150}}});
  EXPECT_EQ(Solve(problem, {}), Assignment(4, kCpuOwner));
  const std::vector<Assignment> starts = {{kCpuOwner, 0, kCpuOwner, 0}};
  EXPECT_EQ(Solve(problem, starts), starts[0]);
}

TEST(PlacementProblem, without_time_the_best_start_is_returned) {
  const Graph graph = Chain(6);
  PlacementProblem problem = graph.problem;
  problem.delegates.push_back({{10, 10, 10, 10, 10, 10}, 0, 0, {{{1, 2}, 500}, {{3, 4}, 50}}});
  const std::vector<Assignment> starts = {{kCpuOwner, 0, 0, kCpuOwner, kCpuOwner, kCpuOwner},
                                          {kCpuOwner, kCpuOwner, kCpuOwner, 0, 0, kCpuOwner}};
  EXPECT_EQ(Solve(problem, starts, [] { return false; }), Assignment(6, 0));
  problem.delegates[0].measured[{0, 1, 2, 3, 4, 5}] = 5000;
  EXPECT_EQ(Solve(problem, starts, [] { return false; }), starts[1]);
  EXPECT_NE(Solve(problem, starts), starts[1]);
}

TEST(PlacementProblem, the_number_of_steps_is_limited) {
  std::mt19937 random(5);
  const Graph graph = Chain(300);
  PlacementProblem problem = graph.problem;
  for (int d = 0; d < 4; ++d) {
    problem.delegates.push_back({{}, 100, 0, {}});
    for (int i = 0; i < 300; ++i) {
      problem.delegates.back().node_ns.push_back(static_cast<double>(random() % 200) - 20);
    }
  }
  int calls = 0;
  const Assignment solution = Solve(problem, {}, [&calls] { return ++calls > 0; });
  EXPECT_LT(TotalNs(problem, solution), 300 * 100);
  EXPECT_LT(calls, 10000);
}

// Problems of a chain or a random graph, with two delegates, launches and copies.
TEST(PlacementProblem, solutions_are_within_five_percent_of_the_best_assignment) {
  std::mt19937 random(42);
  const auto below = [&random](int limit) { return static_cast<int>(random() % limit); };
  int exact = 0;
  constexpr int kProblems = 30;
  for (int round = 0; round < kProblems; ++round) {
    const int nodes = 5 + below(4);
    std::vector<std::vector<int>> inputs;
    for (int i = 0; i < nodes; ++i) {
      inputs.push_back({i});
      if (round % 2 == 1 && i > 1) inputs.back() = {below(i + 1), below(i + 1)};
    }
    const Graph graph(std::move(inputs));
    PlacementProblem problem = graph.problem;
    for (double& bytes : problem.tensor_bytes) bytes = below(100);
    for (double& ns : problem.cpu_ns) ns = 20 + below(200);
    for (int d = 0; d < 2; ++d) {
      DelegateCosts costs = {{}, 1.0 * below(150), 0.01 * below(100), {}};
      for (int i = 0; i < nodes; ++i) costs.node_ns.push_back(below(5) == 0 ? -1 : below(180));
      problem.delegates.push_back(std::move(costs));
    }
    const double best = TotalNs(problem, SolveExactly(problem));
    const double found = TotalNs(problem, Solve(problem, {}));
    EXPECT_GE(found, best) << round;
    EXPECT_LE(found, 1.05 * best) << round;
    exact += found == best ? 1 : 0;
  }
  EXPECT_GT(exact, kProblems * 9 / 10);
}

}  // namespace
}  // namespace deputy::placement_problem_test
