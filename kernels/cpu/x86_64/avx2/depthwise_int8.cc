// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions for x86-64 with AVX2, of any filter. Everything is in the unnamed
// namespace, and no inline function of a shared header is used.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include "kernels/cpu/common/depthwise_s8.inc"
#include "kernels/cpu/x86_64/avx2/int8.inc"

namespace deputy {
namespace {

// Adds products with a factor in memory, which g++ 12 would otherwise load into a separate
// register.
inline void AddProductsAt(__m256i* sums, __m256i a, const int8_t* b) {
  __m256i products;
  __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
          : "+x"(*sums), "=&x"(products)
          : "x"(a), "m"(*reinterpret_cast<const __m256i_u*>(b)));
}

// Number of channels per iteration. Each 32-bit lane holds two taps of a channel, so that one
// multiply-add adds both products. Interleaving leaves the channels of a chunk in the order 0 to 3,
// 8 to 11 (low sums), 4 to 7, 12 to 15 (high sums); the weights (already widened to 16 bits), bias
// and factors are packed in this order.
constexpr int kChunk = 16;

inline int ChannelAt(int i) { return i % 4 + (i / 4 % 2) * 8 + (i / 8) * 4; }

// Two taps that are multiplied together. In filters of 9 and 25 taps, which may be 3x3 and 5x5
// filters whose adjacent columns share inputs, the taps are vertical neighbours, in the last row
// horizontal ones; in other filters they are consecutive. `second` is negative if there is none.
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
// Bytes of a chunk's packed weights.
inline size_t ChunkBytes(int taps) { return static_cast<size_t>(PairsOf(taps)) * 4 * kChunk; }

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

// Loads the `count` existing channels of a chunk without reading past them: two overlapping loads
// of eight bytes and a shuffle. If `count` is less than eight, both loads begin before the chunk's
// first channel; the first chunk of a pixel has no channels before it, and its bytes are then
// assembled by LoadFew.
struct ChunkLoad {
  int count;
  bool few;
  ptrdiff_t second;  // offset of the second load from the chunk's first channel
  ptrdiff_t first;   // offset of the first load
  __m128i order;

  ChunkLoad(int channels, int first_channel)
      : count(Min(kChunk, channels - first_channel)), few(first_channel == 0 && count < 8) {
    first = count < 8 ? count - 8 : 0;
    second = count - 8;
    alignas(16) int8_t positions[kChunk];
    for (int i = 0; i < kChunk; ++i) {
      const int position = count < 8 ? 8 - count + i : i < 8 ? i : 16 - count + i;
      positions[i] = i < count ? static_cast<int8_t>(position) : int8_t{-1};
    }
    std::memcpy(&order, positions, sizeof order);
  }
};

[[gnu::noinline]] __m128i LoadFew(const int8_t* values, int count) {
  return LoadBytes(values, count);
}

// Loads the channels of a chunk, widened to 16 bits. kAll: all 16 channels exist.
template <bool kAll>
inline __m256i LoadWidened(const int8_t* values, const ChunkLoad& load) {
  if constexpr (kAll) return Widened(values);
  if (load.few) return _mm256_cvtepi8_epi16(LoadFew(values, load.count));
  const __m128i front = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values + load.first));
  const __m128i both = _mm_castps_si128(
      _mm_loadh_pi(_mm_castsi128_ps(front), reinterpret_cast<const __m64*>(values + load.second)));
  return _mm256_cvtepi8_epi16(_mm_shuffle_epi8(both, load.order));
}

// Sums of a chunk of channels in one column.
struct ChunkSums {
  __m256i low, high;
};

inline void AddPair(ChunkSums* sums, __m256i first, __m256i second, const int8_t* weights) {
  AddProductsAt(&sums->low, _mm256_unpacklo_epi16(first, second), weights);
  AddProductsAt(&sums->high, _mm256_unpackhi_epi16(first, second), weights + 32);
}

// Adds the products of all taps of a chunk, which begins `offset` bytes after the taps' addresses.
template <bool kAll>
inline void AddTaps(const int8_t* const* inputs, int taps, size_t offset, const ChunkLoad& load,
                    const int8_t* weights, ChunkSums* sums) {
  for (int pair = 0; pair < PairsOf(taps); ++pair, weights += 4 * kChunk) {
    const TapPair at = PairAt(taps, pair);
    const __m256i first = LoadWidened<kAll>(inputs[at.first] + offset, load);
    const __m256i second =
        at.second < 0 ? first : LoadWidened<kAll>(inputs[at.second] + offset, load);
    AddPair(sums, first, second, weights);
  }
}

