// SPDX-License-Identifier: Apache-2.0
//
// Tests that AttentionKernels compute the bits of products and SOFTMAX row by row, that attentions
// in fusion groups use them, and that these have the bits of single nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/core/fusion/run_support.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::attention_test {
namespace {

using Shape = std::vector<int32_t>;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

std::vector<const CpuKernels*> TablesWithAttention() {
  std::vector<const CpuKernels*> tables;
  for (const CpuKernels* table : CpuTables()) {
    if (table->attention.multiply != nullptr) tables.push_back(table);
  }
  return tables;
}

Floats RandomFloats(size_t count, float limit, std::mt19937* random) {
  std::uniform_real_distribution<float> distribution(-limit, limit);
  Floats values(count);
  for (float& value : values) value = distribution(*random);
  return values;
}

// Returns rows[row][i] as values[i * lanes + row].
Floats ByLanes(const Floats& rows, int lanes, int count) {
  Floats values(rows.size());
  for (int l = 0; l < lanes; ++l) {
    for (int i = 0; i < count; ++i) {
      values[static_cast<size_t>(i * lanes + l)] = rows[static_cast<size_t>(l * count + i)];
    }
  }
  return values;
}

void ExpectSameBits(float found, float expected, const std::string& where) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where;
  } else {
    EXPECT_EQ(std::memcmp(&found, &expected, sizeof found), 0)
        << where << ": " << found << " instead of " << expected;
  }
}

TEST(AttentionKernels, exist_for_avx512) {
  const CpuKernels* const table = FindCpu("avx512");
  if (table == nullptr) GTEST_SKIP() << "no AVX-512";
  EXPECT_NE(table->attention.multiply, nullptr);
  EXPECT_EQ(table->attention.lanes, 16);
}

TEST(AttentionKernels, multiply_like_products_of_rows) {
  std::mt19937 random(1);
  for (const CpuKernels* table : TablesWithAttention()) {
    const int lanes = table->attention.lanes, panel = table->gemm_f32.columns;
    for (int columns = 1; columns <= 3 * panel + 1; ++columns) {
      for (int depth : {1, 2, 7, 20, 65}) {
        const int panels = (columns + panel - 1) / panel;
        const size_t stride = static_cast<size_t>(depth * panel);
        Floats weights = RandomFloats(static_cast<size_t>(panels) * stride, 2.0f, &random);
        Floats rows = RandomFloats(static_cast<size_t>(lanes * depth), 2.0f, &random);
        rows[0] = kInfinity;
        rows.back() = std::numeric_limits<float>::quiet_NaN();
        const float low = columns % 3 == 0 ? -1.0f : -kLargest;
        const float high = columns % 3 == 0 ? 1.5f : kLargest;
        const Floats left = ByLanes(rows, lanes, depth);
        Floats found(static_cast<size_t>(panels * panel * lanes));
        table->attention.multiply({.panels = weights.data(),
                                   .panel_stride = stride,
                                   .panel_columns = panel,
                                   .columns = columns,
                                   .depth = depth,
                                   .left = left.data(),
                                   .low = low,
                                   .high = high,
                                   .out = found.data()});
        const Floats bias(static_cast<size_t>(panels * panel));
        for (int first = 0; first < columns; first += panel) {
          const int here = std::min(panel, columns - first);
          Floats expected(static_cast<size_t>(lanes * here));
          const float* const a = rows.data();
          GemmTileF32 tile{};
          tile.rows = lanes;
          tile.columns = here;
          tile.parts = 1;
          tile.depth = depth;
          tile.a = &a;
          tile.a_stride = static_cast<size_t>(depth);
          tile.b = weights.data() + static_cast<size_t>(first / panel) * stride;
          tile.bias = bias.data();
          tile.low = low;
          tile.high = high;
          tile.out = expected.data();
          tile.out_stride = static_cast<size_t>(here);
          table->gemm_f32.tile(tile);
          for (int l = 0; l < lanes; ++l) {
            for (int c = 0; c < here; ++c) {
              ExpectSameBits(found[static_cast<size_t>((first + c) * lanes + l)],
                             expected[static_cast<size_t>(l * here + c)],
                             std::string(table->name) + " columns " + std::to_string(columns) +
                                 " depth " + std::to_string(depth));
            }
          }
        }
      }
    }
  }
}

