// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions of the AVX2 table (see simd_avx2.cc). Everything is in the unnamed
// namespace, and no inline function of a shared header is used.
#include "kernels/cpu/simd_avx2_finish.inc"

#if defined(__AVX2__) && defined(__FMA__)

namespace deputy {
namespace {

// ---- Any columns ------------------------------------------------------------------------------

// kColumns columns of 8 * kVectors channels from `first` on; `count` of the last vector are stored,
// and only those are read.
template <int kColumns, int kVectors, bool kAll>
inline void DepthwiseF32Tile(const DepthwiseColumnsF32& in, int column, int first, int count) {
  const __m256i lanes = FirstLanes(count);
  __m256 sums[kColumns][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = LoadLanes(in.bias + first + 8 * v, lanes, kAll);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
    const float* weights = in.weights[row] + first;
    for (int tap = 0; tap < in.taps; ++tap, input += in.tap_step, weights += in.weight_step) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const __m256 weight = LoadLanes(weights + 8 * v, lanes, kAll);
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const float* value = input + static_cast<size_t>(i) * in.column_step + 8 * v;
          sums[i][v] = _mm256_fmadd_ps(LoadLanes(value, lanes, kAll), weight, sums[i][v]);
        }
      }
    }
  }
  const __m256 low = _mm256_set1_ps(in.low), high = _mm256_set1_ps(in.high);
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, low, high, in.epilogue, column, first, 8 * (kVectors - 1) + count, sums);
}

// All channels of kColumns columns. Few columns take several vectors at once: a single sum would
// wait for itself.
template <int kColumns>
void DepthwiseF32Columns(const DepthwiseColumnsF32& in, int column) {
  constexpr int kVectors = kColumns >= 5 ? 1 : kColumns >= 3 ? 2 : 4;
  int first = 0;
  for (; first + 8 * kVectors <= in.channels; first += 8 * kVectors) {
    DepthwiseF32Tile<kColumns, kVectors, true>(in, column, first, 8);
  }
  for (; first + 8 <= in.channels; first += 8) {
    DepthwiseF32Tile<kColumns, 1, true>(in, column, first, 8);
  }
  if (first < in.channels) {
    DepthwiseF32Tile<kColumns, 1, false>(in, column, first, in.channels - first);
  }
}

void DepthwiseF32(const DepthwiseColumnsF32& in) {
  constexpr void (*kRest[])(const DepthwiseColumnsF32&, int) = {
      &DepthwiseF32Columns<1>, &DepthwiseF32Columns<2>, &DepthwiseF32Columns<3>,
      &DepthwiseF32Columns<4>, &DepthwiseF32Columns<5>, &DepthwiseF32Columns<6>,
      &DepthwiseF32Columns<7>};
  int column = 0;
  for (; column + 8 <= in.columns; column += 8) DepthwiseF32Columns<8>(in, column);
  if (column < in.columns) kRest[in.columns - column - 1](in, column);
}

// ---- Lines of neighbouring windows --------------------------------------------------------------

// FollowAndStore, of sums in memory, for all tiles of a size: it is most of what they would be.
template <int kColumns, int kVectors>
[[gnu::noinline]] void FollowTile(const EpilogueF32& epilogue, int pixel, int first,
                                  const float* sums, float* out, size_t step) {
  __m256 values[kColumns][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kColumns; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v, sums += 8) values[i][v] = _mm256_loadu_ps(sums);
  }
  FollowAndStore(out, step, epilogue, pixel, first, 8 * kVectors, values);
}

// Where a piece of a line begins or ends with it, half a window lies beside the input.
enum Sides : int { kInside = 0, kAtLeft = 1, kAtRight = 2, kAtBoth = 3 };

