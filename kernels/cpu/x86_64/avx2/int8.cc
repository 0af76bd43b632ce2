// SPDX-License-Identifier: Apache-2.0
//
// int8 products for x86-64 with AVX2. This folder is compiled with flags for this instruction set,
// so everything is in the unnamed namespace and no inline function of a shared header is used.
//
// Products go through 16-bit multiply-add of pairs (vpmaddwd). The 8-bit form (vpmaddubsw)
// saturates at 16 bits and is wrong for large values; with the addition that it needs it is no
// faster either.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include "kernels/cpu/x86_64/avx2/int8.inc"

namespace deputy {
namespace {

constexpr int kRowsS8 = 6, kColumnsS8 = 16, kRunS8 = 2;

// Loads 16 weights as 16-bit integers.
inline __m256i LoadWeights(const int8_t* weights) { return Widened(weights); }
inline __m256i LoadWeights(const int16_t* weights) { return Load(weights); }

// Adds the products of a pair of values and kVectors vectors of pairs of weights.
template <int kVectors>
[[gnu::always_inline]] inline void MultiplyPair(const int16_t* values,
                                                const __m256i (&weights)[kVectors],
                                                __m256i (&sums)[kVectors]) {
  int32_t pair;
  std::memcpy(&pair, values, sizeof pair);
  __m256i value = _mm256_set1_epi32(pair);
  if constexpr (kVectors == 2) {
    // A tile of twelve sums leaves two registers. g++ 12 would need more: it adds products first.
    __m256i products, low = sums[0], high = sums[1];
    __asm__("vpmaddwd %4, %2, %3\n\tvpaddd %3, %0, %0\n\tvpmaddwd %5, %2, %2\n\tvpaddd %2, %1, %1"
            : "+x"(low), "+x"(high), "+x"(value), "=&x"(products)
            : "x"(weights[0]), "x"(weights[1]));
    sums[0] = low;
    sums[1] = high;
  } else {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) AddProducts(&sums[v], value, weights[v]);
  }
}

// Prefetches the next panel into the second-level cache: a part of it for every two pairs of
// values, distributed over the tiles of a panel.
struct PanelPrefetch {
  const int8_t* at;
  int step;

  void Next() {
    _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1);
    at += step;
  }
};

// Adds the products of kRows rows with kVectors vectors of columns, for one part of the depth. The
// values a[r][d] and a[r][d + 1] of a row are multiplied as a pair. `prefetch` may be null.
template <int kRows, int kVectors, typename Weight>
[[gnu::always_inline]] inline void MultiplyPairs(const int16_t* const (&a)[kRows], const Weight* b,
                                                 size_t panel_stride, int depth,
                                                 __m256i (&sums)[kRows][kVectors],
                                                 PanelPrefetch* prefetch = nullptr) {
  const auto multiply = [&](int d, const Weight* pairs) __attribute__((always_inline)) {
    __m256i weights[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = LoadWeights(pairs + static_cast<size_t>(v / 2) * panel_stride + 16 * (v % 2));
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) MultiplyPair(a[r] + d, weights, sums[r]);
  };
  constexpr int kPairWeights = kRunS8 * kColumnsS8;
  int d = 0;
  if (prefetch != nullptr) {
    for (; d + 2 * kRunS8 <= depth; d += 2 * kRunS8, b += 2 * kPairWeights) {
      prefetch->Next();
      multiply(d, b);
      multiply(d + kRunS8, b + kPairWeights);
    }
  }
  for (; d < depth; d += kRunS8, b += kPairWeights) multiply(d, b);
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

// Widens int8 to int16. Every value is XORed with `flip` first: 0x80 converts uint8 to int8 by
// subtracting 128.
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

// ---- int8 rows with requantisation ------------------------------------------------------------

// Loads the factors of one or two vectors of columns, without reading past the last column.
template <int kVectors, bool kPlain>
inline void LoadFactors(const GemmRowsS8& job, int column, __m256 (&factors)[kVectors]) {
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const float* const from = job.factors + column + 8 * v;
    factors[v] = kPlain ? _mm256_loadu_ps(from)
                        : _mm256_maskload_ps(from, FirstLanes(job.columns - column - 8 * v));
  }
}

