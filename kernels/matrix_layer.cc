// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix_layer.h"

#include <cstring>

namespace deputy {
namespace {

size_t RoundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

template <typename T>
TfLiteStatus MatrixLayer::EnsurePacked(TfLiteContext* context, const CpuKernels& cpu,
                                       const MatrixShape& shape, const TfLiteTensor* weights,
                                       PackedWeights<T>* packed) {
  const T* data = Data<T>(weights);
  if (!IsConstant(weights)) packed->Invalidate();
  if (!packed->IsCurrent(cpu, data, shape.groups, shape.columns, shape.depth) &&
      !packed->Pack(cpu, data, shape.groups, shape.columns, shape.depth, LimitsOf(context))) {
    return TensorError(context, weights, "out of memory for its packed copy");
  }
  const size_t bias_values = static_cast<size_t>(packed->padded_columns()) *
                             static_cast<size_t>(shape.groups);
  if (!bias_.Reserve(bias_values * sizeof(float), 0, LimitsOf(context))) {
    return TensorError(context, weights, "out of memory for its bias");
  }
  // Also the padding: what it holds is computed with, though never stored.
  std::memset(bias_.data(), 0, bias_values * sizeof(float));
  return kTfLiteOk;
}

TfLiteStatus MatrixLayer::EnsureScratch(TfLiteContext* context, const GemmPlan& plan,
                                        size_t row_bytes) {
  size_t block = 0, total = 0;
  if (!MultiplySizes(static_cast<size_t>(plan.block_rows), row_bytes, &block) ||
      !AddSizes(block, kTensorAlignment, &block) ||
      !MultiplySizes(block, static_cast<size_t>(ThreadCount(context)), &total) ||
      !scratch_.Reserve(total, 0, LimitsOf(context))) {
    return KernelError(context, "out of memory for %zu bytes of input rows", row_bytes);
  }
  scratch_per_worker_ = block / kTensorAlignment * kTensorAlignment;
  return kTfLiteOk;
}

TfLiteStatus MatrixLayer::RunFloat(TfLiteContext* context, const CpuKernels& cpu,
                                   const MatrixShape& shape, const Rows<float>& rows,
                                   const TfLiteTensor* weights, const TfLiteTensor* bias,
                                   const FloatRange& range, float* out) {
  DEPUTY_TRY(EnsurePacked(context, cpu, shape, weights, &float_weights_));
  const size_t row_values = static_cast<size_t>(std::max(shape.depth, 1));
  const GemmPlan plan =
      PlanGemm(shape.rows, shape.columns, shape.depth, cpu.f32_rows, cpu.f32_columns,
               row_values * sizeof(float), ThreadCount(context));
  if (rows.fill != nullptr) {
    DEPUTY_TRY(EnsureScratch(context, plan, row_values * sizeof(float)));
  }
  const int padded_columns = float_weights_.padded_columns();
  float* ready_bias = reinterpret_cast<float*>(bias_.data());
  for (int group = 0; group < shape.groups; ++group) {
    GemmF32 job = {&cpu, &float_weights_, group, shape.depth, nullptr, range.low, range.high,
                   out + int64_t{group} * shape.columns,
                   static_cast<size_t>(shape.groups) * static_cast<size_t>(shape.columns)};
    float* group_bias = ready_bias + int64_t{group} * padded_columns;
    if (bias != nullptr) {
      std::memcpy(group_bias, Data<float>(bias) + int64_t{group} * shape.columns,
                  static_cast<size_t>(shape.columns) * sizeof(float));
    }
    job.bias = group_bias;
    ParallelFor(context, plan.tasks, [&](int task, int worker) {
      RunGemmF32(job, plan, task, [&](int64_t first, int count) -> RowBlock<float> {
        if (rows.fill == nullptr) {
          return {rows.direct + first * static_cast<int64_t>(rows.stride) +
                      int64_t{group} * shape.depth,
                  rows.stride};
        }
        float* block = reinterpret_cast<float*>(
            scratch_.data() + static_cast<size_t>(worker) * scratch_per_worker_);
        for (int r = 0; r < count; ++r) {
          rows.fill(rows.source, first + r, group, block + static_cast<size_t>(r) * row_values);
        }
        return {block, row_values};
      });
    });
  }
  return kTfLiteOk;
}

TfLiteStatus MatrixLayer::RunInt8(TfLiteContext* context, const CpuKernels& cpu,
                                  const MatrixShape& shape, const Rows<int16_t>& rows,
                                  const TfLiteTensor* weights, const TfLiteTensor* bias,
                                  const ChannelScaling& scaling, int8_t* out) {
  DEPUTY_TRY(EnsurePacked(context, cpu, shape, weights, &int8_weights_));
  const size_t row_values = RoundUp(static_cast<size_t>(std::max(shape.depth, 1)), 2);
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.s8_rows,
                                 cpu.s8_columns, row_values * sizeof(int16_t),
                                 ThreadCount(context));
  DEPUTY_TRY(EnsureScratch(context, plan, row_values * sizeof(int16_t)));
  const int padded_columns = int8_weights_.padded_columns();
  int32_t* ready_bias = reinterpret_cast<int32_t*>(bias_.data());
  for (int group = 0; group < shape.groups; ++group) {
    const int first_channel = group * shape.columns;
    int32_t* group_bias = ready_bias + int64_t{group} * padded_columns;
    for (int c = 0; c < shape.columns; ++c) {
      // (a - z) * w summed is a * w summed, less z times the sum of w. Wraps like the sums.
      const uint32_t own =
          bias == nullptr ? 0 : static_cast<uint32_t>(Data<int32_t>(bias)[first_channel + c]);
      group_bias[c] = static_cast<int32_t>(
          own - static_cast<uint32_t>(scaling.input_zero_point()) *
                    static_cast<uint32_t>(int8_weights_.ColumnSum(group, c)));
    }
    const GemmS8 job = {&cpu, &int8_weights_, group, shape.depth, group_bias,
                        scaling.RowFunctionOf(cpu, ArithmeticOf(context)),
                        scaling.Row(first_channel), out + first_channel,
                        static_cast<size_t>(shape.groups) * static_cast<size_t>(shape.columns)};
    ParallelFor(context, plan.tasks, [&](int task, int worker) {
      RunGemmS8(job, plan, task, [&](int64_t first, int count) -> RowBlock<int16_t> {
        int16_t* block = reinterpret_cast<int16_t*>(
            scratch_.data() + static_cast<size_t>(worker) * scratch_per_worker_);
        for (int r = 0; r < count; ++r) {
          int16_t* row = block + static_cast<size_t>(r) * row_values;
          rows.fill(rows.source, first + r, group, row);
          if (shape.depth % 2 != 0) row[shape.depth] = 0;
        }
        return {block, row_values};
      });
    });
  }
  return kTfLiteOk;
}

}  // namespace deputy
