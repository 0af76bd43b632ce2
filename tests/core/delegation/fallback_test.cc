// SPDX-License-Identifier: Apache-2.0
//
// Tests the decisions of the policy Hot on a graph built by hand: the nodes that are computed in
// place of a delegate's node, when the delegate is tried again, the required shapes of its outputs,
// and the memory of its tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "core/delegation/fallback_partitions.h"
#include "core/delegation/fallback_scratch.h"
#include "core/delegation/fp16_weights.h"
#include "core/delegation/known_shapes.h"
#include "tests/support/hand_graph.h"

namespace deputy::fallback_test {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::Pointee;

TfLiteDelegate Plain() {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  return delegate;
}

// A graph t0 -> node 0 -> t1 -> node 1 -> ... -> node 4 -> t5.
class Fallback : public testing::Test {
 protected:
  Fallback() {
    for (int i = 0; i < 5; ++i) graph_.AddNode({i}, {i + 1});
  }

  HandGraph graph_{6};
  TfLiteDelegate a_ = Plain(), b_ = Plain();
};

// ---- Partitions ---------------------------------------------------------------------------------

TEST_F(Fallback, nodes_of_a_partition_run_in_the_order_of_their_replacement) {
  const int inner = graph_.Replace({2, 3}, &a_, {2}, {4});
  const int outer = graph_.Replace({1, inner}, &b_, {1}, {4});
  FallbackPartitions partitions(&*graph_);
  EXPECT_THAT(partitions.Of(outer).nodes, ElementsAre(1, 2, 3));
  EXPECT_THAT(partitions.Of(inner).nodes, ElementsAre(2, 3));
  EXPECT_TRUE(partitions.Of(outer).prepared);
}

TEST_F(Fallback, a_reused_node_number_is_a_new_partition) {
  FallbackPartitions partitions(&*graph_);
  const int first = graph_.Replace({1}, &a_, {1}, {2});
  partitions.Of(first).recomputed = 9;
  graph_.RemoveNodesFrom(first, {0, 1, 2, 3, 4});
  ASSERT_EQ(graph_.Replace({2, 3}, &a_, {2}, {4}), first);
  EXPECT_THAT(partitions.Find(first), IsNull());
  EXPECT_THAT(partitions.Of(first).nodes, ElementsAre(2, 3));
  EXPECT_EQ(partitions.Find(first)->recomputed, 0);
  partitions.Clear();
  EXPECT_THAT(partitions.Find(first), IsNull());
}

TEST(FallbackPartition, backs_off_for_the_requested_inferences) {
  // Rows: the retry setting, and those of the inferences 8 to 14 that run on the CPU after a
  // failure in inference 7.
  const std::pair<int, std::set<int>> rows[] = {
      {0, {}}, {1, {8}}, {3, {8, 9, 10}}, {-1, {8, 9, 10, 11, 12, 13, 14}}};
  for (const auto& [retry, expected] : rows) {
    FallbackPartition partition;
    EXPECT_FALSE(partition.BackingOff(1));
    partition.BackOff(7, retry);
    EXPECT_TRUE(partition.BackingOff(7));
    std::set<int> left;
    for (int inference = 8; inference <= 14; ++inference) {
      if (partition.BackingOff(inference)) left.insert(inference);
    }
    EXPECT_EQ(left, expected) << retry;
  }
}

TEST_F(Fallback, all_partitions_of_a_lost_delegate_back_off_once) {
  const int first = graph_.Replace({0}, &a_, {0}, {1});
  const int second = graph_.Replace({2}, &a_, {2}, {3});
  const int other = graph_.Replace({4}, &b_, {4}, {5});
  FallbackPartitions partitions(&*graph_);
  partitions.Of(second).BackOff(5, 0);
  EXPECT_TRUE(partitions.BackOff(&a_, 5, 0));
  EXPECT_TRUE(partitions.Of(first).BackingOff(5));
  EXPECT_FALSE(partitions.Of(other).BackingOff(5));
  EXPECT_FALSE(partitions.BackOff(&a_, 5, 0));
  EXPECT_TRUE(partitions.BackOff(&a_, 6, 0));
}

// ---- Shapes -------------------------------------------------------------------------------------

TEST_F(Fallback, outputs_have_the_recorded_shapes) {
  KnownShapes shapes(&*graph_);
  const std::vector<int> outputs = {1, kTfLiteOptionalTensor, 2, 3};
  EXPECT_EQ(shapes.FindChanged(outputs), -1);
  shapes.Note(std::vector<int>{1, kTfLiteOptionalTensor, 2});
  EXPECT_THAT(shapes.Find(1), Pointee(ElementsAre(1)));
  EXPECT_THAT(shapes.Find(3), IsNull());
  EXPECT_EQ(shapes.FindChanged(outputs), -1);
  graph_->tensor(3)->dims->data[0] = 4;  // no shape of tensor 3 is recorded
  EXPECT_EQ(shapes.FindChanged(outputs), -1);
  graph_->tensor(2)->dims->data[0] = 4;
  EXPECT_EQ(shapes.FindChanged(outputs), 2);
  shapes.Forget(std::vector<int>{2});
  EXPECT_EQ(shapes.FindChanged(outputs), -1);
  TfLiteIntArrayFree(graph_->tensor(1)->dims);
  graph_->tensor(1)->dims = nullptr;
  EXPECT_EQ(shapes.FindChanged(outputs), 1);
  shapes.Clear();
  EXPECT_EQ(shapes.FindChanged(outputs), -1);
}

TEST_F(Fallback, outputs_of_unknown_shape_become_dynamic_unless_fixed) {
  static char memory[4];
  KnownShapes shapes(&*graph_);
  shapes.Note(std::vector<int>{1});
  for (const int index : {1, 2, 3}) graph_->tensor(index)->data.raw = memory;
  graph_->tensor(3)->allocation_type = kTfLiteCustom;
  shapes.MakeOthersDynamic(std::vector<int>{1, 2, 3, kTfLiteOptionalTensor});
  EXPECT_EQ(graph_->tensor(1)->allocation_type, kTfLiteArenaRw);
  EXPECT_EQ(graph_->tensor(1)->data.raw, memory);
  EXPECT_EQ(graph_->tensor(2)->allocation_type, kTfLiteDynamic);
  EXPECT_EQ(graph_->tensor(2)->data.raw, nullptr);
  EXPECT_EQ(graph_->tensor(3)->allocation_type, kTfLiteCustom);
  EXPECT_EQ(graph_->tensor(3)->data.raw, memory);
}

// ---- Memory -------------------------------------------------------------------------------------

constexpr size_t kMegabyte = size_t{1} << 20;

class ScratchOfFallback : public Fallback {
 protected:
  // The subgraph's arena holds the tensors 0 and 5, as with one delegate node for all nodes.
  ScratchOfFallback() {
    for (TfLiteTensor& tensor : graph_->tensors()) tensor.bytes = kMegabyte;
    std::vector<Arena::Slot> slots(6);
    for (const int index : {0, 5}) {
      slots[static_cast<size_t>(index)].bytes = kMegabyte;
      slots[static_cast<size_t>(index)].lifetime.Include(0);
    }
    EXPECT_TRUE(arena_.Plan(slots, limits_, nullptr));
    for (const int index : {0, 5}) graph_->tensor(index)->data.raw = arena_.Address(index);
  }

