// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels of loops over elements and rows, data movement, and packing of filters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "gpu_cl/emit/packing.h"
#include "tests/gpu_cl/gpu_kernels_support.h"

namespace deputy::gpu_cl::gpu_kernels_test {
namespace {

using compiler::Expression;
using compiler::Graph;
using compiler::GraphBuilder;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;
using testing::HasSubstr;

class GpuKernels : public KernelTest {};

Expression Difference(bool bounded) {
  Expression e;
  const int a = e.Operand(0, kTfLiteFloat32), b = e.Operand(1, kTfLiteFloat32);
  const int difference = e.Apply(ScalarOp::kSub, a, b);
  if (bounded) e.Apply(ScalarOp::kMax, e.Constant(kTfLiteFloat32, 0), difference);
  return e;
}

TEST_P(GpuKernels, operands_are_broadcast) {
  GraphBuilder g;
  const ValueId x = g.Input({2, 5, 3, 37});
  for (const Shape& shape : {Shape{2, 5, 3, 37}, Shape{37}, Shape{3, 37}, Shape{5, 1, 1},
                             Shape{2, 1, 3, 1}, Shape{2, 5, 1, 37}, Shape{1}, Shape{}}) {
    g.Output(g.Compute(Difference(shape.size() % 2 == 0), {x, g.Input(shape)}));
  }
  g.Output(g.Compute(Difference(true), {g.Input({5000}), g.Input({5000})}));
  g.Output(g.Compute(Difference(false), {g.Input({40, 3}), g.Input({3})}));
  ExpectAgreement(g.graph);
  if (GetParam().device_class == DeviceClass::kCpu) {
    const std::string store = GetParam().half ? "STORE_HALF(" : "STORE(float, ";
    EXPECT_THAT(kernels_, HasSubstr(store + std::to_string(GetParam().width)));
  }
}

// In rows of 17 float16 elements, most rows begin at an address that is not aligned to a vector,
// which only affects optimised code.
TEST_P(GpuKernels, rows_of_halves_may_be_unaligned) {
  optimizes_ = true;
  Expression e;
  const int a = e.Operand(0, kTfLiteFloat16), b = e.Operand(1, kTfLiteFloat16);
  e.Apply(ScalarOp::kMin, a, b);
  GraphBuilder g;
  const ValueId x = g.Input({1, 8, 8, 17}, kTfLiteFloat16);
  g.Output(g.Compute(e, {x, g.Input({1, 1, 1, 17}, kTfLiteFloat16)}));
  ExpectAgreement(g.graph);
}

// Tests most operations that support vectors, with the types for which they support them.
TEST_P(GpuKernels, expressions_agree_in_vectors) {
  if (GetParam().width != 16) GTEST_SKIP() << "takes long, and is the same for other widths";
  GraphBuilder g;
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8,
                                kTfLiteInt16, kTfLiteInt32, kTfLiteInt64}) {
    const ValueId x = g.Input({41}, type), y = g.Input({41}, type);
    for (const ScalarOp op :
         {ScalarOp::kAbs, ScalarOp::kNeg, ScalarOp::kSign, ScalarOp::kFloor, ScalarOp::kCeil,
          ScalarOp::kRoundEven, ScalarOp::kRoundAway, ScalarOp::kExp, ScalarOp::kTanh,
          ScalarOp::kLogistic, ScalarOp::kSin, ScalarOp::kErf}) {
      if (SupportsType(op, type)) g.Output(g.Unary(op, x));
    }
    for (const ScalarOp op : {ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul, ScalarOp::kMax,
                              ScalarOp::kMin, ScalarOp::kAnd, ScalarOp::kXor, ScalarOp::kLess,
                              ScalarOp::kEqual, ScalarOp::kGreaterEqual}) {
      if (SupportsType(op, type)) g.Output(g.Binary(op, x, y));
    }
    Expression choice;
    const int a = choice.Operand(0, type), b = choice.Operand(1, type);
    const int less = choice.Apply(ScalarOp::kLess, a, b);
    const int other = choice.Apply(ScalarOp::kNot, choice.Apply(ScalarOp::kEqual, a, b));
    choice.Apply(ScalarOp::kSelect, choice.Apply(ScalarOp::kAnd, less, other), a, b);
    g.Output(g.Compute(choice, {x, y}));
    for (const TfLiteType to :
         {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32, kTfLiteInt64, kTfLiteBool}) {
      Expression cast;
      cast.Cast(cast.Operand(0, type), to);
      if (to != type) g.Output(g.Compute(cast, {x}));
    }
  }
  ExpectAgreement(g.graph, 1e-3);
}

// The lanes of a vector must not affect each other.
TEST_P(GpuKernels, activations_of_small_and_huge_values) {
  if (GetParam().half) GTEST_SKIP() << "float16 holds no such numbers";
  GraphBuilder g;
  std::vector<float> factors(41);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = i % 3 == 0 ? 1e7f : 1e-3f;
  const ValueId x = g.Binary(ScalarOp::kMul, g.Input({41}), g.Constant({41}, factors));
  for (const ScalarOp op : {ScalarOp::kSin, ScalarOp::kCos, ScalarOp::kTanh, ScalarOp::kExp,
                            ScalarOp::kErf, ScalarOp::kLogistic}) {
    g.Output(g.Unary(op, op == ScalarOp::kExp ? g.WithNumber(ScalarOp::kMin, x, 20) : x));
  }
  ExpectAgreement(g.graph, 1e-5);
}