void DepthwiseS8(const DepthwisePixelS8& pixel) {
  const int8_t* weights = pixel.weights;
  const size_t chunk_bytes = ChunkBytes(pixel.taps);
  for (int first = 0; first < pixel.channels; first += kChunk, weights += chunk_bytes) {
    const ChunkLoad load(pixel.channels, first);
    const int count = load.count;
    ChunkSums sums = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    AddTaps<false>(pixel.inputs, pixel.taps, static_cast<size_t>(first), load, weights, &sums);
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

// Requantises a chunk in adjacent columns, one or two at a time, and stores `count` of its
// channels. kPlain: all channels are stored, and saturation while packing is the only clamp needed.
template <bool kPlain>
inline void StoreChunks(const DepthwiseColumnsS8& in, const Requantization& requantization,
                        int column, int columns, int first, int count, const ChunkSums* sums) {
  const __m256 low = _mm256_loadu_ps(in.factors + first);
  const __m256 high = _mm256_loadu_ps(in.factors + first + 8);
  const auto stride = static_cast<size_t>(in.channels);
  const int wide = kPlain ? kChunk : count;
  int8_t* out = in.out + static_cast<size_t>(column) * stride + static_cast<size_t>(first);
  for (int i = 0; i < columns; i += 2, out += 2 * stride) {
    const ChunkSums &a = sums[i], &b = sums[i + 1 < columns ? i + 1 : i];
    const __m256i front = requantization.Words(requantization.Steps<kPlain>(a.low, low),
                                               requantization.Steps<kPlain>(a.high, high));
    const __m256i back = requantization.Words(requantization.Steps<kPlain>(b.low, low),
                                              requantization.Steps<kPlain>(b.high, high));
    const __m256i bytes = _mm256_permute4x64_epi64(requantization.Bytes<kPlain>(front, back), 0xd8);
    StoreBytes(_mm256_castsi256_si128(bytes), out, wide);
    if (i + 1 < columns) StoreBytes(_mm256_extracti128_si256(bytes, 1), out + stride, wide);
  }
}

template <int kColumns>
inline void StartChunk(const DepthwiseColumnsS8& in, int first, ChunkSums (&sums)[kColumns]) {
#pragma GCC unroll 8
  for (ChunkSums& sum : sums) sum = {Load(in.bias + first), Load(in.bias + first + 8)};
}

template <bool kAll>
void DepthwiseS8Column(const DepthwiseColumnsS8& in, const Requantization& requantization,
                       int column, int first, const int8_t* weights) {
  const ChunkLoad load(in.channels, first);
  ChunkSums sums[1];
  StartChunk(in, first, sums);
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(first);
  AddTaps<kAll>(in.inputs, in.taps, offset, load, weights, &sums[0]);
  StoreChunks<false>(in, requantization, column, 1, first, load.count, sums);
}

// ---- Filters whose columns share taps ----

// Returns the distance between adjacent taps of each filter row if adjacent columns are kStride
// times that distance apart, otherwise 0. All taps of a row may point to the row of zero points.
template <int kSize, int kStride>
inline size_t SharedStep(const DepthwiseColumnsS8& in) {
  const size_t step = in.column_step / kStride;
  if (step * kStride != in.column_step) return 0;
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

// Computes the sums of the channels from `first` on in kColumns columns: each input column is
// loaded and interleaved once.
template <int kSize, int kStride, int kColumns, bool kAll>
void DepthwiseS8Shared(const DepthwiseColumnsS8& in, size_t step, int column, int first,
                       const ChunkLoad& load, const int8_t* weights, ChunkSums* out) {
  constexpr int kInputColumns = (kColumns - 1) * kStride + kSize, kLast = kSize - 1;
  ChunkSums sums[kColumns];
  StartChunk(in, first, sums);
  const size_t offset = static_cast<size_t>(column) * in.column_step + static_cast<size_t>(first);
  for (int pair = 0; pair < kSize / 2; ++pair, weights += kSize * 4 * kChunk) {
    const int8_t* upper = in.inputs[2 * pair * kSize] + offset;
    const int8_t* lower = in.inputs[(2 * pair + 1) * kSize] + offset;
#pragma GCC unroll 16
    for (int input_column = 0; input_column < kInputColumns;
         ++input_column, upper += step, lower += step) {
      const __m256i a = LoadWidened<kAll>(upper, load), b = LoadWidened<kAll>(lower, load);
      const __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
#pragma GCC unroll 8
      for (int i = 0; i < kColumns; ++i) {
        const int tap = input_column - i * kStride;
        if (tap < 0 || tap >= kSize) continue;
        AddProductsAt(&sums[i].low, low, weights + tap * 4 * kChunk);
        AddProductsAt(&sums[i].high, high, weights + tap * 4 * kChunk + 32);
      }
    }
  }
  const int8_t* from = in.inputs[kLast * kSize] + offset;
  __m256i next = LoadWidened<kAll>(from, load);
#pragma GCC unroll 16
  for (int input_column = 0; input_column < kInputColumns; ++input_column) {
    const __m256i here = next;
    from += step;
    if (input_column + 1 < kInputColumns) next = LoadWidened<kAll>(from, load);
    if (kStride == 2 && input_column % 2 == 1) continue;
    const __m256i low = _mm256_unpacklo_epi16(here, next);
    const __m256i high = _mm256_unpackhi_epi16(here, next);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) {
      const int tap = input_column - i * kStride;
      if (tap < 0 || tap >= kSize || tap % 2 == 1) continue;
      AddProductsAt(&sums[i].low, low, weights + tap / 2 * 4 * kChunk);
      AddProductsAt(&sums[i].high, high, weights + tap / 2 * 4 * kChunk + 32);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i) out[i] = sums[i];
}

// Computes columns in groups of four, two and one, then requantises all of their sums from memory.
// Requantising each group at once would fill the processor's out-of-order window with the long
// latency of its last values and delay the next group.
template <int kSize, int kStride, bool kAll>
void DepthwiseS8SharedChunk(const DepthwiseColumnsS8& in, const Requantization& requantization,
                            size_t step, int first, const int8_t* weights) {
  constexpr int kBufferColumns = 32;
  const ChunkLoad load(in.channels, first);
  ChunkSums buffer[kBufferColumns];
  for (int begin = 0; begin < in.columns; begin += kBufferColumns) {
    const int columns = Min(in.columns - begin, kBufferColumns);
    int i = 0;
    for (; i + 4 <= columns; i += 4) {
      DepthwiseS8Shared<kSize, kStride, 4, kAll>(in, step, begin + i, first, load, weights,
                                                 buffer + i);
    }
    if (i + 2 <= columns) {
      DepthwiseS8Shared<kSize, kStride, 2, kAll>(in, step, begin + i, first, load, weights,
                                                 buffer + i);
      i += 2;
    }
    if (i < columns) {
      DepthwiseS8Shared<kSize, kStride, 1, kAll>(in, step, begin + i, first, load, weights,
                                                 buffer + i);
    }
    if (kAll && requantization.plain) {
      StoreChunks<true>(in, requantization, begin, columns, first, kChunk, buffer);
    } else {
      StoreChunks<false>(in, requantization, begin, columns, first, load.count, buffer);
    }
  }
}

// Functions that compute the columns of a whole chunk (`all`) or a partial chunk (`some`), and
// their parameter.
struct ChunkFunction {
  using Run = void (*)(const DepthwiseColumnsS8&, const Requantization&, size_t, int,
                       const int8_t*);
  Run all, some;
  size_t step;
};

template <bool kAll>
void DepthwiseS8Chunk(const DepthwiseColumnsS8& in, const Requantization& requantization, size_t,
                      int first, const int8_t* weights) {
  for (int column = 0; column < in.columns; ++column) {
    DepthwiseS8Column<kAll>(in, requantization, column, first, weights);
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
  const size_t chunk_bytes = ChunkBytes(in.taps);
  const int8_t* weights = in.weights;
  // Factors are padded to whole chunks because they have been reordered.
  const Requantization requantization(in, (in.channels + kChunk - 1) / kChunk * kChunk);
  int first = 0;
  for (; first + kChunk <= in.channels; first += kChunk, weights += chunk_bytes) {
    run.all(in, requantization, run.step, first, weights);
  }
  if (first < in.channels) run.some(in, requantization, run.step, first, weights);
}

}  // namespace

constexpr DepthwiseS8Kernels kDepthwiseS8Avx2 = {.name = "avx2",
                                                 .left = LhsEncoding::kInt16,
                                                 .pixel = &DepthwiseS8,
                                                 .pack = &PackDepthwiseS8,
                                                 .columns = &DepthwiseRunS8,
                                                 .order = &OrderDepthwiseS8<kChunk, &ChannelAt>,
                                                 .lanes = kChunk,
                                                 .lines = &kDepthwiseLinesS8Avx2};

}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
