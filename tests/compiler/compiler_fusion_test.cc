// SPDX-License-Identifier: Apache-2.0
//
// Tests the passes that join pairs of quantisation conversions, fold scales into weights, and fuse
// operations.
#include "compiler/passes.h"

#include <gtest/gtest.h>

#include "compiler/computation.h"
#include "tests/compiler/pass_support.h"

namespace deputy::compiler::compiler_fusion_test {
namespace {

using enum ScalarOp;

// ---- join_quantization --------------------------------------------------------------------------

TEST(JoinQuantization, moves_reals_instead_of_integers) {
  GraphBuilder m;
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

TEST(JoinQuantization, dequantizes_a_value_once) {
  GraphBuilder m;
  const ValueId stored = Quantize(&m, m.Input({2, 3}));
  m.Output(m.Unary(kExp, Dequantize(&m, stored)));
  m.Output(m.Unary(kAbs, Dequantize(&m, m.Transposed(stored, {1, 0}))));
  m.Output(m.Unary(kNeg, Dequantize(&m, stored)));
  Graph after = m.graph;
  EXPECT_EQ(JoinQuantization(&after), 2);
  ExpectSame(m.graph, after, 0);
  EXPECT_EQ(after.operations.size(), 6u) << ToText(after);
}

TEST(JoinQuantization, dequantizes_all_parts_of_a_concatenation) {
  GraphBuilder m;
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

TEST(JoinQuantization, moves_integers_with_other_consumers) {
  GraphBuilder m;
  m.Output(Dequantize(&m, m.Transposed(m.Input({2, 3}, kTfLiteInt8), {1, 0})));
  ExpectUnchanged(&JoinQuantization, m.graph);
}

// ---- fold_scales --------------------------------------------------------------------------------

TEST(FoldScales, folds_operations_after_a_convolution_into_weights_and_bias) {
  GraphBuilder m;
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

TEST(FoldScales, folds_a_factor_before_a_padded_convolution_but_no_addend) {
  for (const ScalarOp op : {kMul, kAdd}) {
    GraphBuilder m;
    const ValueId image = m.Input({1, 4, 4, 3});
    m.Output(m.Conv3x3(m.Binary(op, image, m.Constant({3}, {2, -3, 0.5f})), 2, 1));
    if (op == kAdd) {
      ExpectUnchanged(&FoldScales, m.graph);
    } else {
      After(&FoldScales, m.graph, 1e-4f);
    }
  }
}

TEST(FoldScales, folds_an_addend_before_an_unpadded_convolution) {
  GraphBuilder m;
  ValueId x = m.Binary(kMul, m.Input({1, 4, 4, 4}), m.Constant({4}, {2, -3, 0.5f, 1}));
  x = m.Binary(kAdd, x, m.Constant({4}, {1, 2, 3, 4}));
  m.Output(m.Add(Conv2d{GraphBuilder::Window3x3(), 2}, {x, m.Weights({6, 3, 3, 2}), kNoValue},
                 {1, 2, 2, 6}));
  Graph after = m.graph;
  EXPECT_EQ(FoldScales(&after), 1);
  EXPECT_EQ(FoldScales(&after), 1);
  ExpectSame(m.graph, after, 1e-3f);
  EXPECT_EQ(after.operations.size(), 1u);
}

TEST(FoldScales, finds_the_channels_of_a_depthwise_convolution) {
  GraphBuilder m;
  ValueId y = m.Binary(kAdd, m.Input({1, 4, 4, 2}), m.Constant({2}, {3, -1}));
  y = m.Add(DepthwiseConv2d{GraphBuilder::Window3x3(), 2},
            {y, m.Weights({1, 3, 3, 4}), m.Weights({4})}, {1, 2, 2, 4});
  m.Output(m.Binary(kMul, y, m.Constant({4}, {1, 2, 3, 4})));
  Graph after = m.graph;
  FoldScales(&after);
  FoldScales(&after);
  ExpectSame(m.graph, after, 1e-3f);
  EXPECT_EQ(after.operations.size(), 1u);
}

TEST(FoldScales, finds_the_channels_of_a_transposed_convolution) {
  for (const bool before : {false, true}) {
    GraphBuilder m;
    ValueId y = m.Input({1, 2, 2, 3});
    if (before) y = m.Binary(kMul, y, m.Constant({3}, {1, 2, 3}));
    y = m.Add(TransposedConv2d{GraphBuilder::Window3x3()}, {y, m.Weights({2, 3, 3, 3}), kNoValue},
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

TEST(FoldScales, finds_the_channels_of_products) {
  for (const bool transposed : {false, true}) {
    GraphBuilder m;
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

TEST(FoldScales, keeps_shared_values_and_operands_that_are_not_per_channel) {
  GraphBuilder m;
  const ValueId y = m.Conv3x3(m.Input({1, 4, 4, 3}), 2, 1);
  m.Output(m.Binary(kMul, y, m.Constant({2}, {2, -3})));
  m.Output(m.Binary(kAdd, m.Conv3x3(y, 2, 1), m.Weights({4, 2})));
  ExpectUnchanged(&FoldScales, m.graph);
}

// ---- fuse_elementwise ---------------------------------------------------------------------------

TEST(FuseElementwise, fuses_a_chain_into_one_expression) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  const ValueId sum = m.Binary(kAdd, m.Unary(kExp, x), y);
  m.Output(m.Binary(kMul, m.WithNumber(kMax, sum, 0), x));
  EXPECT_EQ(After(&FuseElementwise, m.graph),
            "input %0 FLOAT32[2,3]\n"
            "input %1 FLOAT32[3]\n"
            "%2 = elementwise(%0, %1) (max(0, (exp(a) + b)) * a) FLOAT32[2,3]\n"
            "output %2\n");
}

TEST(FuseElementwise, keeps_operands_smaller_than_the_result) {
  GraphBuilder m;
  const ValueId x = m.Input({2, 3}), y = m.Input({3});
  m.Output(m.Binary(kAdd, x, m.Unary(kExp, y)));
  ExpectUnchanged(&FuseElementwise, m.graph);
}

TEST(FuseElementwise, duplicates_only_cheap_operations_per_consumer) {
  for (const ScalarOp op : {kNeg, kExp}) {
    GraphBuilder m;
    const ValueId y = m.Unary(op, m.Input({3}));
    m.Output(m.Unary(kSin, y));
    m.Output(m.Unary(kCos, y));
    Graph after = m.graph;
    EXPECT_EQ(FuseElementwise(&after), op == kNeg ? 2 : 0);
    ExpectSame(m.graph, after, 0);
    EXPECT_EQ(after.operations.size(), op == kNeg ? 2u : 3u);
  }
}

TEST(FuseElementwise, keeps_operations_that_become_an_epilogue) {
  GraphBuilder m;
  const ValueId y = m.Unary(kNeg, m.Conv3x3(m.Input({1, 3, 3, 1}), 1));
  m.Output(m.Unary(kSin, y));
  m.Output(m.Unary(kCos, y));
  ExpectUnchanged(&FuseElementwise, m.graph);
}

TEST(FuseElementwise, stops_at_twenty_nodes_and_six_operands) {
  GraphBuilder m;
  ValueId y = m.Input({3});
  for (int i = 0; i < 24; ++i) y = m.Unary(i % 2 == 0 ? kExp : kSin, y);
  m.Output(y);
  ValueId sum = m.Input({3});
  for (int i = 0; i < 8; ++i) sum = m.Binary(kAdd, sum, m.Input({3}));
  m.Output(sum);
  Graph after = m.graph;
  FuseElementwise(&after);
  ExpectSame(m.graph, after, 0);
  ASSERT_EQ(after.operations.size(), 4u) << ToText(after);
  for (const Operation& operation : after.operations) {
    EXPECT_LE(WorkOf(std::get<Elementwise>(operation.kind).expression), 20);
    EXPECT_LE(operation.inputs.size(), 6u);
  }
}

TEST(FuseElementwise, removes_integers_between_reals) {
  GraphBuilder m;
  m.Output(Dequantize(&m, Quantize(&m, m.Input({3}))));
  EXPECT_EQ(After(&FuseElementwise, m.graph),
            "input %0 FLOAT32[3]\n"
            "%1 = elementwise(%0) ((min(max((round_away((a / 0.300000012)) + 5), -128), 127) - 5) "
            "* 0.300000012) FLOAT32[3]\n"
            "output %1\n");
}

// ---- fuse_epilogues -----------------------------------------------------------------------------

TEST(FuseEpilogues, adds_a_residual_and_an_activation) {
  GraphBuilder m;
  const ValueId x = m.Input({1, 3, 3, 2}), y = m.Conv3x3(x, 2, 1);
  m.Output(m.WithNumber(kMax, m.Binary(kAdd, x, y), 0));
  EXPECT_EQ(After(&FuseEpilogues, m.graph),
            "input %0 FLOAT32[1,3,3,2]\n"
            "%3 = conv_2d(%0, %1{FLOAT32[2,3,3,2]}, %2{FLOAT32[2]}) window 3x3 stride 1x1 "
            "padding 1x1 to 1x1 then max(0, (b + a)) of (%0) FLOAT32[1,3,3,2]\n"
            "output %3\n");
}

TEST(FuseEpilogues, fuses_a_sum_into_the_later_of_two_convolutions) {
  GraphBuilder m;
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
  GraphBuilder m;
  m.Output(Quantize(&m, m.Conv3x3(m.Input({1, 3, 3, 1}), 1)));
  EXPECT_THAT(After(&FuseEpilogues, m.graph), ::testing::HasSubstr("INT8[1,1,1,1]"));
}

TEST(FuseEpilogues, keeps_a_result_with_other_consumers) {
  GraphBuilder m;
  const ValueId y = m.Conv3x3(m.Input({1, 3, 3, 2}), 2, 1);
  m.Output(m.Unary(kExp, y));
  m.Output(y);
  ExpectUnchanged(&FuseEpilogues, m.graph);
}

TEST(FuseEpilogues, keeps_operations_that_broadcast_to_a_larger_shape) {
  GraphBuilder m;
  const ValueId sum = m.Add(Reduce{ReduceKind::kSum, 1}, {m.Input({2, 3})}, {1, 3});
  m.Output(m.Binary(kAdd, m.Input({2, 3}), sum));
  ExpectUnchanged(&FuseEpilogues, m.graph);
}

TEST(FuseEpilogues, adds_at_most_four_operands) {
  for (const int count : {4, 5}) {
    GraphBuilder m;
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

}  // namespace
}  // namespace deputy::compiler::compiler_fusion_test
