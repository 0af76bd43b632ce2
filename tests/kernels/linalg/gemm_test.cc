// SPDX-License-Identifier: Apache-2.0
//
// Compares packed matrix products of every CPU table with brute force, over sizes around all tile
// edges, and checks that a product is bit-identical for any partition into tasks and any number of
// threads.
#include "kernels/linalg/int8_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "core/base/thread_pool.h"
#include "kernels/common/requantize.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/kernels/cpu/tiles_in_memory.h"
#include "tests/support/threaded_context.h"

namespace deputy::gemm_test {
namespace {

struct Size {
  int rows, columns, depth;
};

const Size kSizes[] = {{1, 1, 1},    {1, 16, 4},   {1, 64, 32},    {1, 65, 33}, {1, 130, 7},
                       {2, 7, 3},    {3, 17, 5},   {4, 8, 16},     {5, 9, 2},   {6, 16, 1},
                       {7, 31, 17},  {11, 33, 64}, {12, 48, 31},   {13, 15, 9}, {50, 40, 27},
                       {97, 100, 3}, {6, 16, 0},   {40, 200, 50},  {17, 16, 9}, {31, 5, 12},
                       {19, 24, 6},  {15, 28, 8},  {101, 300, 450}};

template <typename T>
std::vector<T> RandomSteps(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(static_cast<int>(engine() % 255) - 127);
  return values;
}

// A float32 product of given sizes with random contents.
struct Float {
  std::vector<float> a, weights, bias, out;
  PackedWeights<float> packed;
  GemmF32 job;
  Size size;

  Float(const CpuKernels& cpu, const Size& s) : size(s) {
    const auto count = [](int x, int y) { return static_cast<size_t>(x) * static_cast<size_t>(y); };
    a = RandomSteps<float>(count(s.rows, s.depth), 1);
    for (float& value : a) value *= 0.01f;
    weights = RandomSteps<float>(count(s.columns, s.depth), 2);
    bias = RandomSteps<float>(static_cast<size_t>(s.columns) + kMaxTileColumns, 3);
    out.assign(count(s.rows, s.columns), NAN);
    EXPECT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false,
                            WeightsLayout::Rows(1, s.columns, s.depth)));
    job = {&cpu,    &packed,     0,
           s.depth, bias.data(), -1e30f,
           1e30f,   out.data(),  static_cast<size_t>(s.columns)};
  }
  void RunTask(const GemmPlan& plan, int task) {
    RunGemmF32(job, plan, task, [&](int64_t first, int) -> RowBlock<float> {
      return {a.data() + first * size.depth, static_cast<size_t>(size.depth)};
    });
  }
};

// An int8 product with random contents, computed by the driver that convolutions and fully
// connected layers use, with requantisation.
struct Int8 {
  std::vector<int8_t> a, weights, out;
  std::vector<int32_t> bias, mantissas, shifts;
  PackedWeights<int8_t> packed;
  Int8Product product;
  Size size;
  static constexpr int32_t kInputZero = 3;

  Int8(const CpuKernels& cpu, const Size& s) : size(s) {
    const auto columns = static_cast<size_t>(s.columns), rows = static_cast<size_t>(s.rows);
    weights = RandomSteps<int8_t>(columns * static_cast<size_t>(s.depth), 5);
    bias = RandomSteps<int32_t>(columns, 6);
    a = RandomSteps<int8_t>(rows * static_cast<size_t>(s.depth), 4);
    const FixedMultiplier fixed = ToFixedMultiplier(0.0007);
    mantissas.assign(columns, fixed.mantissa);
    shifts.assign(columns, fixed.shift);
    out.assign(rows * columns, 99);
    EXPECT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false,
                            WeightsLayout::Rows(1, s.columns, s.depth)));
    product = {.cpu = &cpu,
               .weights = &packed,
               .rows = s.rows,
               .columns = s.columns,
               .depth = s.depth,
               .input_zero_point = kInputZero,
               .bias = bias.data()};
  }

  void Run(TfLiteContext* context) {
    const CpuKernels& cpu = *product.cpu;
    const auto fill = [&](int, int64_t row, uint8_t* to) {
      cpu.gemm_s8.left_from_s8(a.data() + row * size.depth, static_cast<size_t>(size.depth), to);
    };
    const auto finish = [&](int, int64_t row, int rows, int column, int columns,
                            const int32_t* sums, size_t stride) {
      const int64_t first = row * size.columns + column;
      cpu.requantize.exact({.rows = rows,
                            .columns = columns,
                            .sums = sums,
                            .sums_stride = stride,
                            .factors = nullptr,
                            .mantissas = mantissas.data() + column,
                            .shifts = shifts.data() + column,
                            .zero_point = 5,
                            .low = -128,
                            .high = 127,
                            .out = out.data() + first,
                            .out_stride = static_cast<size_t>(size.columns)});
    };
    EXPECT_EQ(product.Run(
                  context, 1, [](int) { return 0; }, fill, finish),
              kTfLiteOk);
  }
};

template <typename Product>
void RunAll(Product* product, const GemmPlan& plan) {
  for (int task = 0; task < plan.tasks; ++task) product->RunTask(plan, task);
}

GemmPlan PlanFor(const CpuKernels& cpu, const Size& s, int threads) {
  return PlanGemm(s.rows, s.columns, s.depth, cpu.gemm_f32.rows, cpu.gemm_f32.columns,
                  static_cast<size_t>(s.depth) * 4, threads);
}

TEST(Gemm, float_products_agree_with_brute_force) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    for (const Size& s : kSizes) {
      Float product(*cpu, s);
      RunAll(&product, PlanFor(*cpu, s, 1));
      for (int r = 0; r < s.rows; ++r) {
        for (int c = 0; c < s.columns; ++c) {
          double sum = product.bias[static_cast<size_t>(c)];
          for (int d = 0; d < s.depth; ++d) {
            sum += static_cast<double>(product.a[static_cast<size_t>(r * s.depth + d)]) *
                   static_cast<double>(product.weights[static_cast<size_t>(c * s.depth + d)]);
          }
          ASSERT_NEAR(product.out[static_cast<size_t>(r * s.columns + c)], sum,
                      1e-5 * (127 + 127 * 1.27 * s.depth))
              << cpu->name << " " << s.rows << "x" << s.columns << "x" << s.depth;
        }
      }
    }
  }
}

