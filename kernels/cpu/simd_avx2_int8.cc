// SPDX-License-Identifier: Apache-2.0
//
// The int8 groups for x86-64 with AVX2. As for float32, this file alone is compiled for it, so
// everything is in the unnamed namespace and no inline function of a shared header is used.
//
// Products go through 16-bit multiply-add of pairs (vpmaddwd). The 8-bit form (vpmaddubsw)
// saturates at 16 bits and is wrong for large values; with the addition that it needs it is no
// faster either.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include <cstring>
#include <initializer_list>

namespace deputy {
namespace {

constexpr int kRowsS8 = 6, kColumnsS8 = 16, kRunS8 = 2;

inline int Smaller(int a, int b) { return a < b ? a : b; }

// A mask for the first `count` of 8 lanes.
inline __m256i FirstLanes(int count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
}

inline __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// 16 bytes as 16-bit numbers.
inline __m256i Widened(const int8_t* values) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
}

inline void AddProducts(__m256i* sums, __m256i a, __m256i b) {
  *sums = _mm256_add_epi32(*sums, _mm256_madd_epi16(a, b));
}

// The same with a factor in memory, which g++ 12 would otherwise load into a register of its own.
inline void AddProductsAt(__m256i* sums, __m256i a, const int8_t* b) {
  __m256i products;
  __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
          : "+x"(*sums), "=&x"(products)
          : "x"(a), "m"(*reinterpret_cast<const __m256i_u*>(b)));
}

// Products of a panel with `kRows` rows of 16-bit pairs, as far as one part of the depth goes:
// pair d of row r is a[r][d].
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void MultiplyPairs(const int16_t* const (&a)[kRows], const int8_t* b,
                                                 size_t panel_stride, int depth,
                                                 __m256i (&sums)[kRows][kVectors]) {
  for (int d = 0; d < depth; d += kRunS8, b += kRunS8 * kColumnsS8) {
    __m256i weights[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = Widened(b + static_cast<size_t>(v / 2) * panel_stride + 16 * (v % 2));
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      std::memcpy(&pair, a[r] + d, sizeof pair);
      const __m256i value = _mm256_set1_epi32(pair);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) AddProducts(&sums[r][v], value, weights[v]);
    }
  }
}

template <int kRows, int kVectors>
inline void StartSums(const int32_t* bias, __m256i (&sums)[kRows][kVectors]) {
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m256i start = Load(bias + 8 * v);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) sums[r][v] = start;
  }
}

// ---- int8 GEMM --------------------------------------------------------------------------------

template <int kRows, int kPanels>
inline void GemmS8Block(const GemmTileS8& tile, int first) {
  constexpr int kVectors = 2 * kPanels;
  const size_t panel_stride = static_cast<size_t>(tile.depth) * kColumnsS8;
  const int16_t* a[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    a[r] = reinterpret_cast<const int16_t*>(tile.a + static_cast<size_t>(r) * tile.a_stride);
  }
  __m256i sums[kRows][kVectors];
  StartSums(tile.bias + first, sums);
  MultiplyPairs(a, tile.b + static_cast<size_t>(first / kColumnsS8) * panel_stride, panel_stride,
                tile.depth, sums);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    int32_t* const out = tile.sums + static_cast<size_t>(r) * tile.sums_stride + first;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * v), sums[r][v]);
    }
  }
}

template <int kRows>
void GemmS8Rows(const GemmTileS8& tile) {
  int first = 0;
  if constexpr (kRows == 1) {
    for (; tile.columns - first > 3 * kColumnsS8; first += 4 * kColumnsS8) {
      GemmS8Block<1, 4>(tile, first);
    }
  }
  for (; first < tile.columns; first += kColumnsS8) GemmS8Block<kRows, 1>(tile, first);
}

void GemmS8(const GemmTileS8& tile) {
  constexpr void (*kBySize[])(const GemmTileS8&) = {&GemmS8Rows<1>, &GemmS8Rows<2>, &GemmS8Rows<3>,
                                                    &GemmS8Rows<4>, &GemmS8Rows<5>, &GemmS8Rows<6>};
  kBySize[tile.rows - 1](tile);
}

// `flip` is XORed to every value: 0x80 makes uint8 less 128 of them.
inline void Widen(const int8_t* values, size_t count, uint8_t flip, int16_t* out) {
  const __m128i flips = _mm_set1_epi8(static_cast<char>(flip));
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes =
        _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i)), flips);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_cvtepi8_epi16(bytes));
  }
  for (; i < count; ++i) out[i] = static_cast<int8_t>(static_cast<uint8_t>(values[i]) ^ flip);
}

