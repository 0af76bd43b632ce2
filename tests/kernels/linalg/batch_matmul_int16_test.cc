// SPDX-License-Identifier: Apache-2.0
//
// Compares the 64-bit sums of int16 BATCH_MATMUL with plain ones, and checks that the results of
// every table and the reference code are bit-identical.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::batch_matmul_int16_test {
namespace {

enum class Values { kAny, kExtreme, kLowest };

int16_t Value(Values values, std::mt19937* random) {
  const auto bits = (*random)();
  if (values == Values::kLowest) return INT16_MIN;
  if (values == Values::kAny) return static_cast<int16_t>(bits);
  constexpr int16_t kExtremes[] = {INT16_MIN, INT16_MAX, INT16_MIN + 1, -1, 0, 1};
  return kExtremes[bits % std::size(kExtremes)];
}

std::vector<int16_t> Filled(size_t count, Values values, std::mt19937* random) {
  std::vector<int16_t> filled(count);
  for (int16_t& value : filled) value = Value(values, random);
  return filled;
}

int64_t PlainSum(const std::vector<int16_t>& a, const int16_t* b, size_t step) {
  int64_t sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += int64_t{a[d]} * b[d * step];
  return sum;
}

// Checks products with a matrix of `columns` columns, stored column by column and row by row, with
// padding after each column or row.
void CheckDots(const CpuKernels& cpu, Values values, size_t depth, size_t columns,
               std::mt19937* random) {
  const std::vector<int16_t> a = Filled(depth, values, random);
  for (const bool columnwise : {true, false}) {
    const size_t stride = (columnwise ? depth : columns) + 3;
    const std::vector<int16_t> b = Filled((columnwise ? columns : depth) * stride, values, random);
    std::vector<int64_t> sums(columns + 1, 77);
    const auto dots = columnwise ? cpu.dots_s16.of_columns : cpu.dots_s16.of_rows;
    dots({a.data(), b.data(), static_cast<int64_t>(stride), static_cast<int64_t>(depth),
          static_cast<int>(columns), sums.data()});
    for (size_t c = 0; c < columns; ++c) {
      const int64_t expected =
          columnwise ? PlainSum(a, b.data() + c * stride, 1) : PlainSum(a, b.data() + c, stride);
      ASSERT_EQ(sums[c], expected) << "depth " << depth << ", column " << c << " of " << columns
                                   << (columnwise ? ", by columns" : ", by rows");
    }
    EXPECT_EQ(sums[columns], 77) << "written after the last column";
  }
}

TEST(DotsInt16, are_exact) {
  std::mt19937 random(1);
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->dots_s16.of_columns == nullptr) continue;
    SCOPED_TRACE(cpu->name);
    for (const Values values : {Values::kAny, Values::kExtreme, Values::kLowest}) {
      for (const size_t depth : {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 70, 1000}) {
        for (const size_t columns : {1, 3, 4, 5, 9, 16, 21}) {
          CheckDots(*cpu, values, depth, columns, &random);
        }
      }
    }
    CheckDots(*cpu, Values::kLowest, 40'000, 5, &random);
  }
}

struct Product {
  std::vector<int32_t> left, right, out;
  // `narrow` is true if the right operand is int8.
  bool adj_x = false, adj_y = false, narrow = false;
};

std::vector<uint8_t> ModelOf(const Product& product, float scale) {
  ModelBuilder m;
  TensorExtras one, output;
  one.scale = {1.0f};
  output.scale = {scale};
  const int x = m.AddTensor(kTfLiteInt16, product.left, "x", one);
  const int y = m.AddTensor(product.narrow ? kTfLiteInt8 : kTfLiteInt16, product.right, "y", one);
  const int z = m.AddTensor(kTfLiteInt16, product.out, "z", output);
  m.AddOp(kTfLiteBuiltinBatchMatmul, {x, y}, {z},
          schema::CreateBatchMatMulOptions(m.fbb(), product.adj_x, product.adj_y));
  m.SetInputs({x, y});
  m.SetOutputs({z});
  return m.Finish();
}

size_t Count(const std::vector<int32_t>& shape) {
  size_t count = 1;
  for (const int32_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

Product RandomProduct(std::mt19937* random) {
  const auto below = [&](unsigned bound) { return static_cast<int32_t>((*random)() % bound); };
  const int32_t rows = 1 + below(20), columns = 1 + below(40), depth = 1 + below(90);
  const int32_t batches = 1 + below(3);
  const int32_t left_batches = below(2) == 0 ? batches : 1;
  const int32_t right_batches = left_batches == batches && below(2) == 0 ? 1 : batches;
  Product product;
  product.adj_x = below(2) == 0;
  product.adj_y = below(2) == 0;
  product.narrow = below(3) == 0;
  product.left = {left_batches, product.adj_x ? depth : rows, product.adj_x ? rows : depth};
  product.right = {right_batches, product.adj_y ? columns : depth, product.adj_y ? depth : columns};
  product.out = {batches, rows, columns};
  return product;
}

std::vector<int16_t> Multiplied(const std::vector<uint8_t>& model, const Product& product,
                                const std::vector<int16_t>& left, const std::vector<int16_t>& right,
                                int threads) {
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int16_t>(0, left);
  if (product.narrow) {
    t.Set<int8_t>(1, std::vector<int8_t>(right.begin(), right.end()));
  } else {
    t.Set<int16_t>(1, right);
  }
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return t.Get<int16_t>(0);
}

TEST(BatchMatMulInt16, is_the_same_on_all_tables) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const Product product = RandomProduct(&random);
    const auto values = static_cast<Values>(round % 3);
    const std::vector<int16_t> left = Filled(Count(product.left), values, &random);
    std::vector<int16_t> right = Filled(Count(product.right), values, &random);
    if (product.narrow) {
      for (int16_t& value : right) value = static_cast<int8_t>(value >> 8);
    }
    // With a random scale, some results are in range and others saturate.
    const float scale = std::ldexp(1.0f, static_cast<int>(random() % 24));
    const std::vector<uint8_t> model = ModelOf(product, scale);
    OverrideCpu(FindCpu("reference"));
    const std::vector<int16_t> expected = Multiplied(model, product, left, right, 1);
    for (const CpuKernels* cpu : CpuTables()) {
      OverrideCpu(cpu);
      EXPECT_EQ(Multiplied(model, product, left, right, 1 + round % 2), expected)
          << cpu->name << ", round " << round;
    }
    OverrideCpu(nullptr);
  }
}

}  // namespace
}  // namespace deputy::batch_matmul_int16_test
