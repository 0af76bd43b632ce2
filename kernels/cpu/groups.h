// SPDX-License-Identifier: Apache-2.0
//
// Kernel groups: functions that share a memory layout (packing, tile sizes). Each group is selected
// by the features that its tables require (kernels.inc), and its implementations may tile and pack
// differently. Every implementation sums each result in an order that depends only on the
// operator's shape, so that a result does not depend on how the work was partitioned.
#ifndef DEPUTY_KERNELS_CPU_GROUPS_H_
#define DEPUTY_KERNELS_CPU_GROUPS_H_

#include <cstddef>
#include <cstdint>

namespace deputy {

// ---- Arguments --------------------------------------------------------------------------------

// Maximum number of columns of one GEMM call, except of GemmRowsS8, which has no limit; callers'
// buffers have this width.
inline constexpr int kMaxTileColumns = 64;
// Maximum number of rows of one call of GemmS8Kernels::tile.
inline constexpr int kMaxTileRows = 8;

// Operations applied to values [r][c] after their clamp and before the store, in this order. They
// round as the separate operators do, so that fused and unfused results are bit-identical.
struct EpilogueF32 {
  enum class Activation { kNone, kPrelu, kHardSwish };

  // If null, nothing is added. Otherwise the result is clamp(value + addend[r * addend_stride +
  // c]), with zero as the addend of columns >= `addend_columns`. The output may alias the addend.
  const float* addend = nullptr;
  size_t addend_stride = 0;
  int addend_columns = 0;
  float low = 0, high = 0;
  Activation activation = Activation::kNone;
  const float* slopes = nullptr;  // slope of each column c, for kPrelu
};

// GEMM of one tile, followed by `epilogue`, for r < rows and c < columns:
//   out[r][c] = clamp(bias[c] + sum over parts p and d < depth of
//                     a[p][r * a_stride + d] * b[p * depth + d][c])
// `b` points to the first of consecutive panels of the group's `columns`, each [parts *
// depth][columns].
struct GemmTileF32 {
  int rows, columns;  // any number of rows; at most kMaxTileColumns columns
  int parts, depth;
  const float* const* a;
  size_t a_stride;
  const float* b;
  const float* bias;  // bias of each column, padded to whole panels
  float low, high;
  float* out;
  size_t out_stride;
  const EpilogueF32* epilogue = nullptr;  // null if there is none
  // The next call's panel if it is probably not in the L2 cache; null otherwise. The kernel may
  // prefetch it.
  const float* prefetch = nullptr;
};

// Dot products for few columns, with unpacked weights b[c * b_stride + p * depth + d]: computes the
// sums of GemmTileF32 without an epilogue. Sums are accumulated per vector lane, in an order that
// depends only on parts and depth.
struct DotTileF32 {
  int rows, columns;
  int parts, depth;
  const float* const* a;
  size_t a_stride;
  const float* b;
  size_t b_stride;
  const float* bias;  // null if there is none
  float low, high;
  float* out;
  size_t out_stride;
};

// Number of values in a run of PendingBf16Conversion.
inline constexpr int kConvertedAtOnce = 32;
// Conversion to bfloat16 for a later product, interleaved with the current product's work: `runs`
// runs of kConvertedAtOnce contiguous values. The kernel converts as many runs as fit, advances the
// pointers past them and reduces `runs`.
struct PendingBf16Conversion {
  const float* values;
  uint16_t* out;
  size_t runs;
};

// GEMM of one tile as in GemmTileF32, with 16-bit factors (GemmBf16Kernels). Panels are [parts *
// depth / run][columns][run]. The depth of a part is even, padded with zeros on both sides.
struct GemmTileBf16 {
  int rows, columns;  // any number of rows; at most kMaxTileColumns columns
  int parts, depth;
  const uint16_t* const* a;
  size_t a_stride;  // distance between rows in values; even
  const uint16_t* b;
  const float* bias;  // bias of each column, padded to whole panels
  float low, high;
  float* out;
  size_t out_stride;
  PendingBf16Conversion* conversion = nullptr;  // null if there is nothing to convert
  const EpilogueF32* epilogue = nullptr;        // null if there is none
};

// Converts rows from float32 to 16 bits, to nearest and ties to even: out[r * out_stride + i] =
// values[r * stride + i] for i < count. An odd count is padded with a zero.
struct RowsToBf16 {
  int64_t rows;
  size_t count;
  const float* values;
  size_t stride;
  uint16_t* out;
  size_t out_stride;
};

// Product of 16-bit matrices: sums[r][c] = sum over d of a[r][d] * b[d][c], exact if it fits in 32
// bits. Depth is stored in pairs: `b` is [depth / 2][columns of a panel][2].
struct GemmTileS16 {
  int rows, depth;  // any number of rows; the depth is even
  const int16_t* a;
  size_t a_stride;
  const int16_t* b;
  int32_t* sums;
  size_t sums_stride;
};

// Encoding of the int8 left operand that a kernel group expects.
enum class LhsEncoding {
  kInt16,        // int8 sign-extended to 16 bits
  kInt8,         // int8 unchanged
  kBiasedUInt8,  // int8 plus 128; callers subtract 128 times the sum of the weights from the bias
};
constexpr int32_t OffsetOf(LhsEncoding form) { return form == LhsEncoding::kBiasedUInt8 ? 128 : 0; }

// Product of int8 matrices: sums[r][c] = bias[c] + sum over d of a[r][d] * b[d][c], wrapping in 32
// bits. `a` is in the group's LhsEncoding, `b` is int8. Depth is stored in runs: panels are [depth
// / run][columns][run] with the group's constants. Both sides are padded to a multiple of the run,
// `b` with zeros.
struct GemmTileS8 {
  int rows, columns, depth;
  const uint8_t* a;
  size_t a_stride;  // distance between rows in bytes
  const int8_t* b;
  const int32_t* bias;
  int32_t* sums;  // each row has space for whole panels
  size_t sums_stride;
};

// Addend of int8 output rows, added before the store as in StepSumS8: the requantised result is the
// sum's `a` and `values` is its `b`. `values` has the layout of the output and may alias it.
struct RowsAddendS8 {
  const int8_t* values;
  float result_factor, addend_factor, offset;
  float low, high;
  int32_t zero_point;
};

// Product of int8 rows read in place, with requantisation:
//   out[r][c] = requantised as in RequantizeKernels::in_float:
//     bias[c] + sum over parts p and d < depth of
//               (a[r][p][d] + left_offset()) * b[p * depth + d][c]
// Here a[r][p][d] is the int8 value. The rows are int8, or in the group's LhsEncoding
// (GemmS8Kernels::requantizes_left), which contains the offset already. `b` points to the first
// byte of a panel. The depth of a part is a multiple of the run, and all of it is read.
struct GemmRowsS8 {
  int rows, columns;
  int parts, depth;
  const void* const* a;  // address of the first part of each row
  size_t part_step;      // distance between parts in bytes
  const int8_t* b;
  size_t panel_stride;
  const int32_t* bias;   // bias of each column, padded to whole panels
  const float* factors;  // factor of each column
  int32_t zero_point, low, high;
  int8_t* out;
  size_t out_stride;
  const RowsAddendS8* addend = nullptr;  // null if there is none; requires GemmS8Kernels::adds
};

// Requantisation of rows of sums, with a factor for each column.
struct RequantizeTile {
  int rows, columns;
  const int32_t* sums;
  size_t sums_stride;
  const float* factors;  // factors of the columns, used by RequantizeKernels::in_float
  // Parts of each column's FixedMultiplier, used by RequantizeKernels::exact.
  const int32_t* mantissas;
  const int32_t* shifts;
  int32_t zero_point, low, high;
  int8_t* out;
  size_t out_stride;
};

// Sum of two quantised int8 arrays, as in ADD: out[i] = round(clamp(a[i] * factor_a + b[i] *
// factor_b + offset)) + zero_point, to nearest even.
struct StepSumS8 {
  const int8_t* a;
  const int8_t* b;
  int8_t* out;  // may alias a or b
  int64_t count;
  float factor_a, factor_b, offset;
  float low, high;  // the rounded bounds plus zero_point fit in int8
  int32_t zero_point;
};

// Adjacent output columns in one row of a depthwise convolution; all of them have the same taps:
//   out[i][c] = clamp(bias[c] + sum over rows r and taps t of
//                     inputs[r][i * column_step + t * tap_step + c] *
//                     weights[r][t * weight_step + c])
// followed by `epilogue`, whose row is the column i and whose column is the channel c.
struct DepthwiseColumnsF32 {
  int columns, channels;
  int rows, taps;  // number of filter rows, and of taps in each
  const float* const* inputs;
  const float* const* weights;
  size_t column_step, tap_step, weight_step;
  const float* bias;
  float low, high;
  float* out;                             // shape [columns][channels]
  const EpilogueF32* epilogue = nullptr;  // null if there is none
};

// Adjacent output rows of a depthwise convolution, all columns of each. Results are those of
// DepthwiseColumnsF32; at the borders only the taps inside the input are added.
struct DepthwiseLinesF32 {
  int lines, columns, channels;
  int rows, taps;  // number of filter rows inside the input, and of all taps in a row
  // Distance between the windows of adjacent columns, and number of padding columns to the left of
  // the input.
  int stride, before;
  int width;                    // number of input columns
  const float* const* inputs;   // shape [lines][rows]; address of each row's first pixel
  const float* const* weights;  // shape [rows][taps][channels]
  const float* bias;
  float low, high;
  float* out;                             // shape [lines][columns][channels]
  const EpilogueF32* epilogue = nullptr;  // null if there is none; its rows are the pixels of `out`
};

// Epilogue of an image tile, in whole vectors. For each line y of the tile and each row r of a
// line:
//   out[(y * line_rows + r) * out_stride + c] =
//       clamp(values[y * value_line + r * stride + c] + bias[c]), followed by `epilogue`
struct EpilogueTileF32 {
  int lines, rows, columns;
  const float* values;
  size_t value_line, stride;
  const float* bias;  // bias of each column, padded to whole vectors
  float low, high;
  float* out;
  size_t line_rows, out_stride;
  const EpilogueF32* epilogue = nullptr;  // null if there is none
};

// One output pixel of an int8 depthwise convolution: `taps` input pixels (taps in the padding point
// to a row of zero points) times the same number of rows of weights.
struct DepthwisePixelS8 {
  int taps, channels;
  const int8_t* const* inputs;
  const int8_t* weights;  // shape [taps][channels], or packed by DepthwiseS8Kernels::pack
  const int32_t* bias;
  int32_t* sums;
};
// Adjacent output columns of an int8 depthwise convolution, whose inputs are `column_step` apart.
// Requantised as in RequantizeKernels::in_float.
struct DepthwiseColumnsS8 {
  int columns, taps, channels;
  const int8_t* const* inputs;  // addresses of the taps of the first column
  size_t column_step;
  const int8_t* weights;  // packed by DepthwiseS8Kernels::pack
  const int32_t* bias;    // reordered by DepthwiseS8Kernels::order
  const float* factors;   // reordered by DepthwiseS8Kernels::order
  int32_t zero_point, low, high;
  int8_t* out;  // shape [columns][channels]
};

// Adjacent output rows of an int8 depthwise convolution, all columns of each, with a filter of size
// x size taps; see DepthwiseLinesF32. Weights are packed by DepthwiseLinesS8Kernels::pack.
// Requantised as in RequantizeKernels::in_float.
struct DepthwiseLinesS8 {
  static constexpr int kMaxLines = 8, kMaxSize = 5;