void LeftFromS8(const int8_t* values, size_t count, void* out) {
  Widen(values, count, 0, static_cast<int16_t*>(out));
}

void LeftFromU8(const uint8_t* values, size_t count, void* out) {
  Widen(reinterpret_cast<const int8_t*>(values), count, 0x80, static_cast<int16_t*>(out));
}

// ---- Sums to bytes ----------------------------------------------------------------------------

// Whether sums of 32 bits times the factors stay within 32 bits, so that only steps are bounded.
inline bool AreSmall(const float* factors, int count) {
  const __m256 limit = _mm256_set1_ps(0.5f), sign = _mm256_set1_ps(-0.0f);
  for (int c = 0; c < count; c += 8) {
    const __m256 values = _mm256_maskload_ps(factors + c, FirstLanes(count - c));
    const __m256 sizes = _mm256_andnot_ps(sign, values);
    if (_mm256_movemask_ps(_mm256_cmp_ps(sizes, limit, _CMP_NLT_UQ)) != 0) return false;
  }
  return true;
}

// What becomes of sums, alike for all rows.
struct Finish {
  __m256 high;          // of the steps before the zero point is added
  __m256i zero_point;   // of 16 bits
  __m256i least, most;  // of the steps
  bool small;           // no need of `high`

  // Job is a GemmRowsS8 or a DepthwiseColumnsS8, with `count` factors.
  template <typename Job>
  Finish(const Job& job, int count)
      : high(_mm256_set1_ps(static_cast<float>(job.high - job.zero_point))),
        zero_point(_mm256_set1_epi16(static_cast<int16_t>(job.zero_point))),
        least(_mm256_set1_epi8(static_cast<char>(job.low))),
        most(_mm256_set1_epi8(static_cast<char>(job.high))),
        small(AreSmall(job.factors, count)) {}

  // What is too low, or no number, becomes the least integer here, and so the least step.
  __m256i Steps(__m256i sums, __m256 factors) const {
    __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), factors);
    if (__builtin_expect(!small, 0)) scaled = _mm256_min_ps(high, scaled);
    return _mm256_cvtps_epi32(scaled);
  }
  // Two vectors of steps as 16 bits: in each 128-bit lane those of the one, then of the other.
  __m256i Words(__m256i front, __m256i back) const {
    return _mm256_adds_epi16(_mm256_packs_epi32(front, back), zero_point);
  }
  // Two of those, narrowed likewise.
  __m256i Bytes(__m256i front, __m256i back) const {
    return _mm256_min_epi8(most, _mm256_max_epi8(_mm256_packs_epi16(front, back), least));
  }
};

// The first `count` bytes.
inline void StoreBytes(__m128i bytes, int8_t* out, int count) {
  if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return;
  }
  if ((count & 8) != 0) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
    bytes = _mm_unpackhi_epi64(bytes, bytes);
    out += 8;
  }
  auto rest = static_cast<uint64_t>(_mm_cvtsi128_si64(bytes));
  for (int size : {4, 2, 1}) {
    if ((count & size) == 0) continue;
    std::memcpy(out, &rest, static_cast<size_t>(size));
    rest >>= 8 * size;
    out += size;
  }
}

// ---- int8 rows to int8 ------------------------------------------------------------------------

