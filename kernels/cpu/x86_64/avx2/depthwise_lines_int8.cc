// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions of 3 x 3 and 5 x 5 taps for x86-64 with AVX2, several rows at once.
// Everything is in the unnamed namespace, and no inline function of a shared header is used.
//
// Each 32-bit lane holds two taps, so that one multiply-add adds both products. Bytes are not
// widened one by one: 16-bit words of two adjacent channels are interleaved; a word with its lower
// byte cleared is 256 times the odd channel, and the word shifted left by 8 bits is 256 times the
// even channel. Therefore all sums are scaled by 256 and the factors by 1/256.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include "kernels/cpu/common/depthwise_s8.inc"
#include "kernels/cpu/x86_64/avx2/depthwise_blocks.inc"

namespace deputy {
namespace {

constexpr int32_t kScale = 256;

// ---- Packing -----------------------------------------------------------------------------------

// Number of pairs of taps that are multiplied together: vertical neighbours, in the last row
// horizontal ones.
inline int PairsOf(int size) { return (size * size + 1) / 2; }
struct TapPair {
  int first, second;  // `second` is negative if the pair has only one tap
};
inline TapPair PairAt(int size, int pair) {
  if (pair < size * (size / 2)) {
    const int first = pair / size * 2 * size + pair % size;
    return {first, first + size};
  }
  return {2 * pair, 2 * pair + 1 < size * size ? 2 * pair + 1 : -1};
}

// Sizes in the packed data of a block. For each half it has pairs of weights, in vectors of even
// and of odd channels; then follow the bias and the factors.
constexpr size_t kPairBytes = 2 * 32, kNumbersBytes = kBlock * sizeof(int32_t);
inline size_t HalfBytes(int size) { return static_cast<size_t>(PairsOf(size)) * kPairBytes; }
inline size_t BlockBytes(int size) { return kHalves * HalfBytes(size) + 2 * kNumbersBytes; }

size_t PackedBytes(int size, int channels) {
  return static_cast<size_t>(Blocks{channels}.count()) * BlockBytes(size);
}

void PackWeights(const int8_t* weights, int size, int channels, const Block& block, int8_t* out) {
  const auto weight_at = [&](int tap, int channel) -> int16_t {
    return tap < 0 ? 0
                   : weights[static_cast<size_t>(tap) * static_cast<size_t>(channels) +
                             static_cast<size_t>(channel)];
  };
  for (int half = 0; half < kHalves; ++half) {
    for (int pair = 0; pair < PairsOf(size); ++pair) {
      const TapPair at = PairAt(size, pair);
      for (int i = 0; i < 2 * kLanes; ++i, out += 4) {
        const int channel = block.ChannelOf(2 * half + i / kLanes, i % kLanes);
        const int16_t two[2] = {weight_at(at.first, channel), weight_at(at.second, channel)};
        std::memcpy(out, two, sizeof two);
      }
    }
  }
}

bool PackLines(const int8_t* weights, int size, int channels, const int32_t* bias,
               const float* factors, int8_t* out) {
  constexpr int32_t kMaxBias = 1 << 22;
  constexpr float kMaxFactor = 1e30f;  // factors from 1 / kMaxFactor on divide exactly
  for (int c = 0; c < channels; ++c) {
    if (bias[c] < -kMaxBias || bias[c] > kMaxBias) return false;
    if (!(factors[c] >= 1 / kMaxFactor && factors[c] <= kMaxFactor)) return false;
  }
  const Blocks blocks = {channels};
  for (int b = 0; b < blocks.count(); ++b, out += BlockBytes(size)) {
    const Block block = blocks[b];
    PackWeights(weights, size, channels, block, out);
    int8_t* const numbers = out + kHalves * HalfBytes(size);
    for (int i = 0; i < kBlock; ++i) {
      const int channel = block.ChannelOf(i / kLanes, i % kLanes);
      const int32_t scaled = bias[channel] * kScale;
      const float factor = factors[channel] / kScale;
      std::memcpy(numbers + 4 * i, &scaled, 4);
      std::memcpy(numbers + kNumbersBytes + 4 * i, &factor, 4);
    }
  }
  return true;
}

// ---- Products ----------------------------------------------------------------------------------
//
// A block's input is copied first, with zero points around the image, so that all columns are
// treated alike and pixels are as close as possible: kPixel bytes apart.

// Interleaves words of two channels, from the lower or upper 8 bytes of each 128-bit lane.
template <int kHalf>
inline __m256i Interleaved(__m256i a, __m256i b) {
  return kHalf == 0 ? _mm256_unpacklo_epi16(a, b) : _mm256_unpackhi_epi16(a, b);
}

// Vectors of weights, of which the first few are kept in registers: more would leave too few for
// the sums, and loading all of them takes longer than the products.
class Weights {
 public:
  explicit Weights(const int8_t* at) : at_(at) {
#pragma GCC unroll 4
    for (int i = 0; i < kWeightRegisters; ++i) held_[i] = Load(at + 32 * i);
  }