// The sums of each element have the same order in both tables, and no value is denormal.
TEST(Gemm, products_of_neon32_have_the_bits_of_generic) {
  const CpuKernels *const neon = FindCpu("neon32"), *const generic = FindCpu("generic");
  if (neon == nullptr) GTEST_SKIP() << "this machine has no table neon32";
  EXPECT_STREQ(neon->gemm_f32.name, "neon32");
  for (const Size& s : kSizes) {
    Float found(*neon, s), expected(*generic, s);
    RunAll(&found, PlanFor(*neon, s, 1));
    RunAll(&expected, PlanFor(*generic, s, 1));
    ASSERT_EQ(0,
              std::memcmp(found.out.data(), expected.out.data(), found.out.size() * sizeof(float)))
        << s.rows << "x" << s.columns << "x" << s.depth;
  }
}

// Dot products of few columns, in two parts, add in the same order, too.
TEST(Gemm, dots_of_neon32_have_the_bits_of_generic) {
  const CpuKernels *const neon = FindCpu("neon32"), *const generic = FindCpu("generic");
  if (neon == nullptr) GTEST_SKIP() << "this machine has no table neon32";
  const std::vector<float> a = RandomSteps<float>(4096, 1), b = RandomSteps<float>(4096, 2);
  std::vector<float> scaled = a;
  for (float& value : scaled) value *= 0.01f;
  for (const int depth : {0, 1, 7, 8, 9, 15, 16, 31, 200}) {
    const float* parts[] = {scaled.data(), scaled.data() + 1500};
    std::array<float, 6> found, expected;
    DotTileF32 dots = {.rows = 3,
                       .columns = 2,
                       .parts = 2,
                       .depth = depth,
                       .a = parts,
                       .a_stride = 203,
                       .b = b.data(),
                       .b_stride = 401,
                       .bias = depth % 2 == 0 ? b.data() : nullptr,
                       .low = -1000,
                       .high = 1000,
                       .out = found.data(),
                       .out_stride = 2};
    neon->gemm_f32.dots(dots);
    dots.out = expected.data();
    generic->gemm_f32.dots(dots);
    using Bits = std::array<uint32_t, 6>;
    EXPECT_EQ(std::bit_cast<Bits>(found), std::bit_cast<Bits>(expected)) << "depth " << depth;
  }
}

TEST(Gemm, int8_products_equal_brute_force) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    for (const Size& s : kSizes) {
      Int8 product(*cpu, s);
      product.Run(nullptr);
      const ExactRequantizer requantize(0.0007, 5, {-128, 127});
      for (int r = 0; r < s.rows; ++r) {
        for (int c = 0; c < s.columns; ++c) {
          int32_t sum = product.bias[static_cast<size_t>(c)];
          for (int d = 0; d < s.depth; ++d) {
            sum += (product.a[static_cast<size_t>(r * s.depth + d)] - Int8::kInputZero) *
                   product.weights[static_cast<size_t>(c * s.depth + d)];
          }
          ASSERT_EQ(product.out[static_cast<size_t>(r * s.columns + c)], requantize(sum))
              << cpu->name << " " << s.rows << "x" << s.columns << "x" << s.depth;
        }
      }
    }
  }
}

// Multiplies int8 numbers of the largest magnitude, for which a saturating multiply-add would fail.
TEST(Gemm, int8_extremes_do_not_saturate) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    const std::vector<int8_t> weights(16 * 64, -128);
    PackedWeights<int8_t> packed;
    ASSERT_TRUE(packed.Pack(nullptr, *cpu, weights.data(), false, WeightsLayout::Rows(1, 16, 64)));
    EXPECT_EQ(packed.ColumnSum(0, 3), -128 * 64);
    for (int value : {-128, 127}) {
      const std::vector<int8_t> a(64, static_cast<int8_t>(value));
      std::vector<uint8_t> left(64 * cpu->gemm_s8.left_bytes());
      cpu->gemm_s8.left_from_s8(a.data(), a.size(), left.data());
      const std::vector<int32_t> bias(kMaxTileColumns, 1 + cpu->gemm_s8.left_offset() * 128 * 64);
      int32_t sums[kMaxTileColumns];
      cpu->gemm_s8.tile({1, 16, 64, left.data(), left.size(), packed.Panel(0, 0), bias.data(), sums,
                         kMaxTileColumns});
      for (int c = 0; c < 16; ++c) EXPECT_EQ(sums[c], 1 - 64 * 128 * value) << cpu->name;
    }
  }
}

// A requantised product of rows of bytes that begin at arbitrary offsets, in separate parts.
struct RequantizedRows {
  static constexpr int kZeroPoint = -7, kGuard = 64;
  static constexpr int8_t kUntouched = 77;
  int rows, columns, parts, depth, part_step, row_step;
  std::vector<int> starts;  // index of each row's first element
  int low, high;
  std::vector<int8_t> a, weights, out;
  std::vector<int32_t> bias;
  std::vector<float> factors;
  PackedWeights<int8_t> packed;
  const RowsAddendS8* addend = nullptr;

  // `largest` is the factor of some columns; `all_steps` requantises to the full range of int8.
  // Rows are grouped in lines of `line` rows.
  RequantizedRows(const CpuKernels& cpu, int of_rows, int of_columns, int of_parts, int of_depth,
                  float largest, bool all_steps, int line = 1 << 20)
      : rows(of_rows),
        columns(of_columns),
        parts(of_parts),
        depth(of_depth),
        part_step(of_depth + 3),
        row_step(5),
        low(all_steps ? -128 : -100),
        high(all_steps ? 127 : 90) {
    // Some gaps between lines are multiples of a row, and some lines are in descending order.
    const int lines = (rows + line - 1) / line, gap = line % 2 == 0 ? 2 * row_step : 11;
    const int line_step = std::min(line, rows) * row_step + gap;
    for (int r = 0; r < rows; ++r) {
      const int place = line % 3 == 0 ? lines - 1 - r / line : r / line;
      starts.push_back(place * line_step + r % line * row_step);
    }
    // The array ends with the last row, so that reading beyond it is detected.
    const int last = *std::max_element(starts.begin(), starts.end());
    a = RandomSteps<int8_t>(static_cast<size_t>(last + (parts - 1) * part_step + depth), 7);
    weights = RandomSteps<int8_t>(static_cast<size_t>(columns * parts * depth), 8);
    bias = RandomSteps<int32_t>(static_cast<size_t>(columns), 9);
    for (int c = 0; c < columns; ++c) factors.push_back(c % 7 == 3 ? largest : 0.0007f * (c % 5));
    out.assign(static_cast<size_t>(rows * columns + kGuard), kUntouched);
    Pack(cpu);
  }

