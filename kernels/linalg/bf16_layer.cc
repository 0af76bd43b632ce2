// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/bf16_layer.h"

#include <algorithm>
#include <cstring>

namespace deputy {

// ---- Weights ----------------------------------------------------------------------------------

namespace {

// Column `from` of [taps][depth] weights, in pairs that lie `columns` pairs apart in the panel.
void PackColumn(const CpuKernels& cpu, const float* from, const Bf16Weights::Layout& layout,
                int columns, uint16_t* out) {
  constexpr int kChunk = 512;  // even
  uint16_t rounded[kChunk];
  const size_t step = 2 * static_cast<size_t>(columns);
  for (int tap = 0; tap < layout.taps; ++tap, from += layout.depth) {
    for (int first = 0; first < layout.depth; first += kChunk) {
      const int count = std::min(kChunk, layout.depth - first);
      cpu.gemm_bf16.from_float({.rows = 1,
                                .count = static_cast<size_t>(count),
                                .values = from + first,
                                .stride = 0,
                                .out = rounded,
                                .out_stride = 0});
      for (int d = 0; d < count; d += 2, out += step) std::memcpy(out, rounded + d, 4);
    }
  }
}

// The same for all columns of weights that lie [depth][columns]: two rows become pairs.
void PackDepthFirst(const CpuKernels& cpu, const float* from, const Bf16Weights::Layout& layout,
                    uint16_t* out) {
  const int panel = cpu.gemm_bf16.columns;
  const size_t panel_values = static_cast<size_t>(WholePairs(layout.depth) * panel);
  uint16_t rounded[2][kMaxTileColumns] = {};
  for (int d = 0; d < layout.depth; d += 2) {
    const int rows = std::min(2, layout.depth - d);
    if (rows == 1) std::fill_n(rounded[1], kMaxTileColumns, uint16_t{0});
    for (int first = 0; first < layout.columns; first += panel) {
      const int count = std::min(panel, layout.columns - first);
      cpu.gemm_bf16.from_float({.rows = rows,
                                .count = static_cast<size_t>(count),
                                .values = from + int64_t{d} * layout.columns + first,
                                .stride = static_cast<size_t>(layout.columns),
                                .out = rounded[0],
                                .out_stride = kMaxTileColumns});
      uint16_t* pairs =
          out + static_cast<size_t>(first / panel) * panel_values + int64_t{d} * panel;
      for (int c = 0; c < count; ++c, pairs += 2) {
        pairs[0] = rounded[0][c];
        pairs[1] = rounded[1][c];
      }
    }
  }
}

}  // namespace

bool Bf16Weights::Pack(const TfLiteContext* context, const CpuKernels& cpu, const float* weights,
                       bool fixed, const Layout& layout) {
  const int columns = cpu.gemm_bf16.columns;
  const int64_t depth = layout.taps * WholePairs(layout.depth);
  panels_ = Bf16PaddedColumns(cpu, layout.columns) / columns;
  panel_values_ = depth * columns;
  size_t bytes = 0;
  if (!MultiplySizes(static_cast<size_t>(panels_), static_cast<size_t>(layout.groups), &bytes) ||
      !MultiplySizes(bytes, static_cast<size_t>(panel_values_) * sizeof(uint16_t), &bytes)) {
    Invalidate();
    return false;
  }
  const PackedKey key = {
      weights,
      reinterpret_cast<const void*>(cpu.gemm_bf16.tile),
      {layout.groups, layout.columns, layout.taps, layout.depth, layout.depth_first}};
  return constant_.Ensure(context, key, fixed, std::max<size_t>(bytes, 1), [&](char* data) {
    // What is outside the matrix is computed with, though never stored.
    std::memset(data, 0, bytes);
    auto* out = reinterpret_cast<uint16_t*>(data);
    if (layout.depth_first) {
      PackDepthFirst(cpu, weights, layout, out);
      return;
    }
    const int64_t column_values = int64_t{layout.taps} * layout.depth;
    for (int group = 0; group < layout.groups; ++group, out += panels_ * panel_values_) {
      for (int c = 0; c < layout.columns; ++c) {
        PackColumn(cpu, weights + (int64_t{group} * layout.columns + c) * column_values, layout,
                   columns, out + c / columns * panel_values_ + int64_t{2} * (c % columns));
      }
    }
  });
}

void PadBf16Bias(const TfLiteTensor* bias, int groups, int columns, int padded, float* out) {
  for (int group = 0; group < groups; ++group, out += padded) {
    std::fill_n(out, padded, 0.0f);
    if (bias != nullptr) {
      std::copy_n(Data<float>(bias) + int64_t{group} * columns, columns, out);
    }
  }
}

// ---- Layer ------------------------------------------------------------------------------------

namespace {

// From a row of a block to the next, in values. Long rows are an odd number of cache lines apart:
// those that are multiplied together would else fight for the same places of the cache.
int64_t BlockStride(int depth) {
  constexpr int64_t kLine = 32, kLong = 128;
  const int64_t values = WholePairs(depth);
  return values <= kLong ? values : ((values + kLine - 1) / kLine | 1) * kLine;
}

// The scratch: the bias of all groups, padded, then a block of rows for each worker.
struct Places {
  GemmPlan plan;
  size_t bias_bytes = 0, block_bytes = 0, total_bytes = 0;

