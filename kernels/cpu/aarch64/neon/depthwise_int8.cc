// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions for AArch64: products of 16 channels in 16 bits, of two taps at once
// unless they could overflow, added in 32 bits.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

constexpr int kLanesS8 = 16;
// Size of the header of packed weights. Its first byte is 1 if no weight is -128, so that the sum
// of two products fits in 16 bits.
constexpr size_t kHeaderBytes = 16;

// ---- Packing ------------------------------------------------------------------------------------

constexpr int BlocksOf(int channels) { return (channels + kLanesS8 - 1) / kLanesS8; }

// Packs weights as [block of 16 channels][tap][channel] after the header.
size_t PackDepthwise(const int8_t* weights, int taps, int channels, int period, int8_t* out) {
  const int blocks = BlocksOf(period);
  if (out != nullptr) {
    bool fits = true;
    int8_t* to = out + kHeaderBytes;
    for (int block = 0; block < blocks; ++block) {
      for (int t = 0; t < taps; ++t) {
        for (int i = 0; i < kLanesS8; ++i) {
          const int c = block * kLanesS8 + i;
          const int8_t weight = c < period ? weights[t * channels + c % channels] : int8_t{0};
          fits = fits && weight != -128;
          *to++ = weight;
        }
      }
    }
    std::memset(out, fits ? 1 : 0, kHeaderBytes);
  }
  return kHeaderBytes + static_cast<size_t>(blocks) * static_cast<size_t>(taps) * kLanesS8;
}

void Order(const int32_t* values, int channels, int period, int32_t* out) {
  const int padded = BlocksOf(period) * kLanesS8;
  for (int c = 0; c < padded; ++c) out[c] = c < period ? values[c % channels] : 0;
}

// ---- Sums ---------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void AddWide(int32x4_t* sums, int16x8_t products) {
  sums[0] = vaddw_s16(sums[0], vget_low_s16(products));
  sums[1] = vaddw_high_s16(sums[1], products);
}

// Adds the products of two taps, which fit in 16 bits together.
[[gnu::always_inline]] inline void AddTwoTaps(int8x16_t x0, int8x16_t w0, int8x16_t x1,
                                              int8x16_t w1, int32x4_t* sums) {
  const int16x8_t low = vmull_s8(vget_low_s8(x0), vget_low_s8(w0));
  AddWide(sums, vmlal_s8(low, vget_low_s8(x1), vget_low_s8(w1)));
  AddWide(sums + 2, vmlal_high_s8(vmull_high_s8(x0, w0), x1, w1));
}

// Adds the products of all taps of 16 channels, of which `count` exist. `offset` is added to the
// address of each tap.
[[gnu::always_inline]] inline void AddTaps(const int8_t* const* inputs, size_t offset, int taps,
                                           const int8_t* weights, bool pairs, int count,
                                           int32x4_t (&sums)[4]) {
  int t = 0;
  if (pairs) {
    for (; t + 2 <= taps; t += 2, weights += 2 * kLanesS8) {
      AddTwoTaps(LoadBytes(inputs[t] + offset, count), vld1q_s8(weights),
                 LoadBytes(inputs[t + 1] + offset, count), vld1q_s8(weights + kLanesS8), sums);
    }
  }
  for (; t < taps; ++t, weights += kLanesS8) {
    const int8x16_t x = LoadBytes(inputs[t] + offset, count), w = vld1q_s8(weights);
    AddWide(sums, vmull_s8(vget_low_s8(x), vget_low_s8(w)));
    AddWide(sums + 2, vmull_high_s8(x, w));
  }
}

// ---- Pixels and columns -------------------------------------------------------------------------

void DepthwisePixel(const DepthwisePixelS8& pixel) {
  const bool pairs = pixel.weights[0] != 0;
  const int8_t* weights = pixel.weights + kHeaderBytes;
  for (int c = 0; c < pixel.channels; c += kLanesS8, weights += pixel.taps * kLanesS8) {
    const int count = Min(kLanesS8, pixel.channels - c);
    const size_t bytes = static_cast<size_t>(count) * sizeof(int32_t);
    int32_t values[kLanesS8] = {};
    std::memcpy(values, pixel.bias + c, bytes);
    int32x4_t sums[4];
    for (int v = 0; v < 4; ++v) sums[v] = vld1q_s32(values + 4 * v);
    AddTaps(pixel.inputs, static_cast<size_t>(c), pixel.taps, weights, pairs, count, sums);
    for (int v = 0; v < 4; ++v) vst1q_s32(values + 4 * v, sums[v]);
    std::memcpy(pixel.sums + c, values, bytes);
  }
}

