// SPDX-License-Identifier: Apache-2.0
//
// Kernels for any machine: plain loops of constant length, which compilers vectorise for the
// target's baseline. Loops are unrolled explicitly, so that sums stay in registers.
#include <cstring>
#include <type_traits>

#include "kernels/common/requantize.h"
#include "kernels/cpu/groups.h"

namespace deputy {
namespace {

constexpr int kRowsF32 = 4, kColumnsF32 = 8;
constexpr int kRowsS8 = 2, kColumnsS8 = 16;

// Applies the epilogue to `count` values of a row from a column on.
void ApplyEpilogue(const EpilogueF32& epilogue, int row, int column, int count, float* values) {
  if (epilogue.addend != nullptr) {
    const FloatRange range = {epilogue.low, epilogue.high};
    const float* addend =
        epilogue.addend + static_cast<size_t>(row) * epilogue.addend_stride + column;
    const int added = std::clamp(epilogue.addend_columns - column, 0, count);
    for (int c = 0; c < added; ++c) values[c] = Clamp(values[c] + addend[c], range);
    for (int c = added; c < count; ++c) values[c] = Clamp(values[c] + 0.0f, range);
  }
  if (epilogue.activation == EpilogueF32::Activation::kPrelu) {
    const float* slopes = epilogue.slopes + column;
    for (int c = 0; c < count; ++c)
      values[c] = values[c] >= 0.0f ? values[c] : values[c] * slopes[c];
  }
  if (epilogue.activation == EpilogueF32::Activation::kHardSwish) {
    for (int c = 0; c < count; ++c) {
      values[c] = values[c] * std::min(6.0f, std::max(0.0f, values[c] + 3.0f)) / 6.0f;
    }
  }
}

template <int kRows>
void GemmF32Rows(const GemmTileF32& tile, int row) {
  for (int first = 0; first < tile.columns; first += kColumnsF32) {
    const float* b = tile.b + int64_t{first} * tile.parts * tile.depth;
    float sums[kRows][kColumnsF32];
    for (int r = 0; r < kRows; ++r) std::memcpy(sums[r], tile.bias + first, sizeof sums[r]);
    for (int part = 0; part < tile.parts; ++part) {
      const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
      for (int d = 0; d < tile.depth; ++d, b += kColumnsF32) {
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const float value = a[static_cast<size_t>(r) * tile.a_stride + static_cast<size_t>(d)];
#pragma GCC unroll 8
          for (int c = 0; c < kColumnsF32; ++c) sums[r][c] += value * b[c];
        }
      }
    }
    const int count = std::min(kColumnsF32, tile.columns - first);
    for (int r = 0; r < kRows; ++r) {
      float* out = tile.out + static_cast<size_t>(row + r) * tile.out_stride + first;
      for (float& sum : sums[r]) sum = Clamp(sum, FloatRange{tile.low, tile.high});
      if (tile.epilogue != nullptr) ApplyEpilogue(*tile.epilogue, row + r, first, count, sums[r]);
      std::copy_n(sums[r], count, out);
    }
  }
}

void GemmF32(const GemmTileF32& tile) {
  constexpr void (*kRemainder[])(const GemmTileF32&, int) = {&GemmF32Rows<1>, &GemmF32Rows<2>,
                                                             &GemmF32Rows<3>};
  int row = 0;
  for (; row + kRowsF32 <= tile.rows; row += kRowsF32) GemmF32Rows<kRowsF32>(tile, row);
  if (row < tile.rows) kRemainder[tile.rows - row - 1](tile, row);
}

void Dots(const DotTileF32& tile) {
  for (int row = 0; row < tile.rows; ++row) {
    for (int column = 0; column < tile.columns; ++column) {
      // Number of lanes of a sum, which the compiler vectorises.
      constexpr int kLanes = 8;
      float lanes[kLanes] = {};
      const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
      for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
        const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
        int d = 0;
        for (; d + kLanes <= tile.depth; d += kLanes) {
          for (int i = 0; i < kLanes; ++i) lanes[i] += a[d + i] * b[d + i];
        }
        for (int i = 0; d < tile.depth; ++d, ++i) lanes[i] += a[d] * b[d];
      }
      float sum = tile.bias == nullptr ? 0.0f : tile.bias[column];
      for (const float lane : lanes) sum += lane;
      tile.out[static_cast<size_t>(row) * tile.out_stride + static_cast<size_t>(column)] =
          Clamp(sum, FloatRange{tile.low, tile.high});
    }
  }
}

const int16_t* LeftRow(const GemmTileS8& tile, int row) {
  return reinterpret_cast<const int16_t*>(tile.a + static_cast<size_t>(row) * tile.a_stride);
}