TEST(AttentionKernels, softmax_of_lanes_is_that_of_rows) {
  std::mt19937 random(2);
  for (const CpuKernels* table : TablesWithAttention()) {
    const int lanes = table->attention.lanes;
    for (int count = 1; count <= 150; ++count) {
      Floats rows = RandomFloats(static_cast<size_t>(lanes * count), 10.0f, &random);
      rows[0] = -kLargest;
      rows[static_cast<size_t>(count)] = kLargest;
      std::fill_n(rows.begin() + 2 * count, count, -kLargest);
      rows[static_cast<size_t>(3 * count)] = -kInfinity;
      rows[static_cast<size_t>(4 * count)] = std::numeric_limits<float>::quiet_NaN();
      const float beta = count % 2 == 0 ? 1.0f : 0.37f;
      Floats found = ByLanes(rows, lanes, count);
      found.resize(found.size() + static_cast<size_t>(4 * lanes), 77.0f);
      table->attention.softmax(found.data(), count, beta);
      for (int l = 0; l < lanes; ++l) {
        Floats expected(static_cast<size_t>(count));
        table->vector.softmax(rows.data() + l * count, count, beta, expected.data());
        for (int i = 0; i < count; ++i) {
          ExpectSameBits(found[static_cast<size_t>(i * lanes + l)],
                         expected[static_cast<size_t>(i)],
                         std::string(table->name) + " count " + std::to_string(count) + " lane " +
                             std::to_string(l));
        }
      }
    }
  }
}

TEST(AttentionKernels, add_one_or_several_rows) {
  std::mt19937 random(3);
  for (const CpuKernels* table : TablesWithAttention()) {
    const int lanes = table->attention.lanes;
    for (int count = 1; count <= 40; ++count) {
      for (bool same : {false, true}) {
        Floats rows = RandomFloats(static_cast<size_t>(lanes * count), 2.0f, &random);
        rows[0] = -kInfinity;
        std::vector<const float*> addresses;
        for (int l = 0; l < lanes; ++l) addresses.push_back(rows.data() + (same ? 0 : l * count));
        Floats found = RandomFloats(static_cast<size_t>(lanes * count), 2.0f, &random);
        Floats expected = found;
        for (int l = 0; l < lanes; ++l) {
          for (int i = 0; i < count; ++i) {
            float& value = expected[static_cast<size_t>(i * lanes + l)];
            value = std::clamp(value + addresses[static_cast<size_t>(l)][i], -kLargest, 1.25f);
          }
        }
        table->attention.add({.rows = addresses.data(),
                              .count = count,
                              .low = -kLargest,
                              .high = 1.25f,
                              .values = found.data()});
        EXPECT_EQ(found, expected) << table->name << " count " << count;
      }
    }
  }
}

// ---- Graphs -----------------------------------------------------------------------------------

// Shape of the mask that is added to the scores [batches, heads, rows, keys].
enum class Mask { kNone, kKeys, kBatchesAndKeys, kRowsAndKeys, kAll };

struct Sizes {
  int batches, heads, rows, keys, depth, width;
};

// With `adds_shares` the outputs of SOFTMAX are added to the result, whose width is that of the keys.
std::vector<uint8_t> WriteAttention(const Sizes& s, Mask mask, bool scales, bool moves,
                                    bool adds_shares = false) {
  ModelBuilder m;
  const auto tensor = [&m](const Shape& shape) { return m.AddTensor(kTfLiteFloat32, shape); };
  const int q = tensor({s.batches, s.heads, s.rows, s.depth});
  const int k = tensor({s.batches, s.heads, s.keys, s.depth});
  const int v = tensor({s.batches, s.heads, s.keys, s.width});
  std::vector<int32_t> inputs = {q, k, v};
  const Shape shape = {s.batches, s.heads, s.rows, s.keys};
  int value = tensor(shape);
  m.AddOp(kTfLiteBuiltinBatchMatmul, {q, k}, {value},
          schema::CreateBatchMatMulOptions(m.fbb(), false, true));
  if (scales) {
    const int scaled = tensor(shape);
    m.AddOp(kTfLiteBuiltinMul, {value, m.AddConstant<float>(kTfLiteFloat32, {}, {0.25f})}, {scaled},
            schema::CreateMulOptions(m.fbb()));
    value = scaled;
  }
  if (mask != Mask::kNone) {
    const Shape shapes[] = {{},
                            {s.keys},
                            {s.batches, 1, 1, s.keys},
                            {s.rows, s.keys},
                            {s.batches, s.heads, s.rows, s.keys}};
    const int added = tensor(shapes[static_cast<size_t>(mask)]), sum = tensor(shape);
    inputs.push_back(added);
    m.AddOp(kTfLiteBuiltinAdd, {value, added}, {sum}, schema::CreateAddOptions(m.fbb()));
    value = sum;
  }
  const int shares = tensor(shape);
  m.AddOp(kTfLiteBuiltinSoftmax, {value}, {shares}, schema::CreateSoftmaxOptions(m.fbb(), 0.75f));
  int result = tensor({s.batches, s.heads, s.rows, s.width});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {shares, v}, {result},
          schema::CreateBatchMatMulOptions(m.fbb(), false, false));
  if (adds_shares) {
    const int sum = tensor(shape);
    m.AddOp(kTfLiteBuiltinAdd, {result, shares}, {sum}, schema::CreateAddOptions(m.fbb()));
    result = sum;
  }
  if (moves) {
    const int moved = tensor({s.batches, s.rows, s.heads, s.width});
    const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {4}, {0, 2, 1, 3});
    m.AddOp(kTfLiteBuiltinTranspose, {result, axes}, {moved});
    result = moved;
  }
  m.SetInputs(inputs);
  m.SetOutputs({result});
  return m.Finish();
}

