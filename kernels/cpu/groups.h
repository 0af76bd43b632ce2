// SPDX-License-Identifier: Apache-2.0
//
// Groups of functions that belong together: how one of them lays out memory binds the others. Each
// group is chosen by a CPU test of its own (cpu.h). Groups may tile and pack differently; what
// every one of them keeps is that each result is summed in ascending order of depth, so that it
// does not depend on how the work was cut.
#ifndef DEPUTY_KERNELS_CPU_GROUPS_H_
#define DEPUTY_KERNELS_CPU_GROUPS_H_

#include <cstddef>
#include <cstdint>

namespace deputy {

// ---- What they are called with ----------------------------------------------------------------

// Columns that one call of a GEMM function may span; its callers' buffers are this wide.
inline constexpr int kMaxTileColumns = 64;
// Rows of sums of integers likewise.
inline constexpr int kMaxTileRows = 8;

// What becomes of values [r][c] between their clamp and the store, in this order. Computed as the
// operators compute it one by one, so that results are the same bits.
struct EpilogueF32 {
  enum class Curve { kNone, kPrelu, kHardSwish };

  // Null: none. Else clamp(value + addend[r * addend_stride + c]); zeros are added behind
  // `addend_columns`. The values may be stored where the addend lies.
  const float* addend = nullptr;
  size_t addend_stride = 0;
  int addend_columns = 0;
  float low = 0, high = 0;
  Curve curve = Curve::kNone;
  const float* slopes = nullptr;  // [c], of kPrelu
};

// out[r][c] = clamp(bias[c] + sum over parts p and d < depth of
//                   a[p][r * a_stride + d] * b[p * depth + d][c]) for r < rows, c < columns,
// and what `epilogue` makes of it.
// `b` starts at a panel: panels of the group's `columns` follow each other, each [parts * depth]
// [columns].
struct GemmTileF32 {
  int rows, columns;  // any number of rows, columns <= kMaxTileColumns
  int parts, depth;
  const float* const* a;
  size_t a_stride;
  const float* b;
  const float* bias;  // padded to whole panels
  float low, high;
  float* out;
  size_t out_stride;
  const EpilogueF32* epilogue = nullptr;  // null: none
  // A panel that the next call reads, which comes from far; null: none, or it is near. Tables may
  // fetch it.
  const float* ahead = nullptr;
};

// The same, without an epilogue, for a few columns, whose weights are read as they are: b[c *
// b_stride + p * depth + d]. Sums come in lanes, in an order that depends on parts and depth alone.
struct DotTileF32 {
  int rows, columns;
  int parts, depth;
  const float* const* a;
  size_t a_stride;
  const float* b;
  size_t b_stride;
  const float* bias;  // null: none
  float low, high;
  float* out;
  size_t out_stride;
};

// What a product rounds to bfloat16 beside its own work, for a later one: `runs` of kRoundedAtOnce
// values each, which follow each other on both sides. It takes from the front what it has time for.
inline constexpr int kRoundedAtOnce = 32;
struct RoundingAhead {
  const float* values;
  uint16_t* out;
  size_t runs;
};

// The same as GemmTileF32 of bfloat16 factors, with sums in float32. Depth comes in pairs: panels
// are [parts * depth / 2][columns][2], and the depth of a part is even, with zeros on both sides
// where there is no value.
struct GemmTileBf16 {
  int rows, columns;  // any number of rows, columns <= kMaxTileColumns
  int parts, depth;
  const uint16_t* const* a;
  size_t a_stride;  // even
  const uint16_t* b;
  const float* bias;  // padded to whole panels
  float low, high;
  float* out;
  size_t out_stride;
  RoundingAhead* ahead = nullptr;         // null: nothing
  const EpilogueF32* epilogue = nullptr;  // null: none
};

// Rows of floats that become bfloat16, to nearest and ties to even:
// out[r * out_stride + i] = values[r * stride + i] for i < count, and a zero behind an odd count.
struct RowsToBf16 {
  int64_t rows;
  size_t count;
  const float* values;
  size_t stride;
  uint16_t* out;
  size_t out_stride;
};

// sums[r][c] = sum over d of a[r][d] * b[d][c], of 16-bit numbers and exact while it fits. Depth
// comes in pairs: `b` is [depth / 2][columns of a panel][2].
struct GemmTileS16 {
  int rows, depth;  // any number of rows, an even depth
  const int16_t* a;
  size_t a_stride;
  const int16_t* b;
  int32_t* sums;
  size_t sums_stride;
};

// How a group wants the left side of an int8 product, whose values are those of int8.
enum class LeftForm {
  kInt16,        // as they are
  kInt8,         // likewise
  kBiasedUInt8,  // 128 more: the caller takes 128 times the sum of the weights off the bias
};
constexpr int32_t OffsetOf(LeftForm form) { return form == LeftForm::kBiasedUInt8 ? 128 : 0; }

// sums[r][c] = bias[c] + sum over d of a[r][d] * b[d][c], wrapping in 32 bits. `a` is in the
// group's LeftForm, `b` holds int8. Depth comes in runs: panels are [depth / run]
// [columns][run] of the group's numbers, and depth is padded to a multiple of the run on both
// sides, with zeros in `b`.
struct GemmTileS8 {
  int rows, columns, depth;
  const uint8_t* a;
  size_t a_stride;  // in bytes
  const int8_t* b;
  const int32_t* bias;
  int32_t* sums;  // room for whole panels in each row
  size_t sums_stride;
};

// What is added to rows of int8 before they are stored, as StepSumS8 has it: what was made is its
// a, `values`, which lie as the rows of the output do and may be them, its b.
struct RowsAddendS8 {
  const int8_t* values;
  float factor_made, factor_value, offset;
  float low, high;
  int32_t zero_point;
};

// Rows that are read where they lie, multiplied and requantised at once:
// out[r][c] = the output step, as RequantizeKernels::in_float has it, of
//   bias[c] + sum over parts p and d < depth of (a[r][p][d] + left_offset()) * b[p * depth + d][c].
// They are int8, or in the group's LeftForm (GemmS8Kernels::requantizes_left). `b` starts at a
// panel; of each part's depth, which is a multiple of the run, all is read.
struct GemmRowsS8 {
  int rows, columns;
  int parts, depth;
  const void* const* a;  // [rows], each with its first part
  size_t part_step;      // in bytes
  const int8_t* b;
  size_t panel_stride;
  const int32_t* bias;   // padded to whole panels
  const float* factors;  // [columns]
  int32_t zero_point, low, high;
  int8_t* out;
  size_t out_stride;
  const RowsAddendS8* addend = nullptr;  // null: none; only where GemmS8Kernels::adds
};

// Rows of sums to rows of outputs, every column with a factor of its own.
struct RequantizeTile {
  int rows, columns;
  const int32_t* sums;
  size_t sums_stride;
  const float* factors;      // for in_float
  const int32_t* mantissas;  // for exact: FixedMultiplier, taken apart
  const int32_t* shifts;
  int32_t zero_point, low, high;
  int8_t* out;
  size_t out_stride;
};

// Sums of steps of int8, as ADD has them:
// out[i] = round(clamp(a[i] * factor_a + b[i] * factor_b + offset)) + zero_point, to nearest even.
struct StepSumS8 {
  const int8_t* a;
  const int8_t* b;
  int8_t* out;  // may be either of them
  int64_t count;
  float factor_a, factor_b, offset;
  float low, high;  // their steps are those of int8
  int32_t zero_point;
};

// Neighbouring output columns in one row of a depthwise convolution, which all see the same taps:
// out[i][c] = clamp(bias[c] + sum over rows r and taps t of
//                   inputs[r][i * column_step + t * tap_step + c] * weights[r][t * weight_step +
//                   c]), and what `epilogue` makes of it; its rows are columns here, its columns
// channels.
struct DepthwiseColumnsF32 {
  int columns, channels;
  int rows, taps;  // of the filter
  const float* const* inputs;
  const float* const* weights;
  size_t column_step, tap_step, weight_step;
  const float* bias;
  float low, high;
  float* out;                             // [columns][channels]
  const EpilogueF32* epilogue = nullptr;  // null: none
};

// Neighbouring rows of a depthwise convolution's output, all columns of them: what
// DepthwiseColumnsF32 computes, at the sides of what there is of a window.
struct DepthwiseLinesF32 {
  int lines, columns, channels;
  int rows, taps;               // of the filter: rows that lie inside the input, all taps
  int stride, before;           // from column to column; input columns that the first one lacks
  int width;                    // of the input
  const float* const* inputs;   // [lines][rows], each its first pixel
  const float* const* weights;  // [rows][taps][channels]
  const float* bias;
  float low, high;
  float* out;                             // [lines][columns][channels]
  const EpilogueF32* epilogue = nullptr;  // null: none; its rows are the pixels of `out`
};

// A tile of an image whose pixels are rows of sums, in whole vectors: of every line y and row r of
// it out[(y * line_rows + r) * out_stride + c] =
//     clamp(values[y * value_line + r * stride + c] + bias[c]), and what `epilogue` makes of it.
struct FinishedTileF32 {
  int lines, rows, columns;
  const float* values;
  size_t value_line, stride;
  const float* bias;  // padded to whole vectors
  float low, high;
  float* out;
  size_t line_rows, out_stride;
  const EpilogueF32* epilogue = nullptr;  // null: none
};

// One output pixel of a depthwise convolution: `taps` input pixels (padding points at a row of zero
// points) against as many rows of weights.
struct DepthwisePixelS8 {
  int taps, channels;
  const int8_t* const* inputs;
  const int8_t* weights;  // [taps][channels], or what the group packed
  const int32_t* bias;
  int32_t* sums;
};
// Neighbouring output columns, whose inputs are `column_step` apart, requantised as
// RequantizeKernels::in_float does it.
struct DepthwiseColumnsS8 {
  int columns, taps, channels;
  const int8_t* const* inputs;  // [taps], of the first column
  size_t column_step;
  const int8_t* weights;  // packed
  const int32_t* bias;    // ordered
  const float* factors;   // ordered
  int32_t zero_point, low, high;
  int8_t* out;  // [columns][channels]
};

// DepthwiseLinesF32 of int8, of filters of size x size taps, with what
// DepthwiseLinesS8Kernels::pack made, requantised as RequantizeKernels::in_float does it.
struct DepthwiseLinesS8 {
  static constexpr int kMostLines = 8, kMostSize = 5;