  void Pack(const CpuKernels& cpu) {
    const auto layout = WeightsLayout::Rows(1, columns, parts * depth);
    EXPECT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false, layout));
  }

  void Run(const CpuKernels& cpu) {
    const size_t bytes = cpu.gemm_s8.requantized_bytes();
    std::vector<char> left(a.size() * bytes);
    if (cpu.gemm_s8.requantizes_left) {
      cpu.gemm_s8.left_from_s8(a.data(), a.size(), left.data());
    } else {
      std::memcpy(left.data(), a.data(), a.size());
    }
    std::vector<const void*> pointers;
    for (const int start : starts) {
      pointers.push_back(left.data() + static_cast<size_t>(start) * bytes);
    }
    std::vector<int32_t> folded(static_cast<size_t>(packed.padded_columns() + kMaxTileColumns));
    for (int c = 0; c < columns; ++c) {
      folded[static_cast<size_t>(c)] =
          bias[static_cast<size_t>(c)] - cpu.gemm_s8.left_offset() * packed.ColumnSum(0, c);
    }
    cpu.gemm_s8.requantized({.rows = rows,
                             .columns = columns,
                             .parts = parts,
                             .depth = depth,
                             .a = pointers.data(),
                             .part_step = static_cast<size_t>(part_step) * bytes,
                             .b = packed.Panel(0, 0),
                             .panel_stride = packed.panel_stride(),
                             .bias = folded.data(),
                             .factors = factors.data(),
                             .zero_point = kZeroPoint,
                             .low = low,
                             .high = high,
                             .out = out.data(),
                             .out_stride = static_cast<size_t>(columns),
                             .addend = addend});
  }

  int Expected(int r, int c) const {
    const int made = Made(r, c);
    if (addend == nullptr) return made;
    // float32 rounds each product and each sum.
    const volatile float of_made = static_cast<float>(made) * addend->result_factor;
    const volatile float of_value =
        static_cast<float>(addend->values[r * columns + c]) * addend->addend_factor;
    const volatile float sum = of_made + of_value;
    const float steps = std::clamp(sum + addend->offset, addend->low, addend->high);
    return static_cast<int>(std::nearbyint(steps)) + addend->zero_point;
  }

  int Made(int r, int c) const {
    int32_t sum = bias[static_cast<size_t>(c)];
    for (int p = 0; p < parts; ++p) {
      for (int d = 0; d < depth; ++d) {
        sum += a[static_cast<size_t>(starts[static_cast<size_t>(r)] + p * part_step + d)] *
               weights[static_cast<size_t>((c * parts + p) * depth + d)];
      }
    }
    const float steps = static_cast<float>(sum) * factors[static_cast<size_t>(c)];
    return static_cast<int>(std::clamp(std::nearbyint(static_cast<double>(steps)) + kZeroPoint,
                                       static_cast<double>(low), static_cast<double>(high)));
  }
};

void ExpectRowsOf(const RequantizedRows& product, const char* table) {
  const int rows = product.rows, columns = product.columns;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      ASSERT_EQ(product.out[static_cast<size_t>(r * columns + c)], product.Expected(r, c))
          << table << " " << rows << "x" << columns << " " << product.parts << "x" << product.depth
          << " at " << r << ", " << c;
    }
  }
  for (int i = 0; i < RequantizedRows::kGuard; ++i) {
    ASSERT_EQ(product.out[static_cast<size_t>(rows * columns + i)], RequantizedRows::kUntouched);
  }
}

