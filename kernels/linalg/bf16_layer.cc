// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/bf16_layer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deputy {

// ---- Weights ----------------------------------------------------------------------------------

namespace {

// Packs column `from` of [taps][depth] weights, in runs that are `columns` runs apart in the panel.
void PackColumn(const CpuKernels& cpu, const float* from, const Bf16Weights::Layout& layout,
                int columns, uint16_t* out) {
  // Number of values converted at a time; even, since an odd depth is padded with a zero.
  constexpr int kChunk = 512;
  uint16_t rounded[kChunk];
  const int run = cpu.gemm_bf16.run;
  const size_t step = static_cast<size_t>(run) * static_cast<size_t>(columns);
  for (int tap = 0; tap < layout.taps; ++tap, from += layout.depth) {
    for (int first = 0; first < layout.depth; first += kChunk) {
      const int count = std::min(kChunk, layout.depth - first);
      cpu.gemm_bf16.from_float({.rows = 1,
                                .count = static_cast<size_t>(count),
                                .values = from + first,
                                .stride = 0,
                                .out = rounded,
                                .out_stride = 0});
      if (run == 1) {
        for (int d = 0; d < RoundUpToEven(count); ++d, out += step) *out = rounded[d];
      } else {
        for (int d = 0; d < count; d += 2, out += step) std::memcpy(out, rounded + d, 4);
      }
    }
  }
}

// Packs all columns of [depth][columns] weights, two adjacent rows at a time.
void PackDepthFirst(const CpuKernels& cpu, const float* from, const Bf16Weights::Layout& layout,
                    uint16_t* out) {
  const int panel = cpu.gemm_bf16.columns;
  const size_t panel_values = static_cast<size_t>(RoundUpToEven(layout.depth) * panel);
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
      uint16_t* const pair =
          out + static_cast<size_t>(first / panel) * panel_values + int64_t{d} * panel;
      const int run = cpu.gemm_bf16.run, second = run == 1 ? panel : 1;
      for (int c = 0; c < count; ++c) {
        pair[c * run] = rounded[0][c];
        pair[c * run + second] = rounded[1][c];
      }
    }
  }
}

}  // namespace

bool Bf16Weights::Pack(const TfLiteContext* context, const CpuKernels& cpu, const float* weights,
                       bool fixed, const Layout& layout) {
  const int columns = cpu.gemm_bf16.columns;
  const int64_t depth = layout.taps * RoundUpToEven(layout.depth);
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
    // Sets padding to 0: it is multiplied too, although its results are not stored.
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
                   columns, out + c / columns * panel_values_ + cpu.gemm_bf16.run * (c % columns));
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

// Distance between rows of a block, in values. If rows that are multiplied together would map to
// the same cache sets, they are an odd number of cache lines apart.
int64_t BlockStride(int depth) {
  constexpr int64_t kLine = 32, kSameCacheSets = 1024;
  const int64_t values = RoundUpToEven(depth);
  return values % kSameCacheSets == 0 ? values + kLine : values;
}

// Layout of the scratch memory: the bias of all groups, padded, then two blocks of rows for each
// worker: the one that is multiplied, and the next one.
struct ScratchLayout {
  GemmPlan plan;
  size_t bias_bytes = 0, block_bytes = 0, total_bytes = 0;

  // Computes the layout; returns false if a size overflows.
  bool Make(const CpuKernels& cpu, const MatrixShape& shape, int threads) {
    const auto row_bytes = static_cast<size_t>(BlockStride(shape.depth)) * sizeof(uint16_t);
    plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_bf16.rows,
                    cpu.gemm_bf16.columns, row_bytes, threads);
    const auto padded = static_cast<size_t>(Bf16PaddedColumns(cpu, shape.columns));
    size_t rows_bytes = 0;
    return MultiplySizes(static_cast<size_t>(plan.block_rows()), row_bytes, &rows_bytes) &&
           ScratchForWorkers(rows_bytes, 1, &block_bytes, &rows_bytes) &&
           MultiplySizes(rows_bytes, 2 * static_cast<size_t>(threads), &rows_bytes) &&
           MultiplySizes(padded * sizeof(float), static_cast<size_t>(shape.groups), &bias_bytes) &&
           ScratchForWorkers(bias_bytes, 1, &bias_bytes, &total_bytes) &&
           AddSizes(bias_bytes, rows_bytes, &total_bytes);
  }
};

// Data shared by all tasks of one group.
struct GroupProduct {
  const GemmBf16Kernels& kernels;
  const MatrixShape& shape;
  const GemmPlan& plan;
  const float* input;  // first input row of the group
  size_t stride;
  const Bf16Weights& weights;
  int group;
  const float* bias;
  FloatRange range;
  float* out;                   // first output column of the group, in row 0
  const EpilogueF32* epilogue;  // epilogue from the group's first column on; null if there is none

  size_t block_stride() const { return static_cast<size_t>(BlockStride(shape.depth)); }
  size_t out_stride() const {
    return static_cast<size_t>(shape.groups) * static_cast<size_t>(shape.columns);
  }
  const float* RowsAt(int64_t row) const { return input + row * static_cast<int64_t>(stride); }

  void Round(const GemmPlan::Cut& cut, uint16_t* block) const {
    kernels.from_float({.rows = cut.last_row - cut.first_row,
                        .count = static_cast<size_t>(shape.depth),
                        .values = RowsAt(cut.first_row),
                        .stride = stride,
                        .out = block,
                        .out_stride = block_stride()});
  }

