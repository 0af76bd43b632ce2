// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and fully connected layers share on the fast path: weights packed once when
// they are constant, bias made ready, tasks spread over the interpreter's threads. Rows of input
// come from the operator.
//
// Constant weights are packed at the first invoke, not in prepare: weights that a DEQUANTIZE node
// unpacks have no contents before.
#ifndef DEPUTY_KERNELS_MATRIX_LAYER_H_
#define DEPUTY_KERNELS_MATRIX_LAYER_H_

#include "kernels/channel_scaling.h"
#include "kernels/gemm.h"
#include "kernels/kernel.h"

namespace deputy {

// groups x [columns][depth] weights; `rows` rows of each group make rows x groups * columns outputs.
struct MatrixShape {
  int64_t rows = 0;
  int groups = 1;
  int columns = 0;
  int depth = 0;
};

class MatrixLayer {
 public:
  // Forgets what was packed. To be called by prepare.
  void Reset() {
    float_weights_.Invalidate();
    int8_weights_.Invalidate();
  }

  // One row of input in `out`, which has room for `depth` values: row `row` of group `group`.
  // Called from several threads.
  template <typename T>
  using FillRow = void (*)(const void* source, int64_t row, int group, T* out);

  // Where the rows of the input are. Either they lie in memory as they are (float only; `direct`
  // is row 0 of group 0 and `stride` the distance of rows), or `fill`, where it is not null, makes
  // them.
  template <typename T>
  struct Rows {
    const T* direct = nullptr;
    size_t stride = 0;
    FillRow<T> fill = nullptr;
    const void* source = nullptr;
  };

  TfLiteStatus RunFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                        const Rows<float>& rows, const TfLiteTensor* weights,
                        const TfLiteTensor* bias, const FloatRange& range, float* out);
  TfLiteStatus RunInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                       const Rows<int16_t>& rows, const TfLiteTensor* weights,
                       const TfLiteTensor* bias, const ChannelScaling& scaling, int8_t* out);

 private:
  template <typename T>
  TfLiteStatus EnsurePacked(TfLiteContext* context, const CpuKernels& cpu,
                            const MatrixShape& shape, const TfLiteTensor* weights,
                            PackedWeights<T>* packed);
  TfLiteStatus EnsureScratch(TfLiteContext* context, const GemmPlan& plan, size_t row_bytes);

  PackedWeights<float> float_weights_;
  PackedWeights<int8_t> int8_weights_;
  Block bias_;     // of all groups, each padded to whole panels
  Block scratch_;  // a block of rows for every thread
  size_t scratch_per_worker_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_MATRIX_LAYER_H_