// kColumns neighbours in a line, of 8 * kVectors channels from `first` on. What several columns
// see is loaded once. There should be twelve sums: each waits four cycles for itself, two are added
// to in one, and no more of the next tile is begun meanwhile than the processor looks ahead.
template <int kColumns, int kTaps, int kStride, int kSides, int kVectors>
[[gnu::always_inline]] inline void LineTile(const DepthwiseLinesF32& in, int line, int column,
                                            int first) {
  // What the columns see, together.
  constexpr int kBegin = (kSides & kAtLeft) != 0 ? kTaps / 2 : 0;
  constexpr int kEnd =
      (kColumns - 1) * kStride + kTaps - ((kSides & kAtRight) != 0 ? kTaps / 2 : 0);
  const auto step = static_cast<size_t>(in.channels);
  const size_t start = static_cast<size_t>(column * kStride - in.before + kBegin) * step +
                       static_cast<size_t>(first);
  __m256 sums[kColumns][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = _mm256_loadu_ps(in.bias + first + 8 * v);
#pragma GCC unroll 12
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  const float* const* inputs = in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  for (int row = 0; row < in.rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const float* value_at = inputs[row] + start + 8 * v;
      __m256 weights[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap) {
        const float* from = in.weights[row] + first + 8 * v + static_cast<size_t>(tap) * step;
        weights[tap] = _mm256_loadu_ps(from);
      }
#pragma GCC unroll 32
      for (int seen = kBegin; seen < kEnd; ++seen) {
        const float* from = value_at + static_cast<size_t>((seen - kBegin) % 3) * step;
        const __m256 value = _mm256_loadu_ps(from);
#pragma GCC unroll 12
        for (int i = 0; i < kColumns; ++i) {
          const int tap = seen - i * kStride;
          if (tap >= 0 && tap < kTaps) MultiplyAdd(&sums[i][v], value, weights[tap]);
        }
        if ((seen - kBegin) % 3 == 2) value_at += 3 * step;
      }
    }
  }
  const int pixel = line * in.columns + column;
  float* out = in.out + static_cast<size_t>(pixel) * step + first;
  ClampRows(in.low, in.high, sums);
  if (in.epilogue != nullptr) {
    float values[kColumns * kVectors * 8];
#pragma GCC unroll 12
    for (int i = 0; i < kColumns; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        _mm256_storeu_ps(values + 8 * (i * kVectors + v), sums[i][v]);
      }
    }
    return FollowTile<kColumns, kVectors>(*in.epilogue, pixel, first, values, out, step);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kColumns; ++i, out += step) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm256_storeu_ps(out + 8 * v, sums[i][v]);
  }
}

// Channels of kColumns columns from `column` on that are computed for one line after the other:
// what lines share is then still in the first-level cache, of which channels one by one, at the
// strides of pixels, would use a few sets.
constexpr int kTogether = 64;

// Channels [first, last) of a line. Few columns take several vectors at once; the last vector
// computes what it shares with the one before it again.
template <int kColumns, int kTaps, int kStride, int kSides>
void LineChannels(const DepthwiseLinesF32& in, int line, int column, int first, int last) {
  constexpr int kVectors = kColumns <= 2 ? 4 : kColumns <= 5 ? 2 : 1;
  if constexpr (kVectors > 1) {
    for (; first + 8 * kVectors <= last; first += 8 * kVectors) {
      LineTile<kColumns, kTaps, kStride, kSides, kVectors>(in, line, column, first);
    }
  }
  for (; first < last; first += 8) {
    LineTile<kColumns, kTaps, kStride, kSides, 1>(in, line, column, Smaller(first, last - 8));
  }
}

template <int kColumns, int kTaps, int kStride, int kSides = kInside>
void LinePiece(const DepthwiseLinesF32& in, int column) {
  for (int first = 0; first < in.channels; first += kTogether) {
    const int last = Smaller(first + kTogether, in.channels);
    for (int line = 0; line < in.lines; ++line) {
      LineChannels<kColumns, kTaps, kStride, kSides>(in, line, column, first, last);
    }
  }
}

// Lines [line, line + kLines) of a column of which only taps [first_tap, last_tap) are in the
// input.
struct Single {
  int line, column, first_tap, last_tap;
};

