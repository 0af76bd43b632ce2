// SPDX-License-Identifier: Apache-2.0
//
// Compares GemmF32Kernels::tile and dots of every CPU table with plain loops: rows and columns
// around every tile's edges, depths in parts, and epilogues. Numbers are integers, so that results
// are exact.
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/linalg/gemm.h"

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::gemm_tiles_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUntouched = 12345.5f;

using Floats = std::vector<float>;
using Activation = EpilogueF32::Activation;
// Columns that have an addend; with kSome, the other columns' addends are zero.
enum class Added { kNone, kAll, kSome };

struct Tile {
  int rows, columns, parts, depth;
  float low = -kInfinity, high = kInfinity;
  Added added = Added::kNone;
  Activation activation = Activation::kNone;
  int gap = 3;  // columns after the tile in each row of the output

  size_t Count(int a, int b) const { return static_cast<size_t>(a) * static_cast<size_t>(b); }
  // Distance between rows of the left operand. Consecutive rows overlap, as windows do; parts are
  // separate.
  int row_step() const { return 1 + depth / 2; }
  size_t part_values() const { return Count(rows, row_step()) + static_cast<size_t>(depth); }
  bool adds() const { return added != Added::kNone; }
  int addend_columns() const { return added == Added::kAll ? columns : columns - columns / 5; }
  int out_columns() const { return columns + gap; }
};

Floats Whole(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  Floats made(count);
  for (float& value : made) value = static_cast<float>(static_cast<int>(engine() % 31) - 15);
  return made;
}

struct Numbers {
  Floats a, weights, bias, addend, slopes;

  explicit Numbers(const Tile& t)
      : a(Whole(t.part_values() * static_cast<size_t>(t.parts), 1)),
        weights(Whole(t.Count(t.columns, t.parts * t.depth), 2)),
        bias(Whole(static_cast<size_t>(t.columns) + kMaxTileColumns, 3)),
        addend(Whole(t.Count(t.rows, t.out_columns()), 4)),
        slopes(Whole(static_cast<size_t>(t.columns), 5)) {}
};

constexpr float kSumLow = -40, kSumHigh = 900;

float Clamped(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return high < raised ? high : raised;
}

float Expected(const Tile& t, const Numbers& n, int row, int column) {
  const auto c = static_cast<size_t>(column);
  float x = n.bias[c];
  for (int part = 0; part < t.parts; ++part) {
    const float* const a =
        n.a.data() + t.part_values() * static_cast<size_t>(part) + t.Count(row, t.row_step());
    const float* const b = n.weights.data() + t.Count(column * t.parts + part, t.depth);
    for (int d = 0; d < t.depth; ++d) x += a[d] * b[d];
  }
  x = Clamped(x, t.low, t.high);
  if (t.adds()) {
    const float term =
        column < t.addend_columns() ? n.addend[t.Count(row, t.out_columns()) + c] : 0.0f;
    x = Clamped(x + term, kSumLow, kSumHigh);
  }
  if (t.activation == Activation::kPrelu) return x >= 0 ? x : x * n.slopes[c];
  if (t.activation == Activation::kHardSwish) return x * Clamped(x + 3, 0, 6) / 6;
  return x;
}

// Computes a tile with a CPU table. The addend is in the output's memory. Prefetching must not
// change results.
Floats ByTable(const CpuKernels& cpu, const Tile& t, const Numbers& n, bool fetches) {
  PackedWeights<float> packed;
  EXPECT_TRUE(packed.Pack(nullptr, cpu, n.weights.data(), false,
                          WeightsLayout::Rows(1, t.columns, t.parts * t.depth)));
  std::vector<const float*> parts;
  for (int part = 0; part < t.parts; ++part) {
    parts.push_back(n.a.data() + t.part_values() * static_cast<size_t>(part));
  }
  Floats out = t.adds() ? n.addend : Floats(n.addend.size(), kUntouched);
  EpilogueF32 epilogue;
  if (t.adds()) {
    epilogue.addend = out.data();
    epilogue.addend_stride = static_cast<size_t>(t.out_columns());
    epilogue.addend_columns = t.addend_columns();
    epilogue.low = kSumLow;
    epilogue.high = kSumHigh;
  }
  epilogue.activation = t.activation;
  epilogue.slopes = n.slopes.data();
  const bool follows = t.adds() || t.activation != Activation::kNone;
  cpu.gemm_f32.tile({t.rows, t.columns, t.parts, t.depth, parts.data(),
                     static_cast<size_t>(t.row_step()), packed.Panel(0, 0), n.bias.data(), t.low,
                     t.high, out.data(), static_cast<size_t>(t.out_columns()),
                     follows ? &epilogue : nullptr, fetches ? packed.Panel(0, 0) : nullptr});
  return out;
}