TEST_P(GpuKernels, rows_of_softmax) {
  GraphBuilder g;
  for (const Shape& shape : {Shape{3, 50}, Shape{1, 16}, Shape{7, 5}, Shape{2, 3, 1000},
                             Shape{5, 65}, Shape{1, 64}, Shape{2, 128}}) {
    for (const bool log : {false, true}) {
      g.Output(g.Add(compiler::Softmax{0.5f, log}, {g.Input(shape)}, shape));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
}

TEST_P(GpuKernels, reductions_over_all_axes) {
  using compiler::ReduceKind;
  GraphBuilder g;
  const Shape shape = {2, 5, 3, 37};
  for (uint32_t axes = 1; axes < 16; ++axes) {
    Shape out = shape;
    for (size_t axis = 0; axis < 4; ++axis) {
      if ((axes >> axis & 1) != 0) out[axis] = 1;
    }
    for (const auto kind :
         {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax, ReduceKind::kMin}) {
      g.Output(g.Add(compiler::Reduce{kind, axes}, {g.Input(shape)}, out));
    }
  }
  ExpectAgreement(g.graph, 1e-6);
}

// For one image the kernel that copies also fills the border; for several images a separate kernel
// fills it.
TEST_P(GpuKernels, padding_on_every_side) {
  GraphBuilder g;
  const int kSides[][4] = {{1, 2, 3, 4}, {0, 0, 2, 0}, {2, 0, 0, 0},
                           {0, 3, 0, 0}, {0, 0, 0, 3}, {1, 1, 1, 1}};
  for (const auto& side : kSides) {
    for (const Shape& shape : {Shape{1, 6, 5, 3}, Shape{2, 4, 3, 2}}) {
      g.Output(g.Padded(g.Input(shape), side[0], side[1], side[2], side[3], {-1.5, 0}));
    }
  }
  g.Output(g.Padded(g.Input({1, 30, 20, 7}, kTfLiteInt8), 1, 2, 3, 4, {0, 9}));
  ExpectAgreement(g.graph);
}

TEST_P(GpuKernels, indices_in_rows_and_ranges) {
  GraphBuilder g;
  g.Output(g.Transposed(g.Input({3, 40, 50}), {2, 0, 1}));
  g.Output(g.Transposed(g.Input({2, 3, 4, 5, 6}), {4, 2, 0, 3, 1}));
  g.Output(g.Padded(g.Input({2, 30, 20, 3}), 1, 2, 3, 4));
  g.Output(g.Unary(ScalarOp::kAbs, g.Input({2000}, kTfLiteInt32)));
  ExpectAgreement(g.graph);
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuKernels, testing::ValuesIn(PlainKernelTargets()),
                         &KernelTargetName);

// ---- Panels -------------------------------------------------------------------------------------

std::vector<double> Packed(const Graph& graph, const Packing& packing) {
  const std::vector<std::byte> bytes = Pack(graph, packing);
  std::vector<double> numbers(bytes.size() / compiler::ElementBytes(packing.type));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = compiler::LoadElement(packing.type, bytes.data(), static_cast<int64_t>(i)).real;
  }
  return numbers;
}

TEST(GpuPackingTest, panels_start_with_the_bias_and_end_with_zeros) {
  GraphBuilder g;
  // The filter has two groups of three columns of two rows, column after column.
  const ValueId filter = g.Constant({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const ValueId bias = g.Constant({6}, {-1, -2, -3, -4, -5, -6});
  Packing packing = {.filter = filter,
                     .bias = bias,
                     .groups = 2,
                     .depth = 2,
                     .columns = 3,
                     .group_stride = 6,
                     .depth_stride = 1,
                     .column_stride = 2,
                     .panel = 2};
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16}) {
    packing.type = type;
    packing.bias = bias;
    packing.panel = 2;
    EXPECT_THAT(Packed(g.graph, packing),
                testing::ElementsAre(-1, -2, 1, 3, 2, 4, -3, 0, 5, 0, 6, 0,  // group 0
                                     -4, -5, 7, 9, 8, 10, -6, 0, 11, 0, 12, 0));
    packing.bias = compiler::kNoValue;
    packing.panel = 4;
    EXPECT_THAT(Packed(g.graph, packing),
                testing::ElementsAre(0, 0, 0, 0, 1, 3, 5, 0, 2, 4, 6, 0,  // group 0
                                     0, 0, 0, 0, 7, 9, 11, 0, 8, 10, 12, 0));
  }
}

// Packing for matrix units: two rows of a column are contiguous, and the last rows are padded with
// zeros.
TEST(GpuPackingTest, chunks_of_the_depth_are_stored_by_column) {
  GraphBuilder g;
  const ValueId filter = g.Constant({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Packing packing = {.filter = filter,
                     .bias = g.Constant({3}, {-1, -2, -3}),
                     .depth = 3,
                     .columns = 3,
                     .depth_stride = 1,
                     .column_stride = 3,
                     .panel = 2,
                     .chunk = 2};
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16}) {
    packing.type = type;
    EXPECT_THAT(Packed(g.graph, packing), testing::ElementsAre(-1, -2, 1, 2, 4, 5, 3, 0, 6, 0,  //
                                                               -3, 0, 7, 8, 0, 0, 9, 0, 0, 0));
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_kernels_test