  void AddProducts(__m256i* sums, __m256i pairs, int i) const {
    __m256i products;
    if (i < kWeightRegisters) {
      __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
              : "+x"(*sums), "=&x"(products)
              : "x"(pairs), "x"(held_[i]));
    } else {
      __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
              : "+x"(*sums), "=&x"(products)
              : "x"(pairs), "m"(*reinterpret_cast<const __m256i_u*>(at_ + 32 * i)));
    }
  }

 private:
  static constexpr int kWeightRegisters = 4;

  const int8_t* at_;
  __m256i held_[kWeightRegisters];
};

// Sums of kColumns columns, each as a vector of even and a vector of odd channels.
template <int kColumns>
using Sums = __m256i[kColumns][2];

// Adds the products of input column `input_column` to the columns whose windows contain it. `words`
// interleaves it with the column below it or, if kEvery is 2, with the next column. Only every
// kEvery-th tap has weights.
template <int kSize, int kStride, int kEvery, int kColumns>
[[gnu::always_inline]] inline void AddInputColumn(int input_column, __m256i words,
                                                  const Weights& weights, Sums<kColumns>& sums) {
  const __m256i even = _mm256_slli_epi16(words, 8);
  const __m256i odd = _mm256_and_si256(words, _mm256_set1_epi16(static_cast<int16_t>(0xff00)));
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i) {
    const int tap = input_column - i * kStride;
    if (tap < 0 || tap >= kSize || tap % kEvery != 0) continue;
    weights.AddProducts(&sums[i][0], even, tap / kEvery * 2);
    weights.AddProducts(&sums[i][1], odd, tap / kEvery * 2 + 1);
  }
}

// Computes one half of a block for kColumns columns whose copied input begins at `from`.
template <int kHalf, int kSize, int kStride, int kColumns>
[[gnu::always_inline]] inline void Tile(const int8_t* from, size_t row_bytes, const int8_t* packed,
                                        const int8_t* bias, __m256i* out) {
  constexpr int kInputColumns = (kColumns - 1) * kStride + kSize;
  Sums<kColumns> sums;
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i) {
    sums[i][0] = Load(bias);
    sums[i][1] = Load(bias + 32);
  }
  for (int pair = 0; pair < kSize / 2; ++pair, from += 2 * row_bytes) {
    const Weights weights(packed);
    const int8_t* const below = from + row_bytes;
#pragma GCC unroll 16
    for (int input_column = 0; input_column < kInputColumns; ++input_column) {
      const __m256i words = Interleaved<kHalf>(Load(from + kPixel * input_column),
                                               Load(below + kPixel * input_column));
      AddInputColumn<kSize, kStride, 1, kColumns>(input_column, words, weights, sums);
    }
    packed += static_cast<size_t>(kSize) * kPairBytes;
  }
  const Weights weights(packed);
  __m256i next = Load(from);
#pragma GCC unroll 16
  for (int input_column = 0; input_column < kInputColumns; ++input_column) {
    const __m256i here = next;
    if (input_column + 1 < kInputColumns) next = Load(from + kPixel * (input_column + 1));
    if (kStride == 2 && input_column % 2 == 1) continue;
    AddInputColumn<kSize, kStride, 2, kColumns>(input_column, Interleaved<kHalf>(here, next),
                                                weights, sums);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += kVectors) {
    _mm256_store_si256(out, sums[i][0]);
    _mm256_store_si256(out + 1, sums[i][1]);
  }
}