  int lines, columns, channels;
  int size, stride, before;
  int width;
  // [lines][size], each pointing to the first pixel of a row, or null for a row of zero points.
  const int8_t* const* inputs;
  int32_t input_zero_point;
  const int8_t* packed;
  int32_t zero_point, low, high;
  int8_t* out;  // shape [lines][columns][channels]
};

// ---- Groups -----------------------------------------------------------------------------------

// Float GEMM. If a function of this or any other group is null, the operator runs its reference
// code, unless the comment on the function says otherwise.
struct GemmF32Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0;  // rows processed at once; columns of a panel
  void (*tile)(const GemmTileF32& tile) = nullptr;
  void (*dots)(const DotTileF32& tile) = nullptr;
};

// Product of packed weights and rows that are stored by lanes: lane l of element i of all rows is
// at [i * lanes + l].
struct LaneTileF32 {
  const float* panels;  // weights in panels of GemmF32Kernels
  size_t panel_stride;  // distance between panels, in values
  int panel_columns, columns, depth;
  const float* left;  // [depth][lanes]
  float low, high;    // bounds of the output
  float* out;         // [columns, padded to whole panels][lanes]
};

// Rows whose elements are added to `values`, which are stored by lanes: rows[l][i] to lane l of
// element i. The rows may be the same one.
struct LaneSumF32 {
  const float* const* rows;
  int count;        // number of elements of a row
  float low, high;  // bounds of the sums
  float* values;
};

