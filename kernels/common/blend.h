// SPDX-License-Identifier: Apache-2.0
//
// Bilinear interpolation of a row of pixels. Always inlined, because kernels/vector compiles it for
// several instruction sets.
#ifndef DEPUTY_KERNELS_COMMON_BLEND_H_
#define DEPUTY_KERNELS_COMMON_BLEND_H_

#include <cstdint>
#include <type_traits>

namespace deputy {

// Position of an output row or column between two input rows or columns.
template <typename Weight>
struct Interpolation {
  int64_t low, high;               // offsets of the two input rows or columns, in elements
  Weight low_weight, high_weight;  // weights of `low` and `high`
};

// A row of `count` output pixels with `depth` channels, interpolated between two input rows.
template <typename T, typename Weight>
struct BlendedRow {
  const T* in;              // input image; offsets count from here
  Interpolation<Weight> y;  // the two input rows and their weights
  // The two input columns of each output pixel, one array element per pixel.
  const Interpolation<Weight>* x;
  int64_t count, depth;
  T* out;
};

// The four input neighbours of an output element.
template <typename T>
struct Corners {
  T low_left, high_left, low_right, high_right;
};

// Interpolates float and uint8 in float. The order of the products is upstream's, because it
// affects the last bits.
template <typename T>
[[gnu::always_inline]] inline float Blend(const Corners<T>& in, const Interpolation<float>& y,
                                          const Interpolation<float>& x) {
  return static_cast<float>(in.low_left) * y.low_weight * x.low_weight +
         static_cast<float>(in.high_left) * y.high_weight * x.low_weight +
         static_cast<float>(in.low_right) * y.low_weight * x.high_weight +
         static_cast<float>(in.high_right) * y.high_weight * x.high_weight;
}
// Interpolates signed integers in float. No upstream kernel prescribes the order of the products;
// this one computes a pixel's weights once for all channels.
template <typename T>
requires(std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t>)
    [[gnu::always_inline]] inline float Blend(const Corners<T>& in, const Interpolation<float>& y,
                                              const Interpolation<float>& x) {
  return static_cast<float>(in.low_left) * (y.low_weight * x.low_weight) +
         static_cast<float>(in.high_left) * (y.high_weight * x.low_weight) +
         static_cast<float>(in.low_right) * (y.low_weight * x.high_weight) +
         static_cast<float>(in.high_right) * (y.high_weight * x.high_weight);
}
// Interpolates in integers; exact whatever the order. int8 times two weights fits in 32 bits, int16
// requires 64.
template <typename T>
[[gnu::always_inline]] inline auto Blend(const Corners<T>& in, const Interpolation<int32_t>& y,
                                         const Interpolation<int32_t>& x) {
  using Wide = std::conditional_t<sizeof(T) == 1, int32_t, int64_t>;
  const int32_t left = in.low_left * y.low_weight + in.high_left * y.high_weight;
  const int32_t right = in.low_right * y.low_weight + in.high_right * y.high_weight;
  return Wide{left} * x.low_weight + Wide{right} * x.high_weight;
}

[[gnu::always_inline]] inline void RoundBlend(float sum, float* out) { *out = sum; }
[[gnu::always_inline]] inline void RoundBlend(float sum, uint8_t* out) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): upstream's rounding; sums are not negative.
  *out = static_cast<uint8_t>(sum + 0.5f);
}
// Rounds an interpolated value to nearest, ties away from zero. It is within the range of the
// inputs, so it need not be clamped.
template <typename T>
requires(std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t>)
    [[gnu::always_inline]] inline void RoundBlend(float sum, T* out) {
  *out = static_cast<T>(sum + (sum > 0.0f ? 0.5f : -0.5f));
}
template <typename Sum, typename T>
requires(std::is_integral_v<Sum>) [[gnu::always_inline]] inline void RoundBlend(Sum sum, T* out) {
  constexpr Sum kHalf = 1 << 19;
  *out = static_cast<T>((sum + (sum > 0 ? kHalf : -kHalf)) / (2 * kHalf));
}