// Computes one half of a block for any number of columns; a single column is computed as two.
template <int kHalf, int kSize, int kStride>
[[gnu::noinline]] void HalfOf(int columns, const int8_t* from, size_t row_bytes,
                              const int8_t* packed, __m256i* out) {
  const int8_t* const bias = packed + kHalves * HalfBytes(kSize) + 64 * kHalf;
  packed += kHalf * HalfBytes(kSize);
  out += 2 * kHalf;
  constexpr int kStep = kStride * kPixel;
  for (; columns >= 4 && columns != 5; columns -= 4, from += 4 * kStep, out += 4 * kVectors) {
    Tile<kHalf, kSize, kStride, 4>(from, row_bytes, packed, bias, out);
  }
  if (columns == 3 || columns == 5) {
    Tile<kHalf, kSize, kStride, 3>(from, row_bytes, packed, bias, out);
    columns -= 3;
    from += 3 * kStep;
    out += 3 * kVectors;
  }
  if (columns > 0) Tile<kHalf, kSize, kStride, 2>(from, row_bytes, packed, bias, out);
}

// ---- Requantisation ----------------------------------------------------------------------------

// Output columns of a block. Columns of a run are `stride` bytes apart; each run begins at its
// offset in `starts`.
struct Columns {
  int count;
  size_t stride;
  int8_t* out;
  size_t starts[kMaxRuns];
};

template <int kRuns>
inline void StoreRuns(__m256i bytes, int8_t* out, const size_t* starts) {
  if constexpr (kRuns == 1) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
    return;
  }
  const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
  if constexpr (kRuns == 2) {
    StoreBytes(low, out, 16);
    StoreBytes(high, out + starts[1], 16);
  } else {
    StoreBytes(low, out, 8);
    StoreBytes(_mm_unpackhi_epi64(low, low), out + starts[1], 8);
    StoreBytes(high, out + starts[2], 8);
    StoreBytes(_mm_unpackhi_epi64(high, high), out + starts[3], 8);
  }
}

template <bool kPlain, int kRuns>
void FinishColumns(const Requantization& requantization, const int8_t* factors, const __m256i* sums,
                   const Columns& columns) {
  __m256 by[kVectors];
  for (int v = 0; v < kVectors; ++v) by[v] = _mm256_castsi256_ps(Load(factors + 32 * v));
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  int8_t* out = columns.out;
  for (int i = 0; i < columns.count; ++i, sums += kVectors, out += columns.stride) {
    const __m256i even = requantization.Words(requantization.Steps<kPlain>(sums[0], by[0]),
                                              requantization.Steps<kPlain>(sums[2], by[2]));
    const __m256i odd = requantization.Words(requantization.Steps<kPlain>(sums[1], by[1]),
                                             requantization.Steps<kPlain>(sums[3], by[3]));
    const __m256i bytes = _mm256_shuffle_epi8(requantization.Bytes<kPlain>(even, odd), order);
    StoreRuns<kRuns>(bytes, out, columns.starts);
  }
}

// ---- Lines -------------------------------------------------------------------------------------

// Computes pieces of two blocks, which share a cache line, with as many columns and lines as fit in
// the first-level cache.
template <int kSize, int kStride>
class Lines {
 public:
  explicit Lines(const DepthwiseLinesS8& in) : in_(in) {}

  void Run() {
    const int blocks = Blocks{in_.channels}.count();
    for (int line = 0; line < in_.lines; line += kMaxLines) {
      for (int block = 0; block < blocks; block += kTogether) {
        const int last = Min(block + kTogether, blocks);
        for (int column = 0; column < in_.columns; column += kColumns) {
          const Piece piece = {line, Min(kMaxLines, in_.lines - line), column,
                               Min(kColumns, in_.columns - column)};
          Copy(piece, block, last);
          for (int b = block; b < last; ++b) Compute(piece, b, copies_[b - block]);
        }
      }
    }
  }

 private:
  static constexpr int kColumns = 32 / kStride, kMaxLines = 8 / kStride, kTogether = 2;
  static constexpr size_t kRowBytes = (kColumns * kStride + kSize) * kPixel;
  static constexpr size_t kRows = (kMaxLines - 1) * kStride + kSize;

