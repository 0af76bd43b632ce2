// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of convolutions and fully connected layers, fast implementation. It packs
// constant weights once, prepares the bias, and distributes tasks over the interpreter's threads.
// The operator provides the input rows.
#ifndef DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_
#define DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_

#include "kernels/common/kernel.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/hybrid.h"
#include "kernels/linalg/int8_product.h"

namespace deputy {

// Sizes of a product. Weights are groups x [columns][depth]; `rows` rows of each group give rows x
// groups * columns outputs. With taps (one group only) weights are [columns / taps][taps][depth]
// and outputs [taps][columns / taps].
struct MatrixShape {
  int64_t rows = 0;
  int groups = 1;
  int columns = 0;
  int depth = 0;
  int taps = 1;
};

// Returns true if there are so few columns that most of a packed panel would be padding.
inline bool HasFewColumns(const MatrixShape& shape) { return shape.columns <= 2; }

// Writes the bias of each group, or zeros, as [groups][padded]. Padding is 0: it is multiplied too,
// although its results are not stored.
void PadBias(const TfLiteTensor* bias, const MatrixShape& shape, int padded, float* out);

class MatrixLayer {
 public:
  // Discards packed weights; called by prepare.
  void Reset() {
    float_weights_.Invalidate();
    int8_weights_.Invalidate();
  }

  // Packs weights whose contents are available (IsReadableNow). The Run functions pack other
  // weights.
  TfLiteStatus PackFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                         const TfLiteTensor* weights);
  // int8 weights, or uint8 weights, which become int8 by subtracting 128.
  struct IntWeights {
    const TfLiteTensor* tensor;
    bool is_unsigned;
    int32_t zero_point;  // zero point of the weights as int8
  };
  TfLiteStatus PackInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                        const IntWeights& weights);

  // Returns the packed weights, for callers that partition the product themselves, or null after
  // reporting an error if out of memory.
  const PackedWeights<float>* FloatWeights(TfLiteContext* context, const CpuKernels& cpu,
                                           const MatrixShape& shape, const TfLiteTensor* weights) {
    return EnsureFloat(context, cpu, shape, weights) == kTfLiteOk ? &float_weights_ : nullptr;
  }

  // Returns the packed int8 weights, with the depth divided into `parts` parts, or null after
  // reporting an error if out of memory.
  const PackedWeights<int8_t>* Int8Weights(TfLiteContext* context, const CpuKernels& cpu,
                                           const MatrixShape& shape, const IntWeights& weights,
                                           int parts) {
    return EnsureInt8(context, cpu, shape, weights, parts) == kTfLiteOk ? &int8_weights_ : nullptr;
  }

  // Returns the bytes of scratch memory for float products. `filled` is true if rows are not read
  // directly.
  static size_t FloatScratch(const CpuKernels& cpu, const MatrixShape& shape, bool filled,
                             int threads);
  // Returns the bytes of scratch memory for integer products.
  static size_t Int8Scratch(const CpuKernels& cpu, const MatrixShape& shape, int threads);

  // Function that writes row `row` of group `group` to `out`, which has space for `depth` values.
  // For integers `out` has the kernel's LhsEncoding. Called from several threads.
  template <typename T>
  using FillRow = void (*)(const void* source, int64_t row, int group, T* out);
  // Function that writes `count` contiguous rows from `first` on; for products with one group only.
  template <typename T>
  using FillRows = void (*)(const void* source, int64_t first, int count, T* out);

  // Source of the input rows: `fill` if it is not null, or `fill_rows` (RunFloat only), or memory
  // (float only; `direct` is row 0 of group 0, and rows are `stride` apart).
  template <typename T>
  struct Rows {
    const T* direct = nullptr;
    size_t stride = 0;
    FillRow<T> fill = nullptr;
    const void* source = nullptr;
    FillRows<T> fill_rows = nullptr;
  };

  // Computes a float product. `epilogue` is for the whole output; null if there is none.
  TfLiteStatus RunFloat(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                        const Rows<float>& rows, const TfLiteTensor* weights,
                        const TfLiteTensor* bias, const FloatRange& range, float* out,
                        const EpilogueF32* epilogue = nullptr);

  // Computes a float product with few columns: every output is a dot product, and weights are not
  // packed.
  static TfLiteStatus RunFewColumns(TfLiteContext* context, const CpuKernels& cpu,
                                    const MatrixShape& shape, const Rows<float>& rows,
                                    const TfLiteTensor* weights, const TfLiteTensor* bias,
                                    const FloatRange& range, float* out);

  // Computes an integer product and calls finish(group, first_row, rows, first_column, columns,
  // sums, stride) with tiles of sums over (input - zero point) * (weight - zero point), including
  // the int32 bias if there is one. `finish` is called from several threads.
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

  // Computes a requantised product; `out` is int8, or uint8 if the weights are uint8.
  TfLiteStatus RunInt8(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                       const Rows<uint8_t>& rows, const IntWeights& weights,
                       const TfLiteTensor* bias, const ChannelScaling& scaling, void* out);

  // Scales of a hybrid product: its rows are quantised by HybridRows, and each scale applies to
  // `rows_per_scale` rows. Bias and output are float.
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
