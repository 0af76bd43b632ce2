// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and fully connected layers share on the fast path: weights packed once when
// they are constant, bias made ready, tasks spread over the interpreter's threads. Rows of input
// come from the operator.
//
// Constant weights are packed at the first invoke, not in prepare: weights that a DEQUANTIZE node
// unpacks have no contents before.
#ifndef DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_
#define DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_

#include "kernels/common/kernel.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/hybrid.h"

namespace deputy {

// groups x [columns][depth] weights; `rows` rows of each group make rows x groups * columns
// outputs.
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

  // One row of input in `out`, which has room for `depth` values: row `row` of group `group`. For
  // integers `out` is bytes that hold values in the table's LeftForm. Called from several threads.
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

  // Weights of int8, or of uint8 that become int8 when 128 is taken off.
  struct IntWeights {
    const TfLiteTensor* tensor;
    bool is_unsigned;
    int32_t zero_point;  // of the weights as int8
  };

  // finish(group, first_row, rows, first_column, columns, sums, stride) with tiles of sums over
  // (input - zero point) * (weight - zero point), bias (int32) included if there is one. Called
  // from several threads.
  template <typename Finish>
  TfLiteStatus RunSums(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                       const Rows<uint8_t>& rows, int32_t input_zero_point,
                       const IntWeights& weights, const TfLiteTensor* bias, const Finish& finish);

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
  TfLiteStatus RunNarrow(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                         const Rows<float>& rows, const TfLiteTensor* weights,
                         const TfLiteTensor* bias, const FloatRange& range, float* out);
  template <typename T>
  TfLiteStatus EnsurePacked(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                            const TfLiteTensor* weights, uint8_t flip, PackedWeights<T>* packed);
  TfLiteStatus EnsureScratch(TfLiteContext* context, const GemmPlan& plan, size_t row_bytes);
  // Bias of all groups with the input's zero point in it, padded.
  void FoldBias(const MatrixShape& shape, int32_t input_zero_point, const TfLiteTensor* bias);

  PackedWeights<float> float_weights_;
  PackedWeights<int8_t> int8_weights_;
  Block bias_;     // of all groups, each padded to whole panels
  Block scratch_;  // a block of rows for every thread
  size_t scratch_per_worker_ = 0;
};

template <typename Finish>
TfLiteStatus MatrixLayer::RunSums(TfLiteContext* context, const CpuKernels& cpu,
                                  const MatrixShape& shape, const Rows<uint8_t>& rows,
                                  int32_t input_zero_point, const IntWeights& weights,
                                  const TfLiteTensor* bias, const Finish& finish) {
  DEPUTY_TRY(EnsurePacked(context, cpu, shape, weights.tensor, weights.is_unsigned ? 0x80 : 0,
                          &int8_weights_));
  const size_t left_bytes = cpu.gemm_s8.left_bytes();
  const size_t row_bytes =
      static_cast<size_t>(std::max(int8_weights_.padded_depth(), 1)) * left_bytes;
  const size_t used_bytes = static_cast<size_t>(shape.depth) * left_bytes;
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_s8.rows,
                                 cpu.gemm_s8.columns, row_bytes, ThreadCount(context));
  DEPUTY_TRY(EnsureScratch(context, plan, row_bytes));
  const int32_t left_zero_point = input_zero_point + cpu.gemm_s8.left_offset();
  FoldBias(shape, left_zero_point, bias);
  for (int group = 0; group < shape.groups; ++group) {
    const int32_t* group_bias = reinterpret_cast<const int32_t*>(bias_.data()) +
                                int64_t{group} * int8_weights_.padded_columns();
    const GemmSums job = {
        &cpu, &int8_weights_, group, shape.depth, group_bias, left_zero_point, weights.zero_point};
    const auto fill = [&](int64_t first, int count, int worker) -> RowBlock<uint8_t> {
      uint8_t* block = reinterpret_cast<uint8_t*>(scratch_.data() + static_cast<size_t>(worker) *
                                                                        scratch_per_worker_);
      for (int r = 0; r < count; ++r) {
        uint8_t* row = block + static_cast<size_t>(r) * row_bytes;
        rows.fill(rows.source, first + r, group, row);
        std::fill(row + used_bytes, row + row_bytes, uint8_t{0});
      }
      return {block, row_bytes};
    };
    ParallelFor(context, plan.tasks, [&](int task, int worker) {
      RunGemmSums(
          job, plan, task, [&](int64_t first, int count) { return fill(first, count, worker); },
          [&](int64_t row, int count, int column, int columns, const int32_t* sums, size_t stride) {
            finish(group, row, count, column, columns, sums, stride);
          });
    });
  }
  return kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_MATRIX_LAYER_H_
