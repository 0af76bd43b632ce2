// SPDX-License-Identifier: Apache-2.0
//
// Every pass on graphs made by hand: what it makes of them as text, that nothing is wrong with the
// graph behind it, and that it computes the same as before.
#include "compiler/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/computation.h"
#include "compiler/dump.h"
#include "tests/compiler_graph_maker.h"

namespace deputy::compiler {
namespace {

using ::testing::ElementsAre;
using enum ScalarOp;

using Pass = int (*)(Graph*);

float FloatAt(const std::vector<std::byte>& contents, size_t index) {
  float number;
  memcpy(&number, contents.data() + index * sizeof number, sizeof number);
  return number;
}

// The same bits; with a tolerance, float32 within it.
void ExpectSame(const Graph& before, const Graph& after, float tolerance) {
  ASSERT_EQ(FindFault(before), "");
  ASSERT_EQ(FindFault(after), "") << ToText(after);
  ASSERT_EQ(before.inputs.size(), after.inputs.size());
  for (unsigned seed = 0; seed < 4; ++seed) {
    const auto expected = Computed(before, seed), found = Computed(after, seed);
    ASSERT_EQ(expected.size(), before.outputs.size());
    if (tolerance == 0) {
      EXPECT_TRUE(expected == found) << ToText(before) << "became\n" << ToText(after);
      continue;
    }
    ASSERT_EQ(found.size(), expected.size());
    for (size_t n = 0; n < expected.size(); ++n) {
      for (size_t i = 0; i < expected[n].size() / sizeof(float); ++i) {
        ASSERT_NEAR(FloatAt(expected[n], i), FloatAt(found[n], i), tolerance) << ToText(after);
      }
    }
  }
}

// What a pass makes of a graph, without values that nobody needs. A second run finds nothing.
std::string After(Pass pass, const Graph& graph, float tolerance = 0) {
  Graph after = graph;
  EXPECT_GT(pass(&after), 0) << ToText(graph);
  ExpectSame(graph, after, tolerance);
  EXPECT_EQ(pass(&after), 0) << ToText(after);
  RemoveDead(&after);
  ExpectSame(graph, after, tolerance);
  return ToText(after);
}

void ExpectUnchanged(Pass pass, const Graph& graph) {
  Graph after = graph;
  EXPECT_EQ(pass(&after), 0);
  EXPECT_EQ(ToText(after), ToText(graph));
}

// ---- remove_dead --------------------------------------------------------------------------------

TEST(RemoveDead, removes_operations_and_numbers_values_anew) {
  GraphMaker m;
  const ValueId x = m.Input({4});
  m.Unary(kExp, m.Unary(kNeg, x));
  m.Weights({3});
  m.Output(m.Unary(kAbs, x));
  EXPECT_EQ(RemoveDead(&m.graph), 2);
  EXPECT_EQ(ToText(m.graph),
            "input %0 FLOAT32[4]\n"
            "%1 = elementwise(%0) abs(a) FLOAT32[4]\n"
            "output %1\n");
  EXPECT_EQ(m.graph.values.size(), 2u);
}

TEST(RemoveDead, keeps_inputs_that_nobody_reads) {
  GraphMaker m;
  m.Input({4});
  m.Output(m.Unary(kAbs, m.Input({2})));
  EXPECT_EQ(RemoveDead(&m.graph), 0);
  EXPECT_EQ(m.graph.inputs.size(), 2u);
}

TEST(RemoveDead, numbers_what_epilogues_read_anew) {
  GraphMaker m;
  m.Weights({3});
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Add(Softmax{}, {x}, {2, 3}));
  Operation& operation = m.graph.operations.back();
  operation.epilogue.Apply(kAdd, operation.epilogue.Operand(0, kTfLiteFloat32),
                           operation.epilogue.Operand(1, kTfLiteFloat32));
  operation.epilogue_inputs = {y};
  RemoveDead(&m.graph);
  EXPECT_EQ(ToText(m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[3]\n"
            "%2 = softmax(%0) then (a + b) of (%1) FLOAT32[2,3]\n"
            "output %2\n");
}

// ---- fold_constants -----------------------------------------------------------------------------

TEST(FoldConstants, computes_chains_of_constants) {
  GraphMaker m;
  const ValueId x = m.Input({3});
  const ValueId c = m.Unary(kNeg, m.Unary(kAbs, m.Constant({3}, {1, -2, 3})));
  m.Output(m.Binary(kAdd, x, c));
  EXPECT_EQ(After(&FoldConstants, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0, %2{FLOAT32[3]}) (a + b) FLOAT32[3]\n"
            "output %1\n");
}

TEST(FoldConstants, leaves_an_output_of_the_graph_an_operation) {
  GraphMaker m;
  m.Output(m.Unary(kNeg, m.Constant({2}, {1, 2})));
  EXPECT_EQ(After(&FoldConstants, m.graph),
            "%0 = view(%1{FLOAT32[2]}) FLOAT32[2]\n"
            "output %0\n");
}

TEST(FoldConstants, leaves_an_index_out_of_range_to_those_who_report_it) {
  GraphMaker m;
  const int32_t index = 7;
  const ValueId indices = m.graph.AddConstantOf<int32_t>(kTfLiteInt32, {1}, {{index}});
  m.Output(m.Add(Gather{}, {m.Weights({3}), indices}, {1}));
  ExpectUnchanged(&FoldConstants, m.graph);
}

// ---- simplify_expressions -----------------------------------------------------------------------

TEST(SimplifyExpressions, takes_numbers_in_and_leaves_views_of_what_is_nothing) {
  GraphMaker m;
  const ValueId x = m.Input({2, 2});
  const ValueId y = m.Binary(kMul, x, m.Constant({1}, {1}));
  m.Output(m.Binary(kAdd, y, m.Constant({}, {2})));
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[2,2]\n"
            "%1 = view(%0) FLOAT32[2,2]\n"
            "%2 = elementwise(%1) (a + 2) FLOAT32[2,2]\n"
            "output %2\n");
}

TEST(SimplifyExpressions, makes_one_operand_of_the_same_value_twice) {
  GraphMaker m;
  const ValueId x = m.Input({3});
  m.Output(m.Binary(kMul, x, x));
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0) (a * a) FLOAT32[3]\n"
            "output %1\n");
}