template <int kRows>
void GemmS8Rows(const GemmTileS8& tile) {
  for (int first = 0; first < tile.columns; first += kColumnsS8) {
    const int8_t* b = tile.b + int64_t{first} * tile.depth;
    int32_t sums[kRows][kColumnsS8];
    for (int r = 0; r < kRows; ++r) std::memcpy(sums[r], tile.bias + first, sizeof sums[r]);
    for (int d = 0; d < tile.depth; ++d, b += kColumnsS8) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const int16_t a = LeftRow(tile, r)[d];
        for (int c = 0; c < kColumnsS8; ++c) {
          // The product fits in 16 bits, and every target has 16-bit vector products.
          Accumulate(&sums[r][c], static_cast<int16_t>(a * b[c]));
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
  constexpr void (*kBySize[])(const GemmTileS8&) = {&GemmS8Rows<1>, &GemmS8Rows<2>};
  kBySize[tile.rows - 1](tile);
}

void LeftFromS8(const int8_t* values, size_t count, void* out) {
  auto* wide = static_cast<int16_t*>(out);
  for (size_t i = 0; i < count; ++i) wide[i] = values[i];
}

void LeftFromU8(const uint8_t* values, size_t count, void* out) {
  auto* wide = static_cast<int16_t*>(out);
  for (size_t i = 0; i < count; ++i) wide[i] = static_cast<int16_t>(values[i] - 128);
}

// Stores function(sum, column) plus the zero point for every sum of the tile.
template <typename Function>
void ForEachSum(const RequantizeTile& tile, const Function& function) {
  for (int r = 0; r < tile.rows; ++r) {
    const int32_t* sums = tile.sums + static_cast<size_t>(r) * tile.sums_stride;
    int8_t* out = tile.out + static_cast<size_t>(r) * tile.out_stride;
    for (int c = 0; c < tile.columns; ++c) {
      out[c] = static_cast<int8_t>(function(sums[c], c) + tile.zero_point);
    }
  }
}

void RequantizeFloat(const RequantizeTile& tile) {
  const FloatRange bounds = {static_cast<float>(tile.low - tile.zero_point),
                             static_cast<float>(tile.high - tile.zero_point)};
  ForEachSum(tile, [&](int32_t sum, int c) {
    return RoundToNearestEven(Clamp(static_cast<float>(sum) * tile.factors[c], bounds));
  });
}

void RequantizeExact(const RequantizeTile& tile) {
  const IntRange bounds = {tile.low - tile.zero_point, tile.high - tile.zero_point};
  ForEachSum(tile, [&](int32_t sum, int c) {
    return Clamp(Multiply(sum, {tile.mantissas[c], tile.shifts[c]}), bounds);
  });
}

// Number of channels processed at once; a chunk's sums stay in registers.
constexpr int kChunk = 16;

// Calls chunk(first, count). Whole chunks have a constant count; the remaining channels form a
// smaller one.
template <typename Chunk>
void ForEachChunk(int channels, const Chunk& chunk) {
  int first = 0;
  for (; first + kChunk <= channels; first += kChunk) {
    chunk(first, std::integral_constant<int, kChunk>());
  }
  if (first < channels) chunk(first, channels - first);
}

void DepthwiseF32(const DepthwiseColumnsF32& in) {
  const FloatRange range = {in.low, in.high};
  float* out = in.out;
  for (int column = 0; column < in.columns; ++column, out += in.channels) {
    ForEachChunk(in.channels, [&](int first, auto count) {
      float sums[kChunk];
      for (int c = 0; c < count; ++c) sums[c] = in.bias[first + c];
      for (int row = 0; row < in.rows; ++row) {
        const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
        const float* weights = in.weights[row] + first;
        for (int tap = 0; tap < in.taps; ++tap) {
          for (int c = 0; c < count; ++c) sums[c] += input[c] * weights[c];
          input += in.tap_step;
          weights += in.weight_step;
        }
      }
      for (int c = 0; c < count; ++c) sums[c] = Clamp(sums[c], range);
      if (in.epilogue != nullptr) ApplyEpilogue(*in.epilogue, column, first, count, sums);
      for (int c = 0; c < count; ++c) out[first + c] = sums[c];
    });
  }
}

void DepthwiseS8(const DepthwisePixelS8& pixel) {
  ForEachChunk(pixel.channels, [&](int first, auto count) {
    int32_t sums[kChunk];
    for (int c = 0; c < count; ++c) sums[c] = pixel.bias[first + c];
    for (int tap = 0; tap < pixel.taps; ++tap) {
      const int8_t* in = pixel.inputs[tap] + first;
      const int8_t* weights = pixel.weights + int64_t{tap} * pixel.channels + first;
      for (int c = 0; c < count; ++c) {
        Accumulate(&sums[c], static_cast<int16_t>(in[c] * weights[c]));
      }
    }
    for (int c = 0; c < count; ++c) pixel.sums[first + c] = sums[c];
  });
}

void HalfToFloat(const uint16_t* values, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t half = values[i];
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t exponent = half >> 10 & 31u, mantissa = half & 0x3ffu;
    uint32_t bits;
    if (exponent == 0) {
      // Zero or subnormal: a multiple of 2^-24.
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

constexpr GemmF32Kernels kGemmF32Generic = {
    .name = "generic", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};
constexpr GemmS8Kernels kGemmS8Generic = {.name = "generic",
                                          .rows = kRowsS8,
                                          .columns = kColumnsS8,
                                          .run = 1,
                                          .left = LhsEncoding::kInt16,
                                          .left_from_s8 = &LeftFromS8,
                                          .left_from_u8 = &LeftFromU8,
                                          .tile = &GemmS8};
constexpr RequantizeKernels kRequantizeGeneric = {
    .name = "generic", .in_float = &RequantizeFloat, .exact = &RequantizeExact};
constexpr DepthwiseF32Kernels kDepthwiseF32Generic = {.name = "generic", .columns = &DepthwiseF32};
constexpr DepthwiseS8Kernels kDepthwiseS8Generic = {
    .name = "generic", .left = LhsEncoding::kInt16, .pixel = &DepthwiseS8, .pack = nullptr};
constexpr HalfKernels kHalfGeneric = {.name = "generic", .to_float = &HalfToFloat};

}  // namespace deputy