// Requantises the sums of rows [row, row + kRows) in one or two vectors of columns, and stores
// those columns that exist.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void FinishRows(const GemmRowsS8& job, const Finish& finish, int row,
                                              int column, const __m256i (&sums)[kRows][kVectors]) {
  const int columns = job.columns - column, wide = Smaller(columns, 8 * kVectors);
  __m256 factors[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    factors[v] = _mm256_maskload_ps(job.factors + column + 8 * v, FirstLanes(columns - 8 * v));
  }
  // Four vectors are narrowed together, of two or of four rows: each 128-bit lane has half of every
  // one.
  constexpr int kTogether = 4 / kVectors;
  const auto words = [&](int r) {
    const int next = r + 1 < kRows ? r + 1 : r;
    if constexpr (kVectors == 2) {
      return finish.Words(finish.Steps(sums[r][0], factors[0]),
                          finish.Steps(sums[r][1], factors[1]));
    } else {
      return finish.Words(finish.Steps(sums[r][0], factors[0]),
                          finish.Steps(sums[next][0], factors[0]));
    }
  };
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int8_t* out = job.out + static_cast<size_t>(row) * job.out_stride + column;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; r += kTogether) {
    const int behind = r + kTogether / 2 < kRows ? r + kTogether / 2 : r;
    const __m256i bytes = _mm256_permutevar8x32_epi32(finish.Bytes(words(r), words(behind)), order);
    const __m128i front = _mm256_castsi256_si128(bytes), back = _mm256_extracti128_si256(bytes, 1);
    const size_t half = static_cast<size_t>(kTogether / 2) * job.out_stride;
    StoreBytes(front, out, wide);
    if (behind > r) StoreBytes(back, out + half, wide);
    if constexpr (kVectors == 1) {
      if (r + 1 < kRows) StoreBytes(_mm_unpackhi_epi64(front, front), out + job.out_stride, wide);
      if (r + 3 < kRows) StoreBytes(_mm_unpackhi_epi64(back, back), out + 3 * job.out_stride, wide);
    }
    out += 2 * half;
  }
}

// kRows rows by 8 * kVectors columns.
template <int kRows, int kVectors>
void RequantizedBlock(const GemmRowsS8& job, const Finish& finish, int row, int column) {
  const int16_t* a[kRows];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) a[r] = static_cast<const int16_t*>(job.a[row + r]);
  const int8_t* b = job.b + static_cast<size_t>(column / kColumnsS8) * job.panel_stride;
  __m256i sums[kRows][kVectors];
  StartSums(job.bias + column, sums);
  for (int part = 0; part < job.parts; ++part) {
    MultiplyPairs(a, b, 0, job.depth, sums);
    b += static_cast<size_t>(job.depth) * kColumnsS8;
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) a[r] += job.part_step / sizeof(int16_t);
  }
  FinishRows(job, finish, row, column, sums);
}

// All rows, kMost at a time.
template <int kMost, int kVectors>
void RequantizedColumns(const GemmRowsS8& job, const Finish& finish, int column) {
  constexpr void (*kRest[])(const GemmRowsS8&, const Finish&, int, int) = {
      &RequantizedBlock<1, kVectors>, &RequantizedBlock<2, kVectors>,
      &RequantizedBlock<3, kVectors>, &RequantizedBlock<4, kVectors>,
      &RequantizedBlock<5, kVectors>, &RequantizedBlock<6, kVectors>};
  int row = 0;
  for (; row + kMost <= job.rows; row += kMost) {
    RequantizedBlock<kMost, kVectors>(job, finish, row, column);
  }
  while (row < job.rows) {
    const int rows = Smaller(job.rows - row, kRowsS8);
    kRest[rows - 1](job, finish, row, column);
    row += rows;
  }
}

void RequantizedRows(const GemmRowsS8& job) {
  const Finish finish(job, job.columns);
  for (int column = 0; column < job.columns; column += kColumnsS8) {
    if (job.columns - column > 8) {
      RequantizedColumns<kRowsS8, 2>(job, finish, column);
    } else {
      // Half a panel; pointers for more rows would not fit into the registers.
      RequantizedColumns<8, 1>(job, finish, column);
    }
  }
}

// ---- Depthwise --------------------------------------------------------------------------------

// 16 channels at a time. Two taps of a channel stand side by side in each 32-bit lane, so that one
// multiply-add adds both products. Interleaving leaves the channels of a chunk in the order 0 to 3,
// 8 to 11 (low sums), 4 to 7, 12 to 15 (high sums); weights, already of 16 bits, bias and factors
// are packed in it.
constexpr int kChunk = 16;

inline int ChannelAt(int i) { return i % 4 + (i / 4 % 2) * 8 + (i / 8) * 4; }

// Which taps stand side by side. In squares of 3x3 and 5x5, which neighbouring columns share, those
// above one another; in the last row neighbours. `second` is negative where there is none.
struct TapPair {
  int first, second;
};
inline TapPair PairAt(int taps, int pair) {
  const int size = taps == 9 ? 3 : taps == 25 ? 5 : 0;
  if (size != 0 && pair < size * (size / 2)) {
    const int first = pair / size * 2 * size + pair % size;
    return {first, first + size};
  }
  return {2 * pair, 2 * pair + 1 < taps ? 2 * pair + 1 : -1};
}
inline int PairsOf(int taps) { return (taps + 1) / 2; }