  int lines, columns, channels;
  int size, stride, before;
  int width;
  const int8_t* const* inputs;  // [lines][size], each its first pixel; null: zero points
  int32_t input_zero_point;
  const int8_t* packed;
  int32_t zero_point, low, high;
  int8_t* out;  // [lines][columns][channels]
};

// ---- Groups -----------------------------------------------------------------------------------
//
// A null function means: take the operator's reference code.

struct GemmF32Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0;  // rows: how many are worked on at once
  void (*tile)(const GemmTileF32& tile) = nullptr;
  void (*dots)(const DotTileF32& tile) = nullptr;
};

// Denormals count as zeros, in factors and in sums; NaN and infinity are what they are in float32.
struct GemmBf16Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0;
  void (*tile)(const GemmTileBf16& tile) = nullptr;
  void (*from_float)(const RowsToBf16& rows) = nullptr;
};

// Winograd's transforms of 3 x 3 convolutions of int8, as WinogradTransforms with size 2, in exact
// integers: those of the filter are multiplied by 4.
struct WinogradS8Kernels {
  int channels = 0;  // of a vector; all counts are whole vectors
  int rows = 0;      // of a product that are worked on at once
  void (*input)(const int8_t* const* pixels, int channels, int16_t* planes,
                size_t plane_stride) = nullptr;
  void (*filter)(const int8_t* taps, size_t tap_stride, int count, int16_t* planes,
                 size_t plane_stride) = nullptr;
  // A panel is one of GemmS8Kernels that has this.
  void (*multiply)(const GemmTileS16& tile) = nullptr;
  // Of a panel's columns: sums[y * line_stride + x * columns + c] of the tile's 2 x 2 pixels, from
  // bias[c] on.
  void (*output)(const int32_t* planes, size_t plane_stride, const int32_t* bias, int32_t* sums,
                 size_t line_stride) = nullptr;
};

