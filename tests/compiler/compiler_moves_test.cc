// SPDX-License-Identifier: Apache-2.0
//
// Tests the passes that merge views, copies and padding.
#include "compiler/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/compiler/pass_support.h"

namespace deputy::compiler::compiler_moves_test {
namespace {

using enum ScalarOp;

// ---- merge_views --------------------------------------------------------------------------------

TEST(MergeViews, merges_two_views) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 6});
  m.Output(m.Reshaped(m.Reshaped(x, {12}), {3, 4}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,6]\n"
            "%1 = view(%0) FLOAT32[3,4]\n"
            "output %1\n");
}

TEST(MergeViews, removes_views_of_the_same_shape) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), y = m.Unary(kAbs, m.Reshaped(x, {2, 3}));
  m.Output(m.Reshaped(y, {2, 3}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%1 = elementwise(%0) abs(a) FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeViews, keeps_a_view_that_two_outputs_share) {
  GraphBuilder m;
  const ValueId y = m.Unary(kAbs, m.Input({3}));
  m.Output(y);
  m.Output(m.Reshaped(y, {3}));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, merges_views_into_copies) {
  GraphBuilder m;
  const ValueId x = m.Input({6});
  m.Output(m.Reshaped(m.Transposed(m.Reshaped(x, {2, 3}), {1, 0}), {6}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[6]\n"
            "%1 = copy(%0) 1 region FLOAT32[6]\n"
            "output %1\n");
}

TEST(MergeViews, moves_elementwise_operations_before_views) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), y = m.Input({2, 3});
  const ValueId sum = m.Binary(kAdd, m.Reshaped(x, {6}), m.Reshaped(y, {6}));
  m.Output(m.Unary(kAbs, sum));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[2,3]\n"
            "%3 = elementwise(%0, %1) (a + b) FLOAT32[2,3]\n"
            "%4 = elementwise(%3) abs(a) FLOAT32[2,3]\n"
            "%2 = view(%4) FLOAT32[6]\n"
            "output %2\n");
}

TEST(MergeViews, moves_a_bias_before_a_view_that_keeps_the_channels) {
  GraphBuilder m;
  const ValueId view = m.Reshaped(m.Input({4, 3}), {1, 2, 2, 3});
  m.Output(m.Binary(kAdd, view, m.Constant({1, 1, 1, 3}, {1, 2, 3})));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[4,3]\n"
            "%3 = view(%1{FLOAT32[1,1,1,3]}) FLOAT32[3]\n"
            "%4 = elementwise(%0, %3) (a + b) FLOAT32[4,3]\n"
            "%2 = view(%4) FLOAT32[1,2,2,3]\n"
            "output %2\n");
}

TEST(MergeViews, keeps_a_bias_after_a_view_that_changes_the_channels) {
  GraphBuilder m;
  const ValueId view = m.Reshaped(m.Input({6, 2}), {4, 3});
  m.Output(m.Binary(kAdd, view, m.Constant({3}, {1, 2, 3})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, moves_a_sum_before_the_view_of_a_head_that_can_fuse_it) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), other = m.Input({6});
  m.Output(m.Binary(kAdd, other, m.Reshaped(m.Add(Softmax{}, {x}, {2, 3}), {6})));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[6]\n"
            "%2 = softmax(%0) FLOAT32[2,3]\n"
            "%4 = view(%1) FLOAT32[2,3]\n"
            "%5 = elementwise(%4, %2) (a + b) FLOAT32[2,3]\n"
            "%3 = view(%5) FLOAT32[6]\n"
            "output %3\n");
}

TEST(MergeViews, keeps_a_sum_that_the_producer_of_the_other_operand_can_fuse) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), other = m.Add(Softmax{}, {m.Input({6})}, {6});
  m.Output(m.Binary(kAdd, other, m.Reshaped(m.Add(Softmax{}, {x}, {2, 3}), {6})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, keeps_broadcast_views) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Binary(kAdd, x, m.Reshaped(y, {1, 3})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, keeps_views_before_broadcasts_to_a_larger_shape) {
  GraphBuilder m;
  const ValueId view = m.Reshaped(m.Input({3}), {1, 3});
  Expression e;
  e.Apply(kAbs, e.Operand(0, kTfLiteFloat32));
  m.Output(m.Add(Elementwise{e}, {view}, {2, 3}));
  ExpectUnchanged(&MergeViews, m.graph);
}

// ---- merge_copies -------------------------------------------------------------------------------

TEST(MergeCopies, cancels_transpositions) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3, 4, 5});
  m.Output(m.Transposed(m.Transposed(x, {0, 3, 1, 2}), {0, 2, 3, 1}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[2,3,4,5]\n"
            "%1 = view(%0) FLOAT32[2,3,4,5]\n"
            "output %1\n");
}