// Requantises the sums of rows [row, row + kRows) in one or two vectors of columns, and stores the
// columns that exist. kPlain: all columns exist, and saturation while packing is the only clamp
// needed.
template <int kRows, int kVectors, bool kPlain>
[[gnu::always_inline]] inline void FinishRows(const GemmRowsS8& job,
                                              const Requantization& requantization, int row,
                                              int column, const __m256i (&sums)[kRows][kVectors]) {
  const int wide = kPlain ? 8 * kVectors : Min(job.columns - column, 8 * kVectors);
  __m256 factors[kVectors];
  LoadFactors<kVectors, kPlain>(job, column, factors);
  // Number of rows that are narrowed together: their sums are four vectors. Each 128-bit lane of
  // the result has half of each vector.
  constexpr int kTogether = 4 / kVectors;
  const auto words = [&](int r) {
    const int next = r + 1 < kRows ? r + 1 : r;
    const __m256i second = kVectors == 2 ? sums[r][kVectors - 1] : sums[next][0];
    return requantization.Words(requantization.Steps<kPlain>(sums[r][0], factors[0]),
                                requantization.Steps<kPlain>(second, factors[kVectors - 1]));
  };
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int8_t* out = job.out + static_cast<size_t>(row) * job.out_stride + column;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; r += kTogether) {
    const int second = r + kTogether / 2 < kRows ? r + kTogether / 2 : r;
    const __m256i bytes =
        _mm256_permutevar8x32_epi32(requantization.Bytes<kPlain>(words(r), words(second)), order);
    const __m128i front = _mm256_castsi256_si128(bytes), back = _mm256_extracti128_si256(bytes, 1);
    const size_t half = static_cast<size_t>(kTogether / 2) * job.out_stride;
    StoreBytes(front, out, wide);
    if (second > r) StoreBytes(back, out + half, wide);
    if constexpr (kVectors == 1) {
      if (r + 1 < kRows) StoreBytes(_mm_unpackhi_epi64(front, front), out + job.out_stride, wide);
      if (r + 3 < kRows) StoreBytes(_mm_unpackhi_epi64(back, back), out + 3 * job.out_stride, wide);
    }
    out += 2 * half;
  }
}

// Returns the panel that contains a column.
inline const int8_t* PanelOf(const GemmRowsS8& job, int column) {
  return job.b + static_cast<size_t>(column / kColumnsS8) * job.panel_stride;
}

// Computes the requantised outputs of kRows rows by 8 * kVectors columns, whose panel is `b`.
template <int kRows, int kVectors, bool kPlain, typename Weight>
[[gnu::always_inline]] inline void RequantizedTile(const GemmRowsS8& job,
                                                   const Requantization& requantization,
                                                   const Weight* b, int row, int column,
                                                   PanelPrefetch* prefetch) {
  const int16_t* a[kRows];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) a[r] = static_cast<const int16_t*>(job.a[row + r]);
  __m256i sums[kRows][kVectors];
  StartSums(job.bias + column, sums);
  for (int part = 0; part < job.parts; ++part) {
    MultiplyPairs(a, b, 0, job.depth, sums, prefetch);
    b += static_cast<size_t>(job.depth) * kColumnsS8;
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) a[r] += job.part_step / sizeof(int16_t);
  }
  FinishRows<kRows, kVectors, kPlain>(job, requantization, row, column, sums);
}

template <int kRows, int kVectors, bool kPlain>
void RequantizedBlock(const GemmRowsS8& job, const Requantization& requantization, int row,
                      int column) {
  RequantizedTile<kRows, kVectors, kPlain>(job, requantization, PanelOf(job, column), row, column,
                                           nullptr);
}

// Limits for processing in two passes: with a small depth in one part, the sums of many tiles are
// stored first and requantised afterwards. Requantising each tile at once would fill the
// processor's out-of-order window with its last values and delay the next tile.
constexpr int kPassRows = 48, kPassDepth = 160;

template <int kRows, typename Weight>
[[gnu::always_inline]] inline void StoreSums(const GemmRowsS8& job, const Weight* b, int row,
                                             int column, int32_t* out, PanelPrefetch* prefetch) {
  const int16_t* a[kRows];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) a[r] = static_cast<const int16_t*>(job.a[row + r]);
  __m256i sums[kRows][2];
  StartSums(job.bias + column, sums);
  MultiplyPairs(a, b, 0, job.depth, sums, prefetch);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r, out += kColumnsS8) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(out), sums[r][0]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + 8), sums[r][1]);
  }
}

// Computes rows [0, last), whole tiles, for a whole panel of columns. Requires
// `Requantization::plain`.
template <typename Weight>
void PlainInPasses(const GemmRowsS8& job, const Requantization& requantization, const Weight* b,
                   int column, int last, PanelPrefetch prefetch) {
  static_assert(kPassRows % kRowsS8 == 0 && kRowsS8 % 2 == 0);
  alignas(64) int32_t sums_buffer[kPassRows * kColumnsS8];
  const __m256 factors[2] = {_mm256_loadu_ps(job.factors + column),
                             _mm256_loadu_ps(job.factors + column + 8)};
  for (int row = 0; row < last; row += kPassRows) {
    const int count = Min(last - row, kPassRows);
    for (int r = 0; r < count; r += kRowsS8) {
      StoreSums<kRowsS8>(job, b, row + r, column, sums_buffer + r * kColumnsS8, &prefetch);
    }
    int8_t* out = job.out + static_cast<size_t>(row) * job.out_stride + column;
    const int32_t* from = sums_buffer;
    for (int r = 0; r < count; r += 2, out += 2 * job.out_stride, from += 2 * kColumnsS8) {
      const __m256i front =
          requantization.Words(requantization.Steps<true>(Load(from), factors[0]),
                               requantization.Steps<true>(Load(from + 8), factors[1]));
      const __m256i back =
          requantization.Words(requantization.Steps<true>(Load(from + 16), factors[0]),
                               requantization.Steps<true>(Load(from + 24), factors[1]));
      const __m256i bytes = _mm256_permutevar8x32_epi32(requantization.Bytes<true>(front, back),
                                                        _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
      StoreBytes(_mm256_castsi256_si128(bytes), out, kColumnsS8);
      StoreBytes(_mm256_extracti128_si256(bytes, 1), out + job.out_stride, kColumnsS8);
    }
  }
}

// Maximum size of a panel whose weights are widened once for all rows of a job, in weights: half of
// a first-level cache of 32 KB. Minimum number of rows that repays widening.
constexpr int kMaxWide = 8 * 1024, kMinWideRows = 72;
// Maximum size of weights that are not prefetched.
constexpr int kMaxNearWeights = 128 * 1024;

// Writes `count` weights, a multiple of 16, as 16-bit integers.
void WidenWeights(const int8_t* weights, int count, int16_t* out) {
  for (int i = 0; i < count; i += 16) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + i), Widened(weights + i));
  }
}