struct GemmS8Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0, run = 0;
  LeftForm left = LeftForm::kInt16;
  // int8, and uint8 less 128, in that form.
  void (*left_from_s8)(const int8_t* values, size_t count, void* out) = nullptr;
  void (*left_from_u8)(const uint8_t* values, size_t count, void* out) = nullptr;
  void (*tile)(const GemmTileS8& tile) = nullptr;
  // Null: in tiles, with sums in between. Any number of rows and columns.
  void (*requantized)(const GemmRowsS8& job) = nullptr;
  bool requantizes_left = false;  // its rows are in the LeftForm, else int8
  bool adds = false;              // it takes an addend
  // Null: none, or none that is faster.
  const WinogradS8Kernels* winograd = nullptr;

  // Bytes of a value in that form, and how much more it is there.
  size_t left_bytes() const { return left == LeftForm::kInt16 ? 2 : 1; }
  size_t requantized_bytes() const { return requantizes_left ? left_bytes() : 1; }
  int32_t left_offset() const { return OffsetOf(left); }
};

// Sums of products of int16, exact in 64 bits: sums[c] is that of `a` and column c of a matrix,
// both of `depth` values, at most 2^30.
struct DotsS16 {
  const int16_t* a;
  const int16_t* b;
  int64_t stride;  // from a column to the next, or from a row to the next
  int64_t depth;
  int columns;
  int64_t* sums;
};

