// SPDX-License-Identifier: Apache-2.0
//
// Matrix products in bfloat16 with float32 sums, or in float16 (GemmBf16Kernels::is_float16), for
// layers of float32 models whose client allows the loss of precision: weights are rounded when they
// are packed, inputs block by block when they are multiplied, outputs stay float32. As for float32,
// results do not depend on the partition of the work.
#ifndef DEPUTY_KERNELS_LINALG_BF16_LAYER_H_
#define DEPUTY_KERNELS_LINALG_BF16_LAYER_H_

#include "core/kernel_api/packed_constant.h"
#include "core/support/int_math.h"
#include "kernels/linalg/matrix_layer.h"

namespace deputy {

// Returns true if a product of that shape has 16-bit factors when the client allows it.
// Products with few columns, which float32 computes without packing, stay in float32.
inline bool SuitsBf16(const MatrixShape& shape, const CpuKernels& cpu) {
  // The padded depth must fit in an int, which the depth limit ensures.
  return cpu.gemm_bf16.tile != nullptr && !HasFewColumns(shape) && shape.depth > 0 &&
         shape.depth <= 1 << 30;
}

// Rounds a number of values up to an even number.
constexpr int64_t RoundUpToEven(int64_t values) { return values + values % 2; }

// Weights packed in the panels of GemmBf16Kernels.
class Bf16Weights {
 public:
  // Shape of the weights: groups x [columns][taps][depth] float32, or [depth][columns] with a
  // single group and tap. The depth of each tap is padded to whole pairs.
  struct Layout {
    int groups, columns, taps, depth;
    bool depth_first = false;
  };

  // Packs the weights unless they are already packed. Weights that are `fixed` never change at
  // their address; those of the model are shared by all its interpreters. Returns false if out of
  // memory or if the size overflows. `context` may be null.
  bool Pack(const TfLiteContext* context, const CpuKernels& cpu, const float* weights, bool fixed,
            const Layout& layout);
  // Forces the next Pack to pack again; called in prepare.
  void Invalidate() { constant_.Invalidate(); }

  const uint16_t* Panel(int group, int panel) const {
    return reinterpret_cast<const uint16_t*>(constant_.data()) +
           (int64_t{group} * panels_ + panel) * panel_values_;
  }

 private:
  PackedConstant constant_;
  int64_t panels_ = 0, panel_values_ = 0;  // panels per group; values per panel
};

// Number of columns of a group, padded to whole panels.
inline int Bf16PaddedColumns(const CpuKernels& cpu, int columns) {
  const int panel = cpu.gemm_bf16.columns;
  return RoundUp(columns, panel);
}

// Writes out[group][padded]: the bias, or zeros if it is null, and zeros as padding after each
// group's columns.
void PadBf16Bias(const TfLiteTensor* bias, int groups, int columns, int padded, float* out);

// Packed weights of FULLY_CONNECTED, pointwise convolutions and products with one constant matrix.
// The input rows of these operators are contiguous in memory.
class Bf16Layer {
 public:
  // Discards packed weights; called by prepare. If `depth_first`, the weights are [depth][columns]
  // with one group.
  void Reset(bool depth_first = false) {
    weights_.Invalidate();
    depth_first_ = depth_first;
  }

  // Packs weights that are constants of the model, before the first Run.
  TfLiteStatus Pack(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                    const TfLiteTensor* weights);
  // Returns the bytes of scratch memory that Run needs.
  static size_t ScratchBytes(const CpuKernels& cpu, const MatrixShape& shape, int threads);
  // Computes out[r][g][c] = clamp(bias + input row r of group g times the group's weights of column
  // c). `input` is row 0 of group 0; groups are adjacent in a row, and rows are `stride` values
  // apart. `bias` may be null. `epilogue`, which describes the whole output, may also be null.
  TfLiteStatus Run(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                   const float* input, size_t stride, const TfLiteTensor* weights,
                   const TfLiteTensor* bias, const FloatRange& range, float* out,
                   const EpilogueF32* epilogue = nullptr);

 private:
  TfLiteStatus Ensure(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                      const TfLiteTensor* weights);

  Bf16Weights weights_;
  bool depth_first_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_BF16_LAYER_H_
