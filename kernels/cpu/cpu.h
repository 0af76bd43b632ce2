// SPDX-License-Identifier: Apache-2.0
//
// The seam between operators and instruction sets: one table of functions per instruction set,
// chosen once per process. Intrinsics live behind these tables and nowhere else. Tables may tile
// and pack differently; what every one of them keeps is that each result is summed in ascending
// order of depth, so that it does not depend on how the work was cut.
#ifndef DEPUTY_KERNELS_CPU_CPU_H_
#define DEPUTY_KERNELS_CPU_CPU_H_

#include <cstddef>
#include <cstdint>

namespace deputy {

// Columns that one call of a GEMM function may span; its callers' buffers are this wide.
inline constexpr int kMaxTileColumns = 64;
// Rows likewise.
inline constexpr int kMaxTileRows = 8;

// out[r][c] = clamp(bias[c] + sum over d of a[r][d] * b[d][c]) for r < rows, c < columns.
// `b` starts at a panel: panels of `f32_columns` columns follow each other, each [depth][columns].
struct GemmTileF32 {
  int rows, columns, depth;  // rows <= f32_rows, columns <= kMaxTileColumns
  const float* a;
  size_t a_stride;
  const float* b;
  const float* bias;  // padded to whole panels
  float low, high;
  float* out;
  size_t out_stride;
};

// How a table wants the left side of gemm_s8, whose values are those of int8.
enum class LeftForm {
  kInt16,        // as they are
  kBiasedUInt8,  // 128 more: the caller takes 128 times the sum of the weights off the bias
};

// sums[r][c] = bias[c] + sum over d of a[r][d] * b[d][c], wrapping in 32 bits. `a` is in the
// table's LeftForm, `b` holds int8. Depth comes in runs: panels are [depth /
// s8_run][s8_columns][s8_run], and depth is padded to a multiple of s8_run on both sides, with
// zeros in `b`.
struct GemmTileS8 {
  int rows, columns, depth;
  const uint8_t* a;
  size_t a_stride;  // in bytes
  const int8_t* b;
  const int32_t* bias;
  int32_t* sums;  // room for whole panels in each row
  size_t sums_stride;
};

// Rows of sums to rows of outputs, every column with a factor of its own.
struct RequantizeTile {
  int rows, columns;
  const int32_t* sums;
  size_t sums_stride;
  const float* factors;      // for requantize_float
  const int32_t* mantissas;  // for requantize_exact: FixedMultiplier, taken apart
  const int32_t* shifts;
  int32_t zero_point, low, high;
  int8_t* out;
  size_t out_stride;
};

// One output pixel of a depthwise convolution: `taps` input pixels against as many weight rows.
struct DepthwisePixelF32 {
  int taps, channels;
  const float* const* inputs;
  const float* const* weights;
  const float* bias;
  float low, high;
  float* out;
};
// As above with all taps present (padding points at a row of zero points). Where s8_left is
// kBiasedUInt8, inputs count 128 more than they hold, as in gemm_s8.
struct DepthwisePixelS8 {
  int taps, channels;
  const int8_t* const* inputs;
  const int8_t* weights;  // [taps][channels], or what pack_depthwise_s8 made of them
  const int32_t* bias;
  int32_t* sums;
};

// A null function means: take the operator's reference code.
struct CpuKernels {
  const char* name = nullptr;
  int f32_rows = 0, f32_columns = 0;
  void (*gemm_f32)(const GemmTileF32& tile) = nullptr;
  int s8_rows = 0, s8_columns = 0, s8_run = 0;
  void (*gemm_s8)(const GemmTileS8& tile) = nullptr;
  LeftForm s8_left = LeftForm::kInt16;
  // int8, and uint8 less 128, in that form.
  void (*left_from_s8)(const int8_t* values, size_t count, void* out) = nullptr;
  void (*left_from_u8)(const uint8_t* values, size_t count, void* out) = nullptr;
  void (*requantize_float)(const RequantizeTile& tile) = nullptr;
  void (*requantize_exact)(const RequantizeTile& tile) = nullptr;
  void (*depthwise_f32)(const DepthwisePixelF32& pixel) = nullptr;
  void (*depthwise_s8)(const DepthwisePixelS8& pixel) = nullptr;
  // Brings [taps][channels] weights into the order that depthwise_s8 reads, and returns how many
  // bytes that takes; `out` null only asks. Null: as they are.
  size_t (*pack_depthwise_s8)(const int8_t* weights, int taps, int channels, int8_t* out) = nullptr;
  void (*half_to_float)(const uint16_t* values, size_t count, float* out) = nullptr;

  // Bytes of a value in s8_left, and how much more it is there.
  size_t left_bytes() const { return s8_left == LeftForm::kInt16 ? 2 : 1; }
  int32_t left_offset() const { return s8_left == LeftForm::kInt16 ? 0 : 128; }
};

// The tables. `reference` has no functions: operators run their plain code. A table may only be
// called where CpuSupports says so.
extern const CpuKernels kReferenceKernels;
extern const CpuKernels kGenericKernels;
#if defined(__x86_64__)
extern const CpuKernels kAvx2Kernels;
extern const CpuKernels kAvx512Kernels;
#endif

// The table of that name if this machine can run it, else null.
const CpuKernels* FindCpu(const char* name);

// The table in use: what DEPUTY_CPU names, or the best this machine supports. Looked up once.
const CpuKernels& Cpu();

// For tests: the table in use from now on, in all threads; null restores the choice of Cpu().
void OverrideCpu(const CpuKernels* kernels);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_CPU_H_