std::vector<std::string> OutputsOf(const std::vector<uint8_t>& model, bool fuses, int threads,
                                   uint32_t seed) {
  const ScopedFusion fusion(fuses);
  TestInterpreter t(model, [threads](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  std::mt19937 random(seed);
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t.get()); ++i) {
    TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(t.get(), i);
    Floats values = RandomFloats(TfLiteTensorByteSize(input) / sizeof(float), 3.0f, &random);
    // Elements of a mask that remove keys.
    if (i == 3) {
      for (size_t at = 0; at < values.size(); at += 5) values[at] = -kInfinity;
    }
    EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values.data(), TfLiteTensorByteSize(input)),
              kTfLiteOk);
  }
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return OutputBytes(t.get());
}

int softmax_calls = 0;

void CountSoftmax(float* values, int count, float) {
  ++softmax_calls;
  for (int i = 0; i < count * Cpu().attention.lanes; ++i) values[i] = 0.0f;
}

// Returns the number of tiles that an inference computes with AttentionKernels.
int TilesOf(const std::vector<uint8_t>& model, const CpuKernels& table) {
  CpuKernels counting = table;
  counting.attention.softmax = &CountSoftmax;
  const ScopedCpu guard(&counting);
  softmax_calls = 0;
  OutputsOf(model, true, 1, 1);
  return softmax_calls;
}

TEST(Attention, has_the_bits_of_single_nodes) {
  const Sizes sizes[] = {{2, 3, 32, 40, 8, 16},   {1, 1, 335, 335, 20, 20}, {3, 2, 47, 16, 5, 33},
                         {1, 4, 64, 129, 64, 64}, {2, 1, 80, 97, 1, 1},     {5, 1, 15, 65, 33, 70}};
  uint32_t seed = 0;
  for (const CpuKernels* table : TablesWithAttention()) {
    const ScopedCpu guard(table);
    for (const Sizes& s : sizes) {
      for (Mask mask :
           {Mask::kNone, Mask::kKeys, Mask::kBatchesAndKeys, Mask::kRowsAndKeys, Mask::kAll}) {
        const bool scales = ++seed % 2 == 0, moves = seed % 3 == 0;
        const std::vector<uint8_t> model = WriteAttention(s, mask, scales, moves);
        const std::vector<std::string> expected = OutputsOf(model, false, 1, seed);
        for (int threads : {1, 3}) {
          EXPECT_TRUE(OutputsOf(model, true, threads, seed) == expected)
              << table->name << " rows " << s.rows << " keys " << s.keys << " mask "
              << static_cast<int>(mask) << " threads " << threads;
        }
        const int lanes = table->attention.lanes;
        const int tiles = s.batches * s.heads * ((s.rows + lanes - 1) / lanes);
        EXPECT_EQ(TilesOf(model, *table), tiles) << table->name << " rows " << s.rows;
      }
    }
  }
}

// Lanes without rows would waste the time: 17 rows take two tiles.
TEST(Attention, with_few_rows_is_computed_row_by_row) {
  for (const CpuKernels* table : TablesWithAttention()) {
    const int lanes = table->attention.lanes;
    const auto tiles_of = [&](int rows, int keys) {
      return TilesOf(WriteAttention({8, 4, rows, keys, 8, 16}, Mask::kNone, false, false), *table);
    };
    EXPECT_EQ(tiles_of(lanes + 1, 40), 0) << table->name;
    EXPECT_EQ(tiles_of(lanes, lanes - 1), 0) << table->name;
    EXPECT_GT(tiles_of(lanes, lanes), 0) << table->name;
  }
}

TEST(Attention, whose_shares_are_read_later_is_computed_row_by_row) {
  for (const CpuKernels* table : TablesWithAttention()) {
    const ScopedCpu guard(table);
    const std::vector<uint8_t> model =
        WriteAttention({2, 3, 32, 40, 8, 40}, Mask::kKeys, false, false, true);
    EXPECT_TRUE(OutputsOf(model, true, 1, 1) == OutputsOf(model, false, 1, 1)) << table->name;
    EXPECT_EQ(TilesOf(model, *table), 0) << table->name;
  }
}

}  // namespace
}  // namespace deputy::attention_test