struct DotsS16Kernels {
  const char* name = nullptr;
  void (*of_columns)(const DotsS16& dots) = nullptr;  // of which each is contiguous
  void (*of_rows)(const DotsS16& dots) = nullptr;     // of a matrix whose rows are contiguous
};

struct RequantizeKernels {
  const char* name = nullptr;
  void (*in_float)(const RequantizeTile& tile) = nullptr;
  void (*exact)(const RequantizeTile& tile) = nullptr;
};

// Null: take VectorKernels::sum_s8.
struct StepSumKernels {
  const char* name = nullptr;
  void (*s8)(const StepSumS8& sum) = nullptr;
};

// Winograd's transforms of 3 x 3 convolutions whose outputs come in tiles of size x size. A tile of
// the input, (size + 2) x (size + 2) pixels, and the filter become as many planes; their products,
// plane by plane, become the tile of outputs.
struct WinogradTransforms {
  // planes[p * plane_stride + c] of the pixels at `pixels`, row by row; whole vectors of channels
  // or more.
  void (*input)(const float* const* pixels, int channels, float* planes,
                size_t plane_stride) = nullptr;
  // The same of `count` weights, in whole vectors, at each of 9 taps.
  void (*filter)(const float* taps, size_t tap_stride, int count, float* planes,
                 size_t plane_stride) = nullptr;
  // values[i * columns + c] of the tile's pixels i, with columns in whole vectors; whether all of
  // them are finite. If not, some of what is finite may have been lost.
  bool (*output)(const float* planes, size_t plane_stride, int columns, float* values) = nullptr;
};

struct WinogradF32Kernels {
  const char* name = nullptr;
  int channels = 0;              // of a vector
  WinogradTransforms two, four;  // by the size of tiles
  void (*finish)(const FinishedTileF32& tile) = nullptr;
};

struct DepthwiseF32Kernels {
  const char* name = nullptr;
  void (*columns)(const DepthwiseColumnsF32& columns) = nullptr;
  // Whether it did: not every filter has lines. Null: none has.
  bool (*lines)(const DepthwiseLinesF32& lines) = nullptr;
};

// Several columns and rows of an int8 depthwise convolution at once.
struct DepthwiseLinesS8Kernels {
  // Whether there are such lines. The filter has size x size taps that are neighbours.
  bool (*accepts)(int size, int stride, int channels) = nullptr;
  size_t (*bytes)(int size, int channels) = nullptr;
  // Fills as many bytes, at a multiple of 64, with [size][size][channels] weights, a bias with the
  // input's zero point in it, and factors; false where `run` could not compute with such numbers.
  bool (*pack)(const int8_t* weights, int size, int channels, const int32_t* bias,
               const float* factors, int8_t* out) = nullptr;
  void (*run)(const DepthwiseLinesS8& lines) = nullptr;
};