TEST(SimplifyExpressions, keeps_constants_of_several_elements_operands) {
  GraphMaker m;
  m.Output(m.Binary(kMul, m.Input({2, 2}), m.Constant({2}, {1, 2})));
  ExpectUnchanged(&SimplifyExpressions, m.graph);
}

TEST(SimplifyExpressions, looks_into_epilogues) {
  GraphMaker m;
  const ValueId sum = m.Add(Reduce{ReduceKind::kSum, 2}, {m.Input({2, 3})}, {2, 1});
  Operation& operation = m.graph.operations.back();
  Expression& e = operation.epilogue;
  e.Apply(kMul, e.Apply(kAdd, e.Operand(1, kTfLiteFloat32), e.Operand(0, kTfLiteFloat32)),
          e.Constant(kTfLiteFloat32, 1));
  operation.epilogue_inputs = {m.Constant({1, 1}, {3})};
  m.Output(sum);
  EXPECT_EQ(After(&SimplifyExpressions, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%1 = reduce(%0) sum axes 1 then (3 + a) FLOAT32[2,1]\n"
            "output %1\n");
}

// ---- merge_views --------------------------------------------------------------------------------

TEST(MergeViews, makes_one_of_two) {
  GraphMaker m;
  const ValueId x = m.Input({2, 6});
  m.Output(m.Reshaped(m.Reshaped(x, {12}), {3, 4}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,6]\n"
            "%1 = view(%0) FLOAT32[3,4]\n"
            "output %1\n");
}

TEST(MergeViews, leaves_out_views_of_the_same_shape) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), y = m.Unary(kAbs, m.Reshaped(x, {2, 3}));
  m.Output(m.Reshaped(y, {2, 3}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%1 = elementwise(%0) abs(a) FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeViews, keeps_a_view_that_two_outputs_need) {
  GraphMaker m;
  const ValueId y = m.Unary(kAbs, m.Input({3}));
  m.Output(y);
  m.Output(m.Reshaped(y, {3}));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, lets_copies_read_and_write_through_them) {
  GraphMaker m;
  const ValueId x = m.Input({6});
  m.Output(m.Reshaped(m.Transposed(m.Reshaped(x, {2, 3}), {1, 0}), {6}));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[6]\n"
            "%1 = copy(%0) 1 region FLOAT32[6]\n"
            "output %1\n");
}

TEST(MergeViews, puts_elementwise_operations_before_them) {
  GraphMaker m;
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

TEST(MergeViews, puts_a_bias_before_a_view_that_keeps_the_channels) {
  GraphMaker m;
  const ValueId view = m.Reshaped(m.Input({4, 3}), {1, 2, 2, 3});
  m.Output(m.Binary(kAdd, view, m.Constant({1, 1, 1, 3}, {1, 2, 3})));
  EXPECT_EQ(After(&MergeViews, m.graph),
            "input %0 FLOAT32[4,3]\n"
            "%3 = view(%1{FLOAT32[1,1,1,3]}) FLOAT32[3]\n"
            "%4 = elementwise(%0, %3) (a + b) FLOAT32[4,3]\n"
            "%2 = view(%4) FLOAT32[1,2,2,3]\n"
            "output %2\n");
}

TEST(MergeViews, keeps_a_bias_behind_a_view_that_has_other_channels) {
  GraphMaker m;
  const ValueId view = m.Reshaped(m.Input({6, 2}), {4, 3});
  m.Output(m.Binary(kAdd, view, m.Constant({3}, {1, 2, 3})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, puts_a_sum_before_the_view_of_what_it_can_be_the_epilogue_of) {
  GraphMaker m;
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

TEST(MergeViews, keeps_a_sum_that_can_be_the_epilogue_of_the_other_operand) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), other = m.Add(Softmax{}, {m.Input({6})}, {6});
  m.Output(m.Binary(kAdd, other, m.Reshaped(m.Add(Softmax{}, {x}, {2, 3}), {6})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, leaves_broadcast_views_where_they_are) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Binary(kAdd, x, m.Reshaped(y, {1, 3})));
  ExpectUnchanged(&MergeViews, m.graph);
}

TEST(MergeViews, leaves_views_where_a_larger_shape_is_made) {
  GraphMaker m;
  const ValueId view = m.Reshaped(m.Input({3}), {1, 3});
  Expression e;
  e.Apply(kAbs, e.Operand(0, kTfLiteFloat32));
  m.Output(m.Add(Elementwise{e}, {view}, {2, 3}));
  ExpectUnchanged(&MergeViews, m.graph);
}

// ---- merge_copies -------------------------------------------------------------------------------

TEST(MergeCopies, cancels_transpositions) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3, 4, 5});
  m.Output(m.Transposed(m.Transposed(x, {0, 3, 1, 2}), {0, 2, 3, 1}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[2,3,4,5]\n"
            "%1 = view(%0) FLOAT32[2,3,4,5]\n"
            "output %1\n");
}

