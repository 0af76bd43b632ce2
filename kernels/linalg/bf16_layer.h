// SPDX-License-Identifier: Apache-2.0
//
// Matrix products in bfloat16 with sums in float32, for layers whose model is in float32 and whose
// client allows the loss (Precision::kBfloat16): weights are rounded when they are packed, inputs
// block by block as they are multiplied, outputs stay float32. Like those of float32, results do
// not depend on how the work is cut.
#ifndef DEPUTY_KERNELS_LINALG_BF16_LAYER_H_
#define DEPUTY_KERNELS_LINALG_BF16_LAYER_H_

#include "core/kernel_api/packed_constant.h"
#include "kernels/linalg/matrix_layer.h"

namespace deputy {

// Whether a product of that shape is computed in bfloat16 where the client allows it: the few
// columns that float32 multiplies without packing are left to it.
inline bool SuitsBf16(const MatrixShape& shape, const CpuKernels& cpu) {
  // Within whole pairs the depth is an int, too.
  return cpu.gemm_bf16.tile != nullptr && !HasFewColumns(shape) && shape.depth > 0 &&
         shape.depth <= 1 << 30;
}

// A number of values that fills whole pairs.
constexpr int64_t WholePairs(int64_t values) { return values + values % 2; }

// Weights in the panels of GemmBf16Kernels.
class Bf16Weights {
 public:
  // groups x [columns][taps][depth] float32 weights, or [depth][columns] ones of a single group
  // and tap; the depth of each tap fills whole pairs.
  struct Layout {
    int groups, columns, taps, depth;
    bool depth_first = false;
  };

  // Packs the weights unless they are packed already: those at that address that are `fixed` never
  // change. Fixed ones of the model are shared by all of its interpreters. False when memory is
  // refused or the size does not fit. `context` may be null.
  bool Pack(const TfLiteContext* context, const CpuKernels& cpu, const float* weights, bool fixed,
            const Layout& layout);
  // For prepare: packs at the next Pack, whatever was packed.
  void Invalidate() { constant_.Invalidate(); }

  const uint16_t* Panel(int group, int panel) const {
    return reinterpret_cast<const uint16_t*>(constant_.data()) +
           (int64_t{group} * panels_ + panel) * panel_values_;
  }

 private:
  PackedConstant constant_;
  int64_t panels_ = 0, panel_values_ = 0;  // of a group, of a panel
};

// Columns of a group, filled up to whole panels.
inline int Bf16PaddedColumns(const CpuKernels& cpu, int columns) {
  const int panel = cpu.gemm_bf16.columns;
  return (columns + panel - 1) / panel * panel;
}

// out[group][padded]: the bias, or zeros where it is null and behind the columns of each group.
void PadBf16Bias(const TfLiteTensor* bias, int groups, int columns, int padded, float* out);

// What FULLY_CONNECTED, pointwise convolutions and products with one constant matrix keep: inputs
// whose rows lie in memory.
class Bf16Layer {
 public:
  // To be called by prepare. `depth_first`: weights are [depth][columns], of one group.
  void Reset(bool depth_first = false) {
    weights_.Invalidate();
    depth_first_ = depth_first;
  }

  // Packs constants of the file ahead of the first Run.
  TfLiteStatus Pack(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                    const TfLiteTensor* weights);
  // Bytes of scratch for Run.
  static size_t ScratchBytes(const CpuKernels& cpu, const MatrixShape& shape, int threads);
  // out[r][g][c] = clamp(bias + input row r of group g times the group's weights of column c).
  // `input` is row 0 of group 0, with the groups side by side; `stride` is the distance of rows in
  // values. `bias` may be null, and `epilogue`, which is of the whole output.
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
