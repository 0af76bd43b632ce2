// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions for x86-64 with AVX-512 and VNNI, of any filter; most filters of 3 x
// 3 and 5 x 5 taps are computed by lines (depthwise_lines_int8.cc). Everything is in the unnamed
// namespace, and no inline function of a shared header is used.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__AVX512VNNI__)

#include "kernels/cpu/common/depthwise_s8.inc"
#include "kernels/cpu/x86_64/avx512_vnni/int8.inc"

namespace deputy {
namespace {

// Number of taps of a channel in a 32-bit lane, so that one instruction adds four products. 64
// channels are processed at a time. Interleaving bytes leaves the channels in the order (128-bit
// lane, vector, position); weights are packed in this order. Sums that are stored as int32 are
// reordered first; narrowing sums to bytes restores the order without further instructions.
constexpr int kTapsAtOnce = 4;

// Returns the channel at position i of a chunk: lane (i % 16) of vector (i / 16).
inline int ChannelAt(int i) { return 16 * (i % 16 / 4) + 4 * (i / 16) + i % 4; }

size_t PackDepthwiseS8(const int8_t* weights, int taps, int channels, int period, int8_t* out) {
  size_t bytes = 0;
  for (int first = 0; first < period; first += kChunk) {
    for (int tap = 0; tap < taps; tap += kTapsAtOnce) {
      for (int i = 0; i < kChunk; ++i) {
        const int channel = first + ChannelAt(i);
        for (int t = tap; t < tap + kTapsAtOnce; ++t, ++bytes) {
          if (out == nullptr) continue;
          const bool exists = t < taps && channel < period;
          out[bytes] =
              exists ? weights[static_cast<size_t>(t) * channels + channel % channels] : int8_t{0};
        }
      }
    }
  }
  return bytes;
}

// Writes the addresses of four taps from `tap` on. After the last tap any valid address may be
// used, because the weights are zero.
inline void TapsAt(const DepthwisePixelS8& pixel, int tap, int first, const int8_t* out[4]) {
  for (int i = 0; i < kTapsAtOnce; ++i) {
    out[i] = pixel.inputs[tap + i < pixel.taps ? tap + i : 0] + first;
  }
}

// Adds the products of four taps of a chunk to its sums.
inline void AddFourTaps(__m512i sums[4], const __m512i in[4], const __m512i weights[4]) {
  const __m512i low01 = _mm512_unpacklo_epi8(in[0], in[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(in[0], in[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(in[2], in[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(in[2], in[3]);
  MultiplyAddFours(&sums[0], _mm512_unpacklo_epi16(low01, low23), weights[0]);
  MultiplyAddFours(&sums[1], _mm512_unpackhi_epi16(low01, low23), weights[1]);
  MultiplyAddFours(&sums[2], _mm512_unpacklo_epi16(high01, high23), weights[2]);
  MultiplyAddFours(&sums[3], _mm512_unpackhi_epi16(high01, high23), weights[3]);
}

inline void LoadFourWeights(const int8_t* weights, __m512i out[4]) {
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) out[v] = _mm512_loadu_si512(weights + 64 * v);
}

const int8_t* DepthwiseS8Chunk(const DepthwisePixelS8& pixel, int first, const int8_t* weights) {
  const int count = pixel.channels - first;
  const __mmask64 exist = FirstBytes(count);
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                     _mm512_setzero_si512()};
  for (int tap = 0; tap < pixel.taps; tap += kTapsAtOnce, weights += 256) {
    const int8_t* taps[kTapsAtOnce];
    TapsAt(pixel, tap, first, taps);
    __m512i in[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      in[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(exist, taps[i]), flips);
    }
    __m512i fours[4];
    LoadFourWeights(weights, fours);
    AddFourTaps(sums, in, fours);
  }
  // The transposition of 128-bit blocks reorders sums from (vector, lane) to (lane, vector).
  const __m512i a = _mm512_shuffle_i32x4(sums[0], sums[1], 0x44);
  const __m512i b = _mm512_shuffle_i32x4(sums[2], sums[3], 0x44);
  const __m512i c = _mm512_shuffle_i32x4(sums[0], sums[1], 0xee);
  const __m512i d = _mm512_shuffle_i32x4(sums[2], sums[3], 0xee);
  const __m512i ordered[4] = {_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd),
                              _mm512_shuffle_i32x4(c, d, 0x88), _mm512_shuffle_i32x4(c, d, 0xdd)};
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    const __mmask16 lanes = FirstLanes(count - 16 * v);
    const __m512i bias = _mm512_maskz_loadu_epi32(lanes, pixel.bias + first + 16 * v);
    _mm512_mask_storeu_epi32(pixel.sums + first + 16 * v, lanes,
                             _mm512_add_epi32(ordered[v], bias));
  }
  return weights;
}

void DepthwiseS8(const DepthwisePixelS8& pixel) {
  const int8_t* weights = pixel.weights;
  for (int first = 0; first < pixel.channels; first += kChunk) {
    weights = DepthwiseS8Chunk(pixel, first, weights);
  }
}

// Requantises the sums of a chunk in kColumns columns and stores them.
template <int kColumns>
inline void StoreDepthwise(const DepthwiseColumnsS8& in, const Requantization& requantization,
                           int column, int first, const __m512i (&sums)[kColumns][4]) {
  const __mmask64 exist = FirstBytes(in.channels - first);
  int8_t* out = in.out + static_cast<size_t>(column) * static_cast<size_t>(in.channels) + first;
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += in.channels) {
    __m512i steps[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      steps[v] = requantization.Steps(sums[i][v], _mm512_loadu_ps(in.factors + first + 16 * v));
    }
    _mm512_mask_storeu_epi8(out, exist, requantization.Bytes(steps));
  }
}

// Computes the chunk of channels that begins at `first` in kColumns columns.
template <int kColumns>
inline void DepthwiseS8Columns(const DepthwiseColumnsS8& in, const Requantization& requantization,
                               int column, int first, const int8_t* weights) {
  const __mmask64 exist = FirstBytes(in.channels - first);
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[kColumns][4];
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    const __m512i bias = _mm512_loadu_si512(in.bias + first + 16 * v);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(first);
  for (int tap = 0; tap < in.taps; tap += kTapsAtOnce, weights += 4 * kChunk) {
    __m512i fours[4];
    LoadFourWeights(weights, fours);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      __m512i values[4];
#pragma GCC unroll 4
      for (int t = 0; t < kTapsAtOnce; ++t) {
        const int8_t* from = in.inputs[tap + t < in.taps ? tap + t : 0] + offset;
        const __m512i loaded =
            _mm512_maskz_loadu_epi8(exist, from + static_cast<size_t>(i) * in.column_step);
        values[t] = _mm512_xor_si512(loaded, flips);
      }
      AddFourTaps(sums[i], values, fours);
    }
  }
  StoreDepthwise(in, requantization, column, first, sums);
}

void DepthwiseRunS8(const DepthwiseColumnsS8& in) {
  const size_t chunk_bytes =
      static_cast<size_t>((in.taps + kTapsAtOnce - 1) / kTapsAtOnce) * 4 * kChunk;
  const int8_t* weights = in.weights;
  // Factors are padded to whole chunks because they have been reordered.
  const Requantization requantization(in, (in.channels + kChunk - 1) / kChunk * kChunk);
  for (int first = 0; first < in.channels; first += kChunk, weights += chunk_bytes) {
    int column = 0;
    for (; column + 2 <= in.columns; column += 2) {
      DepthwiseS8Columns<2>(in, requantization, column, first, weights);
    }
    if (column < in.columns) DepthwiseS8Columns<1>(in, requantization, column, first, weights);
  }
}

}  // namespace

constexpr DepthwiseS8Kernels kDepthwiseS8Avx512Vnni = {
    .name = "avx512-vnni",
    .left = LhsEncoding::kBiasedUInt8,
    .pixel = &DepthwiseS8,
    .pack = &PackDepthwiseS8,
    .columns = &DepthwiseRunS8,
    .order = &OrderDepthwiseS8<kChunk, &ChannelAt>,
    .lanes = kChunk,
    .lines = &kDepthwiseLinesS8Avx512Vnni};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif
