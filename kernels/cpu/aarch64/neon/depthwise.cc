// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions for AArch64: four adjacent columns of four channels at once.
#include "kernels/cpu/aarch64/neon/depthwise.inc"

namespace deputy {
namespace {

// Adds a filter row of three taps to kColumns adjacent columns that are kStride taps apart. Each
// input pixel is loaded once.
template <int kColumns, int kStride>
[[gnu::always_inline]] inline void AddThreeTaps(const DepthwiseColumnsF32& in, const float* input,
                                                const float* weights, int count,
                                                float32x4_t (&sums)[kColumns]) {
  float32x4_t taps[3];
#pragma GCC unroll 3
  for (int t = 0; t < 3; ++t) {
    taps[t] = LoadLanes(weights + static_cast<size_t>(t) * in.weight_step, count);
  }
  constexpr int kPixels = (kColumns - 1) * kStride + 3;
#pragma GCC unroll 9
  for (int p = 0; p < kPixels; ++p) {
    const float32x4_t pixel = LoadLanes(input + static_cast<size_t>(p) * in.tap_step, count);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      const int t = p - i * kStride;
      if (t >= 0 && t < 3) sums[i] = vfmaq_f32(sums[i], pixel, taps[t]);
    }
  }
}

// Adds a filter row of any number of taps to kColumns adjacent columns.
template <int kColumns>
[[gnu::always_inline]] inline void AddTaps(const DepthwiseColumnsF32& in, const float* input,
                                           const float* weights, int count,
                                           float32x4_t (&sums)[kColumns]) {
  for (int t = 0; t < in.taps; ++t, input += in.tap_step, weights += in.weight_step) {
    const float32x4_t weight = LoadLanes(weights, count);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      const float* at = input + static_cast<size_t>(i) * in.column_step;
      sums[i] = vfmaq_f32(sums[i], LoadLanes(at, count), weight);
    }
  }
}

// Computes `count` of four channels from c on, of kColumns adjacent columns. A kStride of 0 stands
// for any filter.
template <int kColumns, int kStride>
[[gnu::always_inline]] inline void DepthwiseBlock(const DepthwiseColumnsF32& in, int column, int c,
                                                  int count) {
  const float32x4_t bias = LoadLanes(in.bias + c, count);
  float32x4_t sums[kColumns];
#pragma GCC unroll 4
  for (float32x4_t& sum : sums) sum = bias;
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + c;
    if constexpr (kStride != 0) {
      AddThreeTaps<kColumns, kStride>(in, input, in.weights[row] + c, count, sums);
    } else {
      AddTaps(in, input, in.weights[row] + c, count, sums);
    }
  }
  const float32x4_t low = vdupq_n_f32(in.low), high = vdupq_n_f32(in.high);
  const auto channels = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * channels + c;
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += channels) {
    float32x4_t value = ClampTo(sums[i], low, high);
    if (in.epilogue != nullptr) value = ApplyEpilogue(*in.epilogue, column + i, c, count, value);
    StoreLanes(value, out, count);
  }
}

// Computes all channels of kColumns columns, so that their input stays in the first-level cache.
template <int kColumns, int kStride>
void DepthwiseChannels(const DepthwiseColumnsF32& in, int column) {
  int c = 0;
  for (; c + 4 <= in.channels; c += 4) DepthwiseBlock<kColumns, kStride>(in, column, c, 4);
  if (c < in.channels) DepthwiseBlock<kColumns, kStride>(in, column, c, in.channels - c);
}

template <int kStride>
void DepthwiseColumns(const DepthwiseColumnsF32& in) {
  int column = 0;
  for (; column + 4 <= in.columns; column += 4) DepthwiseChannels<4, kStride>(in, column);
  for (; column < in.columns; ++column) DepthwiseChannels<1, kStride>(in, column);
}

void AnyColumns(const DepthwiseColumnsF32& in) {
  if (in.taps == 3 && in.column_step == in.tap_step) return DepthwiseColumns<1>(in);
  if (in.taps == 3 && in.column_step == 2 * in.tap_step) return DepthwiseColumns<2>(in);
  DepthwiseColumns<0>(in);
}

// ---- Lines of adjacent windows ------------------------------------------------------------------

// Windows of adjacent columns whose first and last pixels may lie outside of the input.
struct Border {
  bool left, right;
};

// Positions of the first and last pixel of a row of windows, and masks of the sums that do not
// change because these pixels lie outside of the input. Their products are computed from other
// pixels.
struct Edges {
  size_t first, last;
  uint32x4_t drop_first, drop_last;

  Edges(Border border, size_t step, int pixels)
      : first(border.left ? step : 0),
        last(static_cast<size_t>(border.right ? pixels - 2 : pixels - 1) * step),
        drop_first(vdupq_n_u32(border.left ? ~0U : 0)),
        drop_last(vdupq_n_u32(border.right ? ~0U : 0)) {}
};