// Kernels for attention. Each lane of a vector computes one row, which needs no sums or maxima over
// lanes. All bits are those of GemmF32Kernels::tile and VectorKernels::softmax for the same rows.
struct AttentionKernels {
  const char* name = nullptr;
  int lanes = 0;
  // Adds products in ascending order of depth, without a bias.
  void (*multiply)(const LaneTileF32& tile) = nullptr;
  void (*add)(const LaneSumF32& sum) = nullptr;
  // Softmax of each lane. `values` has space for `count` rounded up to a multiple of four.
  void (*softmax)(float* values, int count, float beta) = nullptr;
};

// Products of 16-bit factors: bfloat16, or float16 if `is_float16`; then GemmTileBf16 and
// RowsToBf16 contain float16 values, and up to 64 products are added in float16, whose largest
// value is 65504. Products in bfloat16 treat denormal factors and sums as zero. NaN and infinity
// behave as in float32.
struct GemmBf16Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0;
  int run = 2;  // number of adjacent values of a column in a panel, 1 or 2
  bool is_float16 = false;
  void (*tile)(const GemmTileBf16& tile) = nullptr;
  void (*from_float)(const RowsToBf16& rows) = nullptr;
};

// Winograd transforms of 3 x 3 int8 convolutions with output tiles of 2 x 2, as in
// WinogradTransforms but in exact integers: the transformed filter is multiplied by 4.
struct WinogradS8Kernels {
  int channels = 0;  // channels per vector; all counts are multiples of it
  int rows = 0;      // rows of a product that are processed at once
  void (*input)(const int8_t* const* pixels, int channels, int16_t* planes,
                size_t plane_stride) = nullptr;
  void (*filter)(const int8_t* taps, size_t tap_stride, int count, int16_t* planes,
                 size_t plane_stride) = nullptr;
  // Multiplies planes. Panels have the width of the GemmS8Kernels that point to this table.
  void (*multiply)(const GemmTileS16& tile) = nullptr;
  // Transforms the products of one panel's columns to the outputs of a tile: sums[y * line_stride +
  // x * columns + c] of its 2 x 2 pixels, starting from bias[c].
  void (*output)(const int32_t* planes, size_t plane_stride, const int32_t* bias, int32_t* sums,
                 size_t line_stride) = nullptr;
};