TEST(MergeCopies, makes_one_transposition_of_two) {
  GraphMaker m;
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

TEST(MergeCopies, composes_a_slice_with_what_made_its_input) {
  GraphMaker m;
  const ValueId y = m.Transposed(m.Input({4, 6}), {1, 0});
  const CopyRegion slice = RegionOf({0, {2, 3}, {1, 1}, {0, 0}, {2, 1}, {}}, {6, 4}, {2, 3});
  m.Output(m.Add(Copy{{slice}, {}}, {y}, {2, 3}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[4,6]\n"
            "%1 = copy(%0) 1 region FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeCopies, reads_the_parts_of_a_joined_value_through_their_makers) {
  GraphMaker m;
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

TEST(MergeCopies, keeps_what_would_be_no_nest_of_loops) {
  GraphMaker m;
  // Seven neighbours of a transposed value begin in one row and end in another.
  const ValueId y = m.Transposed(m.Input({4, 6}), {1, 0});
  m.Output(m.Add(Copy{{{0, 2, 0, {{7, 1, 1}}}}, {}}, {y}, {7}));
  // The last of a row and the first of the next.
  m.Output(m.Add(Copy{{{0, 3, 0, {{2, 1, 1}}}}, {}}, {y}, {2}));
  ExpectUnchanged(&MergeCopies, m.graph);
}

TEST(MergeCopies, lets_elementwise_operations_go_before) {
  GraphMaker m;
  const ValueId y = m.Unary(kExp, m.Transposed(m.Input({2, 3}), {1, 0}));
  m.Output(m.Transposed(y, {1, 0}));
  EXPECT_EQ(After(&MergeCopies, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "%2 = elementwise(%0) exp(a) FLOAT32[2,3]\n"
            "%1 = view(%2) FLOAT32[2,3]\n"
            "output %1\n");
}

TEST(MergeCopies, keeps_elementwise_operations_behind_copies_of_less_work) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), slice = m.Add(Copy{{{0, 0, 0, {{4, 1, 1}}}}, {}}, {x}, {4});
  m.Output(m.Unary(kExp, slice));
  Expression cast;
  cast.Cast(cast.Operand(0, kTfLiteInt8), kTfLiteFloat32);
  m.Output(m.Compute(cast, {m.Transposed(m.Input({2, 3}, kTfLiteInt8), {1, 0})}));
  // Shifted by one: zeros come in.
  m.Output(m.Unary(kExp, m.Add(Copy{{{0, 0, 1, {{5, 1, 1}}}}, {}}, {x}, {6})));
  ExpectUnchanged(&MergeCopies, m.graph);
}

TEST(MergeCopies, keeps_a_border) {
  GraphMaker m;
  const ValueId y = m.Padded(m.Input({1, 2, 2, 1}), 1, 1, 1, 1);
  m.Output(m.Transposed(y, {0, 2, 1, 3}));
  ExpectUnchanged(&MergeCopies, m.graph);
}

// Transpositions, slices, reversals and repetitions of random shapes, one behind the other.
TEST(MergeCopies, computes_the_same_for_random_chains) {
  std::mt19937 random(5);
  int merged = 0;
  for (int n = 0; n < 400 && !HasFailure(); ++n) {
    GraphMaker m;
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
        const bool turns = random() % 4 == 0, repeats = random() % 8 == 0;
        if (turns && !repeats) region.from += (to[i] - 1) * stride;
        region.loops.push_back({to[i], repeats ? 0 : turns ? -stride : stride, Strides(to)[i]});
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

TEST(MergePadding, gives_zeros_to_a_convolution) {
  GraphMaker m;
  const ValueId image = m.Input({2, 4, 5, 3});
  m.Output(m.Conv3x3(m.Padded(image, 1, 2, 0, 1), 2));
  EXPECT_EQ(After(&MergePadding, m.graph),
            "input %0 FLOAT32[2,4,5,3]\n"
            "%3 = conv_2d(%0, %1{FLOAT32[2,3,3,3]}, %2{FLOAT32[2]}) window 3x3 stride 1x1 "
            "padding 1x2 to 0x1 FLOAT32[2,3,6,2]\n"
            "output %3\n");
}

TEST(MergePadding, adds_to_what_padding_there_is) {
  GraphMaker m;
  m.Output(m.Conv3x3(m.Padded(m.Input({1, 4, 4, 1}), 1, 1, 1, 1), 1, 1));
  EXPECT_THAT(After(&MergePadding, m.graph), ::testing::HasSubstr("padding 2x2 to 2x2"));
}

TEST(MergePadding, keeps_other_numbers_than_zero_before_a_convolution) {
  GraphMaker m;
  m.Output(m.Conv3x3(m.Padded(m.Input({1, 4, 4, 1}), 1, 1, 1, 1, {1, 0}), 1));
  ExpectUnchanged(&MergePadding, m.graph);
}

Graph PaddedPool(PoolKind kind, bool rectified, Number fill) {
  GraphMaker m;
  ValueId image = m.Input({1, 4, 4, 2});
  if (rectified) image = m.WithNumber(kMax, image, 0);
  const ValueId padded = m.Padded(image, 1, 1, 1, 1, fill);
  m.Output(m.Add(Pool2d{kind, GraphMaker::Window3x3()}, {padded}, {1, 4, 4, 2}));
  return m.graph;
}

TEST(MergePadding, gives_a_maximum_what_is_never_larger) {
  EXPECT_THAT(After(&MergePadding, PaddedPool(PoolKind::kMax, true, {})),
              ::testing::HasSubstr("max window 3x3 stride 1x1 padding 1x1 to 1x1"));
  EXPECT_THAT(After(&MergePadding, PaddedPool(PoolKind::kMax, false, {-INFINITY, 0})),
              ::testing::HasSubstr("max window 3x3 stride 1x1 padding 1x1 to 1x1"));
}

TEST(MergePadding, keeps_zeros_that_may_be_the_maximum_or_count_in_an_average) {
  ExpectUnchanged(&MergePadding, PaddedPool(PoolKind::kMax, false, {}));
  ExpectUnchanged(&MergePadding, PaddedPool(PoolKind::kAverage, true, {}));
}

TEST(MergePadding, keeps_a_border_in_which_a_whole_window_lies) {
  GraphMaker m;
  const ValueId image = m.WithNumber(kMax, m.Input({1, 2, 2, 1}), 0);
  const ValueId padded = m.Padded(image, 3, 0, 0, 1);
  m.Output(m.Add(Pool2d{PoolKind::kMax, GraphMaker::Window3x3()}, {padded}, {1, 3, 1, 1}));
  ExpectUnchanged(&MergePadding, m.graph);
}

// ---- join_quantization --------------------------------------------------------------------------

constexpr Quantization kScale{0.3f, 5};

ValueId Quantize(GraphMaker* m, ValueId a) {
  Expression e;
  int x = e.Operand(0, kTfLiteFloat32);
  const auto number = [&](double value) { return e.Constant(kTfLiteFloat32, value); };
  x = e.Apply(kAdd, e.Apply(kRoundAway, e.Apply(kDiv, x, number(kScale.scale))),
              number(kScale.zero_point));
  x = e.Apply(kMin, e.Apply(kMax, x, number(-128)), number(127));
  e.SetResult(e.Cast(x, kTfLiteInt8));
  return m->Compute(e, {a});
}

ValueId Dequantize(GraphMaker* m, ValueId a) {
  Expression e;
  const int x = e.Cast(e.Operand(0, kTfLiteInt8), kTfLiteFloat32);
  const int moved = e.Apply(kSub, x, e.Constant(kTfLiteFloat32, kScale.zero_point));
  e.SetResult(e.Apply(kMul, moved, e.Constant(kTfLiteFloat32, kScale.scale)));
  return m->Compute(e, {a});
}

TEST(JoinQuantization, moves_reals_instead_of_integers) {
  GraphMaker m;
  const ValueId stored = Quantize(&m, m.Input({1, 2, 2, 1}));
  const ValueId padded = m.Padded(stored, 1, 0, 0, 0, {0, 9});
  m.Output(Dequantize(&m, padded));
  EXPECT_EQ(After(&JoinQuantization, m.graph),
            "input %0 FLOAT32[1,2,2,1]\n"
            "%1 = elementwise(%0) INT8(min(max((round_away((a / 0.300000012)) + 5), -128), 127)) "
            "INT8[1,2,2,1]\n"
            "%3 = elementwise(%1) ((FLOAT32(a) - 5) * 0.300000012) FLOAT32[1,2,2,1]\n"
            "%2 = copy(%3) 1 region FLOAT32[1,3,2,1]\n"
            "output %2\n");
}

TEST(JoinQuantization, turns_an_integer_back_once) {
  GraphMaker m;
  const ValueId stored = Quantize(&m, m.Input({2, 3}));
  m.Output(m.Unary(kExp, Dequantize(&m, stored)));
  m.Output(m.Unary(kAbs, Dequantize(&m, m.Transposed(stored, {1, 0}))));
  m.Output(m.Unary(kNeg, Dequantize(&m, stored)));
  Graph after = m.graph;
  EXPECT_EQ(JoinQuantization(&after), 2);
  ExpectSame(m.graph, after, 0);
  EXPECT_EQ(after.operations.size(), 6u) << ToText(after);
}

TEST(JoinQuantization, turns_all_parts_of_a_joined_value_back) {
  GraphMaker m;
  const ValueId a = Quantize(&m, m.Input({1, 3})), b = m.Input({1, 3}, kTfLiteInt8);
  Copy joined;
  joined.regions = {RegionOf({0, {1, 3}, {0, 0}, {0, 0}, {}, {}}, {1, 3}, {2, 3}),
                    RegionOf({1, {1, 3}, {0, 0}, {1, 0}, {}, {}}, {1, 3}, {2, 3})};
  m.Output(Dequantize(&m, m.Add(joined, {a, b}, {2, 3}, kTfLiteInt8)));
  EXPECT_EQ(After(&JoinQuantization, m.graph),
            "input %0 FLOAT32[1,3]\n"
            "input %2 INT8[1,3]\n"
            "%1 = elementwise(%0) INT8(min(max((round_away((a / 0.300000012)) + 5), -128), 127)) "
            "INT8[1,3]\n"
            "%4 = elementwise(%1) ((FLOAT32(a) - 5) * 0.300000012) FLOAT32[1,3]\n"
            "%5 = elementwise(%2) ((FLOAT32(a) - 5) * 0.300000012) FLOAT32[1,3]\n"
            "%3 = copy(%4, %5) 2 regions FLOAT32[2,3]\n"
            "output %3\n");
}

TEST(JoinQuantization, lets_integers_of_others_be_moved) {
  GraphMaker m;
  m.Output(Dequantize(&m, m.Transposed(m.Input({2, 3}, kTfLiteInt8), {1, 0})));
  ExpectUnchanged(&JoinQuantization, m.graph);
}

// ---- fold_scales --------------------------------------------------------------------------------

TEST(FoldScales, takes_what_follows_a_convolution_into_weights_and_bias) {
  GraphMaker m;
  ValueId y = m.Conv3x3(m.Input({1, 4, 4, 3}), 2, 1);
  y = m.Binary(kMul, y, m.Constant({2}, {2, -3}));
  y = m.Binary(kSub, y, m.Constant({1, 1, 1, 2}, {0.5f, 4}));
  y = m.WithNumber(kDiv, y, 8);
  m.Output(m.WithNumber(kMax, y, 0));
  EXPECT_EQ(After(&FoldScales, m.graph, 1e-4f),
            "input %0 FLOAT32[1,4,4,3]\n"
            "%1 = conv_2d(%0, %3{FLOAT32[2,3,3,3]}, %4{FLOAT32[2]}) window 3x3 stride 1x1 "
            "padding 1x1 to 1x1 FLOAT32[1,4,4,2]\n"
            "%2 = elementwise(%1) max(0, a) FLOAT32[1,4,4,2]\n"
            "output %2\n");
}

TEST(FoldScales, takes_a_factor_before_a_padded_convolution_but_no_addend) {
  for (const ScalarOp op : {kMul, kAdd}) {
    GraphMaker m;
    const ValueId image = m.Input({1, 4, 4, 3});
    m.Output(m.Conv3x3(m.Binary(op, image, m.Constant({3}, {2, -3, 0.5f})), 2, 1));
    if (op == kAdd) {
      ExpectUnchanged(&FoldScales, m.graph);
    } else {
      After(&FoldScales, m.graph, 1e-4f);
    }
  }
}

TEST(FoldScales, takes_an_addend_before_a_convolution_without_padding) {
  GraphMaker m;
  ValueId x = m.Binary(kMul, m.Input({1, 4, 4, 4}), m.Constant({4}, {2, -3, 0.5f, 1}));
  x = m.Binary(kAdd, x, m.Constant({4}, {1, 2, 3, 4}));
  m.Output(m.Add(Conv2d{GraphMaker::Window3x3(), 2}, {x, m.Weights({6, 3, 3, 2}), kNoValue},
                 {1, 2, 2, 6}));
  Graph after = m.graph;
  EXPECT_EQ(FoldScales(&after), 1);
  EXPECT_EQ(FoldScales(&after), 1);
  ExpectSame(m.graph, after, 1e-3f);
  EXPECT_EQ(after.operations.size(), 1u);
}

TEST(FoldScales, knows_the_channels_of_a_depthwise_convolution) {
  GraphMaker m;
  ValueId y = m.Binary(kAdd, m.Input({1, 4, 4, 2}), m.Constant({2}, {3, -1}));
  y = m.Add(DepthwiseConv2d{GraphMaker::Window3x3(), 2},
            {y, m.Weights({1, 3, 3, 4}), m.Weights({4})}, {1, 2, 2, 4});
  m.Output(m.Binary(kMul, y, m.Constant({4}, {1, 2, 3, 4})));
  Graph after = m.graph;
  FoldScales(&after);
  FoldScales(&after);
  ExpectSame(m.graph, after, 1e-3f);
  EXPECT_EQ(after.operations.size(), 1u);
}

TEST(FoldScales, knows_the_channels_of_a_transposed_convolution) {
  for (const bool before : {false, true}) {
    GraphMaker m;
    ValueId y = m.Input({1, 2, 2, 3});
    if (before) y = m.Binary(kMul, y, m.Constant({3}, {1, 2, 3}));
    y = m.Add(TransposedConv2d{GraphMaker::Window3x3()}, {y, m.Weights({2, 3, 3, 3}), kNoValue},
              {1, 4, 4, 2});
    if (!before) y = m.Binary(kAdd, y, m.Constant({2}, {5, -3}));
    m.Output(y);
    if (before) {
      ExpectUnchanged(&FoldScales, m.graph);
    } else {
      After(&FoldScales, m.graph, 1e-4f);
    }
  }
}

TEST(FoldScales, knows_the_channels_of_products) {
  for (const bool transposed : {false, true}) {
    GraphMaker m;
    const Shape shape = transposed ? Shape{5, 3} : Shape{3, 5};
    ValueId y = m.Binary(kAdd, m.Input({2, 4, 3}), m.Constant({3}, {3, -1, 2}));
    y = m.Add(MatMul{false, transposed}, {y, m.Weights(shape), kNoValue}, {2, 4, 5});
    m.Output(m.Binary(kMul, y, m.Constant({5}, {1, 2, 3, 4, 5})));
    Graph after = m.graph;
    FoldScales(&after);
    FoldScales(&after);
    ExpectSame(m.graph, after, 1e-3f);
    EXPECT_EQ(after.operations.size(), 1u);
  }
}

TEST(FoldScales, keeps_what_somebody_else_reads_or_what_is_no_constant_per_channel) {
  GraphMaker m;
  const ValueId y = m.Conv3x3(m.Input({1, 4, 4, 3}), 2, 1);
  m.Output(m.Binary(kMul, y, m.Constant({2}, {2, -3})));
  m.Output(m.Binary(kAdd, m.Conv3x3(y, 2, 1), m.Weights({4, 2})));
  ExpectUnchanged(&FoldScales, m.graph);
}

// ---- fuse_elementwise ---------------------------------------------------------------------------

TEST(FuseElementwise, makes_one_expression_of_a_chain) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  const ValueId sum = m.Binary(kAdd, m.Unary(kExp, x), y);
  m.Output(m.Binary(kMul, m.WithNumber(kMax, sum, 0), x));
  EXPECT_EQ(After(&FuseElementwise, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[3]\n"
            "%2 = elementwise(%0, %1) (max(0, (exp(a) + b)) * a) FLOAT32[2,3]\n"
            "output %2\n");
}

TEST(FuseElementwise, keeps_what_is_smaller_than_the_result) {
  GraphMaker m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Binary(kAdd, x, m.Unary(kExp, y)));
  ExpectUnchanged(&FuseElementwise, m.graph);
}

TEST(FuseElementwise, computes_cheap_ones_for_each_reader_and_others_once) {
  for (const ScalarOp op : {kNeg, kExp}) {
    GraphMaker m;
    const ValueId y = m.Unary(op, m.Input({3}));
    m.Output(m.Unary(kSin, y));
    m.Output(m.Unary(kCos, y));
    Graph after = m.graph;
    EXPECT_EQ(FuseElementwise(&after), op == kNeg ? 2 : 0);
    ExpectSame(m.graph, after, 0);
    EXPECT_EQ(after.operations.size(), op == kNeg ? 2u : 3u);
  }
}

TEST(FuseElementwise, keeps_one_that_is_to_be_an_epilogue) {
  GraphMaker m;
  const ValueId y = m.Unary(kNeg, m.Conv3x3(m.Input({1, 3, 3, 1}), 1));
  m.Output(m.Unary(kSin, y));
  m.Output(m.Unary(kCos, y));
  ExpectUnchanged(&FuseElementwise, m.graph);
}

TEST(FuseElementwise, stops_at_sixteen_nodes_and_six_operands) {
  GraphMaker m;
  ValueId y = m.Input({3});
  for (int i = 0; i < 20; ++i) y = m.Unary(i % 2 == 0 ? kExp : kSin, y);
  m.Output(y);
  ValueId sum = m.Input({3});
  for (int i = 0; i < 8; ++i) sum = m.Binary(kAdd, sum, m.Input({3}));
  m.Output(sum);
  Graph after = m.graph;
  FuseElementwise(&after);
  ExpectSame(m.graph, after, 0);
  ASSERT_EQ(after.operations.size(), 4u) << ToText(after);
  for (const Operation& operation : after.operations) {
    EXPECT_LE(WorkOf(std::get<Elementwise>(operation.kind).expression), 16);
    EXPECT_LE(operation.inputs.size(), 6u);
  }
}

TEST(FuseElementwise, leaves_no_integer_between_reals) {
  GraphMaker m;
  m.Output(Dequantize(&m, Quantize(&m, m.Input({3}))));
  EXPECT_EQ(After(&FuseElementwise, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0) ((min(max((round_away((a / 0.300000012)) + 5), -128), 127) - 5) "
            "* 0.300000012) FLOAT32[3]\n"
            "output %1\n");
}

// ---- fuse_epilogues -----------------------------------------------------------------------------

TEST(FuseEpilogues, adds_a_residual_and_an_activation) {
  GraphMaker m;
  const ValueId x = m.Input({1, 3, 3, 2}), y = m.Conv3x3(x, 2, 1);
  m.Output(m.WithNumber(kMax, m.Binary(kAdd, x, y), 0));
  EXPECT_EQ(After(&FuseEpilogues, m.graph),
            "input %0 FLOAT32[1,3,3,2]\n"
            "%3 = conv_2d(%0, %1{FLOAT32[2,3,3,2]}, %2{FLOAT32[2]}) window 3x3 stride 1x1 "
            "padding 1x1 to 1x1 then max(0, (b + a)) of (%0) FLOAT32[1,3,3,2]\n"
            "output %3\n");
}

TEST(FuseEpilogues, takes_a_sum_into_the_later_of_two_convolutions) {
  GraphMaker m;
  const ValueId x = m.Input({1, 3, 3, 1}), left = m.Conv3x3(x, 1, 1);
  const ValueId right = m.Conv3x3(m.Unary(kExp, x), 1, 1);
  m.Output(m.Binary(kAdd, right, left));
  EXPECT_EQ(After(&FuseEpilogues, m.graph),
            "input %0 FLOAT32[1,3,3,1]\n"
            "%3 = conv_2d(%0, %1{FLOAT32[1,3,3,1]}, %2{FLOAT32[1]}) window 3x3 stride 1x1 "
            "padding 1x1 to 1x1 FLOAT32[1,3,3,1]\n"
            "%4 = elementwise(%0) exp(a) FLOAT32[1,3,3,1]\n"
            "%7 = conv_2d(%4, %5{FLOAT32[1,3,3,1]}, %6{FLOAT32[1]}) window 3x3 stride 1x1 "
            "padding 1x1 to 1x1 then (a + b) of (%3) FLOAT32[1,3,3,1]\n"
            "output %7\n");
}

TEST(FuseEpilogues, stores_integers_of_a_quantised_convolution) {
  GraphMaker m;
  m.Output(Quantize(&m, m.Conv3x3(m.Input({1, 3, 3, 1}), 1)));
  EXPECT_THAT(After(&FuseEpilogues, m.graph), ::testing::HasSubstr("INT8[1,1,1,1]"));
}

TEST(FuseEpilogues, keeps_a_result_that_is_needed_itself) {
  GraphMaker m;
  const ValueId y = m.Conv3x3(m.Input({1, 3, 3, 2}), 2, 1);
  m.Output(m.Unary(kExp, y));
  m.Output(y);
  ExpectUnchanged(&FuseEpilogues, m.graph);
}

TEST(FuseEpilogues, keeps_one_that_makes_a_larger_shape) {
  GraphMaker m;
  const ValueId sum = m.Add(Reduce{ReduceKind::kSum, 1}, {m.Input({2, 3})}, {1, 3});
  m.Output(m.Binary(kAdd, m.Input({2, 3}), sum));
  ExpectUnchanged(&FuseEpilogues, m.graph);
}

TEST(FuseEpilogues, takes_four_more_operands_at_most) {
  for (const int count : {4, 5}) {
    GraphMaker m;
    ValueId y = m.Add(Softmax{}, {m.Input({2, 3})}, {2, 3});
    for (int i = 0; i < count; ++i) y = m.Binary(kAdd, y, m.Input({3}));
    m.Output(y);
    Graph after = m.graph;
    FuseEpilogues(&after);
    ExpectSame(m.graph, after, 0);
    EXPECT_EQ(after.operations.size(), count == 4 ? 1u : 2u);
    EXPECT_EQ(after.operations[0].epilogue_inputs.size(), 4u);
  }
}

// ---- All of them --------------------------------------------------------------------------------

// A block of a quantised mobile net: expanded, padded, depthwise, projected, added to its input.
Graph QuantisedBlock() {
  GraphMaker m;
  const ValueId x = Dequantize(&m, m.Input({1, 4, 4, 2}, kTfLiteInt8));
  const auto pointwise = [&](ValueId image, int channels) {
    const Shape in = m.ShapeOf(image);
    return m.Add(Conv2d{}, {image, m.Weights({channels, 1, 1, in[3]}), m.Weights({channels})},
                 {in[0], in[1], in[2], channels});
  };
  ValueId y = m.WithNumber(kMin, m.WithNumber(kMax, pointwise(x, 4), 0), 6);
  y = m.Padded(Quantize(&m, y), 1, 1, 1, 1, {0, kScale.zero_point});
  y = m.Add(DepthwiseConv2d{GraphMaker::Window3x3(), 1},
            {Dequantize(&m, y), m.Weights({1, 3, 3, 4}), kNoValue}, {1, 4, 4, 4});
  y = Dequantize(&m, Quantize(&m, m.WithNumber(kMax, y, 0)));
  y = Dequantize(&m, Quantize(&m, pointwise(y, 2)));
  y = Quantize(&m, m.Binary(kAdd, x, y));
  m.Output(m.Reshaped(y, {32}));
  return m.graph;
}

TEST(RunPasses, leaves_three_convolutions_of_a_quantised_block) {
  Graph graph = QuantisedBlock();
  const Graph before = graph;
  std::vector<std::string> log;
  RunPasses(&graph, [&](const std::string& line) { log.push_back(line); });
  ExpectSame(before, graph, 0);
  std::vector<std::string> kinds;
  for (const Operation& operation : graph.operations) kinds.emplace_back(KindName(operation.kind));
  EXPECT_THAT(kinds, ElementsAre("elementwise", "conv_2d", "depthwise_conv_2d", "conv_2d", "view"))
      << ToText(graph);
  EXPECT_THAT(log, ElementsAre("merge_padding: changed 1", "join_quantization: changed 1",
                               "fuse_elementwise: changed 8", "fuse_epilogues: changed 3"));
}

TEST(RunPasses, leaves_a_graph_in_order_behind_each_pass) {
  Graph graph = QuantisedBlock();
  for (const PassRow& row : AllPasses()) {
    const Graph before = graph;
    row.pass(&graph);
    ExpectSame(before, graph, 0);
  }
}

// Graphs of any operations on small images, several of whose values are outputs.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    reals_ = {m_.Input({1, 4, 4, 2}), m_.Input({1, 4, 4, 2}), m_.Input({2})};
    for (int i = 0; i < 14; ++i) AddOne();
    m_.Output(reals_.back());
    for (int i = 0; i < 3; ++i) {
      const ValueId id = Any();
      const auto& outputs = m_.graph.outputs;
      const bool is_new = std::find(outputs.begin(), outputs.end(), id) == outputs.end();
      if (is_new && id > reals_[2]) m_.Output(id);
    }
  }
  const Graph& graph() const { return m_.graph; }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  // Recent ones more often.
  ValueId Any() {
    const int count = static_cast<int>(reals_.size());
    return reals_[static_cast<size_t>(count - 1 - Below(Below(count) + 1))];
  }
  ValueId AnyImage() {
    ValueId id = Any();
    while (m_.ShapeOf(id).size() != 4) id = Any();
    return id;
  }
  ValueId AnyLike(ValueId a) {
    for (int i = 0; i < 8; ++i) {
      const ValueId b = Any();
      if (m_.ShapeOf(b) == m_.ShapeOf(a)) return b;
    }
    return m_.ShapeOf(a).back() == 2 ? reals_[2] : a;
  }

  ValueId AddOperator() {
    constexpr ScalarOp kOnes[] = {kAbs, kNeg, kExp, kLogistic, kRoundEven};
    constexpr ScalarOp kTwos[] = {kAdd, kSub, kMul, kMax, kMin};
    constexpr double kNumbers[] = {0, 1, 6, -1, 0.5};
    const ValueId a = Any();
    switch (Below(3)) {
      case 0:
        return m_.Unary(kOnes[Below(5)], a);
      case 1:
        return m_.Binary(kTwos[Below(5)], a, AnyLike(a));
      default:
        return m_.WithNumber(kTwos[Below(5)], a, kNumbers[Below(5)]);
    }
  }

  ValueId AddMovement() {
    const ValueId a = AnyImage();
    const Shape shape = m_.ShapeOf(a);
    switch (Below(4)) {
      case 0:
        return m_.Transposed(a, Below(2) == 0 ? std::vector{0, 2, 1, 3} : std::vector{0, 3, 1, 2});
      case 1:
        return m_.Reshaped(a, {1, shape[2], shape[1], shape[3]});
      case 2:
        return m_.Reshaped(a, {shape[1] * shape[2], shape[3]});
      default:
        return ElementCount(shape) > 200
                   ? a
                   : m_.Padded(a, Below(2), 1, Below(2), 0, {Below(2) * 1.0, 0});
    }
  }

  ValueId AddLarge() {
    const ValueId a = AnyImage();
    const Shape shape = m_.ShapeOf(a);
    const bool fits = shape[1] >= 3 && shape[2] >= 3;
    switch (Below(4)) {
      case 0:
        return fits ? m_.Conv3x3(a, 2, Below(2)) : m_.Conv3x3(a, 2, 1);
      case 1:
        return m_.Add(Pool2d{PoolKind::kMax, GraphMaker::Window3x3(1)}, {a}, shape);
      case 2:
        return m_.Add(Reduce{ReduceKind::kMean, 6}, {a}, {1, 1, 1, shape[3]});
      default:
        return m_.Add(Softmax{}, {a}, shape);
    }
  }

  void AddOne() {
    const int kind = Below(10);
    if (kind < 5) return reals_.push_back(AddOperator());
    if (kind < 7) return reals_.push_back(AddMovement());
    if (kind < 9) return reals_.push_back(AddLarge());
    const ValueId stored = Quantize(&m_, AnyImage());
    const bool moves = Below(2) == 0;
    reals_.push_back(Dequantize(&m_, moves ? m_.Transposed(stored, {0, 2, 1, 3}) : stored));
    if (Below(4) == 0) m_.Output(stored);
  }

  GraphMaker m_;
  std::mt19937 random_;
  std::vector<ValueId> reals_;
};

// Of all passes but the one that rounds otherwise.
TEST(Passes, change_no_bit_of_random_graphs) {
  size_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    const RandomGraph random(seed);
    Graph graph = random.graph();
    for (int round = 0; round < 3; ++round) {
      for (const PassRow& row : AllPasses()) {
        if (row.pass == &FoldScales) continue;
        row.pass(&graph);
        ASSERT_EQ(FindFault(graph), "") << row.name << "\n" << ToText(random.graph());
      }
    }
    ExpectSame(random.graph(), graph, 0);
    RemoveDead(&graph);
    before += random.graph().operations.size();
    after += graph.operations.size();
  }
  EXPECT_LT(after, before / 2);
}

// Work that is not linear in the graph would not end here.
TEST(RunPasses, takes_long_chains) {
  constexpr int kLength = 10000;
  GraphMaker m;
  ValueId y = m.Input({2, 3}), z = m.Input({2, 3});
  for (int i = 0; i < kLength; ++i) {
    y = m.Reshaped(y, i % 2 == 0 ? Shape{6} : Shape{2, 3});
    z = m.Unary(kExp, m.Transposed(z, {1, 0}));
  }
  const ValueId x = m.Input({3});
  for (int i = 0; i < kLength; ++i) m.Output(m.Unary(kSin, m.Unary(kNeg, x)));
  m.Output(y);
  m.Output(z);
  RunPasses(&m.graph, nullptr);
  EXPECT_EQ(FindFault(m.graph), "");
  // A view, two operations in one for each output, and sixteen of those between transpositions.
  EXPECT_EQ(m.graph.operations.size(), 1u + kLength + kLength / 16);
}

TEST(RunPasses, takes_an_empty_graph) {
  Graph graph;
  RunPasses(&graph, nullptr);
  EXPECT_EQ(ToText(graph), "");
}

}  // namespace
}  // namespace deputy::compiler
