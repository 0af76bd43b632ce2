// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/matrix_layer.h"

#include <cstring>

namespace deputy {
namespace {

// From int8 back to uint8 that is 128 more.
void FlipSigns(const RequantizeTile& tile) {
  for (int r = 0; r < tile.rows; ++r) {
    int8_t* out = tile.out + static_cast<size_t>(r) * tile.out_stride;
    for (int c = 0; c < tile.columns; ++c) {
      out[c] = static_cast<int8_t>(static_cast<uint8_t>(out[c]) ^ 0x80u);
    }
  }
}

constexpr int kNarrowColumns = 2;

// In lanes that compilers turn into vector code; the order of the sums depends on `count` alone.
float LaneDot(const float* a, const float* b, int64_t count) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] += a[i] * b[i];
  float sum = 0.0f;
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

template <typename T>
TfLiteStatus MatrixLayer::EnsurePacked(TfLiteContext* context, const CpuKernels& cpu,
                                       const MatrixShape& shape, const TfLiteTensor* weights,
                                       uint8_t flip, PackedWeights<T>* packed) {
  const auto layout = WeightsLayout::Rows(shape.groups, shape.columns, shape.depth);
  const T* data = Data<T>(weights);
  if (!IsConstant(weights)) packed->Invalidate();
  if (!packed->IsCurrent(cpu, data, layout) &&
      !packed->Pack(cpu, data, layout, LimitsOf(context), flip)) {
    return TensorError(context, weights, "out of memory for its packed copy");
  }
  const size_t bias_values =
      static_cast<size_t>(packed->padded_columns()) * static_cast<size_t>(shape.groups);
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

// Every output is a product of two runs of memory; the weights are read as they are.
TfLiteStatus MatrixLayer::RunNarrow(TfLiteContext* context, const CpuKernels& cpu,
                                    const MatrixShape& shape, const Rows<float>& rows,
                                    const TfLiteTensor* weights, const TfLiteTensor* bias,
                                    const FloatRange& range, float* out) {
  const size_t row_values = static_cast<size_t>(std::max(shape.depth, 1));
  const GemmPlan plan =
      PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_f32.rows, cpu.gemm_f32.columns,
               row_values * sizeof(float), ThreadCount(context));
  if (rows.fill != nullptr) {
    DEPUTY_TRY(EnsureScratch(context, plan, row_values * sizeof(float)));
  }
  const int64_t out_stride = int64_t{shape.groups} * shape.columns;
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    const GemmPlan::Cut cut = plan.TaskCut(task);
    float* filled = reinterpret_cast<float*>(scratch_.data() +
                                             static_cast<size_t>(worker) * scratch_per_worker_);
    for (int64_t row = cut.first_row; row < cut.last_row; ++row) {
      for (int group = 0; group < shape.groups; ++group) {
        const float* values =
            rows.direct + row * static_cast<int64_t>(rows.stride) + int64_t{group} * shape.depth;
        if (rows.fill != nullptr) {
          rows.fill(rows.source, row, group, filled);
          values = filled;
        }
        for (int c = cut.first_column; c < cut.last_column; ++c) {
          const int64_t channel = int64_t{group} * shape.columns + c;
          float sum = LaneDot(values, Data<float>(weights) + channel * shape.depth, shape.depth);
          if (bias != nullptr) sum += Data<float>(bias)[channel];
          out[row * out_stride + channel] = Clamp(sum, range);
        }
      }
    }
  });
  return kTfLiteOk;
}

TfLiteStatus MatrixLayer::RunFloat(TfLiteContext* context, const CpuKernels& cpu,
                                   const MatrixShape& shape, const Rows<float>& rows,
                                   const TfLiteTensor* weights, const TfLiteTensor* bias,
                                   const FloatRange& range, float* out) {
  // A panel of many columns would be read for the sake of one or two.
  if (shape.columns <= kNarrowColumns) {
    return RunNarrow(context, cpu, shape, rows, weights, bias, range, out);
  }
  DEPUTY_TRY(EnsurePacked(context, cpu, shape, weights, 0, &float_weights_));
  const size_t row_values = static_cast<size_t>(std::max(shape.depth, 1));
  const GemmPlan plan =
      PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_f32.rows, cpu.gemm_f32.columns,
               row_values * sizeof(float), ThreadCount(context));
  if (rows.fill != nullptr) {
    DEPUTY_TRY(EnsureScratch(context, plan, row_values * sizeof(float)));
  }
  const int padded_columns = float_weights_.padded_columns();
  float* ready_bias = reinterpret_cast<float*>(bias_.data());
  for (int group = 0; group < shape.groups; ++group) {
    GemmF32 job = {&cpu,
                   &float_weights_,
                   group,
                   shape.depth,
                   nullptr,
                   range.low,
                   range.high,
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
        float* block = reinterpret_cast<float*>(scratch_.data() +
                                                static_cast<size_t>(worker) * scratch_per_worker_);
        for (int r = 0; r < count; ++r) {
          rows.fill(rows.source, first + r, group, block + static_cast<size_t>(r) * row_values);
        }
        return {block, row_values};
      });
    });
  }
  return kTfLiteOk;
}