struct GemmS8Kernels {
  const char* name = nullptr;
  int rows = 0, columns = 0, run = 0;
  LhsEncoding left = LhsEncoding::kInt16;
  // Convert int8, or uint8 less 128, to the encoding `left`.
  void (*left_from_s8)(const int8_t* values, size_t count, void* out) = nullptr;
  void (*left_from_u8)(const uint8_t* values, size_t count, void* out) = nullptr;
  void (*tile)(const GemmTileS8& tile) = nullptr;
  // Computes requantised rows, for any number of rows and columns. If null, callers use `tile` and
  // requantise the sums.
  void (*requantized)(const GemmRowsS8& job) = nullptr;
  bool requantizes_left = false;  // `requantized` expects rows in the LhsEncoding instead of int8
  bool adds = false;              // `requantized` supports an addend
  // Winograd kernels; null if there are none or they are not faster.
  const WinogradS8Kernels* winograd = nullptr;

  // Returns the bytes per value of the left operand of `tile`.
  size_t left_bytes() const { return left == LhsEncoding::kInt16 ? 2 : 1; }
  // Returns the bytes per value of the rows that `requantized` reads.
  size_t requantized_bytes() const { return requantizes_left ? left_bytes() : 1; }
  // Returns the offset that the encoding adds to values of the left operand.
  int32_t left_offset() const { return OffsetOf(left); }
};

// Dot products of int16, exact in 64 bits: sums[c] is the dot product of `a` and column c of a
// matrix, both with `depth` values, at most 2^30.
struct DotsS16 {
  const int16_t* a;
  const int16_t* b;
  int64_t stride;  // distance between contiguous columns or, for of_rows, between rows
  int64_t depth;
  int columns;
  int64_t* sums;
};

struct DotsS16Kernels {
  const char* name = nullptr;
  void (*of_columns)(const DotsS16& dots) = nullptr;  // for matrices with contiguous columns
  void (*of_rows)(const DotsS16& dots) = nullptr;     // for matrices with contiguous rows
};

struct RequantizeKernels {
  const char* name = nullptr;
  void (*in_float)(const RequantizeTile& tile) = nullptr;
  void (*exact)(const RequantizeTile& tile) = nullptr;
};

