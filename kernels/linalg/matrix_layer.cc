// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/matrix_layer.h"

#include <algorithm>
#include <cstring>

namespace deputy {
namespace {

WeightsLayout LayoutOf(const MatrixShape& shape) {
  auto layout = WeightsLayout::Rows(shape.groups, shape.columns, shape.depth);
  if (shape.taps == 1) return layout;
  layout.column_stride *= shape.taps;
  layout.run_columns = shape.columns / shape.taps;
  layout.run_stride = shape.depth;
  return layout;
}

}  // namespace

TfLiteStatus MatrixLayer::EnsureFloat(TfLiteContext* context, const CpuKernels& cpu,
                                      const MatrixShape& shape, const TfLiteTensor* weights) {
  const auto layout = LayoutOf(shape);
  if (float_weights_.Pack(context, cpu, Data<float>(weights), IsConstant(weights), layout)) {
    return kTfLiteOk;
  }
  return TensorError(context, weights, "out of memory for its packed copy");
}

TfLiteStatus MatrixLayer::EnsureInt8(TfLiteContext* context, const CpuKernels& cpu,
                                     const MatrixShape& shape, const IntWeights& weights,
                                     int parts) {
  auto layout = LayoutOf(shape);
  layout.parts = parts;
  if (int8_weights_.Pack(context, cpu, Data<int8_t>(weights.tensor), IsConstant(weights.tensor),
                         layout, weights.is_unsigned ? 0x80 : 0)) {
    return kTfLiteOk;
  }
  return TensorError(context, weights.tensor, "out of memory for its packed copy");
}

TfLiteStatus MatrixLayer::PackFloat(TfLiteContext* context, const CpuKernels& cpu,
                                    const MatrixShape& shape, const TfLiteTensor* weights) {
  return IsReadableNow(context, weights) ? EnsureFloat(context, cpu, shape, weights) : kTfLiteOk;
}

TfLiteStatus MatrixLayer::PackInt8(TfLiteContext* context, const CpuKernels& cpu,
                                   const MatrixShape& shape, const IntWeights& weights) {
  return IsReadableNow(context, weights.tensor) ? EnsureInt8(context, cpu, shape, weights)
                                                : kTfLiteOk;
}

// ---- Scratch ----------------------------------------------------------------------------------

namespace {

// Layout of a float product's scratch memory: the bias of all groups, padded, then a block of rows
// for each worker.
struct FloatLayout {
  GemmPlan plan;
  size_t row_values = 0, bias_bytes = 0, block_bytes = 0, total_bytes = 0;