void MatrixLayer::FoldBias(const MatrixShape& shape, int32_t input_zero_point,
                           const TfLiteTensor* bias) {
  for (int group = 0; group < shape.groups; ++group) {
    int32_t* group_bias =
        reinterpret_cast<int32_t*>(bias_.data()) + int64_t{group} * int8_weights_.padded_columns();
    for (int c = 0; c < shape.columns; ++c) {
      // (a - z) * w summed is a * w summed, less z times the sum of w. Wraps like the sums.
      const uint32_t own =
          bias == nullptr
              ? 0
              : static_cast<uint32_t>(Data<int32_t>(bias)[int64_t{group} * shape.columns + c]);
      group_bias[c] =
          static_cast<int32_t>(own - static_cast<uint32_t>(input_zero_point) *
                                         static_cast<uint32_t>(int8_weights_.ColumnSum(group, c)));
    }
  }
}

TfLiteStatus MatrixLayer::RunInt8(TfLiteContext* context, const CpuKernels& cpu,
                                  const MatrixShape& shape, const Rows<uint8_t>& rows,
                                  const IntWeights& weights, const TfLiteTensor* bias,
                                  const ChannelScaling& scaling, void* out) {
  const auto requantize = scaling.TileFunctionOf(cpu, ArithmeticOf(context));
  const size_t out_stride = static_cast<size_t>(shape.groups) * static_cast<size_t>(shape.columns);
  const int32_t zero_point = scaling.input_zero_point() - (weights.is_unsigned ? 128 : 0);
  return RunSums(context, cpu, shape, rows, zero_point, weights, bias,
                 [&](int group, int64_t row, int count, int column, int columns,
                     const int32_t* sums, size_t stride) {
                   const int channel = group * shape.columns + column;
                   RequantizeTile tile = scaling.Tile(channel);
                   tile.rows = count;
                   tile.columns = columns;
                   tile.sums = sums;
                   tile.sums_stride = stride;
                   tile.out =
                       static_cast<int8_t*>(out) + row * static_cast<int64_t>(out_stride) + channel;
                   tile.out_stride = out_stride;
                   requantize(tile);
                   if (scaling.output_offset() != 0) FlipSigns(tile);
                 });
}

TfLiteStatus MatrixLayer::RunHybrid(TfLiteContext* context, const CpuKernels& cpu,
                                    const MatrixShape& shape, const Rows<uint8_t>& rows,
                                    const TfLiteTensor* weights, const TfLiteTensor* bias,
                                    const HybridScaling& scaling, float* out) {
  const int64_t out_stride = int64_t{shape.groups} * shape.columns;
  return RunSums(
      context, cpu, shape, rows, 0, {weights, false, 0}, nullptr,
      [&](int group, int64_t row, int count, int column, int columns, const int32_t* sums,
          size_t stride) {
        for (int r = 0; r < count; ++r, sums += stride) {
          const int64_t run = (row + r) / scaling.rows_per_scale;
          const float scale = scaling.input->scales()[run];
          const int32_t zero_point = scaling.input->zero_points()[run];
          float* to = out + (row + r) * out_stride;
          for (int c = 0; c < columns; ++c) {
            const int channel = group * shape.columns + column + c;
            const uint32_t excess =
                static_cast<uint32_t>(zero_point) *
                static_cast<uint32_t>(int8_weights_.ColumnSum(group, column + c));
            const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) - excess);
            float value = static_cast<float>(sum) * ((*scaling.weights)[channel] * scale);
            if (bias != nullptr) value += Data<float>(bias)[channel];
            to[channel] = Clamp(value, scaling.range);
          }
        }
      });
}

// RunSums, a template of the header, needs it elsewhere.
template TfLiteStatus MatrixLayer::EnsurePacked(TfLiteContext*, const CpuKernels&,
                                                const MatrixShape&, const TfLiteTensor*, uint8_t,
                                                PackedWeights<int8_t>*);

}  // namespace deputy