// Sums of quantised int8 arrays; if `s8` is null, callers use VectorKernels::sum_s8.
struct StepSumKernels {
  const char* name = nullptr;
  void (*s8)(const StepSumS8& sum) = nullptr;
};

// Winograd transforms of 3 x 3 convolutions with output tiles of size x size. The input tile, (size
// + 2) x (size + 2) pixels, and the filter are each transformed into (size + 2)^2 planes; the
// products of corresponding planes are transformed into the output tile.
struct WinogradTransforms {
  // Writes planes[p * plane_stride + c] for the input tile at `pixels`, in row-major order. There
  // is at least one whole vector of channels.
  void (*input)(const float* const* pixels, int channels, float* planes,
                size_t plane_stride) = nullptr;
  // Writes the planes of `count` weights, a multiple of the vector length, at each of 9 taps.
  void (*filter)(const float* taps, size_t tap_stride, int count, float* planes,
                 size_t plane_stride) = nullptr;
  // Writes values[i * columns + c] for the tile's pixels i; `columns` is a multiple of the vector
  // length. Returns false if a value is not finite; then finite values may be wrong, too.
  bool (*output)(const float* planes, size_t plane_stride, int columns, float* values) = nullptr;
};

struct WinogradF32Kernels {
  const char* name = nullptr;
  int channels = 0;              // channels per vector
  WinogradTransforms two, four;  // transforms for output tiles of 2 x 2 and 4 x 4
  void (*finish)(const EpilogueTileF32& tile) = nullptr;
};

struct DepthwiseF32Kernels {
  const char* name = nullptr;
  void (*columns)(const DepthwiseColumnsF32& columns) = nullptr;
  // Returns false, without a result, for filters and numbers of channels that the function does not
  // support. If null, callers use `columns`.
  bool (*lines)(const DepthwiseLinesF32& lines) = nullptr;
};

// Kernels that compute several columns and rows of an int8 depthwise convolution at once.
struct DepthwiseLinesS8Kernels {
  // Returns true if `run` supports a filter of size x size contiguous taps.
  bool (*accepts)(int size, int stride, int channels) = nullptr;
  size_t (*bytes)(int size, int channels) = nullptr;
  // Packs [size][size][channels] weights, a bias that includes the input's zero point, and factors
  // into `out` (bytes(), aligned to 64). Returns false if `run` cannot compute with these values.
  bool (*pack)(const int8_t* weights, int size, int channels, const int32_t* bias,
               const float* factors, int8_t* out) = nullptr;
  void (*run)(const DepthwiseLinesS8& lines) = nullptr;
};

struct DepthwiseS8Kernels {
  const char* name = nullptr;
  LhsEncoding left = LhsEncoding::kInt16;  // if kBiasedUInt8, the kernel adds 128 to the inputs
  void (*pixel)(const DepthwisePixelS8& pixel) = nullptr;
  // Packs [taps][channels] weights in the order that `pixel` reads and returns the size in bytes; a
  // null `out` only computes the size. The channels are repeated up to `period` channels. If the
  // function is null, weights are not packed.
  size_t (*pack)(const int8_t* weights, int taps, int channels, int period, int8_t* out) = nullptr;
  // Computes adjacent columns; if null, the caller computes pixel by pixel.
  void (*columns)(const DepthwiseColumnsS8& columns) = nullptr;
  // Reorders per-channel values for `columns`, repeated up to `period`; `out` has space for `lanes`
  // additional values.
  void (*order)(const int32_t* values, int channels, int period, int32_t* out) = nullptr;
  int lanes = 0;
  const DepthwiseLinesS8Kernels* lines = nullptr;  // null if there are no such kernels

  int32_t left_offset() const { return OffsetOf(left); }
};

struct HalfKernels {
  const char* name = nullptr;
  void (*to_float)(const uint16_t* values, size_t count, float* out) = nullptr;
};

// ---- Tables -----------------------------------------------------------------------------------

struct VectorKernels;  // defined in kernels/vector/vector.h

// Declares all tables. A table must be called only on machines with the features that its row
// requires.
#define DEPUTY_KERNELS(type, group, variable, required, score) extern const type variable;
#define DEPUTY_NESTED_KERNELS(type, variable) extern const type variable;
#include "kernels/cpu/kernels.inc"

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_GROUPS_H_