  // Computes the layout; returns false if a size overflows. If `filled`, rows are copied into a
  // buffer.
  bool Make(const CpuKernels& cpu, const MatrixShape& shape, bool filled, int threads) {
    const GemmF32Kernels& kernels = cpu.gemm_f32;
    row_values = static_cast<size_t>(std::max(shape.depth, 1));
    const size_t row_bytes = row_values * sizeof(float);
    plan = PlanGemm(shape.rows, shape.columns, shape.depth, kernels.rows, kernels.columns,
                    row_bytes, threads);
    const auto padded_columns = static_cast<size_t>(shape.columns) + kMaxTileColumns;
    size_t rows_bytes = 0;
    return MultiplySizes(filled ? static_cast<size_t>(plan.block_rows()) : 0, row_bytes,
                         &rows_bytes) &&
           ScratchForWorkers(rows_bytes, threads, &block_bytes, &rows_bytes) &&
           MultiplySizes(padded_columns * sizeof(float), static_cast<size_t>(shape.groups),
                         &bias_bytes) &&
           ScratchForWorkers(bias_bytes, 1, &bias_bytes, &total_bytes) &&
           AddSizes(bias_bytes, rows_bytes, &total_bytes);
  }
};

}  // namespace

void PadBias(const TfLiteTensor* bias, const MatrixShape& shape, int padded, float* out) {
  for (int group = 0; group < shape.groups; ++group, out += padded) {
    std::fill_n(out, padded, 0.0f);
    if (bias != nullptr) {
      std::copy_n(Data<float>(bias) + int64_t{group} * shape.columns, shape.columns, out);
    }
  }
}

size_t MatrixLayer::FloatScratch(const CpuKernels& cpu, const MatrixShape& shape, bool filled,
                                 int threads) {
  FloatLayout layout;
  return layout.Make(cpu, shape, filled, threads) ? layout.total_bytes : 0;
}

size_t MatrixLayer::Int8Scratch(const CpuKernels& cpu, const MatrixShape& shape, int threads) {
  return ProductOf(cpu, shape).ScratchBytes(threads);
}

// ---- Float ------------------------------------------------------------------------------------

TfLiteStatus MatrixLayer::RunFewColumns(TfLiteContext* context, const CpuKernels& cpu,
                                        const MatrixShape& shape, const Rows<float>& rows,
                                        const TfLiteTensor* weights, const TfLiteTensor* bias,
                                        const FloatRange& range, float* out) {
  FloatLayout layout;
  Scratch scratch;
  if (!layout.Make(cpu, shape, rows.fill != nullptr, ThreadCount(context)) ||
      !scratch.Acquire(context, layout.total_bytes)) {
    return TensorError(context, weights, "out of memory for its input rows");
  }
  const int64_t out_stride = int64_t{shape.groups} * shape.columns;
  ParallelFor(context, layout.plan.tasks, [&](int task, int worker) {
    const GemmPlan::Cut cut = layout.plan.TaskCut(task);
    float* filled = reinterpret_cast<float*>(scratch.data() + layout.bias_bytes +
                                             static_cast<size_t>(worker) * layout.block_bytes);
    // Rows that a `fill` function writes are processed one by one.
    const int64_t step = rows.fill == nullptr ? cut.last_row - cut.first_row : 1;
    for (int64_t row = cut.first_row; row < cut.last_row; row += step) {
      for (int group = 0; group < shape.groups; ++group) {
        const float* values = filled;
        if (rows.fill == nullptr) {
          values =
              rows.direct + row * static_cast<int64_t>(rows.stride) + int64_t{group} * shape.depth;
        } else {
          rows.fill(rows.source, row, group, filled);
        }
        const int64_t channel = int64_t{group} * shape.columns + cut.first_column;
        cpu.gemm_f32.dots({.rows = static_cast<int>(step),
                           .columns = cut.last_column - cut.first_column,
                           .parts = 1,
                           .depth = shape.depth,
                           .a = &values,
                           .a_stride = rows.stride,
                           .b = Data<float>(weights) + channel * shape.depth,
                           .b_stride = static_cast<size_t>(shape.depth),
                           .bias = bias == nullptr ? nullptr : Data<float>(bias) + channel,
                           .low = range.low,
                           .high = range.high,
                           .out = out + row * out_stride + channel,
                           .out_stride = static_cast<size_t>(out_stride)});
      }
    }
  });
  return kTfLiteOk;
}

TfLiteStatus MatrixLayer::RunFloat(TfLiteContext* context, const CpuKernels& cpu,
                                   const MatrixShape& shape, const Rows<float>& rows,
                                   const TfLiteTensor* weights, const TfLiteTensor* bias,
                                   const FloatRange& range, float* out,
                                   const EpilogueF32* epilogue) {
  DEPUTY_TRY(EnsureFloat(context, cpu, shape, weights));
  FloatLayout layout;
  Scratch scratch;
  const bool direct = rows.fill == nullptr && rows.fill_rows == nullptr;
  if (!layout.Make(cpu, shape, !direct, ThreadCount(context)) ||
      !scratch.Acquire(context, layout.total_bytes)) {
    return TensorError(context, weights, "out of memory for its input rows");
  }
  const int padded_columns = float_weights_.padded_columns();
  PadBias(bias, shape, padded_columns, scratch.as<float>());
  for (int group = 0; group < shape.groups; ++group) {
    float* const group_out = out + int64_t{group} * shape.columns;
    const auto group_epilogue = PartOf(epilogue, 0, group * shape.columns);
    const GemmF32 job = {&cpu,
                         &float_weights_,
                         group,
                         shape.depth,
                         scratch.as<float>() + int64_t{group} * padded_columns,
                         range.low,
                         range.high,
                         group_out,
                         static_cast<size_t>(shape.groups) * static_cast<size_t>(shape.columns),
                         group_epilogue ? &*group_epilogue : nullptr};
    const auto run_one = [&](int task, int worker) {
      RunGemmF32(job, layout.plan, task, [&](int64_t first, int count) -> RowBlock<float> {
        if (direct) {
          return {rows.direct + first * static_cast<int64_t>(rows.stride) +
                      int64_t{group} * shape.depth,
                  rows.stride};
        }
        float* block = reinterpret_cast<float*>(scratch.data() + layout.bias_bytes +
                                                static_cast<size_t>(worker) * layout.block_bytes);
        if (rows.fill_rows != nullptr) rows.fill_rows(rows.source, first, count, block);
        for (int r = 0; r < count && rows.fill != nullptr; ++r) {
          rows.fill(rows.source, first + r, group,
                    block + static_cast<size_t>(r) * layout.row_values);
        }
        return {block, layout.row_values};
      });
    };
    ParallelFor(context, layout.plan.tasks, run_one);
  }
  return kTfLiteOk;
}

// ---- Integers ---------------------------------------------------------------------------------

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

}  // namespace deputy