// Tile of kColumns adjacent columns of kLines lines, whose windows of kRows x 3 pixels are kStride
// pixels apart in both directions.
template <int kLines, int kColumns, int kStride, int kRows, bool kHasBorder>
struct LineTile {
  static constexpr int kTaps = 3, kPixels = (kColumns - 1) * kStride + kTaps;
  static constexpr int kInputs = kRows + (kLines - 1) * kStride;  // number of input rows

  float32x4_t sums[kLines][kColumns];
  float32x4_t taps[kRows][kTaps];

  [[gnu::always_inline]] inline LineTile(const float* bias, const float* const (&weights)[kRows],
                                         size_t step) {
    const float32x4_t first = vld1q_f32(bias);
#pragma GCC unroll 2
    for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 4
      for (int i = 0; i < kColumns; ++i) sums[l][i] = first;
    }
#pragma GCC unroll 3
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 3
      for (int t = 0; t < kTaps; ++t) {
        taps[row][t] = vld1q_f32(weights[row] + static_cast<size_t>(t) * step);
      }
    }
  }

  // Adds the products of input row `y`. Each pixel is loaded once.
  [[gnu::always_inline]] inline void AddRow(int y, const float* input, size_t step,
                                            const Edges& edges) {
    float32x4_t values[kPixels];
#pragma GCC unroll 9
    for (int p = 0; p < kPixels; ++p) {
      const bool is_first = kHasBorder && p == 0, is_last = kHasBorder && p == kPixels - 1;
      const size_t inside = static_cast<size_t>(p) * step;
      values[p] = vld1q_f32(input + (is_first ? edges.first : is_last ? edges.last : inside));
    }
#pragma GCC unroll 9
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 2
      for (int l = 0; l < kLines; ++l) {
        const int row = y - l * kStride;
        if (row >= 0 && row < kRows) AddPixel(p, values[p], taps[row], edges, sums[l]);
      }
    }
  }

  // Adds the products of the row's pixel `p` to the sums of a line.
  [[gnu::always_inline]] static inline void AddPixel(int p, float32x4_t value,
                                                     const float32x4_t (&weights)[kTaps],
                                                     const Edges& edges,
                                                     float32x4_t (&line)[kColumns]) {
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      const int t = p - i * kStride;
      if (t < 0 || t >= kTaps) continue;
      const float32x4_t before = line[i];
      line[i] = vfmaq_f32(before, value, weights[t]);
      if (kHasBorder && p == 0) line[i] = vbslq_f32(edges.drop_first, before, line[i]);
      if (kHasBorder && p == kPixels - 1) line[i] = vbslq_f32(edges.drop_last, before, line[i]);
    }
  }
};

// Clamps the sums of kColumns adjacent pixels, if kClamps, and stores them `step` apart.
template <bool kClamps, int kColumns>
[[gnu::always_inline]] inline void StoreClamped(float32x4_t low, float32x4_t high, size_t step,
                                                const float32x4_t (&sums)[kColumns], float* out) {
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += step) {
    float32x4_t value = sums[i];
    if (kClamps) value = vminq_f32(vbslq_f32(vcltq_f32(value, low), low, value), high);
    vst1q_f32(out, value);
  }
}

// Stores the sums of kColumns adjacent pixels after the epilogue, four channels from `c` on.
template <int kColumns>
[[gnu::always_inline]] inline void StoreLine(const DepthwiseLinesF32& in, int pixel, int c,
                                             const float32x4_t (&sums)[kColumns]) {
  float values[4 * kColumns];
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i) vst1q_f32(values + 4 * i, sums[i]);
  StoreWithEpilogue<kColumns>(in, pixel, c, values);
}

// Computes all channels of a LineTile. There is no loop over the filter rows, and there are up to
// eight sums: fewer would be bound by latency. kClamps states that there is no epilogue and that
// there may be bounds.
template <int kLines, int kColumns, int kStride, int kRows, bool kHasBorder, bool kClamps>
void RunLineTile(const DepthwiseLinesF32& in, int line, int column, Border border) {
  using Tile = LineTile<kLines, kColumns, kStride, kRows, kHasBorder>;
  const auto step = static_cast<size_t>(in.channels);
  const int64_t start = int64_t{column * kStride - in.before} * in.channels;
  const float* const* const rows = in.inputs + static_cast<size_t>(line) * kRows;
  const float* inputs[Tile::kInputs];
#pragma GCC unroll 5
  for (int y = 0; y < Tile::kInputs; ++y) {
    inputs[y] = rows[y < kRows ? y : y + kRows - kStride] + start;
  }
  const float* weights[kRows];
#pragma GCC unroll 3
  for (int row = 0; row < kRows; ++row) weights[row] = in.weights[row];
  const Edges edges(border, step, Tile::kPixels);
  const int pixel = line * in.columns + column;
  float* out = in.out + static_cast<size_t>(pixel) * step;
  const size_t line_step = static_cast<size_t>(in.columns) * step;
  const float32x4_t low = vdupq_n_f32(in.low), high = vdupq_n_f32(in.high);
  for (int c = 0; c < in.channels; c += 4, out += 4) {
    Tile tile(in.bias + c, weights, step);
#pragma GCC unroll 5
    for (int y = 0; y < Tile::kInputs; ++y, inputs[y - 1] += 4) {
      tile.AddRow(y, inputs[y], step, edges);
    }
#pragma GCC unroll 3
    for (int row = 0; row < kRows; ++row) weights[row] += 4;
#pragma GCC unroll 2
    for (int l = 0; l < kLines; ++l) {
      if (!kClamps && in.epilogue != nullptr) {
        StoreLine(in, pixel + l * in.columns, c, tile.sums[l]);
      } else {
        StoreClamped<kClamps>(low, high, step, tile.sums[l],
                              out + static_cast<size_t>(l) * line_step);
      }
    }
  }
}