  struct Piece {
    int line, lines, column, columns;

    // Returns the length of each run of a block's adjacent columns. Runs have equal lengths, so the
    // last runs may overlap.
    int Count(const Block& block) const { return (columns + block.runs() - 1) / block.runs(); }
    int Start(const Block& block, int run) const {
      return Min(run * Count(block), columns - Count(block));
    }
  };

  void Copy(const Piece& piece, int first, int last) {
    Block blocks[kTogether];
    Copied copied[kTogether];
    for (int b = first; b < last; ++b) {
      const Block block = Blocks{in_.channels}[b];
      const int count = piece.Count(block);
      Copied& to = copied[b - first];
      to = {_mm256_set1_epi8(static_cast<char>(in_.input_zero_point)),
            static_cast<size_t>(in_.channels),
            in_.width,
            piece.column * kStride - in_.before,
            (count > 1 ? count - 1 : 1) * kStride + kSize,
            {}};
      for (int run = 0; run < block.runs(); ++run) {
        to.starts[run] = piece.Start(block, run) * kStride;
      }
      blocks[b - first] = block;
    }
    const int rows = (piece.lines - 1) * kStride + kSize;
    for (int r = 0; r < rows; ++r) {
      const int line = Min(r / kStride, piece.lines - 1);
      const int8_t* const row = in_.inputs[(piece.line + line) * kSize + r - line * kStride];
      for (int i = 0; i < last - first; ++i) {
        const int8_t* const from = row == nullptr ? nullptr : row + blocks[i].first;
        int8_t* const to = copies_[i] + static_cast<size_t>(r) * kRowBytes;
        copied[i].Copy(blocks[i].runs(), from, to);
      }
    }
  }

  void Compute(const Piece& piece, int b, const int8_t* copy) {
    struct Job {
      const float* factors;
      int32_t zero_point, low, high;
    };
    const Block block = Blocks{in_.channels}[b];
    const int8_t* const packed = in_.packed + static_cast<size_t>(b) * BlockBytes(kSize);
    const int8_t* const factors = packed + kHalves * HalfBytes(kSize) + kNumbersBytes;
    const Requantization requantization(
        Job{reinterpret_cast<const float*>(factors), in_.zero_point, in_.low, in_.high}, kBlock);
    const auto finished = FinisherOf(block, requantization.plain);
    const auto stride = static_cast<size_t>(in_.channels);
    Columns columns = {piece.Count(block), stride, in_.out + block.first, {}};
    columns.out += (static_cast<size_t>(piece.line) * static_cast<size_t>(in_.columns) +
                    static_cast<size_t>(piece.column)) *
                   stride;
    for (int run = 0; run < block.runs(); ++run) {
      columns.starts[run] = static_cast<size_t>(piece.Start(block, run)) * stride;
    }
    for (int line = 0; line < piece.lines; ++line, copy += kStride * kRowBytes) {
      HalfOf<0, kSize, kStride>(columns.count, copy, kRowBytes, packed, sums_);
      HalfOf<1, kSize, kStride>(columns.count, copy, kRowBytes, packed, sums_);
      finished(requantization, factors, sums_, columns);
      columns.out += static_cast<size_t>(in_.columns) * stride;
    }
  }

  static auto FinisherOf(const Block& block, bool plain) {
    if (block.width == kBlock) return plain ? &FinishColumns<true, 1> : &FinishColumns<false, 1>;
    if (block.width == 16) return plain ? &FinishColumns<true, 2> : &FinishColumns<false, 2>;
    return plain ? &FinishColumns<true, 4> : &FinishColumns<false, 4>;
  }

  const DepthwiseLinesS8& in_;
  alignas(64) int8_t copies_[kTogether][kRows * kRowBytes];
  alignas(64) __m256i sums_[(kColumns + 1) * kVectors];
};

}  // namespace

constexpr DepthwiseLinesS8Kernels kDepthwiseLinesS8Avx2 = {.accepts = &AcceptsLines<kMinWidth>,
                                                           .bytes = &PackedBytes,
                                                           .pack = &PackLines,
                                                           .run = &DepthwiseLines<Lines>};

}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