// Returns the number of outputs that differ from plain loops.
int Differences(const CpuKernels& cpu, const Tile& t) {
  const Numbers numbers(t);
  const Floats out = ByTable(cpu, t, numbers, false);
  int count = ByTable(cpu, t, numbers, true) == out ? 0 : 1;
  for (int row = 0; row < t.rows; ++row) {
    for (int column = 0; column < t.out_columns(); ++column) {
      const size_t i = t.Count(row, t.out_columns()) + static_cast<size_t>(column);
      const float untouched = t.adds() ? numbers.addend[i] : kUntouched;
      const float expected = column < t.columns ? Expected(t, numbers, row, column) : untouched;
      if (out[i] != expected) ++count;
    }
  }
  return count;
}

void ExpectSame(const Tile& t) {
  for (const CpuKernels* cpu : CpuTables()) {
    EXPECT_EQ(Differences(*cpu, t), 0)
        << cpu->name << ": " << t.rows << "x" << t.columns << ", " << t.parts << " parts of "
        << t.depth << ", added " << static_cast<int>(t.added) << ", curve "
        << static_cast<int>(t.activation);
  }
}

TEST(GemmTiles, of_all_sizes_equal_plain_loops) {
  for (int columns = 1; columns <= kMaxTileColumns; ++columns) {
    for (int rows = 1; rows <= 27; ++rows) {
      ExpectSame({rows, columns, 1, 5});
      ExpectSame({rows, columns, 3, 4, 0.0f, kInfinity});
    }
  }
}

TEST(GemmTiles, have_the_epilogues_of_plain_loops) {
  for (int columns : {1, 3, 7, 8, 13, 16, 17, 19, 20, 21, 22, 23, 24, 25, 28, 31, 40, 52, 56, 64}) {
    for (int rows : {1, 3, 4, 6, 7, 12, 15}) {
      for (const Added added : {Added::kNone, Added::kAll, Added::kSome}) {
        for (const Activation activation :
             {Activation::kNone, Activation::kPrelu, Activation::kHardSwish}) {
          ExpectSame({rows, columns, 2, 9, -700.0f, 600.0f, added, activation});
        }
      }
    }
  }
}

// Tiles that are products of x and 1, whose epilogue is HARD_SWISH of x: floats of all exponents,
// so that a quotient by 6 that is computed without a division would have to be rounded correctly.
TEST(GemmTiles, hard_swish_equals_the_division) {
  constexpr int kRows = 64;
  const Floats bias(2 * kMaxTileColumns, 0.0f), weights(2 * kMaxTileColumns, 1.0f);
  EpilogueF32 epilogue;
  epilogue.activation = Activation::kHardSwish;
  for (const CpuKernels* cpu : CpuTables()) {
    const int columns = cpu->gemm_f32.columns;
    // NEON of 32-bit ARM replaces denormals by 0.
    const bool flushes = std::string_view(cpu->name) == "neon32";
    Floats x(kRows), out(static_cast<size_t>(kRows * columns));
    const float* const part = x.data();
    std::mt19937 engine(1);
    for (int pass = 0; pass < 4096; ++pass) {
      for (float& value : x) {
        // 16 exponents per pass, so that most tiles have no tiny number
        const auto bits = static_cast<uint32_t>(engine());
        const uint32_t exponent = static_cast<uint32_t>(pass) % 16 * 16 + bits % 16;
        value = std::bit_cast<float>((bits & 0x807fffff) | exponent << 23);
      }
      cpu->gemm_f32.tile({kRows, columns, 1, 1, &part, 1, weights.data(), bias.data(), -kInfinity,
                          kInfinity, out.data(), static_cast<size_t>(columns), &epilogue});
      for (size_t i = 0; i < out.size(); ++i) {
        const float value = x[i / static_cast<size_t>(columns)];
        const float expected = value * Clamped(value + 3, 0, 6) / 6;
        const bool is_flushed = flushes && std::abs(expected) < FLT_MIN && out[i] == 0;
        ASSERT_TRUE(out[i] == expected || is_flushed ||
                    (std::isnan(out[i]) && std::isnan(expected)))
            << cpu->name << ": HARD_SWISH of " << value << " is " << out[i] << ", expected "
            << expected;
      }
    }
  }
}

