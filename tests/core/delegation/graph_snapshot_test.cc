// SPDX-License-Identifier: Apache-2.0
//
// Tests that the state of a graph is unchanged after a failed apply, on a graph built by hand.
// graph_fields_test.cc tests that each field is restored.
#include "core/delegation/graph_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/graph/graph_digest.h"
#include "tests/support/hand_graph.h"

namespace deputy::graph_snapshot_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> Values(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

class GraphSnapshots : public testing::Test {
 protected:
  // Builds the graph t0 -> node 0 -> t1 -> node 1 -> t2.
  GraphSnapshots() {
    graph_.AddNode({0}, {1});
    graph_.AddNode({1}, {2});
  }
  // Removes the added nodes, as their owner does, and restores the graph; returns the tensors whose
  // handles were freed.
  std::vector<int> Restore(GraphSnapshot* snapshot) {
    graph_.RemoveNodesFrom(snapshot->node_count(), {});
    std::vector<int> freed;
    snapshot->Restore([&](int tensor) { freed.push_back(tensor); });
    return freed;
  }

  HandGraph graph_{3};
  TfLiteDelegate delegate_ = TfLiteDelegateCreate();
};

TEST_F(GraphSnapshots, undo_a_replacement) {
  const uint64_t digest = GraphDigest(*graph_);
  GraphSnapshot snapshot(&*graph_);
  graph_.Replace({0, 1}, &delegate_, {0}, {2});
  graph_->tensor(2)->delegate = &delegate_;
  graph_->AddTensors(2);
  EXPECT_NE(GraphDigest(*graph_), digest);
  EXPECT_THAT(Restore(&snapshot), IsEmpty());
  EXPECT_EQ(GraphDigest(*graph_), digest);
  EXPECT_THAT(graph_->plan(), ElementsAre(0, 1));
  EXPECT_EQ(graph_->tensor_count(), 3);
}

TEST_F(GraphSnapshots, keep_equal_arrays) {
  const TfLiteIntArray* const inputs = graph_->node(0)->inputs;
  const TfLiteIntArray* const dims = graph_->tensor(0)->dims;
  GraphSnapshot snapshot(&*graph_);
  graph_->node(1)->inputs->data[0] = 2;
  TfLiteIntArrayFree(graph_->tensor(1)->dims);
  graph_->tensor(1)->dims = IntArrayOf({4, 4});
  Restore(&snapshot);
  EXPECT_EQ(graph_->node(0)->inputs, inputs);
  EXPECT_EQ(graph_->tensor(0)->dims, dims);
  EXPECT_THAT(Values(graph_->node(1)->inputs), ElementsAre(1));
  EXPECT_THAT(Values(graph_->tensor(1)->dims), ElementsAre(1));
}

TEST_F(GraphSnapshots, restore_handles_changed_since) {
  TfLiteTensor* const tensors = graph_->tensors().data();
  tensors[0].delegate = tensors[1].delegate = &delegate_;
  tensors[0].buffer_handle = tensors[1].buffer_handle = 3;
  GraphSnapshot snapshot(&*graph_);
  tensors[1].buffer_handle = 4;
  tensors[2].delegate = &delegate_;
  tensors[2].buffer_handle = 5;
  const int added = graph_->AddTensors(1);
  graph_->tensor(added)->delegate = &delegate_;
  graph_->tensor(added)->buffer_handle = 6;
  EXPECT_THAT(Restore(&snapshot), ElementsAre(1, 2, added));
  EXPECT_EQ(graph_->tensor(1)->buffer_handle, 3);
  EXPECT_EQ(graph_->tensor(2)->buffer_handle, kTfLiteNullBufferHandle);
  EXPECT_EQ(graph_->tensor(2)->delegate, nullptr);
}

// Restoring frees memory that a tensor has allocated since (the address sanitizer would detect a
// leak) and restores fixed memory; planned memory is assigned by the next plan.
TEST_F(GraphSnapshots, restore_memory_with_its_allocation_type) {
  static char constant[4], planned[4];
  graph_->tensor(0)->allocation_type = kTfLiteMmapRo;
  graph_->tensor(0)->data.raw = constant;
  graph_->tensor(1)->data.raw = planned;
  graph_->tensor(2)->data.raw = planned;
  GraphSnapshot snapshot(&*graph_);
  for (const int index : {0, 1}) {
    TfLiteTensor* tensor = graph_->tensor(index);
    tensor->data.raw = nullptr;
    tensor->allocation_type = kTfLiteDynamic;
    ASSERT_EQ(TfLiteTensorRealloc(64, tensor), kTfLiteOk);
  }
  Restore(&snapshot);
  EXPECT_EQ(graph_->tensor(0)->allocation_type, kTfLiteMmapRo);
  EXPECT_EQ(graph_->tensor(0)->data.raw, constant);
  EXPECT_EQ(graph_->tensor(0)->bytes, 4u);
  EXPECT_EQ(graph_->tensor(1)->allocation_type, kTfLiteArenaRw);
  EXPECT_EQ(graph_->tensor(1)->data.raw, nullptr);
  EXPECT_EQ(graph_->tensor(1)->bytes, 4u);
  EXPECT_EQ(graph_->tensor(2)->data.raw, planned);
}

// A kernel of the model may still refer to tensors that it added in prepare, so these are kept.
TEST_F(GraphSnapshots, keep_tensors_added_by_a_prepared_node) {
  GraphSnapshot snapshot(&*graph_);
  const int of_delegate = graph_->AddTensors(1);
  const int of_node = graph_->AddTensors(1);
  graph_->tensor(of_node)->type = kTfLiteInt32;
  graph_->tensor(of_delegate)->type = kTfLiteInt8;
  TfLiteIntArrayFree(graph_->node(0)->temporaries);
  graph_->node(0)->temporaries = IntArrayOf({of_node});
  snapshot.NotePrepared(0, static_cast<size_t>(of_node));
  graph_.Replace({1}, &delegate_, {1}, {2});
  snapshot.NotePrepared(2, 5);  // node 2 is newer than the snapshot
  graph_->AddTensors(3);
  Restore(&snapshot);
  EXPECT_EQ(graph_->tensor_count(), of_node + 1);
  EXPECT_EQ(graph_->tensor(of_node)->type, kTfLiteInt32);
  EXPECT_EQ(graph_->tensor(of_delegate)->type, kTfLiteNoType);
  EXPECT_THAT(Values(graph_->node(0)->temporaries), ElementsAre(of_node));
}

}  // namespace
}  // namespace deputy::graph_snapshot_test
