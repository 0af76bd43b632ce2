// SPDX-License-Identifier: Apache-2.0
//
// Tests the graph of a subgraph: indices, ids, pointers, and its representation in a context.
#include "core/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/graph/graph_index.h"

namespace deputy::graph_test {
namespace {

using testing::ElementsAre;

TEST(GraphTensors, are_added_empty_and_visible_in_the_context) {
  TfLiteContext context{};
  Graph graph(&context);
  EXPECT_EQ(graph.AddTensors(2), 0);
  EXPECT_EQ(graph.AddTensors(3), 2);
  EXPECT_EQ(graph.tensor_count(), 5);
  EXPECT_EQ(context.tensors, graph.tensors().data());
  EXPECT_EQ(context.tensors_size, 5u);
  for (const TfLiteTensor& tensor : graph.tensors()) {
    EXPECT_EQ(tensor.type, kTfLiteNoType);
    EXPECT_EQ(tensor.dims, nullptr);
    EXPECT_EQ(tensor.data.raw, nullptr);
    EXPECT_EQ(tensor.buffer_handle, kTfLiteNullBufferHandle);
  }
  graph.RemoveTensorsFrom(1);
  EXPECT_EQ(context.tensors_size, 1u);
}

TEST(GraphTensors, are_found_by_index_and_by_address) {
  TfLiteContext context{};
  Graph graph(&context);
  graph.AddTensors(3);
  EXPECT_EQ(graph.tensor(-1), nullptr);
  EXPECT_EQ(graph.tensor(3), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph.IndexOf(graph.tensor(i)), i);
  const TfLiteTensor elsewhere{};
  EXPECT_EQ(graph.IndexOf(&elsewhere), -1);
  EXPECT_EQ(graph.IndexOf(nullptr), -1);
  EXPECT_EQ(graph.IndexOf(graph.tensor(2) + 1), -1);
  const char* inside = reinterpret_cast<const char*>(graph.tensor(1)) + 8;
  EXPECT_EQ(graph.IndexOf(reinterpret_cast<const TfLiteTensor*>(inside)), -1);
}

TEST(GraphTensors, keep_their_addresses_when_spare_tensors_are_added) {
  TfLiteContext context{};
  Graph graph(&context);
  graph.AddTensors(7);
  graph.EnsureTensorCapacity();
  const TfLiteTensor* const first = graph.tensor(0);
  for (size_t i = 0; i < Graph::kTensorsToSpare; ++i) graph.AddTensors(1);
  EXPECT_EQ(graph.tensor(0), first);
}

TEST(GraphTensors, indices_may_be_absent_but_not_out_of_range) {
  TfLiteContext context{};
  Graph graph(&context);
  graph.AddTensors(2);
  const std::vector<int32_t> good = {0, kTfLiteOptionalTensor, 1};
  EXPECT_TRUE(graph.IndicesExist(good));
  for (const int32_t bad : {2, -2, INT32_MAX, INT32_MIN}) {
    const std::vector<int32_t> indices = {0, bad};
    EXPECT_FALSE(graph.IndicesExist(indices)) << bad;
  }
  EXPECT_FALSE(graph.HasDynamicTensor(good));
  graph.tensor(1)->allocation_type = kTfLiteDynamic;
  EXPECT_TRUE(graph.HasDynamicTensor(good));
  graph.tensor(1)->allocation_type = kTfLiteMmapRo;
}

// The index of a removed node is used again, its id is not.
TEST(GraphNodes, have_unique_ids) {
  TfLiteContext context{};
  Graph graph(&context);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph.AddNode(TfLiteNode{}, TfLiteRegistration{}), i);
  const NodeId kept = graph.id(0), removed = graph.id(2);
  graph.RemoveNodesFrom(1);
  EXPECT_EQ(graph.node_count(), 1);
  graph.RemoveNodesFrom(5);
  EXPECT_EQ(graph.node_count(), 1);
  EXPECT_EQ(graph.AddNode(TfLiteNode{}, TfLiteRegistration{}), 1);
  EXPECT_EQ(graph.AddNode(TfLiteNode{}, TfLiteRegistration{}), 2);
  EXPECT_EQ(graph.id(0), kept);
  EXPECT_GT(graph.id(1), removed);
  EXPECT_GT(graph.id(2), graph.id(1));
}

TEST(GraphNodes, run_and_are_found_in_plan_order) {
  TfLiteContext context{};
  Graph graph(&context);
  for (int i = 0; i < 3; ++i) graph.AddNode(TfLiteNode{}, TfLiteRegistration{});
  EXPECT_TRUE(graph.plan().empty());
  graph.SetPlan({2, 0});
  graph.AppendToPlan(1);
  EXPECT_THAT(graph.plan(), ElementsAre(2, 0, 1));
  const GraphIndex index(graph);
  EXPECT_EQ(index.position(0), 1);
  EXPECT_EQ(index.position(2), 0);
  EXPECT_EQ(index.runner(1), 1);
  EXPECT_TRUE(index.partitions().empty());
}

}  // namespace
}  // namespace deputy::graph_test