// Computes `count` of 16 channels from c on, of one column.
[[gnu::always_inline]] inline void DepthwiseBlock(const DepthwiseColumnsS8& in,
                                                  const Requantization& requantization, int column,
                                                  int c, int count, const int8_t* weights) {
  int32x4_t sums[4];
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) sums[v] = vld1q_s32(in.bias + c + 4 * v);
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(c);
  AddTaps(in.inputs, offset, in.taps, weights, in.weights[0] != 0, count, sums);
  const float* f = in.factors + c;
  const int8x16_t bytes =
      requantization.Apply({{sums[0], sums[1]}}, {{vld1q_f32(f), vld1q_f32(f + 4)}},
                           {{sums[2], sums[3]}}, {{vld1q_f32(f + 8), vld1q_f32(f + 12)}});
  int8_t* out = in.out + static_cast<size_t>(column) * static_cast<size_t>(in.channels) + c;
  StoreBytes(bytes, out, count);
}

// Number of taps of a filter of 3 x 3, whose weights stay in registers for all columns.
constexpr int kFixedTaps = 9;

// Computes 16 channels from c on, of all columns, with kFixedTaps taps whose products fit in pairs.
void DepthwiseFixedTaps(const DepthwiseColumnsS8& in, Requantization requantization, int c,
                        const int8_t* weights) {
  constexpr int kLast = kFixedTaps - 1;
  const int8_t* inputs[kFixedTaps];
  int8x16_t w[kFixedTaps];
#pragma GCC unroll 9
  for (int t = 0; t < kFixedTaps; ++t) {
    inputs[t] = in.inputs[t] + c;
    w[t] = vld1q_s8(weights + t * kLanesS8);
  }
  const int32_t* bias = in.bias + c;
  const float32x4x4_t f = vld1q_f32_x4(in.factors + c);
  int8_t* out = in.out + c;
  for (int column = 0; column < in.columns; ++column, out += in.channels) {
    const size_t at = static_cast<size_t>(column) * in.column_step;
    int32x4_t sums[4] = {vld1q_s32(bias), vld1q_s32(bias + 4), vld1q_s32(bias + 8),
                         vld1q_s32(bias + 12)};
#pragma GCC unroll 4
    for (int t = 0; t < kLast; t += 2) {
      AddTwoTaps(vld1q_s8(inputs[t] + at), w[t], vld1q_s8(inputs[t + 1] + at), w[t + 1], sums);
    }
    const int8x16_t x = vld1q_s8(inputs[kLast] + at);
    AddWide(sums, vmull_s8(vget_low_s8(x), vget_low_s8(w[kLast])));
    AddWide(sums + 2, vmull_high_s8(x, w[kLast]));
    vst1q_s8(out, requantization.Apply({{sums[0], sums[1]}}, {{f.val[0], f.val[1]}},
                                       {{sums[2], sums[3]}}, {{f.val[2], f.val[3]}}));
  }
}

void DepthwiseColumns(const DepthwiseColumnsS8& in) {
  const Requantization requantization(in);
  const int8_t* weights = in.weights + kHeaderBytes;
  const bool fixed = in.taps == kFixedTaps && in.weights[0] != 0;
  for (int c = 0; c < in.channels; c += kLanesS8, weights += in.taps * kLanesS8) {
    const int count = Min(kLanesS8, in.channels - c);
    if (fixed && count == kLanesS8) {
      DepthwiseFixedTaps(in, requantization, c, weights);
      continue;
    }
    for (int column = 0; column < in.columns; ++column) {
      DepthwiseBlock(in, requantization, column, c, count, weights);
    }
  }
}

}  // namespace

constexpr DepthwiseS8Kernels kDepthwiseS8Neon = {.name = "neon",
                                                 .left = LhsEncoding::kInt8,
                                                 .pixel = &DepthwisePixel,
                                                 .pack = &PackDepthwise,
                                                 .columns = &DepthwiseColumns,
                                                 .order = &Order,
                                                 .lanes = kLanesS8};

}  // namespace deputy