// Rows that are contiguous in the output can be stored together.
TEST(GemmTiles, support_row_strides) {
  for (int columns : {4, 7, 8, 9, 16, 24}) {
    for (int rows : {2, 15, 16, 17, 33, 48}) {
      for (const Added added : {Added::kNone, Added::kAll, Added::kSome}) {
        for (const Activation activation :
             {Activation::kNone, Activation::kPrelu, Activation::kHardSwish}) {
          for (const int depth : {3, 4, 8, 11}) {
            Tile tile = {rows, columns, 2, depth, -700.0f, 600.0f, added, activation};
            ExpectSame(tile);
            tile.gap = 0;
            ExpectSame(tile);
          }
        }
      }
    }
  }
}

TEST(GemmTiles, without_depth_equal_their_bias) {
  for (int columns : {8, 16, 24, 40}) ExpectSame({5, columns, 1, 0});
}

// Calls with the width that ColumnsPerCall returns must compute every column of a product once.
TEST(GemmTiles, calls_cover_all_columns_once) {
  for (const int panel : {8, 16, 32}) {
    const GemmF32Kernels kernels = {.rows = 6, .columns = panel};
    for (int columns = 1; columns <= 4 * panel; ++columns) {
      for (const int rows : {1, 6, 7, 1000}) {
        const int most = rows <= 6 ? kMaxTileColumns : panel + panel / 2;
        int done = 0;
        for (int taken; done < columns; done += taken) {
          EXPECT_EQ(done % panel, 0);
          taken = ColumnsPerCall(kernels, rows, columns - done);
          ASSERT_GE(taken, 1);
          EXPECT_LE(taken, most);
        }
        EXPECT_EQ(done, columns);
      }
    }
  }
}

// Returns the number of dot products that differ from plain loops. Contents are integers, so that
// the order of lanes does not matter; the output has no extra column, or one.
int DotDifferences(const CpuKernels& cpu, const Tile& t, bool has_bias) {
  const Numbers n(t);
  std::vector<const float*> parts;
  for (int part = 0; part < t.parts; ++part) {
    parts.push_back(n.a.data() + t.part_values() * static_cast<size_t>(part));
  }
  for (const int out_columns : {t.columns, t.columns + 1}) {
    Floats out(t.Count(t.rows, out_columns), kUntouched);
    cpu.gemm_f32.dots({t.rows, t.columns, t.parts, t.depth, parts.data(),
                       static_cast<size_t>(t.row_step()), n.weights.data(),
                       t.Count(t.parts, t.depth), has_bias ? n.bias.data() : nullptr, t.low, t.high,
                       out.data(), static_cast<size_t>(out_columns)});
    Numbers expected = n;
    if (!has_bias) std::fill(expected.bias.begin(), expected.bias.end(), 0.0f);
    for (int row = 0; row < t.rows; ++row) {
      for (int column = 0; column < out_columns; ++column) {
        const float found = out[t.Count(row, out_columns) + static_cast<size_t>(column)];
        const float value = column < t.columns ? Expected(t, expected, row, column) : kUntouched;
        if (found != value) return 1;
      }
    }
  }
  return 0;
}

TEST(GemmTiles, dot_products_equal_plain_loops) {
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->gemm_f32.dots == nullptr) continue;
    for (const int rows : {1, 3, 4, 7, 15, 16, 17, 20, 37}) {
      for (const int depth : {1, 7, 8, 9, 15, 16, 17, 24, 25, 32, 71}) {
        for (int parts = 1; parts <= 3; ++parts) {
          Tile tile = {rows, 1 + depth % 3, parts, depth};
          EXPECT_EQ(DotDifferences(*cpu, tile, true), 0)
              << cpu->name << ": " << rows << " rows of " << parts << " parts of " << depth;
          tile.low = -20;
          tile.high = 300;
          EXPECT_EQ(DotDifferences(*cpu, tile, false), 0)
              << cpu->name << ": " << rows << " rows of " << parts << " parts of " << depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace deputy::gemm_tiles_test