TEST(MergeCopies, merges_two_transpositions) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3, 5});
  m.Output(m.Transposed(m.Transposed(x, {2, 0, 1}), {1, 0, 2}));
  Graph expected;
  After(&MergeCopies, m.graph);
  MergeCopies(&m.graph);
  ASSERT_EQ(m.graph.operations.size(), 1u);
  const auto& copy = std::get<Copy>(m.graph.operations[0].kind);
  const std::vector<CopyLoop> loops = {{2, 15, 15}, {5, 1, 3}, {3, 5, 1}};
  EXPECT_EQ(copy.regions[0].loops, loops);
}

TEST(MergeCopies, merges_a_slice_with_its_producer) {
  GraphBuilder m;
  const ValueId y = m.Transposed(m.Input({4, 6}), {1, 0});
  const CopyRegion slice = RegionOf({0, {2, 3}, {1, 1}, {0, 0}, {2, 1}, {}}, {6, 4}, {2, 3});
  m.Output(m.Add(Copy{{slice}, {}}, {y}, {2, 3}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[4,6]\n"
            "%1 = copy(%0) 1 region FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeCopies, merges_a_concatenation_with_its_producers) {
  GraphBuilder m;
  const ValueId a = m.Transposed(m.Input({2, 3}), {1, 0}), b = m.Unary(kAbs, m.Input({3, 2}));
  Copy joined;
  joined.regions = {RegionOf({0, {3, 2}, {0, 0}, {0, 0}, {}, {}}, {3, 2}, {3, 4}),
                    RegionOf({1, {3, 2}, {0, 0}, {0, 2}, {}, {}}, {3, 2}, {3, 4})};
  m.Output(m.Add(joined, {a, b}, {3, 4}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[3,2]\n"
            "%2 = elementwise(%1) abs(a) FLOAT32[3,2]\n"
            "%3 = copy(%0, %2) 2 regions FLOAT32[3,4]\n"
            "output %3\n");
}

TEST(MergeCopies, keeps_copies_that_merge_into_no_loop_nest) {
  GraphBuilder m;
  // Seven consecutive elements of a transposed value begin in one row and end in another.
  const ValueId y = m.Transposed(m.Input({4, 6}), {1, 0});
  m.Output(m.Add(Copy{{{0, 2, 0, {{7, 1, 1}}}}, {}}, {y}, {7}));
  // Copies the last element of a row and the first of the next.
  m.Output(m.Add(Copy{{{0, 3, 0, {{2, 1, 1}}}}, {}}, {y}, {2}));
  ExpectUnchanged(&MergeCopies, m.graph);
}

TEST(MergeCopies, moves_elementwise_operations_before_copies) {
  GraphBuilder m;
  const ValueId y = m.Unary(kExp, m.Transposed(m.Input({2, 3}), {1, 0}));
  m.Output(m.Transposed(y, {1, 0}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%2 = elementwise(%0) exp(a) FLOAT32[2,3]\n"
            "%1 = view(%2) FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeCopies, keeps_elementwise_operations_if_moving_them_adds_work) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), slice = m.Add(Copy{{{0, 0, 0, {{4, 1, 1}}}}, {}}, {x}, {4});
  m.Output(m.Unary(kExp, slice));
  Expression cast;
  cast.Cast(cast.Operand(0, kTfLiteInt8), kTfLiteFloat32);
  m.Output(m.Compute(cast, {m.Transposed(m.Input({2, 3}, kTfLiteInt8), {1, 0})}));
  // A copy that is shifted by one, so that it also inserts a zero.
  m.Output(m.Unary(kExp, m.Add(Copy{{{0, 0, 1, {{5, 1, 1}}}}, {}}, {x}, {6})));
  ExpectUnchanged(&MergeCopies, m.graph);
}

TEST(MergeCopies, keeps_a_border) {
  GraphBuilder m;
  const ValueId y = m.Padded(m.Input({1, 2, 2, 1}), 1, 1, 1, 1);
  m.Output(m.Transposed(y, {0, 2, 1, 3}));
  ExpectUnchanged(&MergeCopies, m.graph);
}

// Merges random sequences of transpositions, slices, reversals and repetitions of random shapes.
TEST(MergeCopies, preserves_the_results_of_random_chains) {
  std::mt19937 random(5);
  int merged = 0;
  for (int n = 0; n < 400 && !HasFailure(); ++n) {
    GraphBuilder m;
    Shape shape;
    for (int axis = 0; axis < 3; ++axis) shape.push_back(1 + static_cast<int>(random() % 4));
    ValueId y = m.Input(shape);
    for (int step = 0; step < 3; ++step) {
      const Shape from = m.ShapeOf(y);
      std::vector<int> axes = {0, 1, 2};
      std::shuffle(axes.begin(), axes.end(), random);
      CopyRegion region;
      Shape to;
      for (int axis : axes) to.push_back(from[static_cast<size_t>(axis)]);
      if (random() % 2 == 0) to[random() % 3] = 1;
      for (size_t i = 0; i < 3; ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        const int64_t stride = Strides(from)[axis];
        const bool reverses = random() % 4 == 0, repeats = random() % 8 == 0;
        if (reverses && !repeats) region.from += (to[i] - 1) * stride;
        region.loops.push_back({to[i], repeats ? 0 : reverses ? -stride : stride, Strides(to)[i]});
      }
      y = m.Add(Copy{{Simplify(region)}, {}}, {y}, to);
      if (random() % 2 == 0 && to[0] * to[1] % 2 == 0) {
        y = m.Add(View{}, {y}, {2, to[0] * to[1] / 2, to[2]});
        if (m.ShapeOf(y) == to) break;
      }
    }
    m.Output(y);
    Graph after = m.graph;
    MergeViews(&after);
    merged += MergeCopies(&after);
    ExpectSame(m.graph, after, 0);
  }
  EXPECT_GT(merged, 400);
}

// ---- merge_padding ------------------------------------------------------------------------------

TEST(MergePadding, merges_zero_padding_into_a_convolution) {
  GraphBuilder m;
  const ValueId image = m.Input({2, 4, 5, 3});
  m.Output(m.Conv3x3(m.Padded(image, 1, 2, 0, 1), 2));
  EXPECT_EQ(After(&MergePadding, m.graph),
            "input %0 FLOAT32[2,4,5,3]\n"
            "%3 = conv_2d(%0, %1{FLOAT32[2,3,3,3]}, %2{FLOAT32[2]}) window 3x3 stride 1x1 "
            "padding 1x2 to 0x1 FLOAT32[2,3,6,2]\n"
            "output %3\n");
}

TEST(MergePadding, adds_to_existing_padding) {
  GraphBuilder m;
  m.Output(m.Conv3x3(m.Padded(m.Input({1, 4, 4, 1}), 1, 1, 1, 1), 1, 1));
  EXPECT_THAT(After(&MergePadding, m.graph), ::testing::HasSubstr("padding 2x2 to 2x2"));
}

TEST(MergePadding, keeps_nonzero_padding_before_a_convolution) {
  GraphBuilder m;
  m.Output(m.Conv3x3(m.Padded(m.Input({1, 4, 4, 1}), 1, 1, 1, 1, {1, 0}), 1));
  ExpectUnchanged(&MergePadding, m.graph);
}

Graph PaddedPool(PoolKind kind, bool rectified, Number fill) {
  GraphBuilder m;
  ValueId image = m.Input({1, 4, 4, 2});
  if (rectified) image = m.WithNumber(kMax, image, 0);
  const ValueId padded = m.Padded(image, 1, 1, 1, 1, fill);
  m.Output(m.Add(Pool2d{kind, GraphBuilder::Window3x3()}, {padded}, {1, 4, 4, 2}));
  return m.graph;
}

TEST(MergePadding, merges_padding_that_cannot_be_the_maximum) {
  EXPECT_THAT(After(&MergePadding, PaddedPool(PoolKind::kMax, true, {})),
              ::testing::HasSubstr("max window 3x3 stride 1x1 padding 1x1 to 1x1"));
  EXPECT_THAT(After(&MergePadding, PaddedPool(PoolKind::kMax, false, {-INFINITY, 0})),
              ::testing::HasSubstr("max window 3x3 stride 1x1 padding 1x1 to 1x1"));
}

TEST(MergePadding, keeps_zeros_that_may_be_the_maximum_or_part_of_an_average) {
  ExpectUnchanged(&MergePadding, PaddedPool(PoolKind::kMax, false, {}));
  ExpectUnchanged(&MergePadding, PaddedPool(PoolKind::kAverage, true, {}));
}

TEST(MergePadding, keeps_a_border_that_contains_a_whole_window) {
  GraphBuilder m;
  const ValueId image = m.WithNumber(kMax, m.Input({1, 2, 2, 1}), 0);
  const ValueId padded = m.Padded(image, 3, 0, 0, 1);
  m.Output(m.Add(Pool2d{PoolKind::kMax, GraphBuilder::Window3x3()}, {padded}, {1, 3, 1, 1}));
  ExpectUnchanged(&MergePadding, m.graph);
}

}  // namespace
}  // namespace deputy::compiler::compiler_moves_test
