// SPDX-License-Identifier: Apache-2.0
//
// AttentionKernels for AVX-512. Everything is in the unnamed namespace, and only always-inlined
// functions of shared headers are used, because this file is compiled for this instruction set.
#include "kernels/common/float_math.h"
#include "kernels/cpu/groups.h"
#include "kernels/vector/wide.inc"

namespace deputy {
namespace {

// Clamps lanes to a range; NaN passes.
struct LaneBounds {
  FloatVector low, high;
  LaneBounds(float low_bound, float high_bound)
      : low(BoundVector(low_bound)), high(BoundVector(high_bound)) {}
  [[gnu::always_inline]] inline FloatVector operator()(FloatVector x) const {
    const FloatVector raised = x < low ? low : x;
    return high < raised ? high : raised;
  }
};

// ---- Products ---------------------------------------------------------------------------------

// Maximum number of columns whose sums are in registers.
constexpr int kMaxLaneColumns = 24;

[[gnu::always_inline]] inline void AddProduct(FloatVector* sum, const float* weight,
                                              FloatVector values) {
  __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(values), "m"(*weight));
}

template <int kColumns>
void MultiplyColumns(const LaneTileF32& tile, const float* weights, float* out) {
  FloatVector sums[kColumns] = {};
  const float* left = tile.left;
  for (int d = 0; d < tile.depth; ++d, weights += tile.panel_columns, left += kVectorFloats) {
    const FloatVector values = LoadVector(left);
#pragma GCC unroll 24
    for (int c = 0; c < kColumns; ++c) AddProduct(&sums[c], weights + c, values);
  }
  const LaneBounds clamp(tile.low, tile.high);
#pragma GCC unroll 24
  for (int c = 0; c < kColumns; ++c) StoreVector(clamp(sums[c]), out + c * kVectorFloats);
}

template <int... kFours>
struct ColumnFunctions {
  static constexpr void (*kByFours[])(const LaneTileF32&, const float*,
                                      float*) = {&MultiplyColumns<4 * kFours>...};
};
using LaneColumns = ColumnFunctions<1, 2, 3, 4, 5, 6>;

// Computes a panel in blocks of the same size, a multiple of four.
void MultiplyPanel(const LaneTileF32& tile, const float* panel, int columns, float* out) {
  const int blocks = (columns + kMaxLaneColumns - 1) / kMaxLaneColumns;
  const int fours = (columns + 4 * blocks - 1) / (4 * blocks);
  for (int first = 0; first < columns; first += 4 * fours) {
    LaneColumns::kByFours[fours - 1](tile, panel + first, out + first * kVectorFloats);
  }
}

void MultiplyByLanes(const LaneTileF32& tile) {
  const float* panel = tile.panels;
  float* out = tile.out;
  for (int left = tile.columns; left > 0; left -= tile.panel_columns) {
    MultiplyPanel(tile, panel, left < tile.panel_columns ? left : tile.panel_columns, out);
    panel += tile.panel_stride;
    out += tile.panel_columns * kVectorFloats;
  }
}

// ---- Sums -------------------------------------------------------------------------------------

void AddByLanes(const LaneSumF32& sum) {
  const LaneBounds clamp(sum.low, sum.high);
  const float* const* rows = sum.rows;
  float* values = sum.values;
  bool same = true;
  for (int l = 1; l < kVectorFloats; ++l) same = same && rows[l] == rows[0];
  if (same) {
    for (int i = 0; i < sum.count; ++i, values += kVectorFloats) {
      StoreVector(clamp(LoadVector(values) + rows[0][i]), values);
    }
    return;
  }
  constexpr int kChunk = 16;
  alignas(kVectorBytes) float chunk[kChunk * kVectorFloats];
  for (int first = 0; first < sum.count; first += kChunk) {
    const int here = sum.count - first < kChunk ? sum.count - first : kChunk;
    for (int l = 0; l < kVectorFloats; ++l) {
      for (int i = 0; i < here; ++i) chunk[i * kVectorFloats + l] = rows[l][first + i];
    }
    for (int i = 0; i < here; ++i, values += kVectorFloats) {
      StoreVector(clamp(LoadVector(values) + LoadVector(chunk + i * kVectorFloats)), values);
    }
  }
}

// ---- Softmax ----------------------------------------------------------------------------------

// Number of partial sums of VectorKernels::softmax.
constexpr int kPartialSums = 16;

FloatVector LargestOfLanes(const float* values, int count) {
  Wide wide = Wide::All(-3.402823466e38f);
  int i = 0;
  for (; i + 4 <= count; i += 4) wide = MaxOf(wide, Wide::Load(values + i * kVectorFloats));
  FloatVector largest = MaxOf(MaxOf(wide.a, wide.b), MaxOf(wide.c, wide.d));
  for (; i < count; ++i) largest = MaxOf(largest, LoadVector(values + i * kVectorFloats));
  return largest;
}

FloatVector SumOfParts(const FloatVector (&parts)[kPartialSums]) {
  FloatVector eight[8], four[4];
  for (int j = 0; j < 8; ++j) eight[j] = parts[j] + parts[j + 8];
  for (int j = 0; j < 4; ++j) four[j] = eight[j] + eight[j + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

void SoftmaxByLanes(float* values, int count, float beta) {
  const FloatVector vector = LargestOfLanes(values, count);
  const Wide largest = {vector, vector, vector, vector};
  const float factor = beta * 1.44269504f;
  FloatVector parts[kPartialSums] = {};
  for (int first = 0; first < count; first += 4) {
    float* const at = values + first * kVectorFloats;
    const Wide powers = FastPowerOfNegative((Wide::Load(at) - largest) * factor);
    powers.Store(at);
    FloatVector* const part = parts + first % kPartialSums;
    part[0] += powers.a;
    if (first + 1 < count) part[1] += powers.b;
    if (first + 2 < count) part[2] += powers.c;
    if (first + 3 < count) part[3] += powers.d;
  }
  const FloatVector share = 1.0f / SumOfParts(parts);
  for (int i = 0; i < count; ++i, values += kVectorFloats) {
    StoreVector(LoadVector(values) * share, values);
  }
}

}  // namespace

constexpr AttentionKernels kAttentionAvx512 = {.name = "avx512",
                                               .lanes = kVectorFloats,
                                               .multiply = &MultiplyByLanes,
                                               .add = &AddByLanes,
                                               .softmax = &SoftmaxByLanes};

}  // namespace deputy