// Interpolates kChannels channels of a pixel, vectorised.
template <int kChannels, typename T, typename Weight>
[[gnu::always_inline]] inline void BlendChannels(const T* const corners[4],
                                                 const Interpolation<Weight>& y,
                                                 const Interpolation<Weight>& x, int64_t first,
                                                 T* out) {
  T values[4][kChannels], blended[kChannels];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(values[i], corners[i] + first, sizeof values[i]);
#if defined(__AVX2__)  // elsewhere g++ at -O2 does not vectorise it
#pragma GCC unroll 16
#endif
  for (int c = 0; c < kChannels; ++c) {
    const Corners<T> in = {values[0][c], values[1][c], values[2][c], values[3][c]};
    RoundBlend(Blend(in, y, x), &blended[c]);
  }
  __builtin_memcpy(out + first, blended, sizeof blended);
}

// Interpolates a pixel of uint8 or int16, which g++ 12 vectorises better if the loop over channels
// is not unrolled.
template <int kChannels, typename T, typename Weight>
requires(std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t>)
    [[gnu::always_inline]] inline void BlendChannels(const T* const corners[4],
                                                     const Interpolation<Weight>& y,
                                                     const Interpolation<Weight>& x, int64_t first,
                                                     T* out) {
  T values[4][kChannels], blended[kChannels];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(values[i], corners[i] + first, sizeof values[i]);
  for (int c = 0; c < kChannels; ++c) {
    const Corners<T> in = {values[0][c], values[1][c], values[2][c], values[3][c]};
    RoundBlend(Blend(in, y, x), &blended[c]);
  }
  __builtin_memcpy(out + first, blended, sizeof blended);
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// Interpolates a pixel of floats with explicit vectors: g++ 12 would copy arrays of corners to the
// stack in halves of a vector, and loads of whole vectors then stall.
template <int kChannels>
requires(kChannels % 8 == 0)
    [[gnu::always_inline]] inline void BlendChannels(const float* const corners[4],
                                                     const Interpolation<float>& y,
                                                     const Interpolation<float>& x, int64_t first,
                                                     float* out) {
  using Vector = float __attribute__((vector_size(32)));
  Vector low_left, high_left, low_right, high_right;
#pragma GCC unroll 2
  for (int64_t c = first; c < first + kChannels; c += 8) {
    __builtin_memcpy(&low_left, corners[0] + c, sizeof low_left);
    __builtin_memcpy(&high_left, corners[1] + c, sizeof high_left);
    __builtin_memcpy(&low_right, corners[2] + c, sizeof low_right);
    __builtin_memcpy(&high_right, corners[3] + c, sizeof high_right);
    const Vector blended =
        low_left * y.low_weight * x.low_weight + high_left * y.high_weight * x.low_weight +
        low_right * y.low_weight * x.high_weight + high_right * y.high_weight * x.high_weight;
    __builtin_memcpy(out + c, &blended, sizeof blended);
  }
}
#endif

template <typename T, typename Weight>
[[gnu::always_inline]] inline void BlendRow(const BlendedRow<T, Weight>& row) {
  const T* const low = row.in + row.y.low;
  const T* const high = row.in + row.y.high;
  const Interpolation<Weight> y = row.y;
  T* out = row.out;
  for (int64_t i = 0; i < row.count; ++i, out += row.depth) {
    const Interpolation<Weight> x = row.x[i];
    const T* const corners[4] = {low + x.low, high + x.low, low + x.high, high + x.high};
    int64_t c = 0;
    for (; c + 16 <= row.depth; c += 16) BlendChannels<16>(corners, y, x, c, out);
    if (c + 8 <= row.depth) {
      BlendChannels<8>(corners, y, x, c, out);
      c += 8;
    }
    for (; c < row.depth; ++c) BlendChannels<1>(corners, y, x, c, out);
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_BLEND_H_
