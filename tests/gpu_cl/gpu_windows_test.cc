// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels for convolutions with their epilogues, and for windows of one channel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/dump.h"
#include "compiler/passes.h"
#include "gpu_cl/emit/common_epilogue.h"
#include "tests/gpu_cl/gpu_kernels_support.h"

namespace deputy::gpu_cl::gpu_windows_test {
namespace {

using compiler::Expression;
using compiler::GraphBuilder;
using compiler::Operation;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;
using testing::HasSubstr;

class GpuConvolutions : public KernelTest {};

// Convolutions with rows and columns around the tile sizes 7 x 48, 12 x 32, 14 x 16 and 6 x 16, for
// 1x1 filters and larger windows, with and without padding.
const ConvRow kConvs[] = {
    {{1, 7, 7, 16}, 48, 1, 1},
    {{1, 5, 5, 3}, 40, 1, 1},
    {{2, 5, 3, 7}, 17, 1, 1},
    {{1, 1, 1, 100}, 130, 1, 1},
    {{1, 1, 3, 33}, 64, 1, 1},
    {{1, 9, 9, 5}, 1, 1, 1},
    {{1, 13, 11, 4}, 24, 1, 1, 2},
    {{1, 9, 9, 4}, 24, 3, 3},
    {{2, 9, 7, 3}, 16, 3, 3, 2, 1, 1},
    {{1, 8, 8, 6}, 33, 3, 3, 1, 2, 2},
    {{1, 9, 9, 6}, 20, 3, 2, 1, 2},
    {{1, 8, 9, 8}, 40, 5, 3, 2, 1, 2},
    {{2, 6, 6, 8}, 12, 3, 3, 1, 1, 1, 4},
    {{1, 7, 5, 34}, 34, 1, 1, 1, 1, 0, 2},
};

TEST_P(GpuConvolutions, convolutions_of_all_sizes) {
  GraphBuilder g;
  for (const ConvRow& row : kConvs) {
    g.Output(Conv(&g, row, true));
    g.Output(Conv(&g, row, false));
  }
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("packed"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

// Epilogues: bounds, a second tensor, values per channel, an activation, a type conversion.
TEST_P(GpuConvolutions, epilogues_of_convolutions) {
  GraphBuilder g;
  for (const ConvRow& row : {kConvs[0], kConvs[1], kConvs[2], kConvs[8]}) {
    const Shape shape = OutputShape(row);
    g.Output(g.WithNumber(ScalarOp::kMin, g.WithNumber(ScalarOp::kMax, Conv(&g, row, true), 0), 6));
    g.Output(g.Binary(ScalarOp::kAdd, Conv(&g, row, true), g.Input(shape)));
    g.Output(g.Binary(ScalarOp::kMul, Conv(&g, row, true), g.Input({1, 1, shape[3]})));
    g.Output(g.Binary(ScalarOp::kSub, Conv(&g, row, true), g.Input({shape[1], shape[2], 1})));
    g.Output(g.Binary(ScalarOp::kMul, Conv(&g, row, true), g.Input({shape[0], 1, 1, shape[3]})));
    g.Output(g.Unary(ScalarOp::kTanh, Conv(&g, row, true)));
    Expression e;
    const int rounded = e.Apply(ScalarOp::kRoundAway, e.Operand(0, kTfLiteFloat32));
    e.Cast(rounded, kTfLiteInt8);
    g.Output(g.Compute(e, {Conv(&g, row, true)}));
  }
  compiler::FuseEpilogues(&g.graph);
  for (const Operation& operation : g.graph.operations) EXPECT_FALSE(operation.epilogue.empty());
  ExpectAgreement(g.graph, 1e-6);
}

// Epilogues of bounds and sums that share a kernel, and similar expressions that do not, because
// they differ in the order, the shape of the operand, the bounds, or the treatment of NaN.
TEST_P(GpuConvolutions, common_epilogues) {
  const Shape image = {1, 5, 5, 32};
  GraphBuilder g;
  const auto conv = [&] {
    return g.Add(compiler::Conv2d{}, {g.Input(image), g.Weights({32, 1, 1, 32})}, image);
  };
  g.Output(conv());
  g.Output(g.WithNumber(ScalarOp::kMax, conv(), -3));
  g.Output(g.WithNumber(ScalarOp::kMin, conv(), 2));
  g.Output(g.WithNumber(ScalarOp::kMax, g.WithNumber(ScalarOp::kMin, conv(), 6), 1));
  g.Output(g.Binary(ScalarOp::kAdd, g.Input(image), conv()));
  g.Output(g.WithNumber(ScalarOp::kMax, g.Binary(ScalarOp::kAdd, conv(), g.Input(image)), 0));
  compiler::FuseEpilogues(&g.graph);
  ASSERT_EQ(g.graph.operations.size(), 6u);
  for (const Operation& operation : g.graph.operations) {
    EXPECT_TRUE(FindCommonEpilogue(g.graph, operation)) << ToText(operation.epilogue);
  }
  ExpectAgreement(g.graph);

  GraphBuilder others;
  const auto other = [&] {
    return others.Add(compiler::Conv2d{}, {others.Input(image), others.Weights({32, 1, 1, 32})},
                      image);
  };
  const ValueId x = other();
  others.Output(
      others.Binary(ScalarOp::kAdd, others.WithNumber(ScalarOp::kMax, x, 0), others.Input(image)));
  others.Output(others.Binary(ScalarOp::kAdd, other(), others.Input({32})));
  Expression number_last;
  const int a = number_last.Operand(0, kTfLiteFloat32);
  number_last.Apply(ScalarOp::kMax, a, number_last.Constant(kTfLiteFloat32, 0));
  others.Output(others.Compute(number_last, {other()}));
  const ValueId low = others.WithNumber(ScalarOp::kMin, other(), 1);
  others.Output(others.WithNumber(ScalarOp::kMax, low, 2));
  compiler::FuseEpilogues(&others.graph);
  ASSERT_EQ(others.graph.operations.size(), 4u);
  for (const Operation& operation : others.graph.operations) {
    EXPECT_FALSE(FindCommonEpilogue(others.graph, operation)) << ToText(operation.epilogue);
  }
  ExpectAgreement(others.graph);
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuConvolutions, testing::ValuesIn(AllKernelTargets()),
                         &KernelTargetName);

// ---- Windows of one channel ---------------------------------------------------------------------

class GpuWindows : public KernelTest {};

const ConvRow kWindows[] = {
    {{1, 6, 6, 16}, 16, 3, 3, 1, 1, 1},
    {{2, 7, 5, 20}, 20, 3, 3, 2, 1, 1},
    {{1, 9, 8, 5}, 5, 5, 5, 1, 1, 2},
    {{1, 9, 8, 70}, 70, 2, 3, 1, 2},
    {{1, 4, 3, 8}, 8, 1, 1},
    {{1, 3, 2, 33}, 33, 5, 3, 1, 1, 2},
    {{1, 12, 12, 4}, 4, 3, 3, 3},
    {{2, 3, 40, 18}, 18, 1, 33},
};

TEST_P(GpuWindows, depthwise_convolutions_of_all_sizes) {
  GraphBuilder g;
  for (const ConvRow& row : kWindows) {
    const ValueId filter = g.Weights({1, row.height, row.width, row.channels});
    const ValueId image = g.Input(row.image);
    g.Output(g.Add(compiler::DepthwiseConv2d{WindowOf(row), 1},
                   {image, filter, g.Weights({row.channels})}, OutputShape(row)));
    const ValueId sum =
        g.Add(compiler::DepthwiseConv2d{WindowOf(row), 1}, {image, filter}, OutputShape(row));
    g.Output(g.WithNumber(ScalarOp::kMax, sum, 0));
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("zeros"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

TEST_P(GpuWindows, pools_of_all_sizes) {
  GraphBuilder g;
  for (const ConvRow& row : kWindows) {
    if (row.dilation != 1 || row.padding >= row.width) continue;
    for (const auto kind :
         {compiler::PoolKind::kMax, compiler::PoolKind::kAverage, compiler::PoolKind::kL2}) {
      g.Output(
          g.Add(compiler::Pool2d{kind, WindowOf(row)}, {g.Input(row.image)}, OutputShape(row)));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuWindows, testing::ValuesIn(PlainKernelTargets()),
                         &KernelTargetName);

}  // namespace
}  // namespace deputy::gpu_cl::gpu_windows_test
