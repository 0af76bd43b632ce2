// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels for matrix products: in tiles of work items, of groups and of matrix units, and
// with few rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes.h"
#include "gpu_cl/run/exec.h"
#include "tests/gpu_cl/gpu_kernels_support.h"
#include "tests/gpu_cl/gpu_matrix_units.h"

namespace deputy::gpu_cl::gpu_products_test {
namespace {

using compiler::Expression;
using compiler::GraphBuilder;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

class GpuProducts : public KernelTest {};

// Tiles computed by work groups: all tile sizes, and a depth divided into parts, as used for
// devices with many units. Remainders of rows, columns and channels occur; channels are a multiple
// of the vector width or not.
TEST_P(GpuProducts, products_in_tiles_of_groups) {
  const ConvRow products[] = {
      {{1, 21, 13, 20}, 140, 1, 1, 1, 1, 0}, {{2, 9, 11, 36}, 36, 3, 3, 1, 1, 1},
      {{1, 17, 8, 4}, 68, 2, 5, 2, 1, 2},    {{1, 1, 5, 260}, 44, 1, 1, 1, 1, 0},
      {{1, 12, 12, 16}, 200, 3, 3, 2, 2, 1}, {{2, 19, 16, 3}, 32, 7, 7, 2, 1, 3},
      {{1, 8, 9, 5}, 36, 3, 2, 1, 1, 0},     {{1, 5, 5, 37}, 40, 1, 1, 1, 1, 0},
  };
  std::vector<std::string> group_sizes;
  for (const ConvRow& row : products) {
    GraphBuilder g;
    g.Output(Conv(&g, row, true));
    g.Output(g.Unary(ScalarOp::kTanh, Conv(&g, row, false)));
    compiler::FuseEpilogues(&g.graph);
    ExpectAgreement(g.graph, 1e-6);
    if (GetParam().nvidia) {
      EXPECT_THAT(kernels_, HasSubstr("reqd_work_group_size("));
      continue;
    }
    const size_t size = kernels_.find("reqd_work_group_size(8, 8, ");
    EXPECT_EQ(size != std::string::npos, GetParam().device_class == DeviceClass::kDesktop);
    if (size != std::string::npos) group_sizes.push_back(kernels_.substr(size + 27, 1));
  }
  if (GetParam().units != 0 && !GetParam().nvidia) {
    EXPECT_THAT(group_sizes, ElementsAre("1", "4", "1", "4", "4", "4", "1", "1"));
  }
}

// Tiles of NVIDIA's matrix units, on devices with so few units that each of the tiles is chosen.
// The numbers have full precision: products are split so that the result is as accurate as in
// float32. Infinite numbers have no low part, and their results are those of float32.
TEST_P(GpuProducts, products_in_tiles_of_matrix_units) {
  if (!GetParam().nvidia || GetParam().half) GTEST_SKIP() << "not for this target";
  const auto run = [&](uint32_t units, const ConvRow& row, bool infinite) {
    Device device = context_->device();
    device.profile.compute_units = units;
    ClStatus status;
    context_ = SharedContext::Create(WithMatrixUnits(*loaded_.api), device, &status);
    GraphBuilder g;
    std::vector<float> weights(
        static_cast<size_t>(row.channels * row.height * row.width * row.image[3]));
    std::mt19937 random(5);
    for (float& weight : weights) {
      weight = static_cast<float>(static_cast<int>(random() % 2000001) - 1000000) * 1e-6f;
    }
    // The expression is x / 3, or 1 / (3 x), where some x are zero.
    Expression third;
    const int x = third.Operand(0, kTfLiteFloat32);
    const int number = third.Constant(kTfLiteFloat32, 1.0 / 3);
    infinite ? third.Apply(ScalarOp::kDiv, number, x) : third.Apply(ScalarOp::kMul, x, number);
    const ValueId left = g.Compute(third, {g.Input(row.image)});
    const ValueId filter = g.Constant({row.channels, row.height, row.width, row.image[3]}, weights);
    const ValueId product =
        g.Add(compiler::Conv2d{WindowOf(row), 1}, {left, filter}, OutputShape(row));
    g.Output(infinite ? g.WithNumber(ScalarOp::kMax, product, -2) : product);
    compiler::FuseEpilogues(&g.graph);
    ExpectAgreement(g.graph, 1e-5);
  };
  run(1, {{1, 16, 17, 32}, 68, 1, 1}, false);
  EXPECT_THAT(kernels_, HasSubstr("memory[1536]"));
  run(2, {{1, 8, 17, 28}, 64, 1, 1}, false);
  EXPECT_THAT(kernels_, HasSubstr("memory[1024]"));
  const ConvRow windows = {{1, 5, 7, 32}, 52, 3, 3, 1, 1, 1};
  run(2, windows, false);
  EXPECT_THAT(kernels_, HasSubstr("reqd_work_group_size(128, 1, 2)"));
  run(2, windows, true);
  run(1, {{1, 5, 17, 32}, 52, 1, 1}, true);
  // This size would need four parts of the depth, which are not used with this driver.
  run(4096, windows, false);
  EXPECT_THAT(kernels_, AllOf(Not(HasSubstr("MULTIPLY_TF32(part")), HasSubstr("(8, 8, ")));
}

struct MatMulRow {
  Shape a;
  int columns;
  bool transpose_a = false, transpose_b = false;
};

const MatMulRow kMatMuls[] = {
    {{1, 100}, 10},     {{1, 65}, 200, false, true}, {{13, 20}, 33},
    {{3, 30, 16}, 48},  {{9, 7}, 50, true},          {{20, 5}, 40, true, true},
    {{2, 3, 5, 9}, 64}, {{50, 17}, 16, false, true},
};

TEST_P(GpuProducts, products_with_constants) {
  GraphBuilder g;
  for (const MatMulRow& row : kMatMuls) {
    Shape out = row.a;
    if (row.transpose_a) std::swap(out[out.size() - 1], out[out.size() - 2]);
    const int depth = out.back();
    out.back() = row.columns;
    const ValueId b =
        g.Weights(row.transpose_b ? Shape{row.columns, depth} : Shape{depth, row.columns});
    g.Output(g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                   {g.Input(row.a), b, g.Weights({row.columns})}, out));
  }
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, HasSubstr("packed"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

struct MatrixRow {
  Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

// Products of two operands that are known at run time only; batches are broadcast.
const MatrixRow kMatrices[] = {
    {{3, 9, 20}, {3, 20, 50}},
    {{2, 1, 13, 5}, {3, 5, 16}},
    {{4, 30}, {30, 7}},
    {{2, 6, 40}, {2, 33, 40}, false, true},
    {{2, 9, 14}, {1, 20, 9}, true, true},
    {{10, 12}, {10, 100}, true},
};

TEST_P(GpuProducts, products_of_two_inputs) {
  GraphBuilder g;
  for (const MatrixRow& row : kMatrices) {
    const size_t rank = std::max(row.a.size(), row.b.size());
    Shape out(rank, 1);
    for (size_t back = 3; back <= rank; ++back) {
      for (const Shape* shape : {&row.a, &row.b}) {
        if (back > shape->size()) continue;
        out[rank - back] = std::max(out[rank - back], (*shape)[shape->size() - back]);
      }
    }
    out[rank - 2] = row.a[row.a.size() - (row.transpose_a ? 1 : 2)];
    out[rank - 1] = row.b[row.b.size() - (row.transpose_b ? 2 : 1)];
    const ValueId product = g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                                  {g.Input(row.a), g.Input(row.b)}, out);
    g.Output(product);
    g.Output(g.WithNumber(ScalarOp::kMul,
                          g.Add(compiler::MatMul{row.transpose_a, row.transpose_b},
                                {g.Input(row.a), g.Input(row.b)}, out),
                          0.5));
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph);
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("float sum =")));
}

// Products of few rows, which a group of work items computes on GPUs with local memory, and of more
// rows.
TEST_P(GpuProducts, products_of_few_rows) {
  GraphBuilder g;
  for (const int rows : {1, 3, 4, 5}) {
    for (const int columns : {4, 20, 136}) {
      g.Output(
          g.WithNumber(ScalarOp::kMax,
                       g.Add(compiler::MatMul{false, true},
                             {g.Input({rows, 70}), g.Weights({columns, 70}), g.Weights({columns})},
                             {rows, columns}),
                       -3));
      g.Output(g.Unary(
          ScalarOp::kTanh,
          g.Add(compiler::Conv2d{}, {g.Input({1, 1, rows, 300}), g.Weights({columns, 1, 1, 300})},
                {1, 1, rows, columns})));
    }
  }
  compiler::FuseEpilogues(&g.graph);
  ExpectAgreement(g.graph, 1e-6);
  EXPECT_EQ(kernels_.find("local float4 parts[256]") != std::string::npos,
            GetParam().device_class == DeviceClass::kDesktop);
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuProducts, testing::ValuesIn(AllKernelTargets()),
                         &KernelTargetName);

}  // namespace
}  // namespace deputy::gpu_cl::gpu_products_test