template <int kLines, int kVectors>
[[gnu::always_inline]] inline void SingleTile(const DepthwiseLinesF32& in, const Single& at,
                                              int first) {
  const auto step = static_cast<size_t>(in.channels), rows = static_cast<size_t>(in.rows);
  const int place = at.column * in.stride - in.before + at.first_tap;
  const float* const* const inputs = in.inputs + static_cast<size_t>(at.line) * rows;
  const int left = in.channels - first, count = left - 8 * (kVectors - 1);
  const bool all = count >= 8;
  const __m256i lanes = FirstLanes(count);
  __m256 sums[kLines][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = LoadLanes(in.bias + first + 8 * v, lanes, all);
#pragma GCC unroll 4
    for (int i = 0; i < kLines; ++i) sums[i][v] = bias;
  }
  for (size_t row = 0; row < rows; ++row) {
    size_t value = static_cast<size_t>(place) * step + static_cast<size_t>(first);
    const float* weight_at = in.weights[row] + static_cast<size_t>(at.first_tap) * step + first;
    for (int tap = at.first_tap; tap < at.last_tap; ++tap, value += step, weight_at += step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const __m256 weight = LoadLanes(weight_at + 8 * v, lanes, all);
#pragma GCC unroll 4
        for (size_t i = 0; i < kLines; ++i) {
          const float* from = inputs[i * rows + row] + value + 8 * v;
          MultiplyAdd(&sums[i][v], LoadLanes(from, lanes, all), weight);
        }
      }
    }
  }
  const __m256 low = _mm256_set1_ps(in.low), high = _mm256_set1_ps(in.high);
  const int pixel = at.line * in.columns + at.column;
  float* out = in.out + static_cast<size_t>(pixel) * step + first;
#pragma GCC unroll 4
  for (int i = 0; i < kLines; ++i, out += static_cast<size_t>(in.columns) * step) {
    __m256 sum[1][kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[0][v] = sums[i][v];
    FinishTile(out, step, low, high, in.epilogue, pixel + i * in.columns, first, left, sum);
  }
}

// Four sums at once, of lines or of vectors.
template <int kLines>
void SingleColumn(const DepthwiseLinesF32& in, const Single& at) {
  constexpr int kVectors = 4 / kLines;
  int first = 0;
  if constexpr (kVectors > 1) {
    for (; first + 8 * kVectors <= in.channels; first += 8 * kVectors) {
      SingleTile<kLines, kVectors>(in, at, first);
    }
  }
  for (; first < in.channels; first += 8) SingleTile<kLines, 1>(in, at, first);
}

// Columns [first, last) one by one.
void Singles(const DepthwiseLinesF32& in, int first, int last) {
  for (int column = first; column < last; ++column) {
    const int begin = column * in.stride - in.before;
    Single at = {0, column, begin < 0 ? -begin : 0, Smaller(in.taps, in.width - begin)};
    for (; at.line + 4 <= in.lines; at.line += 4) SingleColumn<4>(in, at);
    for (; at.line + 2 <= in.lines; at.line += 2) SingleColumn<2>(in, at);
    if (at.line < in.lines) SingleColumn<1>(in, at);
  }
}

// How columns are cut into pieces of a few widths: as many of the widest as leave less than two,
// and for the rest what takes the fewest cycles. What is narrower than the narrowest is left.
template <int kTaps, int kSingleCycles = 2 * kTaps* kTaps>
struct Cut {
  static constexpr int kMost = kTaps == 3 ? 12 : 10;  // sums and a row's weights are in registers
  static constexpr int kPieces = 8;
  static constexpr int kWidths[kPieces] = {kMost, 8, 7, 6, 5, 4, 3, 2};
  int first[2 * kMost] = {};  // by what is left: the index of the first piece's width

  constexpr Cut() {
    constexpr int kSums = kTaps * kTaps;
    int cycles[2 * kMost] = {0, kSingleCycles};
    for (int left = 2; left < 2 * kMost; ++left) {
      cycles[left] = 1 << 20;
      for (int i = 0; i < kPieces; ++i) {
        if (kWidths[i] > left) continue;
        const int busy = kWidths[i] * (kSums + 2) / 2, waiting = 3 * kSums + 2 * kWidths[i];
        const bool hides = kWidths[i] <= 5 || busy > waiting;  // several vectors at once
        const int all = 8 + (hides ? busy : waiting) + cycles[left - kWidths[i]];
        if (all >= cycles[left]) continue;
        cycles[left] = all;
        first[left] = i;
      }
    }
  }
};