  // Returns true if the rows of a block are contiguous in source and destination.
  bool IsOneRun() const {
    return stride == block_stride() && stride == static_cast<size_t>(shape.depth);
  }

  // Multiplies a rounded block by the columns of the task.
  void Multiply(const GemmPlan::Cut& cut, const uint16_t* block,
                PendingBf16Conversion* conversion) const {
    const int64_t rows = cut.last_row - cut.first_row;
    // Number of columns per call: with many rows one panel is kept in the cache; with few, several
    // are processed at once.
    const int step = rows <= kernels.rows ? kMaxTileColumns : kernels.columns;
    for (int column = cut.first_column; column < cut.last_column; column += step) {
      const auto part = PartOf(epilogue, cut.first_row, column);
      kernels.tile({.rows = static_cast<int>(rows),
                    .columns = std::min(step, cut.last_column - column),
                    .parts = 1,
                    .depth = static_cast<int>(RoundUpToEven(shape.depth)),
                    .a = &block,
                    .a_stride = block_stride(),
                    .b = weights.Panel(group, column / kernels.columns),
                    .bias = bias + column,
                    .low = range.low,
                    .high = range.high,
                    .out = out + cut.first_row * static_cast<int64_t>(out_stride()) + column,
                    .out_stride = out_stride(),
                    .conversion = conversion,
                    .epilogue = part ? &*part : nullptr});
    }
  }

  // Runs tasks [first, last). If possible, each block is rounded while the previous one is
  // multiplied.
  void Run(int first, int last, uint16_t* block, uint16_t* next) const {
    bool is_rounded = false;
    for (int task = first; task < last; ++task) {
      const GemmPlan::Cut cut = plan.TaskCut(task);
      if (!is_rounded) Round(cut, block);
      is_rounded = task + 1 < last && plan.column_tasks == 1 && IsOneRun();
      if (is_rounded) {
        MultiplyAndRound(cut, plan.TaskCut(task + 1), block, next);
        std::swap(block, next);
      } else {
        Multiply(cut, block, nullptr);
      }
    }
  }

  void MultiplyAndRound(const GemmPlan::Cut& cut, const GemmPlan::Cut& next_cut,
                        const uint16_t* block, uint16_t* next) const {
    const size_t values = static_cast<size_t>(next_cut.last_row - next_cut.first_row) * stride;
    uint16_t* const begin = next;
    PendingBf16Conversion conversion = {RowsAt(next_cut.first_row), begin,
                                        values / kConvertedAtOnce};
    Multiply(cut, block, &conversion);
    const size_t left = conversion.runs * kConvertedAtOnce + values % kConvertedAtOnce;
    kernels.from_float({.rows = 1,
                        .count = left,
                        .values = conversion.values,
                        .stride = left,
                        .out = conversion.out,
                        .out_stride = left});
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
  ScratchLayout layout;
  return layout.Make(cpu, shape, threads) ? layout.total_bytes : 0;
}

TfLiteStatus Bf16Layer::Run(TfLiteContext* context, const CpuKernels& cpu, const MatrixShape& shape,
                            const float* input, size_t stride, const TfLiteTensor* weights,
                            const TfLiteTensor* bias, const FloatRange& range, float* out,
                            const EpilogueF32* epilogue) {
  DEPUTY_TRY(Ensure(context, cpu, shape, weights));
  ScratchLayout layout;
  Scratch scratch;
  if (!layout.Make(cpu, shape, ThreadCount(context)) ||
      !scratch.Acquire(context, layout.total_bytes)) {
    return TensorError(context, weights, "out of memory for its input rows");
  }
  const int padded = Bf16PaddedColumns(cpu, shape.columns);
  PadBf16Bias(bias, shape.groups, shape.columns, padded, scratch.as<float>());
  const GemmPlan& plan = layout.plan;
  // Eight runs of tasks per thread, for load balancing.
  const int threads = ThreadCount(context);
  const int in_row = threads <= 1 ? plan.tasks : std::max(1, plan.tasks / (8 * threads));
  for (int group = 0; group < shape.groups; ++group) {
    float* const first_column = out + int64_t{group} * shape.columns;
    const auto part = PartOf(epilogue, 0, group * shape.columns);
    const GroupProduct product = {.kernels = cpu.gemm_bf16,
                                  .shape = shape,
                                  .plan = plan,
                                  .input = input + int64_t{group} * shape.depth,
                                  .stride = stride,
                                  .weights = weights_,
                                  .group = group,
                                  .bias = scratch.as<float>() + int64_t{group} * padded,
                                  .range = range,
                                  .out = first_column,
                                  .epilogue = part ? &*part : nullptr};
    ParallelFor(context, (plan.tasks - 1) / in_row + 1, [&](int run, int worker) {
      char* const own =
          scratch.data() + layout.bias_bytes + 2 * static_cast<size_t>(worker) * layout.block_bytes;
      const int64_t first = int64_t{run} * in_row;
      const int64_t last = std::min<int64_t>(first + in_row, plan.tasks);
      product.Run(static_cast<int>(first), static_cast<int>(last), reinterpret_cast<uint16_t*>(own),
                  reinterpret_cast<uint16_t*>(own + layout.block_bytes));
    });
  }
  return kTfLiteOk;
}

}  // namespace deputy