struct DepthwiseS8Kernels {
  const char* name = nullptr;
  LeftForm left = LeftForm::kInt16;  // kBiasedUInt8: inputs count 128 more than they hold
  void (*pixel)(const DepthwisePixelS8& pixel) = nullptr;
  // Brings [taps][channels] weights into the order that `pixel` reads, and returns how many bytes
  // that takes; `out` null only asks. The channels come again and again, `period` in all. Null: as
  // they are.
  size_t (*pack)(const int8_t* weights, int taps, int channels, int period, int8_t* out) = nullptr;
  // Null: pixel by pixel.
  void (*columns)(const DepthwiseColumnsS8& columns) = nullptr;
  // Numbers of channels, which come again and again, `period` in all, in the order that `columns`
  // reads; `out` has room for `lanes` more.
  void (*order)(const int32_t* values, int channels, int period, int32_t* out) = nullptr;
  int lanes = 0;
  const DepthwiseLinesS8Kernels* lines = nullptr;  // null: none

  int32_t left_offset() const { return OffsetOf(left); }
};

struct HalfKernels {
  const char* name = nullptr;
  void (*to_float)(const uint16_t* values, size_t count, float* out) = nullptr;
};

// ---- The candidates of every group ------------------------------------------------------------
//
// One may be called only where the machine has what its name says.

// simd_generic.cc
extern const GemmF32Kernels kGemmF32Generic;
extern const GemmS8Kernels kGemmS8Generic;
extern const RequantizeKernels kRequantizeGeneric;
extern const DepthwiseF32Kernels kDepthwiseF32Generic;
extern const DepthwiseS8Kernels kDepthwiseS8Generic;
extern const HalfKernels kHalfGeneric;
// simd_generic_winograd.cc
extern const WinogradF32Kernels kWinogradF32Generic;

#if defined(__x86_64__)
// simd_avx2.cc
extern const GemmF32Kernels kGemmF32Avx2;
extern const RequantizeKernels kRequantizeAvx2;
extern const StepSumKernels kStepSumAvx2;
extern const HalfKernels kHalfAvx2;
// simd_avx2_depthwise.cc
extern const DepthwiseF32Kernels kDepthwiseF32Avx2;
// simd_avx2_int8.cc
extern const GemmS8Kernels kGemmS8Avx2;
// simd_avx2_int16.cc
extern const DotsS16Kernels kDotsS16Avx2;
// simd_avx2_depthwise_int8.cc
extern const DepthwiseS8Kernels kDepthwiseS8Avx2;
// simd_avx2_depthwise_lines_int8.cc
extern const DepthwiseLinesS8Kernels kDepthwiseLinesS8Avx2;
// simd_avx2_winograd_int8.cc
extern const WinogradS8Kernels kWinogradS8Avx2;
// simd_avx2_winograd.cc
extern const WinogradF32Kernels kWinogradF32Avx2;
// simd_avx512.cc
extern const GemmF32Kernels kGemmF32Avx512;
extern const RequantizeKernels kRequantizeAvx512;
extern const HalfKernels kHalfAvx512;
// simd_avx512_depthwise.cc
extern const DepthwiseF32Kernels kDepthwiseF32Avx512;
// simd_avx512_winograd.cc
extern const WinogradF32Kernels kWinogradF32Avx512;
// simd_avx512_bf16.cc
extern const GemmBf16Kernels kGemmBf16Avx512;
// simd_avx512_amx_bf16.cc
extern const GemmBf16Kernels kGemmBf16Amx;
// simd_avx512_amx_int8.cc
extern const GemmS8Kernels kGemmS8Amx;
// simd_avx512_vnni.cc
extern const GemmS8Kernels kGemmS8Avx512Vnni;
// simd_avx512_vnni_depthwise.cc
extern const DepthwiseS8Kernels kDepthwiseS8Avx512Vnni;
// simd_avx512_vnni_depthwise_lines.cc
extern const DepthwiseLinesS8Kernels kDepthwiseLinesS8Avx512Vnni;
#endif

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_GROUPS_H_
