// SPDX-License-Identifier: Apache-2.0
//
// The table for any machine: plain loops of constant length, which compilers turn into whatever
// vectors the target always has. The unrolling is asked for, so that sums stay in registers.
#include <cstring>

#include "kernels/cpu.h"
#include "kernels/requantize.h"

namespace deputy {
namespace {

constexpr int kRowsF32 = 4, kColumnsF32 = 8;
constexpr int kRowsS8 = 4, kColumnsS8 = 8;

template <int kRows>
void GemmF32Rows(const GemmTileF32& tile) {
  for (int first = 0; first < tile.columns; first += kColumnsF32) {
    const float* b = tile.b + int64_t{first} * tile.depth;
    float sums[kRows][kColumnsF32];
    for (int r = 0; r < kRows; ++r) std::memcpy(sums[r], tile.bias + first, sizeof sums[r]);
    for (int d = 0; d < tile.depth; ++d, b += kColumnsF32) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const float a = tile.a[static_cast<size_t>(r) * tile.a_stride + static_cast<size_t>(d)];
#pragma GCC unroll 8
        for (int c = 0; c < kColumnsF32; ++c) sums[r][c] += a * b[c];
      }
    }
    const int count = std::min(kColumnsF32, tile.columns - first);
    for (int r = 0; r < kRows; ++r) {
      float* out = tile.out + static_cast<size_t>(r) * tile.out_stride + first;
      for (int c = 0; c < count; ++c) out[c] = Clamp(sums[r][c], FloatRange{tile.low, tile.high});
    }
  }
}

void GemmF32(const GemmTileF32& tile) {
  constexpr void (*kBySize[])(const GemmTileF32&) = {&GemmF32Rows<1>, &GemmF32Rows<2>,
                                                     &GemmF32Rows<3>, &GemmF32Rows<4>};
  kBySize[tile.rows - 1](tile);
}

template <int kRows>
void GemmS8Rows(const GemmTileS8& tile) {
  for (int first = 0; first < tile.columns; first += kColumnsS8) {
    const int8_t* b = tile.b + int64_t{first} * tile.pairs * 2;
    int32_t sums[kRows][kColumnsS8];
    for (int r = 0; r < kRows; ++r) std::memcpy(sums[r], tile.bias + first, sizeof sums[r]);
    for (int p = 0; p < tile.pairs; ++p, b += 2 * kColumnsS8) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const int16_t* a = tile.a + static_cast<size_t>(r) * tile.a_stride + 2 * p;
        const int32_t a0 = a[0], a1 = a[1];
#pragma GCC unroll 8
        for (int c = 0; c < kColumnsS8; ++c) {
          Accumulate(&sums[r][c], a0 * b[2 * c] + a1 * b[2 * c + 1]);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      std::memcpy(tile.sums + static_cast<size_t>(r) * tile.sums_stride + first, sums[r],
                  sizeof sums[r]);
    }
  }
}

void GemmS8(const GemmTileS8& tile) {
  constexpr void (*kBySize[])(const GemmTileS8&) = {&GemmS8Rows<1>, &GemmS8Rows<2>, &GemmS8Rows<3>,
                                                    &GemmS8Rows<4>};
  kBySize[tile.rows - 1](tile);
}

void WidenS8(const int8_t* values, size_t count, int16_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = values[i];
}

void RequantizeFloat(const RequantizeRow& row) {
  const FloatRange bounds = {static_cast<float>(row.low - row.zero_point),
                             static_cast<float>(row.high - row.zero_point)};
  for (int i = 0; i < row.count; ++i) {
    const float steps = Clamp(static_cast<float>(row.sums[i]) * row.factors[i], bounds);
    row.out[i] = static_cast<int8_t>(RoundToNearestEven(steps) + row.zero_point);
  }
}

void RequantizeExact(const RequantizeRow& row) {
  const IntRange bounds = {row.low - row.zero_point, row.high - row.zero_point};
  for (int i = 0; i < row.count; ++i) {
    const int32_t steps = Clamp(Multiply(row.sums[i], {row.mantissas[i], row.shifts[i]}), bounds);
    row.out[i] = static_cast<int8_t>(steps + row.zero_point);
  }
}

// Channels are taken in chunks of this many, so that a chunk's sums stay in registers.
constexpr int kChunk = 16;

void DepthwiseF32(const DepthwisePixelF32& pixel) {
  const FloatRange range = {pixel.low, pixel.high};
  for (int first = 0; first < pixel.channels; first += kChunk) {
    const int count = std::min(kChunk, pixel.channels - first);
    float sums[kChunk];
    std::memcpy(sums, pixel.bias + first, static_cast<size_t>(count) * sizeof(float));
    for (int tap = 0; tap < pixel.taps; ++tap) {
      const float* in = pixel.inputs[tap] + first;
      const float* weights = pixel.weights[tap] + first;
      if (count == kChunk) {
        for (int c = 0; c < kChunk; ++c) sums[c] += in[c] * weights[c];
      } else {
        for (int c = 0; c < count; ++c) sums[c] += in[c] * weights[c];
      }
    }
    for (int c = 0; c < count; ++c) pixel.out[first + c] = Clamp(sums[c], range);
  }
}

void DepthwiseS8(const DepthwisePixelS8& pixel) {
  for (int first = 0; first < pixel.channels; first += kChunk) {
    const int count = std::min(kChunk, pixel.channels - first);
    int32_t* sums = pixel.sums + first;
    std::memcpy(sums, pixel.bias + first, static_cast<size_t>(count) * sizeof(int32_t));
    for (int tap = 0; tap < pixel.taps; ++tap) {
      const int8_t* in = pixel.inputs[tap] + first;
      const int8_t* weights = pixel.weights + int64_t{tap} * pixel.channels + first;
      for (int c = 0; c < count; ++c) Accumulate(&sums[c], in[c] * weights[c]);
    }
  }
}

void HalfToFloat(const uint16_t* values, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t half = values[i];
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t exponent = half >> 10 & 31u, mantissa = half & 0x3ffu;
    uint32_t bits;
    if (exponent == 0) {
      // Zero or subnormal: a whole number of 2^-24.
      const float value = static_cast<float>(mantissa) * 0x1p-24f;
      std::memcpy(&bits, &value, sizeof bits);
    } else if (exponent == 31) {
      bits = 0x7f800000u | mantissa << 13 | (mantissa != 0 ? 0x400000u : 0u);
    } else {
      bits = (exponent + 112) << 23 | mantissa << 13;
    }
    bits |= sign;
    std::memcpy(&out[i], &bits, sizeof bits);
  }
}

}  // namespace

constexpr CpuKernels kGenericKernels = {
    .name = "generic",
    .f32_rows = kRowsF32,
    .f32_columns = kColumnsF32,
    .gemm_f32 = &GemmF32,
    .s8_rows = kRowsS8,
    .s8_columns = kColumnsS8,
    .gemm_s8 = &GemmS8,
    .widen_s8 = &WidenS8,
    .requantize_float = &RequantizeFloat,
    .requantize_exact = &RequantizeExact,
    .depthwise_f32 = &DepthwiseF32,
    .depthwise_s8 = &DepthwiseS8,
    .half_to_float = &HalfToFloat,
};

}  // namespace deputy
