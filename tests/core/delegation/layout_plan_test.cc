// SPDX-License-Identifier: Apache-2.0
//
// Tests plans for delegates in NCHW on graphs made by hand: positions of control edges, tensors
// that are written twice, and transpositions of an earlier delegate.
#include "core/delegation/layout_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "c_api/include/builtin_ops.h"
#include "tests/support/hand_graph.h"

namespace deputy::layout_plan_test {
namespace {

using Edges = std::vector<PartitionGraph::ControlEdge>;

// Plans a graph whose tensors are images.
class Planned {
 public:
  Planned(HandGraph* graph, const std::vector<int>& outputs, const std::vector<int>& claimed,
          const Edges& edges = {}, const LayoutParts& parts = {}) {
    for (TfLiteTensor& tensor : (*graph)->tensors()) {
      TfLiteIntArrayFree(tensor.dims);
      tensor.dims = IntArrayOf({1, 2, 3, 4});
    }
    plan.graph.tensor_count = (*graph)->tensor_count();
    for (int i = 0; i < (*graph)->node_count(); ++i) {
      const TfLiteNode& node = *(*graph)->node(i);
      plan.graph.nodes.push_back({IndicesOf(node.inputs), IndicesOf(node.outputs)});
    }
    plan.graph.plan = (*graph)->plan();
    plan.graph.outputs = outputs;
    plan.graph.control_edges = edges;
    PlanLayout(**graph, parts, claimed, &plan);
  }
  std::vector<std::vector<int>> Transpositions() const {
    std::vector<std::vector<int>> found;
    for (const auto& [from, to] : plan.transpositions) found.push_back({from, to});
    return found;
  }

  LayoutPlan plan;
};

TEST(LayoutPlan, control_edges_follow_their_nodes) {
  HandGraph g(5);
  g.AddNode({0}, {1}, kTfLiteBuiltinAbs);
  g.AddNode({1}, {2}, kTfLiteBuiltinMaxPool2d);
  g.AddNode({2}, {3}, kTfLiteBuiltinAbs);
  g.AddNode({0}, {4}, kTfLiteBuiltinAbs);
  const Planned planned(&g, {3, 4}, {1}, {{0, 1}, {1, 2}, {2, 3}, {-1, 9}});
  // Node 4 transposes tensor 1 to 5, node 5 transposes tensor 6 to 2.
  EXPECT_EQ(planned.plan.graph.plan, (std::vector<int>{0, 4, 1, 5, 2, 3}));
  EXPECT_EQ(planned.Transpositions(), (std::vector<std::vector<int>>{{1, 5}, {6, 2}}));
  EXPECT_EQ(planned.plan.graph.control_edges, (Edges{{0, 2}, {2, 4}, {4, 5}, {-1, 9}}));
}

TEST(LayoutPlan, a_tensor_that_is_written_again_is_transposed_again) {
  HandGraph g(4);
  g.AddNode({0}, {1}, kTfLiteBuiltinAbs);
  g.AddNode({1}, {2}, kTfLiteBuiltinMaxPool2d);
  g.AddNode({0}, {1}, kTfLiteBuiltinAbs);
  g.AddNode({1}, {3}, kTfLiteBuiltinMaxPool2d);
  const Planned planned(&g, {2, 3}, {1, 3});
  EXPECT_EQ(planned.plan.graph.plan, (std::vector<int>{0, 4, 1, 2, 5, 3, 6, 7}));
  EXPECT_EQ(planned.Transpositions(),
            (std::vector<std::vector<int>>{{1, 4}, {1, 4}, {5, 2}, {6, 3}}));
}

// Tensor 3 is the NCHW form of 1. The transposition between both nodes is dropped, and inserted
// again after them for the graph's output.
TEST(LayoutPlan, a_transposition_that_is_not_needed_is_dropped) {
  HandGraph g(4);
  g.AddNode({0}, {3}, kTfLiteBuiltinCustom);
  const int transposition = g.AddNode({3}, {1}, kTfLiteBuiltinTranspose);
  g.AddNode({1}, {2}, kTfLiteBuiltinMaxPool2d);
  LayoutParts parts;
  parts.other = {-1, 3, -1, 1};
  parts.is_nchw = {false, false, false, true};
  parts.transpositions = {-1, transposition};
  const Planned inside(&g, {2}, {2}, {}, parts);
  EXPECT_EQ(inside.plan.graph.plan, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(inside.Transpositions(), (std::vector<std::vector<int>>{{4, 2}}));
  const Planned output(&g, {1, 2}, {2}, {}, parts);
  EXPECT_EQ(output.plan.graph.plan, (std::vector<int>{0, 2, transposition, 3}));
}

}  // namespace
}  // namespace deputy::layout_plan_test