template <int kTaps, int kStride>
void LinesOf(const DepthwiseLinesF32& in) {
  static constexpr Cut<kTaps> kCut;
  constexpr int kMost = kCut.kMost;
  constexpr void (*kPieces[])(const DepthwiseLinesF32&, int) = {
      &LinePiece<kMost, kTaps, kStride>, &LinePiece<8, kTaps, kStride>,
      &LinePiece<7, kTaps, kStride>,     &LinePiece<6, kTaps, kStride>,
      &LinePiece<5, kTaps, kStride>,     &LinePiece<4, kTaps, kStride>,
      &LinePiece<3, kTaps, kStride>,     &LinePiece<2, kTaps, kStride>};
  const int begin = Smaller((in.before + kStride - 1) / kStride, in.columns);
  int end = in.columns;
  while (end > begin && (end - 1) * kStride - in.before + kTaps > in.width) --end;
  Singles(in, 0, begin);
  int column = begin;
  while (end - column >= 2) {
    const int left = end - column;
    const int piece = left < 2 * kMost ? kCut.first[left] : 0;
    kPieces[piece](in, column);
    column += kCut.kWidths[piece];
  }
  Singles(in, column, in.columns);
}

// Every window has its middle in the input: pieces compute what the sides see, too. None may end
// a column before the line does.
template <int kTaps>
struct CenteredLines {
  static constexpr Cut<kTaps, 1 << 20> kCut = {};
  using Piece = void (*)(const DepthwiseLinesF32&, int);

  template <int kSides>
  static void Run(const DepthwiseLinesF32& in, int piece, int column) {
    static constexpr Piece kPieces[] = {
        &LinePiece<kCut.kMost, kTaps, 1, kSides>, &LinePiece<8, kTaps, 1, kSides>,
        &LinePiece<7, kTaps, 1, kSides>,          &LinePiece<6, kTaps, 1, kSides>,
        &LinePiece<5, kTaps, 1, kSides>,          &LinePiece<4, kTaps, 1, kSides>,
        &LinePiece<3, kTaps, 1, kSides>,          &LinePiece<2, kTaps, 1, kSides>};
    kPieces[piece](in, column);
  }

  static void Run(const DepthwiseLinesF32& in) {
    for (int column = 0, width; column < in.columns; column += width) {
      const int left = in.columns - column;
      const int piece = left < 2 * kCut.kMost ? kCut.first[left] : 0;
      width = kCut.kWidths[piece];
      if (column > 0) {
        width < left ? Run<kInside>(in, piece, column) : Run<kAtRight>(in, piece, column);
      } else {
        width < left ? Run<kAtLeft>(in, piece, column) : Run<kAtBoth>(in, piece, column);
      }
    }
  }
};

bool DepthwiseLines(const DepthwiseLinesF32& in) {
  // Positions are ints.
  constexpr int kMost = 1 << 24;
  if (in.columns > kMost || in.width > kMost || in.before > kMost) return false;
  const bool whole = in.channels % 8 == 0;
  // Channels that are computed twice must find the addend as it was.
  const bool adds = in.epilogue != nullptr && in.epilogue->addend != nullptr;
  if (!whole && (in.channels < 8 || adds)) return false;
  const bool centered =
      in.stride == 1 && in.columns == in.width && in.columns > 1 && in.before == in.taps / 2;
  if (in.taps == 3 && centered) return CenteredLines<3>::Run(in), true;
  if (in.taps == 5 && centered) return CenteredLines<5>::Run(in), true;
  if (in.taps == 3 && in.stride == 1) return LinesOf<3, 1>(in), true;
  if (in.taps == 3 && in.stride == 2) return LinesOf<3, 2>(in), true;
  if (in.taps == 5 && in.stride == 1) return LinesOf<5, 1>(in), true;
  if (in.taps == 5 && in.stride == 2) return LinesOf<5, 2>(in), true;
  return false;
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Avx2 = {
    .name = "avx2", .columns = &DepthwiseF32, .lines = &DepthwiseLines};

}  // namespace deputy

#else
#error "compile this file with -mavx2 -mfma"
#endif