TEST(Gemm, requantised_int8_rows_equal_brute_force) {
  int tables = 0;
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    if (cpu->gemm_s8.requantized == nullptr) continue;
    ++tables;
    for (int columns : {1, 8, 15, 16, 17, 32, 33, 48, 49, 64, 65, 112, 130}) {
      for (int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 40, 77}) {
        for (const auto& [parts, depth] : {std::pair{1, 4},
                                           {1, 6},
                                           {3, 10},
                                           {1, 8},
                                           {1, 64},
                                           {3, 12},
                                           {5, 4},
                                           {5, 8},
                                           {2, 260},
                                           {2, 264},
                                           {1, 512},
                                           {1, 514},
                                           {1, 516},
                                           {1, 644}}) {
          if (depth % cpu->gemm_s8.run != 0) continue;
          // Results are clamped at both ends, or requantised to values beyond the range of
          // integers.
          for (const auto& [largest, all_steps] :
               {std::pair{0.4f, false}, {0.4f, true}, {3e9f, false}, {3e9f, true}}) {
            RequantizedRows product(*cpu, rows, columns, parts, depth, largest, all_steps);
            product.Run(*cpu);
            ExpectRowsOf(product, cpu->name);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  if (tables == 0) GTEST_SKIP() << "no table of this machine has such a function";
}

// Sums of the largest magnitude, around 2^22, and results around 2^15 and 2^16.
TEST(Gemm, requantised_int8_rows_of_largest_magnitudes_equal_brute_force) {
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->gemm_s8.requantized == nullptr) continue;
    for (const int depth : {232, 248, 256, 264, 512, 520, 2048, 2056}) {
      const int rows = depth < 512 ? 73 : 9;
      for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
        for (const int32_t bias : {0, 3000, 200000, 400000}) {
          for (const float factor : {2.9e-5f, 0.0076f, 0.0157f, 0.02f}) {
            RequantizedRows product(*cpu, rows, 40, 1, depth, factor, true);
            std::fill(product.a.begin(), product.a.end(), int8_t{-128});
            std::fill(product.weights.begin(), product.weights.end(), weight);
            std::fill(product.bias.begin(), product.bias.end(), weight < 0 ? bias : -bias);
            std::fill(product.factors.begin(), product.factors.end(), factor);
            product.Pack(*cpu);
            product.Run(*cpu);
            SCOPED_TRACE("factor " + std::to_string(factor) + ", bias " + std::to_string(bias));
            ExpectRowsOf(product, cpu->name);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

// Rows are in lines of pixels, as in the windows of an image.
TEST(Gemm, int8_rows_may_be_unaligned) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    if (cpu->gemm_s8.requantized == nullptr) continue;
    for (const int line : {1, 2, 3, 7, 14, 15, 16, 17, 20, 28}) {
      for (const int rows : {1, 2, 5, 13, 16, 31, 49, 80}) {
        for (const auto& [parts, depth] :
             {std::pair{1, 4}, {1, 64}, {1, 68}, {3, 96}, {2, 128}, {3, 188}, {9, 72}}) {
          if (depth % cpu->gemm_s8.run != 0) continue;
          RequantizedRows product(*cpu, rows, 40, parts, depth, 0.4f, true, line);
          product.Run(*cpu);
          SCOPED_TRACE("lines of " + std::to_string(line));
          ExpectRowsOf(product, cpu->name);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Gemm, int8_rows_with_an_addend_equal_brute_force) {
  int tables = 0;
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    if (!cpu->gemm_s8.adds) continue;
    ++tables;
    for (int columns : {8, 16, 24, 32, 48, 64, 88, 128}) {
      for (int rows : {1, 2, 3, 4, 5, 7, 9, 13, 40}) {
        for (const auto& [parts, depth] :
             {std::pair{1, 8}, {1, 32}, {1, 64}, {3, 36}, {2, 260}, {1, 516}, {1, 644}}) {
          const auto values = RandomSteps<int8_t>(static_cast<size_t>(rows * columns), 10);
          // The addends have bounds of the type, narrower bounds, and values beyond the range of
          // integers.
          for (const RowsAddendS8& addend :
               {RowsAddendS8{values.data(), 0.7f, 0.61f, 0.3f, -133.0f, 122.0f, 5},
                RowsAddendS8{values.data(), 0.7f, 0.61f, 0.3f, -40.0f, 50.0f, 5},
                RowsAddendS8{values.data(), 3e8f, -2e7f, 0.3f, -133.0f, 122.0f, 5}}) {
            for (const bool in_place : {false, true}) {
              RequantizedRows product(*cpu, rows, columns, parts, depth, 0.4f, true);
              RowsAddendS8 added = addend;
              if (in_place) {
                std::copy(values.begin(), values.end(), product.out.begin());
                added.values = product.out.data();
              }
              product.addend = &added;
              product.Run(*cpu);
              added.values = values.data();
              ExpectRowsOf(product, cpu->name);
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
  if (tables == 0) GTEST_SKIP() << "no table of this machine has such a function";
}

// Parts whose depth is not a multiple of the packing unit are padded one by one.
TEST(Gemm, parts_of_packed_weights_are_padded) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    const int run = cpu->gemm_s8.run;
    const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6};  // one column, two parts of depth three
    auto layout = WeightsLayout::Rows(1, 1, 6);
    layout.parts = 2;
    PackedWeights<int8_t> packed;
    ASSERT_TRUE(packed.Pack(nullptr, *cpu, weights.data(), false, layout));
    EXPECT_EQ(packed.ColumnSum(0, 0), 21);
    const int padded = (3 + run - 1) / run * run;
    EXPECT_EQ(packed.padded_depth(), 2 * padded);
    for (int d = 0; d < packed.padded_depth(); ++d) {
      const int part = d / padded, within = d % padded;
      const int8_t expected =
          within < 3 ? weights[static_cast<size_t>(3 * part + within)] : int8_t{0};
      const size_t place = static_cast<size_t>(d / run * run * cpu->gemm_s8.columns + d % run);
      EXPECT_EQ(packed.Panel(0, 0)[place], expected) << cpu->name << " " << d;
    }
  }
}

TEST(Gemm, infinities_and_nan_stay_in_their_columns) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    Float product(*cpu, {7, 33, 5});
    product.weights[5 * 4 + 2] = NAN;  // column 4
    product.a[5 * 3] = INFINITY;       // row 3
    ASSERT_TRUE(product.packed.Pack(nullptr, *cpu, product.weights.data(), false,
                                    WeightsLayout::Rows(1, 33, 5)));
    RunAll(&product, PlanFor(*cpu, product.size, 1));
    for (int r = 0; r < 7; ++r) {
      for (int c = 0; c < 33; ++c) {
        const float value = product.out[static_cast<size_t>(r * 33 + c)];
        EXPECT_EQ(std::isnan(value), c == 4) << cpu->name << " row " << r << " column " << c;
        // Infinities are clamped to the bounds of the product, -1e30 and 1e30.
        if (r == 3 && c != 4) {
          EXPECT_EQ(std::fabs(value), 1e30f) << cpu->name;
        }
      }
    }
  }
}

TEST(Gemm, every_cut_covers_every_output_once) {
  for (int rows : {1, 5, 6, 7, 100, 12544}) {
    for (int columns : {1, 15, 16, 17, 300}) {
      for (int threads : {1, 2, 4, 16}) {
        const GemmPlan plan = PlanGemm(rows, columns, 512, 6, 16, 2048, threads);
        std::vector<int> covered(static_cast<size_t>(rows) * static_cast<size_t>(columns));
        for (int task = 0; task < plan.tasks; ++task) {
          const GemmPlan::Cut cut = plan.TaskCut(task);
          EXPECT_LE(cut.last_row - cut.first_row, plan.block_rows());
          EXPECT_EQ(cut.first_column % 16, 0);
          for (int64_t r = cut.first_row; r < cut.last_row; ++r) {
            for (int c = cut.first_column; c < cut.last_column; ++c) {
              ++covered[static_cast<size_t>(r * columns + c)];
            }
          }
        }
        EXPECT_EQ(std::set<int>(covered.begin(), covered.end()), std::set<int>{1})
            << rows << "x" << columns << " by " << threads;
      }
    }
  }
  EXPECT_EQ(PlanGemm(0, 5, 5, 6, 16, 20, 2).tasks, 0);
  EXPECT_EQ(PlanGemm(5, 0, 5, 6, 16, 20, 2).tasks, 0);
}

// A thread's second-level cache has no weights that only another thread has read.
TEST(Gemm, later_rows_read_weights_first_only_with_several_threads) {
  for (int threads : {1, 2, 4}) {
    const GemmPlan plan = PlanGemm(1000, 1024, 512, 6, 16, 2048, threads);
    ASSERT_GT(plan.TaskCut(plan.tasks - 1).first_row, 0);
    EXPECT_EQ(plan.TaskCut(plan.tasks - 1).reads_first, threads > 1);
    EXPECT_TRUE(plan.TaskCut(0).reads_first);
  }
}

// Returns the number of tiles that the busier of two threads multiplies if the pool assigns tasks
// from the front to one and from the back to the other, each as soon as it is idle.
int64_t TilesOfTheBusier(const GemmPlan& plan) {
  const auto tiles = [&](int task) {
    const GemmPlan::Cut cut = plan.TaskCut(task);
    return (cut.last_row - cut.first_row + 5) / 6 *
           ((cut.last_column - cut.first_column + 15) / 16);
  };
  int64_t busy[2] = {0, 0};
  for (int front = 0, back = plan.tasks; front < back;) {
    const bool is_first = busy[0] <= busy[1];
    busy[is_first ? 0 : 1] += tiles(is_first ? front++ : --back);
  }
  return std::max(busy[0], busy[1]);
}

TEST(Gemm, work_is_balanced_between_two_threads) {
  // Sizes of layers of small networks. No number of rows is a multiple of the tile's 6, and 24 and
  // 1001 columns are not multiples of its 16.
  const Size sizes[] = {{256, 64, 32},    {64, 24, 96},  {64, 128, 128}, {49, 160, 960},
                        {196, 256, 1024}, {784, 96, 32}, {1, 1001, 256}, {16, 256, 128}};
  for (const Size& s : sizes) {
    const GemmPlan plan =
        PlanGemm(s.rows, s.columns, s.depth, 6, 16, static_cast<size_t>(s.depth) * 4, 2);
    const int64_t all = int64_t{(s.rows + 5) / 6} * ((s.columns + 15) / 16);
    EXPECT_LE(static_cast<double>(TilesOfTheBusier(plan)), 0.55 * static_cast<double>(all) + 1)
        << s.rows << " x " << s.columns << " x " << s.depth << " in " << plan.tasks;
  }
}

TEST(Gemm, products_are_bit_equal_for_every_cut_and_number_of_threads) {
  const Size sizes[] = {{1, 130, 333}, {7, 100, 200}, {150, 48, 97}, {61, 17, 512}};
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    for (const Size& s : sizes) {
      Float whole(*cpu, s);
      Int8 whole_int8(*cpu, s);
      RunAll(&whole, PlanFor(*cpu, s, 1));
      whole_int8.Run(nullptr);
      for (int threads : {2, 4}) {
        ThreadPool pool(threads);
        Float shared(*cpu, s);
        const GemmPlan plan = PlanFor(*cpu, s, threads);
        pool.ParallelFor(plan.tasks, [&](int task, int) { shared.RunTask(plan, task); });
        EXPECT_EQ(std::memcmp(whole.out.data(), shared.out.data(), whole.out.size() * 4), 0)
            << cpu->name;
        Int8 shared_int8(*cpu, s);
        ThreadedContext context(threads);
        shared_int8.Run(context.get());
        EXPECT_EQ(whole_int8.out, shared_int8.out) << cpu->name;
      }
      // A plan that computes every row and panel separately must have the same bits.
      const int panels = (s.columns - 1) / cpu->gemm_f32.columns + 1;
      Float pieces(*cpu, s);
      RunAll(&pieces, GemmPlan::Of(s.rows, s.columns, cpu->gemm_f32.columns,
                                   EvenCut(s.rows, 1, s.rows, 1), EvenCut(panels, 1, panels, 1)));
      EXPECT_EQ(std::memcmp(whole.out.data(), pieces.out.data(), whole.out.size() * 4), 0)
          << cpu->name;
    }
  }
}

// The deepest columns have sums of more than 16 bits in each vector lane.
TEST(PackedWeights, sums_of_columns_equal_brute_force) {
  std::mt19937 engine(11);
  const CpuKernels& cpu = *CpuTablesAndTiles().front();
  for (int depth : {1, 15, 16, 17, 2047, 2064, 9000}) {
    for (uint8_t flip : {0, 0x80}) {
      constexpr int kColumns = 3;
      std::vector<int8_t> weights(static_cast<size_t>(kColumns * depth));
      int32_t expected[kColumns] = {};
      for (size_t i = 0; i < weights.size(); ++i) {
        const auto column = i / static_cast<size_t>(depth);
        const int value = column == 0 ? 127 : column == 1 ? -128 : static_cast<int8_t>(engine());
        weights[i] = static_cast<int8_t>(value ^ flip);
        expected[column] += value;
      }
      PackedWeights<int8_t> packed;
      ASSERT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false,
                              WeightsLayout::Rows(1, kColumns, depth), flip));
      for (int c = 0; c < kColumns; ++c) {
        EXPECT_EQ(packed.ColumnSum(0, c), expected[c]) << "depth " << depth << " column " << c;
      }
    }
  }
}

TEST(PackedWeights, respect_the_limits) {
  const CpuKernels& cpu = *FindCpu("generic");
  ThreadedContext context(1);
  context.Limit(1000);
  const std::vector<float> weights(100 * 100);
  PackedWeights<float> packed;
  const auto pack = [&](int columns, int depth) {
    return packed.Pack(context.get(), cpu, weights.data(), true,
                       WeightsLayout::Rows(1, columns, depth));
  };
  EXPECT_FALSE(pack(100, 100));
  EXPECT_FALSE(pack(INT32_MAX, INT32_MAX));
  EXPECT_TRUE(pack(5, 5));
}

// The second node reads the weights that the first one has packed.
TEST(PackedWeights, of_the_model_are_packed_once) {
  const CpuKernels& cpu = *FindCpu("generic");
  ThreadedContext context(1);
  PackedConstants shared;
  context.Share(&shared);
  const std::vector<float> weights = RandomSteps<float>(6 * 5, 1);
  PackedWeights<float> first, second, third, scratch;
  const auto pack = [&](PackedWeights<float>* packed, bool fixed, const WeightsLayout& layout) {
    EXPECT_TRUE(packed->Pack(context.get(), cpu, weights.data(), fixed, layout));
    return packed->Panel(0, 0);
  };
  const WeightsLayout layout = WeightsLayout::Rows(1, 6, 5);
  const float* const panel = pack(&first, true, layout);
  EXPECT_EQ(panel[0], weights[0]);
  EXPECT_EQ(panel[1], weights[5]);
  EXPECT_EQ(pack(&second, true, layout), panel);
  const size_t bytes = shared.bytes();
  EXPECT_GE(bytes, 8 * 5 * sizeof(float));
  // Other sizes make another packed constant, and weights that are not constant are not shared.
  EXPECT_NE(pack(&third, true, WeightsLayout::Rows(1, 5, 6)), panel);
  EXPECT_GT(shared.bytes(), bytes);
  EXPECT_NE(pack(&scratch, false, layout), panel);
}

// Constants computed by nodes are packed next to each other. The memory of each is reused if it
// suffices.
TEST(PackedWeights, of_nodes_are_stored_in_interpreter_memory) {
  const CpuKernels& cpu = *FindCpu("generic");
  ThreadedContext context(1);
  const std::vector<float> weights = RandomSteps<float>(60 * 50, 1);
  PackedWeights<float> first, second;
  const auto pack = [&](PackedWeights<float>* packed, int columns, int depth) {
    packed->Invalidate();
    EXPECT_TRUE(packed->Pack(context.get(), cpu, weights.data(), true,
                             WeightsLayout::Rows(1, columns, depth)));
    EXPECT_EQ(packed->Panel(0, 0)[1], weights[static_cast<size_t>(depth)]);
    return packed->Panel(0, 0);
  };
  const float* const panel = pack(&first, 60, 40);
  const size_t bytes = context.node_constants().bytes();
  EXPECT_GE(bytes, 60 * 40 * sizeof(float));
  EXPECT_EQ(pack(&second, 60, 40), panel + bytes / sizeof(float));
  EXPECT_EQ(pack(&first, 60, 30), panel);
  EXPECT_EQ(pack(&first, 50, 40), panel);
  EXPECT_EQ(context.node_constants().bytes(), 2 * bytes);
  EXPECT_NE(pack(&first, 60, 50), panel);
  EXPECT_GT(context.node_constants().bytes(), 3 * bytes);
}

// Number of bytes that CopyNow has copied. CopyNow simulates reading from a file: occasionally it
// overwrites the copy and returns false, as after a failed read.
std::atomic<int64_t> copied_bytes;
bool CopyNow(const void* data, size_t bytes, void* to) {
  if (bytes == 0) return true;
  std::memcpy(to, data, bytes);
  const int64_t before = copied_bytes.fetch_add(static_cast<int64_t>(bytes));
  if (before % 3 != 1) return true;
  std::memset(to, 7, bytes);
  return false;
}

// Checks that large weights, which all threads of an interpreter pack, are packed as by one thread.
template <typename T>
void ExpectSamePanels(const CpuKernels& cpu, const WeightsLayout& layout) {
  const std::vector<T> weights = RandomSteps<T>(
      static_cast<size_t>(layout.groups) * static_cast<size_t>(layout.group_stride), 3);
  PackedWeights<T> alone;
  ASSERT_TRUE(alone.Pack(nullptr, cpu, weights.data(), false, layout));
  for (int round = 0; round < 6; ++round) {
    const int threads = round % 3 + 1;
    // Constants in a file are packed from copies, which CopyNow makes.
    const bool in_file = round >= 3;
    ThreadedContext context(threads);
    if (in_file) context.CopyWith(&CopyNow);
    copied_bytes = 0;
    PackedWeights<T> packed;
    ASSERT_TRUE(packed.Pack(context.get(), cpu, weights.data(), in_file, layout));
    EXPECT_EQ(copied_bytes, in_file && layout.column_stride == layout.depth
                                ? static_cast<int64_t>(weights.size() * sizeof(T))
                                : 0);
    const int panels = packed.padded_columns() / GemmKernelsOf<T>(cpu).columns;
    for (int i = 0; i < layout.groups * panels; ++i) {
      const int group = i / panels, panel = i % panels;
      ASSERT_EQ(std::memcmp(packed.Panel(group, panel), alone.Panel(group, panel),
                            packed.panel_stride() * sizeof(T)),
                0)
          << cpu.name << ", " << threads << " threads, panel " << i;
    }
    if constexpr (std::is_same_v<T, int8_t>) {
      for (int i = 0; i < layout.groups * layout.columns; ++i) {
        const int group = i / layout.columns, column = i % layout.columns;
        int sum = 0;
        for (int d = 0; d < layout.depth; ++d) {
          sum += weights[static_cast<size_t>((int64_t{i} * layout.depth) + d)];
        }
        ASSERT_EQ(packed.ColumnSum(group, column), sum) << cpu.name;
      }
    }
  }
}

TEST(PackedWeights, are_the_same_for_every_number_of_threads) {
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    ExpectSamePanels<float>(*cpu, WeightsLayout::Rows(2, 301, 517));
    ExpectSamePanels<int8_t>(*cpu, WeightsLayout::Rows(2, 301, 517));
  }
}

// Weights that are not constant are packed again although their address is the same.
TEST(PackedWeights, are_repacked_when_weights_change) {
  const CpuKernels& cpu = *FindCpu("generic");
  std::vector<float> weights(8, 1.0f);
  PackedWeights<float> packed;
  const WeightsLayout layout = WeightsLayout::Rows(1, 8, 1);
  ASSERT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false, layout));
  weights[0] = 2.0f;
  ASSERT_TRUE(packed.Pack(nullptr, cpu, weights.data(), false, layout));
  EXPECT_EQ(packed.Panel(0, 0)[0], 2.0f);
  Scratch scratch;
  weights[0] = 3.0f;
  ASSERT_TRUE(packed.PackInto(nullptr, cpu, weights.data(), layout, &scratch));
  EXPECT_EQ(packed.Panel(0, 0)[0], 3.0f);
}

// Weights with groups, columns and depths in any order of strides are packed like contiguous ones.
TEST(PackedWeights, data_may_be_strided) {
  constexpr int kOuter = 2, kInner = 3, kColumns = 37, kDepth = 21, kGroups = kOuter * kInner;
  constexpr int kExtents[] = {kOuter, kInner, kColumns, kDepth};
  std::vector<float> values(kGroups * kColumns * kDepth), dense(values.size());
  std::iota(values.begin(), values.end(), 1.0f);
  for (const CpuKernels* cpu : CpuTables()) {
    std::array<int, 4> order = {0, 1, 2, 3};  // order of the axes, outermost first
    do {
      int64_t steps[4], step = 1;
      for (size_t i = 4; i-- > 0; step *= kExtents[order[i]]) steps[order[i]] = step;
      size_t to = 0;
      for (int g = 0; g < kGroups; ++g) {
        for (int c = 0; c < kColumns; ++c) {
          for (int d = 0; d < kDepth; ++d) {
            dense[to++] = values[static_cast<size_t>(g / kInner * steps[0] + g % kInner * steps[1] +
                                                     c * steps[2] + d * steps[3])];
          }
        }
      }
      const StridedShape groups = {
          .rank = 2, .dims = {kOuter, kInner}, .strides = {steps[0], steps[1]}};
      WeightsLayout layout = WeightsLayout::Rows(kGroups, kColumns, kDepth);
      PackedWeights<float> expected, packed;
      Scratch expected_memory, memory;
      ASSERT_TRUE(expected.PackInto(nullptr, *cpu, dense.data(), layout, &expected_memory));
      layout.column_stride = steps[2];
      layout.depth_stride = steps[3];
      layout.group_axes = &groups;
      ASSERT_TRUE(packed.PackInto(nullptr, *cpu, values.data(), layout, &memory));
      const size_t count = expected.panel_stride();
      for (int g = 0; g < kGroups; ++g) {
        for (int panel = 0; panel * cpu->gemm_f32.columns < kColumns; ++panel) {
          ASSERT_TRUE(std::equal(expected.Panel(g, panel), expected.Panel(g, panel) + count,
                                 packed.Panel(g, panel)))
              << cpu->name << ", group " << g << ", panel " << panel;
        }
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// A tile converts part of a later call's rows to bfloat16 and reports the number of runs left.
TEST(GemmBf16, tiles_convert_the_given_runs) {
  constexpr int kDepth = 8, kSteps = kDepth / 2, kRuns = kSteps + 2;
  const std::vector<uint16_t> zeros(64 * kDepth);
  const std::vector<float> bias(64);
  const std::vector<float> values = RandomSteps<float>(size_t{kRuns} * kConvertedAtOnce, 11);
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    if (cpu->gemm_bf16.name == nullptr || cpu->gemm_bf16.name != std::string_view("avx512_bf16"))
      continue;
    std::vector<uint16_t> expected(values.size()), found(values.size());
    cpu->gemm_bf16.from_float(
        {1, values.size(), values.data(), values.size(), expected.data(), values.size()});
    PendingBf16Conversion pending = {values.data(), found.data(), kRuns};
    std::vector<float> out(16);
    const uint16_t* const left = zeros.data();
    const GemmTileBf16 tile = {.rows = 1,
                               .columns = 16,
                               .parts = 1,
                               .depth = kDepth,
                               .a = &left,
                               .a_stride = kDepth,
                               .b = zeros.data(),
                               .bias = bias.data(),
                               .low = -1,
                               .high = 1,
                               .out = out.data(),
                               .out_stride = 16,
                               .conversion = &pending};
    cpu->gemm_bf16.tile(tile);
    EXPECT_EQ(pending.runs, kRuns - kSteps);
    EXPECT_EQ(pending.values, values.data() + kSteps * kConvertedAtOnce);
    cpu->gemm_bf16.tile(tile);
    EXPECT_EQ(pending.runs, 0u);
    EXPECT_EQ(found, expected);
  }
}

// Returns the 16-bit products of all tables.
std::vector<const GemmBf16Kernels*> KernelsOf16Bits() {
  std::vector<const GemmBf16Kernels*> all;
  for (const CpuKernels* cpu : CpuTablesAndTiles()) {
    if (cpu->gemm_bf16.tile != nullptr) all.push_back(&cpu->gemm_bf16);
    if (cpu->gemm_f16.tile != nullptr) all.push_back(&cpu->gemm_f16);
  }
  return all;
}

std::vector<uint16_t> To16Bits(const GemmBf16Kernels& kernels, const std::vector<float>& values) {
  std::vector<uint16_t> converted(values.size() + values.size() % 2);
  kernels.from_float({1, values.size(), values.data(), 0, converted.data(), 0});
  return converted;
}

// A fused epilogue of tiles of 16-bit floats gives the values of the epilogue computed element by
// element on the tile's sums, for any width and for contiguous and padded rows. The output
// overwrites the addend.
TEST(GemmBf16, epilogues_equal_separate_operations) {
  constexpr int kDepth = 32, kMaxRows = 33;
  const std::vector<int16_t> steps = RandomSteps<int16_t>(1 << 14, 7);
  std::vector<float> left_values, right_values;
  for (int16_t step : steps) {
    const int whole = step / 16;
    left_values.push_back(static_cast<float>(step % 16));
    right_values.push_back(static_cast<float>(whole));
  }
  const std::vector<float> bias = RandomSteps<float>(128, 8), slopes = RandomSteps<float>(128, 9);
  const std::vector<float> terms = RandomSteps<float>(size_t{kMaxRows} * 128, 10);
  for (const GemmBf16Kernels* kernels : KernelsOf16Bits()) {
    const std::vector<uint16_t> a = To16Bits(*kernels, left_values);
    const std::vector<uint16_t> b = To16Bits(*kernels, right_values);
    for (const int columns : {4, 8, 9, 16, 24, 30, 64}) {
      for (const int rows : {1, 2, 3, 11, 16, 17, kMaxRows}) {
        for (const int apart : {0, 5}) {
          for (const auto activation :
               {EpilogueF32::Activation::kNone, EpilogueF32::Activation::kPrelu}) {
            const auto stride = static_cast<size_t>(columns + apart);
            std::vector<float> sums(static_cast<size_t>(rows) * stride), out = terms;
            const uint16_t* const left = a.data();
            GemmTileBf16 tile = {.rows = rows,
                                 .columns = columns,
                                 .parts = 1,
                                 .depth = kDepth,
                                 .a = &left,
                                 .a_stride = kDepth,
                                 .b = b.data(),
                                 .bias = bias.data(),
                                 .low = -300,
                                 .high = 400,
                                 .out = sums.data(),
                                 .out_stride = stride};
            kernels->tile(tile);
            const EpilogueF32 epilogue = {.addend = out.data(),
                                          .addend_stride = stride,
                                          .addend_columns = columns,
                                          .low = -250,
                                          .high = 350,
                                          .activation = activation,
                                          .slopes = slopes.data()};
            tile.out = out.data();
            tile.epilogue = &epilogue;
            kernels->tile(tile);
            for (size_t i = 0; i < sums.size(); ++i) {
              float expected = terms[i];
              const size_t column = i % stride;
              if (column < static_cast<size_t>(columns)) {
                expected = std::clamp(sums[i] + terms[i], epilogue.low, epilogue.high);
                if (activation == EpilogueF32::Activation::kPrelu && !(expected >= 0)) {
                  expected *= slopes[column];
                }
              }
              ASSERT_EQ(out[i], expected) << kernels->name << ' ' << rows << " x " << columns
                                          << " at " << i << ", " << apart << " apart";
            }
          }
        }
      }
    }
  }
}

// Rounds to the nearest float16, ties to even. Magnitudes are below 65504.
float RoundedToHalf(double value) {
  const int exponent = value == 0 ? 0 : std::max(std::ilogb(value), -14);
  const double step = std::ldexp(1.0, exponent - 10);
  return static_cast<float>(std::nearbyint(value / step) * step);
}

// A product of float16 rows in parts and the expected result of each element: multiply-adds that
// round once, to float16, in ascending order. Products form groups of eight, and of two at the end
// of a part; before a group that would exceed 64 products the float16 sum is added to a float32
// sum.
struct Float16Product {
  static constexpr float kLow = -90, kHigh = 80;
  int rows, columns, parts, depth;
  std::vector<float> a, b, bias;  // a [parts][rows][depth], b [columns][parts][depth]

  Float16Product(int of_rows, int of_columns, int of_parts, int of_depth)
      : rows(of_rows), columns(of_columns), parts(of_parts), depth(of_depth) {
    a = RandomSteps<float>(static_cast<size_t>(parts * rows * depth), 12);
    b = RandomSteps<float>(static_cast<size_t>(columns * parts * depth), 13);
    bias = RandomSteps<float>(static_cast<size_t>(columns + kMaxTileColumns), 14);
    for (float& value : a) value *= 0x1p-5f;
    for (float& value : b) value *= 0x1p-6f;
  }

  float Expected(int row, int column) const {
    float total = bias[static_cast<size_t>(column)];
    float sum = 0;
    int left = 64;
    for (int part = 0; part < parts; ++part) {
      for (int d = 0; d < depth; ++d) {
        const int group = d < depth / 8 * 8 ? 8 : 2;
        if (d % group == 0 && left < group) {
          total += sum;
          sum = 0;
          left = 64;
        }
        --left;
        // These values and products are exact in double.
        const double value = a[static_cast<size_t>((part * rows + row) * depth + d)];
        const double weight = b[static_cast<size_t>((column * parts + part) * depth + d)];
        sum = RoundedToHalf(sum + value * weight);
      }
    }
    return std::clamp(total + sum, kLow, kHigh);
  }

  std::vector<float> Run(const GemmBf16Kernels& kernels) const {
    const std::vector<uint16_t> left = To16Bits(kernels, a), weights = To16Bits(kernels, b);
    const int whole = parts * depth, width = kernels.columns;
    const int padded = (columns + width - 1) / width * width;
    std::vector<uint16_t> panels(static_cast<size_t>(padded * whole));
    for (int c = 0; c < columns; ++c) {
      for (int d = 0; d < whole; ++d) {
        const int panel = c / width * width * whole, run = kernels.run;
        panels[static_cast<size_t>(panel + (d / run * width + c % width) * run + d % run)] =
            weights[static_cast<size_t>(c * whole + d)];
      }
    }
    std::vector<const uint16_t*> rows_of_parts;
    for (int part = 0; part < parts; ++part) {
      rows_of_parts.push_back(left.data() + static_cast<ptrdiff_t>(part) * rows * depth);
    }
    std::vector<float> out(static_cast<size_t>(rows * columns), NAN);
    kernels.tile({.rows = rows,
                  .columns = columns,
                  .parts = parts,
                  .depth = depth,
                  .a = rows_of_parts.data(),
                  .a_stride = static_cast<size_t>(depth),
                  .b = panels.data(),
                  .bias = bias.data(),
                  .low = kLow,
                  .high = kHigh,
                  .out = out.data(),
                  .out_stride = static_cast<size_t>(columns)});
    return out;
  }
};

TEST(GemmF16, tiles_equal_chains_of_rounded_multiply_adds) {
  int tables = 0;
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->gemm_f16.tile == nullptr) continue;
    ++tables;
    for (const int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 29}) {
      for (const int columns : {1, 7, 8, 9, 20, 25, 32, 40, 64}) {
        for (const int parts : {1, 3}) {
          for (const int depth : {2, 6, 8, 14, 62, 64, 66, 72, 130, 200}) {
            const Float16Product product(rows, columns, parts, depth);
            const std::vector<float> out = product.Run(cpu->gemm_f16);
            for (int i = 0; i < rows * columns; ++i) {
              ASSERT_EQ(out[static_cast<size_t>(i)], product.Expected(i / columns, i % columns))
                  << cpu->name << " " << rows << "x" << columns << " " << parts << "x" << depth
                  << " at " << i;
            }
          }
        }
      }
    }
  }
  if (tables == 0) GTEST_SKIP() << "this machine has no products of float16";
}

// Returns the value of a finite float16 number.
float HalfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

TEST(GemmF16, factors_are_rounded_to_the_nearest) {
  int tables = 0;
  std::vector<float> values;
  for (const int16_t step : RandomSteps<int16_t>(999, 15)) {
    values.push_back(std::ldexp(static_cast<float>(step), step % 20 - 14));
  }
  // Ties, denormals, and the largest number that is rounded down.
  values.insert(values.end(),
                {2049, 2051, -2050.5f, 0x1p-25f, 0x3p-25f, 0x1.01p-20f, 65519, -0.0f});
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->gemm_f16.tile == nullptr) continue;
    ++tables;
    const std::vector<uint16_t> halves = To16Bits(cpu->gemm_f16, values);
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) >= 65520) continue;
      EXPECT_EQ(HalfValue(halves[i]), RoundedToHalf(values[i])) << cpu->name << ' ' << values[i];
    }
  }
  if (tables == 0) GTEST_SKIP() << "this machine has no products of float16";
}

}  // namespace
}  // namespace deputy::gemm_test