size_t PackDepthwiseS8(const int8_t* weights, int taps, int channels, int period, int8_t* out) {
  const auto weight_at = [&](int tap, int channel) -> int16_t {
    if (tap < 0 || channel >= period) return 0;
    return weights[static_cast<size_t>(tap) * static_cast<size_t>(channels) +
                   static_cast<size_t>(channel % channels)];
  };
  size_t bytes = 0;
  for (int first = 0; first < period; first += kChunk) {
    for (int pair = 0; pair < PairsOf(taps); ++pair, bytes += 4 * kChunk) {
      if (out == nullptr) continue;
      const TapPair at = PairAt(taps, pair);
      for (int i = 0; i < kChunk; ++i) {
        const int channel = first + ChannelAt(i);
        const int16_t two[2] = {weight_at(at.first, channel), weight_at(at.second, channel)};
        std::memcpy(out + bytes + 4 * static_cast<size_t>(i), two, sizeof two);
      }
    }
  }
  return bytes;
}

void OrderDepthwiseS8(const int32_t* values, int channels, int period, int32_t* out) {
  for (int first = 0; first < period; first += kChunk) {
    for (int i = 0; i < kChunk; ++i) {
      const int channel = first + ChannelAt(i);
      *out++ = channel < period ? values[channel % channels] : 0;
    }
  }
}

// The first `count` of 16 bytes, and whatever behind them.
inline __m128i LoadBytes(const int8_t* values, int count) {
  uint64_t low = 0, high = 0;
  if (count >= 8) {
    std::memcpy(&low, values, 8);
    std::memcpy(&high, values + count - 8, 8);
    high = count == 8 ? 0 : high >> (8 * (16 - count));
  } else if (count >= 4) {
    uint32_t front, back;
    std::memcpy(&front, values, 4);
    std::memcpy(&back, values + count - 4, 4);
    low = front | uint64_t{back} << (8 * (count - 4));
  } else {
    for (int i = 0; i < count; ++i) low |= uint64_t{static_cast<uint8_t>(values[i])} << (8 * i);
  }
  return _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
}

// kAll: all 16 exist.
template <bool kAll>
inline __m256i LoadWidened(const int8_t* values, int count) {
  return kAll ? Widened(values) : _mm256_cvtepi8_epi16(LoadBytes(values, count));
}

// Sums of a chunk in one column.
struct ChunkSums {
  __m256i low, high;
};

inline void AddPair(ChunkSums* sums, __m256i first, __m256i second, const int8_t* weights) {
  AddProductsAt(&sums->low, _mm256_unpacklo_epi16(first, second), weights);
  AddProductsAt(&sums->high, _mm256_unpackhi_epi16(first, second), weights + 32);
}

// All taps of a chunk, `offset` from where they point.
template <bool kAll>
inline void AddTaps(const int8_t* const* inputs, int taps, size_t offset, int count,
                    const int8_t* weights, ChunkSums* sums) {
  for (int pair = 0; pair < PairsOf(taps); ++pair, weights += 4 * kChunk) {
    const TapPair at = PairAt(taps, pair);
    const __m256i first = LoadWidened<kAll>(inputs[at.first] + offset, count);
    const __m256i second =
        at.second < 0 ? first : LoadWidened<kAll>(inputs[at.second] + offset, count);
    AddPair(sums, first, second, weights);
  }
}

void DepthwiseS8(const DepthwisePixelS8& pixel) {
  const int8_t* weights = pixel.weights;
  const int chunk_bytes = PairsOf(pixel.taps) * 4 * kChunk;
  for (int first = 0; first < pixel.channels; first += kChunk, weights += chunk_bytes) {
    const int count = Smaller(kChunk, pixel.channels - first);
    ChunkSums sums = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    AddTaps<false>(pixel.inputs, pixel.taps, static_cast<size_t>(first), count, weights, &sums);
    const __m256i in_order[2] = {_mm256_permute2x128_si256(sums.low, sums.high, 0x20),
                                 _mm256_permute2x128_si256(sums.low, sums.high, 0x31)};
    for (int v = 0; 8 * v < count; ++v) {
      const __m256i lanes = FirstLanes(count - 8 * v);
      const __m256i bias = _mm256_maskload_epi32(pixel.bias + first + 8 * v, lanes);
      _mm256_maskstore_epi32(pixel.sums + first + 8 * v, lanes,
                             _mm256_add_epi32(in_order[v], bias));
    }
  }
}

// ---- Several columns ----