// Computes the requantised outputs of rows [0, last), whole tiles, for a whole panel of columns.
// Requires `Requantization::plain`.
template <typename Weight>
void PlainTiles(const GemmRowsS8& job, const Requantization& requantization, const Weight* b,
                int column, int last) {
  // Weights that stay in the second-level cache need no prefetch: the biases are prefetched, which
  // are in the cache.
  const bool fetches = column + kColumnsS8 < job.columns &&
                       int64_t{job.parts} * job.depth * job.columns > kMaxNearWeights;
  const int tiles = last / kRowsS8;
  PanelPrefetch prefetch = {reinterpret_cast<const int8_t*>(job.bias + column), 0};
  if (fetches && tiles > 0) {
    prefetch = {PanelOf(job, column + kColumnsS8), 2 * kRunS8 * kColumnsS8 / tiles};
  }
  if (job.parts == 1 && job.depth <= kPassDepth) {
    return PlainInPasses(job, requantization, b, column, last, prefetch);
  }
  for (int row = 0; row < last; row += kRowsS8) {
    RequantizedTile<kRowsS8, 2, true>(job, requantization, b, row, column, &prefetch);
  }
}

// Calls PlainTiles, with widened weights if there are enough rows.
void PlainPanel(const GemmRowsS8& job, const Requantization& requantization, int column, int last) {
  const int8_t* const b = PanelOf(job, column);
  const int64_t weights = int64_t{job.parts} * job.depth * kColumnsS8;
  if (weights > kMaxWide || last < kMinWideRows) {
    return PlainTiles(job, requantization, b, column, last);
  }
  alignas(64) int16_t wide[kMaxWide];
  WidenWeights(b, static_cast<int>(weights), wide);
  PlainTiles<int16_t>(job, requantization, wide, column, last);
}

// Computes the requantised outputs of all rows in 8 * kVectors columns, at most kMax rows at a
// time.
template <int kMax, int kVectors>
void RequantizedColumns(const GemmRowsS8& job, const Requantization& requantization, int column) {
  constexpr void (*kRemainder[])(const GemmRowsS8&, const Requantization&, int, int) = {
      &RequantizedBlock<1, kVectors, false>, &RequantizedBlock<2, kVectors, false>,
      &RequantizedBlock<3, kVectors, false>, &RequantizedBlock<4, kVectors, false>,
      &RequantizedBlock<5, kVectors, false>, &RequantizedBlock<6, kVectors, false>};
  const bool plain = requantization.plain && job.columns - column >= 8 * kVectors;
  int row = 0;
  if (kVectors == 2 && plain) {
    row = job.rows / kRowsS8 * kRowsS8;
    PlainPanel(job, requantization, column, row);
  }
  // Whole panels that are plain have no tile left.
  const auto block = kVectors == 1 && plain ? &RequantizedBlock<kMax, kVectors, kVectors == 1>
                                            : &RequantizedBlock<kMax, kVectors, false>;
  for (; row + kMax <= job.rows; row += kMax) block(job, requantization, row, column);
  while (row < job.rows) {
    const int rows = Min(job.rows - row, kRowsS8);
    kRemainder[rows - 1](job, requantization, row, column);
    row += rows;
  }
}

void RequantizedRows(const GemmRowsS8& job) {
  const Requantization requantization(job, job.columns);
  for (int column = 0; column < job.columns; column += kColumnsS8) {
    if (job.columns - column > 8) {
      RequantizedColumns<kRowsS8, 2>(job, requantization, column);
    } else {
      // Half a panel has blocks of 8 rows: the pointers of more rows would not fit in registers.
      RequantizedColumns<8, 1>(job, requantization, column);
    }
  }
}

}  // namespace

constexpr GemmS8Kernels kGemmS8Avx2 = {.name = "avx2",
                                       .rows = kRowsS8,
                                       .columns = kColumnsS8,
                                       .run = kRunS8,
                                       .left = LhsEncoding::kInt16,
                                       .left_from_s8 = &LeftFromS8,
                                       .left_from_u8 = &LeftFromU8,
                                       .tile = &GemmS8,
                                       .requantized = &RequantizedRows,
                                       .requantizes_left = true,
                                       .winograd = &kWinogradS8Avx2};
}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