  const std::vector<int> nodes_ = {0, 1, 2, 3, 4};
  Limits limits_;
  Arena arena_, persistent_;
  FallbackScratch scratch_{&*graph_, &arena_, &persistent_};
};

TEST_F(ScratchOfFallback, holds_tensors_outside_the_arena_and_shares_memory_by_lifetime) {
  ASSERT_TRUE(scratch_.Plan(nodes_, nodes_.size(), limits_));
  // A chain needs the memory of two tensors at a time.
  EXPECT_GE(scratch_.bytes(), 2 * kMegabyte);
  EXPECT_LT(scratch_.bytes(), 3 * kMegabyte);
  scratch_.PointTensors();
  EXPECT_EQ(graph_->tensor(0)->data.raw, arena_.Address(0));
  EXPECT_EQ(graph_->tensor(5)->data.raw, arena_.Address(5));
  std::set<const char*> addresses;
  for (const int index : {1, 2, 3, 4}) {
    ASSERT_NE(graph_->tensor(index)->data.raw, nullptr);
    EXPECT_NE(graph_->tensor(index)->data.raw, graph_->tensor(index - 1)->data.raw);
    addresses.insert(graph_->tensor(index)->data.raw);
  }
  EXPECT_EQ(addresses.size(), 2u);
  scratch_.ForgetAddresses();
  for (const int index : {1, 2, 3, 4}) EXPECT_EQ(graph_->tensor(index)->data.raw, nullptr);
}

// A replaced node resizes a tensor that has memory in an arena of the subgraph, because the client
// has listed it as a variable.
TEST_F(ScratchOfFallback, includes_tensors_that_have_lost_their_memory) {
  std::vector<Arena::Slot> slots = arena_.slots();
  slots[2].bytes = kMegabyte;
  slots[2].lifetime.Include(0);
  ASSERT_TRUE(arena_.Plan(slots, limits_, nullptr));
  ASSERT_EQ(graph_->tensor(2)->data.raw, nullptr);
  ASSERT_TRUE(scratch_.Plan(nodes_, nodes_.size(), limits_));
  scratch_.PointTensors();
  EXPECT_NE(graph_->tensor(2)->data.raw, nullptr);
}

// The shape of tensor 3 becomes known while the nodes run; live tensors keep their address and
// contents.
TEST_F(ScratchOfFallback, grows_while_the_nodes_run) {
  ASSERT_TRUE(scratch_.Plan(nodes_, 2, limits_));
  scratch_.PointTensors();
  EXPECT_NE(graph_->tensor(2)->data.raw, nullptr);
  EXPECT_EQ(graph_->tensor(3)->data.raw, nullptr);
  graph_->tensor(2)->data.raw[0] = 'x';
  graph_->tensor(3)->bytes = 9 * kMegabyte;
  ASSERT_TRUE(scratch_.Plan(nodes_, nodes_.size(), limits_));
  scratch_.PointTensors();
  EXPECT_EQ(graph_->tensor(2)->data.raw[0], 'x');
  graph_->tensor(3)->data.raw[9 * kMegabyte - 1] = 'y';
  EXPECT_EQ(graph_->tensor(2)->data.raw[0], 'x');
}

TEST_F(ScratchOfFallback, excludes_tensors_with_separate_memory) {
  static char own[4];
  graph_->tensor(1)->allocation_type = kTfLiteCustom;
  graph_->tensor(1)->data.raw = own;
  graph_->tensor(2)->allocation_type = kTfLiteDynamic;
  ASSERT_TRUE(scratch_.Plan(nodes_, nodes_.size(), limits_));
  scratch_.PointTensors();
  EXPECT_EQ(graph_->tensor(1)->data.raw, own);
  EXPECT_EQ(graph_->tensor(2)->data.raw, nullptr);
  EXPECT_NE(graph_->tensor(3)->data.raw, nullptr);
  graph_->tensor(1)->data.raw = nullptr;
}

TEST_F(ScratchOfFallback, is_refused_beyond_the_limits) {
  limits_.max_block_bytes = kMegabyte;
  EXPECT_FALSE(scratch_.Plan(nodes_, nodes_.size(), limits_));
}

// ---- Weights in float16 -------------------------------------------------------------------------

TEST(Fp16WeightsOfAGraph, are_read_widened_again_temporarily_or_permanently) {
  enum { kX, kFp16, kWidened, kY };
  HandGraph graph(4);
  graph->tensor(kFp16)->type = kTfLiteFloat16;
  graph.AddNode({kFp16}, {kWidened}, kTfLiteBuiltinDequantize);
  const int add = graph.AddNode({kX, kWidened}, {kY});
  const int reads_fp16 = graph.AddNode({kFp16}, {kX});
  const Fp16Weights weights(*graph);
  EXPECT_TRUE(weights.MayRead(add, 1, kWidened));
  EXPECT_TRUE(weights.MayRead(add, 1, kFp16));
  EXPECT_FALSE(weights.MayRead(add, 1, kX));
  EXPECT_FALSE(weights.MayRead(add, 0, kFp16));
  EXPECT_FALSE(weights.MayRead(reads_fp16, 0, kWidened));

  int* const input = &graph->node(add)->inputs->data[1];
  *input = kFp16;
  {
    const WidenedInputs widened(&*graph, weights, {add, reads_fp16});
    EXPECT_EQ(*input, kWidened);
    EXPECT_EQ(graph->node(reads_fp16)->inputs->data[0], kFp16);
  }
  EXPECT_EQ(*input, kFp16);
  weights.Widen(&*graph);
  EXPECT_EQ(*input, kWidened);
  EXPECT_EQ(graph->node(reads_fp16)->inputs->data[0], kFp16);
}

}  // namespace
}  // namespace deputy::fallback_test