// Requantises a chunk in kColumns columns and stores `count` channels of it.
template <int kColumns>
inline void StoreChunk(const DepthwiseColumnsS8& in, const Finish& finish, int column, int first,
                       int count, const ChunkSums (&sums)[kColumns]) {
  const __m256 low = _mm256_loadu_ps(in.factors + first);
  const __m256 high = _mm256_loadu_ps(in.factors + first + 8);
  const auto stride = static_cast<size_t>(in.channels);
  int8_t* out = in.out + static_cast<size_t>(column) * stride + static_cast<size_t>(first);
#pragma GCC unroll 8
  for (int i = 0; i < kColumns; i += 2, out += 2 * stride) {
    const ChunkSums &a = sums[i], &b = sums[i + 1 < kColumns ? i + 1 : i];
    const __m256i words[2] = {finish.Words(finish.Steps(a.low, low), finish.Steps(a.high, high)),
                              finish.Words(finish.Steps(b.low, low), finish.Steps(b.high, high))};
    const __m256i bytes = _mm256_permute4x64_epi64(finish.Bytes(words[0], words[1]), 0xd8);
    StoreBytes(_mm256_castsi256_si128(bytes), out, count);
    if (i + 1 < kColumns) StoreBytes(_mm256_extracti128_si256(bytes, 1), out + stride, count);
  }
}

template <int kColumns>
inline void StartChunk(const DepthwiseColumnsS8& in, int first, ChunkSums (&sums)[kColumns]) {
#pragma GCC unroll 8
  for (ChunkSums& sum : sums) sum = {Load(in.bias + first), Load(in.bias + first + 8)};
}

template <bool kAll>
void DepthwiseS8Column(const DepthwiseColumnsS8& in, const Finish& finish, int column, int first,
                       const int8_t* weights) {
  const int count = Smaller(kChunk, in.channels - first);
  ChunkSums sums[1];
  StartChunk(in, first, sums);
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(first);
  AddTaps<kAll>(in.inputs, in.taps, offset, count, weights, &sums[0]);
  StoreChunk(in, finish, column, first, count, sums);
}

// ---- Squares of taps that neighbouring columns share ----

// How far neighbouring taps of each filter row are apart, if columns are kStride of that apart, or
// 0. Rows may be all in the row of zero points.
template <int kSize, int kStride>
inline size_t SharedStep(const DepthwiseColumnsS8& in) {
  const size_t step = in.column_step / kStride;
  for (int row = 0; row < kSize; ++row) {
    const int8_t* const* taps = in.inputs + row * kSize;
    bool apart = true, outside = true;
    for (int tap = 1; tap < kSize; ++tap) {
      apart = apart && taps[tap] == taps[tap - 1] + step;
      outside = outside && taps[tap] == taps[0];
    }
    if (!apart && !outside) return 0;
  }
  return step;
}

// The chunk of channels from `first` on in kColumns columns: every column of the input is loaded
// and interleaved once.
template <int kSize, int kStride, int kColumns, bool kAll>
void DepthwiseS8Shared(const DepthwiseColumnsS8& in, const Finish& finish, size_t step, int column,
                       int first, const int8_t* weights) {
  constexpr int kSeen = (kColumns - 1) * kStride + kSize, kLast = kSize - 1;
  const int count = Smaller(kChunk, in.channels - first);
  ChunkSums sums[kColumns];
  StartChunk(in, first, sums);
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(first);
  for (int pair = 0; pair < kSize / 2; ++pair, weights += kSize * 4 * kChunk) {
    const int8_t* upper = in.inputs[2 * pair * kSize] + offset;
    const int8_t* lower = in.inputs[(2 * pair + 1) * kSize] + offset;
#pragma GCC unroll 16
    for (int seen = 0; seen < kSeen; ++seen, upper += step, lower += step) {
      const __m256i a = LoadWidened<kAll>(upper, count), b = LoadWidened<kAll>(lower, count);
      const __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
#pragma GCC unroll 8
      for (int i = 0; i < kColumns; ++i) {
        const int tap = seen - i * kStride;
        if (tap < 0 || tap >= kSize) continue;
        AddProductsAt(&sums[i].low, low, weights + tap * 4 * kChunk);
        AddProductsAt(&sums[i].high, high, weights + tap * 4 * kChunk + 32);
      }
    }
  }
  const int8_t* from = in.inputs[kLast * kSize] + offset;
  __m256i next = LoadWidened<kAll>(from, count);
#pragma GCC unroll 16
  for (int seen = 0; seen < kSeen; ++seen) {
    const __m256i here = next;
    from += step;
    if (seen + 1 < kSeen) next = LoadWidened<kAll>(from, count);
    if (kStride == 2 && seen % 2 == 1) continue;
    const __m256i low = _mm256_unpacklo_epi16(here, next);
    const __m256i high = _mm256_unpackhi_epi16(here, next);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) {
      const int tap = seen - i * kStride;
      if (tap < 0 || tap >= kSize || tap % 2 == 1) continue;
      AddProductsAt(&sums[i].low, low, weights + tap / 2 * 4 * kChunk);
      AddProductsAt(&sums[i].high, high, weights + tap / 2 * 4 * kChunk + 32);
    }
  }
  StoreChunk(in, finish, column, first, count, sums);
}