  // False when the sizes do not fit.
  bool Make(const CpuKernels& cpu, const MatrixShape& shape, int threads) {
    const auto row_bytes = static_cast<size_t>(BlockStride(shape.depth)) * sizeof(uint16_t);
    plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_bf16.rows,
                    cpu.gemm_bf16.columns, row_bytes, threads);
    const auto padded = static_cast<size_t>(Bf16PaddedColumns(cpu, shape.columns));
    size_t rows_bytes = 0;
    return MultiplySizes(static_cast<size_t>(plan.block_rows), row_bytes, &rows_bytes) &&
           ScratchForWorkers(rows_bytes, threads, &block_bytes, &rows_bytes) &&
           MultiplySizes(padded * sizeof(float), static_cast<size_t>(shape.groups), &bias_bytes) &&
           ScratchForWorkers(bias_bytes, 1, &bias_bytes, &total_bytes) &&
           AddSizes(bias_bytes, rows_bytes, &total_bytes);
  }
};

}  // namespace

TfLiteStatus Bf16Layer::Ensure(TfLiteContext* context, const CpuKernels& cpu,
                               const MatrixShape& shape, const TfLiteTensor* weights) {
  if (weights_.Pack(context, cpu, Data<float>(weights), IsConstant(weights),
                    {shape.groups, shape.columns, 1, shape.depth, depth_first_})) {
    return kTfLiteOk;
  }
  return TensorError(context, weights, "out of memory for its packed copy");
}

TfLiteStatus Bf16Layer::Pack(TfLiteContext* context, const CpuKernels& cpu,
                             const MatrixShape& shape, const TfLiteTensor* weights) {
  return IsReadableConstant(weights) ? Ensure(context, cpu, shape, weights) : kTfLiteOk;
}

size_t Bf16Layer::ScratchBytes(const CpuKernels& cpu, const MatrixShape& shape, int threads) {
  Places places;
  return places.Make(cpu, shape, threads) ? places.total_bytes : 0;
}

TfLiteStatus Bf16Layer::Run(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                            const float* input, size_t stride, const TfLiteTensor* weights,
                            const TfLiteTensor* bias, const FloatRange& range, float* out,
                            const StepTail& tail) {
  DEPUTY_TRY(Ensure(context, cpu, shape, weights));
  Places places;
  Scratch scratch;
  if (!places.Make(cpu, shape, ThreadCount(context)) ||
      !scratch.Acquire(context, places.total_bytes)) {
    return TensorError(context, weights, "out of memory for the rows it meets");
  }
  const GemmBf16Kernels& kernels = cpu.gemm_bf16;
  const int padded = Bf16PaddedColumns(cpu, shape.columns);
  PadBf16Bias(bias, shape.groups, shape.columns, padded, scratch.as<float>());
  const auto block_stride = static_cast<size_t>(BlockStride(shape.depth));
  const int64_t out_stride = int64_t{shape.groups} * shape.columns;
  const GemmPlan& plan = places.plan;
  for (int group = 0; group < shape.groups; ++group) {
    const int64_t first_channel = int64_t{group} * shape.columns;
    ParallelFor(context, plan.tasks, [&](int task, int worker) {
      const GemmPlan::Cut cut = plan.TaskCut(task);
      const int64_t rows = cut.last_row - cut.first_row;
      auto* const block = reinterpret_cast<uint16_t*>(
          scratch.data() + places.bias_bytes + static_cast<size_t>(worker) * places.block_bytes);
      const int64_t before = cut.first_row * static_cast<int64_t>(stride);
      kernels.from_float({.rows = rows,
                          .count = static_cast<size_t>(shape.depth),
                          .values = input + before + int64_t{group} * shape.depth,
                          .stride = stride,
                          .out = block,
                          .out_stride = block_stride});
      // A panel stays in the cache while all rows pass it; few of them take many panels at once.
      const int step = rows <= kernels.rows ? kMaxTileColumns : kernels.columns;
      for (int column = cut.first_column; column < cut.last_column; column += step) {
        const int columns = std::min(step, cut.last_column - column);
        kernels.tile({.rows = static_cast<int>(rows),
                      .columns = columns,
                      .parts = 1,
                      .depth = static_cast<int>(WholePairs(shape.depth)),
                      .a = &block,
                      .a_stride = block_stride,
                      .b = weights_.Panel(group, column / kernels.columns),
                      .bias = scratch.as<float>() + int64_t{group} * padded + column,
                      .low = range.low,
                      .high = range.high,
                      .out = out + cut.first_row * out_stride + first_channel + column,
                      .out_stride = static_cast<size_t>(out_stride)});
      }
      tail.FinishTile(cut.first_row, cut.last_row, out_stride, first_channel + cut.first_column,
                      first_channel + cut.last_column);
    });
  }
  return kTfLiteOk;
}

}  // namespace deputy
