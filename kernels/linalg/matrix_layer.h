// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and fully connected layers share on the fast path: weights packed once when
// they are constant, bias made ready, tasks spread over the interpreter's threads. Rows of input
// come from the operator.
#ifndef DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_
#define DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_

#include "kernels/common/kernel.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/hybrid.h"
#include "kernels/linalg/int8_product.h"

namespace deputy {

// groups x [columns][depth] weights; `rows` rows of each group make rows x groups * columns
// outputs. Where there are taps, of one group, weights are [columns / taps][taps][depth] and
// outputs [taps][columns / taps].
struct MatrixShape {
  int64_t rows = 0;
  int groups = 1;
  int columns = 0;
  int depth = 0;
  int taps = 1;
};

// So few columns that a panel of packed weights would be read for the sake of one or two.
inline bool HasFewColumns(const MatrixShape& shape) { return shape.columns <= 2; }

// The bias of each group, or zeros, as [groups][padded]: what is behind the columns is computed
// with, though never stored.
void PadBias(const TfLiteTensor* bias, const MatrixShape& shape, int padded, float* out);

class MatrixLayer {
 public:
  // Forgets what was packed. To be called by prepare.
  void Reset() {
    float_weights_.Invalidate();
    int8_weights_.Invalidate();
  }

  // Packs weights, which Run… does too, where they are constants of the file. Others have no
  // contents before the model runs (a DEQUANTIZE node unpacks them).
  TfLiteStatus PackFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                         const TfLiteTensor* weights);
  // Weights of int8, or of uint8 that become int8 when 128 is taken off.
  struct IntWeights {
    const TfLiteTensor* tensor;
    bool is_unsigned;
    int32_t zero_point;  // of the weights as int8
  };
  TfLiteStatus PackInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                        const IntWeights& weights);

  // The packed weights, for those who cut the product themselves; null, reported, when memory is
  // refused.
  const PackedWeights<float>* FloatWeights(TfLiteContext* context, const CpuKernels& cpu,
                                           const MatrixShape& shape, const TfLiteTensor* weights) {
    return EnsureFloat(context, cpu, shape, weights) == kTfLiteOk ? &float_weights_ : nullptr;
  }

  // The same of int8, whose depth comes in parts.
  const PackedWeights<int8_t>* Int8Weights(TfLiteContext* context, const CpuKernels& cpu,
                                           const MatrixShape& shape, const IntWeights& weights,
                                           int parts) {
    return EnsureInt8(context, cpu, shape, weights, parts) == kTfLiteOk ? &int8_weights_ : nullptr;
  }

  // Bytes of scratch for the functions below; `filled`: rows of floats are not direct.
  static size_t FloatScratch(const CpuKernels& cpu, const MatrixShape& shape, bool filled,
                             int threads);
  static size_t Int8Scratch(const CpuKernels& cpu, const MatrixShape& shape, int threads);

  // One row of input in `out`, which has room for `depth` values: row `row` of group `group`. For
  // integers `out` is bytes that hold values in the table's LeftForm. Called from several threads.
  template <typename T>
  using FillRow = void (*)(const void* source, int64_t row, int group, T* out);
  // The same of `count` rows from `first` on, one behind the other, where there is one group.
  template <typename T>
  using FillRows = void (*)(const void* source, int64_t first, int count, T* out);

  // Where the rows of the input are. Either they lie in memory as they are (float only; `direct`
  // is row 0 of group 0 and `stride` the distance of rows), or `fill`, where it is not null, makes
  // them, or `fill_rows` (float only).
  template <typename T>
  struct Rows {
    const T* direct = nullptr;
    size_t stride = 0;
    FillRow<T> fill = nullptr;
    const void* source = nullptr;
    FillRows<T> fill_rows = nullptr;
  };

  // `epilogue`, or null, is of the whole output.
  TfLiteStatus RunFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                        const Rows<float>& rows, const TfLiteTensor* weights,
                        const TfLiteTensor* bias, const FloatRange& range, float* out,
                        const EpilogueF32* epilogue = nullptr);

  // The same for few columns: every output is a product of two runs of memory, and the weights are
  // read as they are.
  static TfLiteStatus RunFewColumns(TfLiteContext* context, const CpuKernels& cpu,
                                    const MatrixShape& shape, const Rows<float>& rows,
                                    const TfLiteTensor* weights, const TfLiteTensor* bias,
                                    const FloatRange& range, float* out);

  // finish(group, first_row, rows, first_column, columns, sums, stride) with tiles of sums over
  // (input - zero point) * (weight - zero point), bias (int32) included if there is one. Called
  // from several threads.
  template <typename Finish>
  TfLiteStatus RunSums(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                       const Rows<uint8_t>& rows, int32_t input_zero_point,
                       const IntWeights& weights, const TfLiteTensor* bias, const Finish& finish) {
    DEPUTY_TRY(EnsureInt8(context, cpu, shape, weights));
    Int8Product product = ProductOf(cpu, shape);
    product.weights = &int8_weights_;
    product.input_zero_point = input_zero_point;
    product.weights_zero_point = weights.zero_point;
    product.bias = bias == nullptr ? nullptr : Data<int32_t>(bias);
    return product.Run(
        context, shape.groups, [](int job) { return job; },
        [&](int group, int64_t row, uint8_t* out) { rows.fill(rows.source, row, group, out); },
        finish);
  }

  // The output is int8, or uint8 if the weights are.
  TfLiteStatus RunInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                       const Rows<uint8_t>& rows, const IntWeights& weights,
                       const TfLiteTensor* bias, const ChannelScaling& scaling, void* out);

  // Rows that HybridRows made, `rows_per_scale` of them to each of its scales; float bias and
  // output.
  struct HybridScaling {
    const HybridRows* input;
    int64_t rows_per_scale;
    const WeightScales* weights;
    FloatRange range;
  };
  TfLiteStatus RunHybrid(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                         const Rows<uint8_t>& rows, const TfLiteTensor* weights,
                         const TfLiteTensor* bias, const HybridScaling& scaling, float* out);

 private:
  static Int8Product ProductOf(const CpuKernels& cpu, const MatrixShape& shape) {
    return {.cpu = &cpu,
            .rows = shape.rows,
            .groups = shape.groups,
            .columns = shape.columns,
            .depth = shape.depth};
  }
  TfLiteStatus EnsureFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                           const TfLiteTensor* weights);
  TfLiteStatus EnsureInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                          const IntWeights& weights, int parts = 1);

  PackedWeights<float> float_weights_;
  PackedWeights<int8_t> int8_weights_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_