// Columns by fours, twos and ones.
template <int kSize, int kStride, bool kAll>
void DepthwiseS8SharedChunk(const DepthwiseColumnsS8& in, const Finish& finish, size_t step,
                            int first, const int8_t* weights) {
  int column = 0;
  for (; column + 4 <= in.columns; column += 4) {
    DepthwiseS8Shared<kSize, kStride, 4, kAll>(in, finish, step, column, first, weights);
  }
  if (column + 2 <= in.columns) {
    DepthwiseS8Shared<kSize, kStride, 2, kAll>(in, finish, step, column, first, weights);
    column += 2;
  }
  if (column < in.columns) {
    DepthwiseS8Shared<kSize, kStride, 1, kAll>(in, finish, step, column, first, weights);
  }
}

// What runs over the columns of a chunk, and what it has to know.
struct ChunkFunction {
  using Run = void (*)(const DepthwiseColumnsS8&, const Finish&, size_t, int, const int8_t*);
  Run all, some;
  size_t step;
};

template <bool kAll>
void DepthwiseS8Chunk(const DepthwiseColumnsS8& in, const Finish& finish, size_t, int first,
                      const int8_t* weights) {
  for (int column = 0; column < in.columns; ++column) {
    DepthwiseS8Column<kAll>(in, finish, column, first, weights);
  }
}

template <int kSize, int kStride>
inline bool TryShared(const DepthwiseColumnsS8& in, ChunkFunction* out) {
  if (in.taps != kSize * kSize) return false;
  const size_t step = SharedStep<kSize, kStride>(in);
  if (step == 0) return false;
  *out = {&DepthwiseS8SharedChunk<kSize, kStride, true>,
          &DepthwiseS8SharedChunk<kSize, kStride, false>, step};
  return true;
}

void DepthwiseRunS8(const DepthwiseColumnsS8& in) {
  ChunkFunction run = {&DepthwiseS8Chunk<true>, &DepthwiseS8Chunk<false>, 0};
  if (in.columns > 1) {
    static_cast<void>(TryShared<3, 1>(in, &run) || TryShared<3, 2>(in, &run) ||
                      TryShared<5, 1>(in, &run) || TryShared<5, 2>(in, &run));
  }
  const int chunk_bytes = PairsOf(in.taps) * 4 * kChunk;
  const int8_t* weights = in.weights;
  // Ordered factors fill whole chunks.
  const Finish finish(in, (in.channels + kChunk - 1) / kChunk * kChunk);
  int first = 0;
  for (; first + kChunk <= in.channels; first += kChunk, weights += chunk_bytes) {
    run.all(in, finish, run.step, first, weights);
  }
  if (first < in.channels) run.some(in, finish, run.step, first, weights);
}

}  // namespace

constexpr GemmS8Kernels kGemmS8Avx2 = {.name = "avx2",
                                       .rows = kRowsS8,
                                       .columns = kColumnsS8,
                                       .run = kRunS8,
                                       .left = LeftForm::kInt16,
                                       .left_from_s8 = &LeftFromS8,
                                       .left_from_u8 = &LeftFromU8,
                                       .tile = &GemmS8,
                                       .requantized = &RequantizedRows,
                                       .requantizes_left = true,
                                       .winograd = &kWinogradS8Avx2};
constexpr DepthwiseS8Kernels kDepthwiseS8Avx2 = {.name = "avx2",
                                                 .left = LeftForm::kInt16,
                                                 .pixel = &DepthwiseS8,
                                                 .pack = &PackDepthwiseS8,
                                                 .columns = &DepthwiseRunS8,
                                                 .order = &OrderDepthwiseS8,
                                                 .lanes = kChunk};

}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