using LineFunction = void (*)(const DepthwiseLinesF32& in, int line, int column, Border border);
// Tiles of 2 to 4 columns, inside of the input and at its borders.
struct LineTiles {
  LineFunction inside[3], at_border[3];
};

template <int kLines, int kStride, int kRows, bool kClamps>
constexpr LineTiles kLineTiles = {{&RunLineTile<kLines, 2, kStride, kRows, false, kClamps>,
                                   &RunLineTile<kLines, 3, kStride, kRows, false, kClamps>,
                                   &RunLineTile<kLines, 4, kStride, kRows, false, kClamps>},
                                  {&RunLineTile<kLines, 2, kStride, kRows, true, kClamps>,
                                   &RunLineTile<kLines, 3, kStride, kRows, true, kClamps>,
                                   &RunLineTile<kLines, 4, kStride, kRows, true, kClamps>}};

// Computes all columns of the lines from `line` on that `tiles` computes at once.
void RunTiles(const DepthwiseLinesF32& in, const LineTiles& tiles, int line, bool after) {
  for (int column = 0, width; column < in.columns; column += width) {
    width = TileColumns(in.columns - column);
    const Border border = {column == 0 && in.before > 0, column + width == in.columns && after};
    const auto& functions = border.left || border.right ? tiles.at_border : tiles.inside;
    functions[width - 2](in, line, column, border);
  }
}

// Returns true if all input rows of two adjacent lines that both have are the same.
template <int kStride>
bool ShareRows(const float* const* inputs, int rows) {
  for (int row = kStride; row < rows; ++row) {
    if (inputs[row] != inputs[rows + row - kStride]) return false;
  }
  return true;
}

template <int kStride, bool kClamps>
void RunLines(const DepthwiseLinesF32& in, bool after) {
  for (int line = 0; line < in.lines;) {
    const float* const* const inputs =
        in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
    if (in.rows == 2) {
      RunTiles(in, kLineTiles<1, kStride, 2, kClamps>, line++, after);
    } else if (line + 2 <= in.lines && ShareRows<kStride>(inputs, in.rows)) {
      RunTiles(in, kLineTiles<2, kStride, 3, kClamps>, line, after);
      line += 2;
    } else {
      RunTiles(in, kLineTiles<1, kStride, 3, kClamps>, line++, after);
    }
  }
}

// Computes lines with filters of three taps and two or three rows.
template <int kStride>
bool LinesOfThreeTaps(const DepthwiseLinesF32& in) {
  constexpr float kInfinity = __builtin_inff();
  const int after = (in.columns - 1) * kStride - in.before + 3 - in.width;
  if (in.columns < 2 || in.before > 1 || after > 1) return false;
  // FMIN differs from the plain code for a bound of -0.
  if (in.epilogue == nullptr && in.high == 0.0f) return false;
  const bool clamps = in.epilogue == nullptr && (in.low > -kInfinity || in.high < kInfinity);
  clamps ? RunLines<kStride, true>(in, after > 0) : RunLines<kStride, false>(in, after > 0);
  return true;
}

bool DepthwiseLines(const DepthwiseLinesF32& in) {
  constexpr int kMaxColumns = 1 << 24;
  if (in.columns > kMaxColumns || in.width > kMaxColumns || in.before > kMaxColumns) return false;
  if (in.channels % 4 != 0 || in.stride > 2) return false;
  if (in.taps == 5) {
    NeonDepthwiseFiveTaps(in);
    return true;
  }
  if (in.taps != 3 || in.rows < 2 || in.rows > 3) return false;
  return in.stride == 1 ? LinesOfThreeTaps<1>(in) : LinesOfThreeTaps<2>(in);
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Neon = {
    .name = "neon", .columns = &AnyColumns, .lines = &DepthwiseLines};

}  // namespace deputy
