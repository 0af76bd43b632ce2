// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D with factors rounded to bfloat16 or float16, used if the client allows it. A task
// first rounds the input rows of its windows, padded with zeros, and then reads the windows from
// this buffer as contiguous runs: a matrix product whose depth has one part per filter row, or one
// per tap if the filter is dilated horizontally. A pointwise convolution is a plain product of
// pixels.
#include "core/support/int_math.h"
#include "kernels/conv/conv.h"

namespace deputy {
namespace {

MatrixShape MatrixOf(const ConvShape& shape) {
  return {shape.output_pixels(), shape.groups, shape.output_channels / shape.groups,
          shape.y.filter * shape.x.filter * shape.depth};
}

Bf16Weights::Layout LayoutOf(const ConvShape& shape) {
  return {shape.groups, shape.output_channels / shape.groups, shape.y.filter * shape.x.filter,
          shape.depth};
}

// Layout of a rounded input row. Pixel 0 is the first pixel of the first window and may lie in the
// padding.
struct RowLayout {
  int64_t pixel_values;  // channels of a group, padded to an even number
  // Number of pixels from the first pixel of the first window to the last pixel of the last window.
  int64_t pixels;
  // Pixels [first, last) lie inside the input; the others are padding.
  int64_t first, last;

  explicit RowLayout(const ConvShape& shape) : pixel_values(RoundUpToEven(shape.depth)) {
    const WindowAxis& x = shape.x;
    pixels = int64_t{std::max(x.output, 1) - 1} * x.stride + int64_t{x.filter - 1} * x.dilation + 1;
    first = std::min<int64_t>(x.before, pixels);
    last = std::clamp<int64_t>(int64_t{x.input} + x.before, first, pixels);
  }
  int64_t values() const { return pixels * pixel_values; }
};

// ---- Partition --------------------------------------------------------------------------------

// Partition of the output into tasks: blocks of rows, and blocks of each group's channels.
struct Bf16Plan {
  int block_rows = 1, row_blocks = 1;  // rows per task; number of such blocks per batch
  int block_columns = 0, column_blocks = 1;
  int tasks = 0;

  Bf16Plan(const ConvShape& shape, int panel_columns, int threads) {
    // Wanted number of pixels that are multiplied by each panel of weights while it is in the
    // cache.
    constexpr int kWantedPixels = 96;
    // Minimum number of operations per task; smaller tasks cost more in dispatch than parallelism
    // saves.
    constexpr double kMinTaskOperations = 400e3;
    const MatrixShape matrix = MatrixOf(shape);
    const auto panels = static_cast<int>(CeilDiv(matrix.columns, panel_columns));
    const int rows = std::max(shape.y.output, 1), batches = std::max(shape.batches, 1);
    const double operations =
        static_cast<double>(matrix.rows) * shape.output_channels * matrix.depth;
    // Four tasks per thread, for load balancing.
    const double wanted =
        threads <= 1 ? 1 : std::clamp(operations / kMinTaskOperations, 1.0, 4.0 * threads);
    const double row_operations = std::max(operations / rows / batches, 1.0);
    const double min_rows =
        std::min(kMinTaskOperations / row_operations, static_cast<double>(rows));
    block_rows = std::clamp(kWantedPixels / std::max(shape.x.output, 1),
                            std::max(static_cast<int>(min_rows), 1), rows);
    row_blocks = static_cast<int>(CeilDiv(rows, block_rows));
    const double row_tasks = static_cast<double>(row_blocks) * batches;
    const int parts =
        static_cast<int>(std::clamp(wanted / row_tasks, 1.0, static_cast<double>(panels)));
    block_columns = static_cast<int>(CeilDiv(panels, parts)) * panel_columns;
    column_blocks = static_cast<int>(CeilDiv(matrix.columns, block_columns));
    tasks = shape.batches * row_blocks * column_blocks;
  }

  // Maximum number of input rows that the windows of a task cover, without the padding.
  int64_t InputRows(const ConvShape& shape) const {
    const WindowAxis& y = shape.y;
    const int64_t span =
        int64_t{block_rows - 1} * y.stride + int64_t{y.filter - 1} * y.dilation + 1;
    return std::min<int64_t>(span, y.input);
  }
};

// Offsets in the scratch memory, in bytes: the bias padded to whole panels, a row of zeros, then
// for each worker one pointer per part and the rounded rows of a task.
struct ScratchLayout {
  size_t zeros = 0, workers = 0, rows = 0, worker_bytes = 0, total = 0;

  // Computes the offsets; returns false if a size overflows.
  bool Make(const ConvShape& shape, const CpuKernels& cpu, const Bf16Plan& plan, int threads) {
    const auto padded =
        static_cast<size_t>(Bf16PaddedColumns(cpu, shape.output_channels / shape.groups));
    size_t rows_bytes = 0, workers_bytes = 0;
    const size_t row_bytes = static_cast<size_t>(RowLayout(shape).values()) * sizeof(uint16_t);
    zeros = AlignedBytes(padded * static_cast<size_t>(shape.groups) * sizeof(float));
    workers = zeros + AlignedBytes(row_bytes);
    rows = AlignedBytes(static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter) *
                        sizeof(uint16_t*));
    return MultiplySizes(row_bytes, static_cast<size_t>(plan.InputRows(shape)), &rows_bytes) &&
           AddSizes(rows, rows_bytes, &worker_bytes) &&
           ScratchForWorkers(worker_bytes, threads, &worker_bytes, &workers_bytes) &&
           AddSizes(workers, workers_bytes, &total);
  }
};

// ---- One task ---------------------------------------------------------------------------------

// Data shared by all tasks.
struct Job {
  const ConvShape& shape;
  const GemmBf16Kernels& kernels;
  const Bf16Weights& weights;
  RowLayout layout;
  int padded_columns;
  const float* bias;  // shape [groups][padded_columns]
  FloatRange range;
  const float* input;
  const uint16_t* zeros;
  float* out;
  const EpilogueF32* epilogue;  // null if there is none
};

class Task {
 public:
  Task(const Job& job, int batch, char* scratch, size_t rows)
      : job_(job),
        shape_(job.shape),
        batch_(batch),
        parts_(reinterpret_cast<const uint16_t**>(scratch)),
        rows_(reinterpret_cast<uint16_t*>(scratch + rows)) {}

  // Computes rows [first_row, last_row) and, in each group, columns [first_column, last_column).
  void Run(int first_row, int last_row, int first_column, int last_column) {
    const int step = shape_.x.output <= job_.kernels.rows ? kMaxTileColumns : job_.kernels.columns;
    for (int group = 0; group < shape_.groups; ++group) {
      RoundRows(group, first_row, last_row);
      for (int column = first_column; column < last_column; column += step) {
        for (int oy = first_row; oy < last_row; ++oy) {
          Multiply(group, oy, column, std::min(step, last_column - column));
        }
      }
    }
  }

 private:
  // Returns true if a window of output rows [first, last) has a tap in input row iy.
  bool IsRead(int64_t iy, int first, int last) const {
    const WindowAxis& y = shape_.y;
    for (int ky = 0; ky < y.filter; ++ky) {
      const int64_t from_first = iy - int64_t{ky} * y.dilation - y.Start(first);
      if (from_first >= 0 && from_first % y.stride == 0 && from_first / y.stride < last - first) {
        return true;
      }
    }
    return false;
  }

  void RoundRows(int group, int first, int last) {
    const WindowAxis& y = shape_.y;
    first_input_row_ = std::max<int64_t>(y.Start(first), 0);
    const int64_t end =
        std::min<int64_t>(y.Start(last - 1) + int64_t{y.filter - 1} * y.dilation + 1, y.input);
    for (int64_t iy = first_input_row_; iy < end; ++iy) {
      if (IsRead(iy, first, last)) RoundRow(group, iy);
    }
  }

  uint16_t* RoundedRow(int64_t iy) const {
    return rows_ + (iy - first_input_row_) * job_.layout.values();
  }

  void RoundRow(int group, int64_t iy) {
    const RowLayout& layout = job_.layout;
    uint16_t* const out = RoundedRow(iy);
    const int64_t pixels = layout.last - layout.first, depth = shape_.depth;
    std::fill_n(out, layout.first * layout.pixel_values, uint16_t{0});
    std::fill_n(out + layout.last * layout.pixel_values,
                (layout.pixels - layout.last) * layout.pixel_values, uint16_t{0});
    // Pixels that are contiguous in source and destination are converted as one run.
    const bool one_run = shape_.groups == 1 && depth == layout.pixel_values;
    job_.kernels.from_float({.rows = one_run ? 1 : pixels,
                             .count = static_cast<size_t>(one_run ? pixels * depth : depth),
                             .values = shape_.Pixel(job_.input, batch_, iy, 0) + group * depth,
                             .stride = static_cast<size_t>(shape_.input_channels),
                             .out = out + layout.first * layout.pixel_values,
                             .out_stride = static_cast<size_t>(layout.pixel_values)});
  }

  void Multiply(int group, int oy, int column, int columns) {
    const WindowAxis &y = shape_.y, &x = shape_.x;
    const bool has_runs = x.dilation == 1;
    const int parts = has_runs ? 1 : x.filter;  // number of parts of the depth for each filter row
    for (int ky = 0, part = 0; ky < y.filter; ++ky) {
      const int64_t iy = y.Start(oy) + int64_t{ky} * y.dilation;
      const uint16_t* const row = iy < 0 || iy >= y.input ? job_.zeros : RoundedRow(iy);
      for (int kx = 0; kx < parts; ++kx) {
        parts_[part++] = row + int64_t{kx} * x.dilation * job_.layout.pixel_values;
      }
    }
    const int64_t position = (int64_t{batch_} * y.output + oy) * x.output;
    const int64_t channel = int64_t{group} * (shape_.output_channels / shape_.groups) + column;
    const int64_t depth = (has_runs ? x.filter : 1) * job_.layout.pixel_values;
    const auto epilogue = PartOf(job_.epilogue, position, static_cast<int>(channel));
    job_.kernels.tile({.rows = x.output,
                       .columns = columns,
                       .parts = y.filter * parts,
                       .depth = static_cast<int>(depth),
                       .a = parts_,
                       .a_stride = static_cast<size_t>(x.stride * job_.layout.pixel_values),
                       .b = job_.weights.Panel(group, column / job_.kernels.columns),
                       .bias = job_.bias + int64_t{group} * job_.padded_columns + column,
                       .low = job_.range.low,
                       .high = job_.range.high,
                       .out = job_.out + position * shape_.output_channels + channel,
                       .out_stride = static_cast<size_t>(shape_.output_channels),
                       .epilogue = epilogue ? &*epilogue : nullptr});
  }

  const Job& job_;
  const ConvShape& shape_;
  int batch_;
  const uint16_t** parts_;
  uint16_t* rows_;
  int64_t first_input_row_ = 0;
};

// ---- The implementations ----------------------------------------------------------------------

bool IsBf16(const ConvData& data, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && data.allows_bf16 &&
         SuitsBf16(MatrixOf(data.shape), cpu);
}

bool IsPointwiseBf16(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return IsBf16(data, cpu) && tensors.shape.IsPointwise();
}

bool IsRowsBf16(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  // These limits keep the products of sizes that are ints within 32 bits.
  const bool small = shape.x.stride <= 64 && MatrixOf(shape).depth <= 1 << 20 &&
                     shape.output_pixels() <= 1 << 28 && shape.output_channels <= 1 << 20 &&
                     RowLayout(shape).values() <= 1 << 28;
  return IsBf16(data, cpu) && !shape.IsPointwise() && small;
}

size_t PointwiseScratch(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                        int workers) {
  return Bf16Layer::ScratchBytes(cpu, MatrixOf(tensors.shape), workers);
}

TfLiteStatus PackPointwise(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                           const CpuKernels& cpu) {
  return data->bf16.Pack(context, cpu, MatrixOf(tensors.shape), tensors.filter);
}

TfLiteStatus RunPointwise(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                          const CpuKernels& cpu) {
  return data->bf16.Run(context, cpu, MatrixOf(tensors.shape), Data<float>(tensors.input),
                        static_cast<size_t>(tensors.shape.input_channels), tensors.filter,
                        tensors.bias, tensors.float_range, Data<float>(tensors.output),
                        tensors.epilogue);
}

size_t RowsScratchBytes(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                        int workers) {
  ScratchLayout offsets;
  const Bf16Plan plan(tensors.shape, cpu.gemm_bf16.columns, workers);
  return offsets.Make(tensors.shape, cpu, plan, workers) ? offsets.total : 0;
}

TfLiteStatus EnsureWeights(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                           const CpuKernels& cpu) {
  if (data->bf16_filter.Pack(context, cpu, Data<float>(tensors.filter), IsConstant(tensors.filter),
                             LayoutOf(tensors.shape))) {
    return kTfLiteOk;
  }
  return TensorError(context, tensors.filter, "out of memory for its packed copy");
}

TfLiteStatus PackRows(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  return IsReadableConstant(tensors.filter) ? EnsureWeights(context, data, tensors, cpu)
                                            : kTfLiteOk;
}

TfLiteStatus RunRows(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  DEPUTY_TRY(EnsureWeights(context, data, tensors, cpu));
  const int threads = ThreadCount(context);
  const Bf16Plan plan(shape, cpu.gemm_bf16.columns, threads);
  ScratchLayout offsets;
  Scratch scratch;
  if (!offsets.Make(shape, cpu, plan, threads) || !scratch.Acquire(context, offsets.total)) {
    return TensorError(context, tensors.filter, "out of memory for its input rows");
  }
  const int columns = shape.output_channels / shape.groups;
  const Job job = {shape,
                   cpu.gemm_bf16,
                   data->bf16_filter,
                   RowLayout(shape),
                   Bf16PaddedColumns(cpu, columns),
                   scratch.as<float>(),
                   tensors.float_range,
                   Data<float>(tensors.input),
                   reinterpret_cast<uint16_t*>(scratch.data() + offsets.zeros),
                   Data<float>(tensors.output),
                   tensors.epilogue};
  PadBf16Bias(tensors.bias, shape.groups, columns, job.padded_columns, scratch.as<float>());
  std::fill_n(scratch.data() + offsets.zeros, offsets.workers - offsets.zeros, char{0});
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    const int column_block = task % plan.column_blocks, block = task / plan.column_blocks;
    const int first_row = block % plan.row_blocks * plan.block_rows;
    const int last_row = std::min(first_row + plan.block_rows, shape.y.output);
    const int first_column = column_block * plan.block_columns;
    const int last_column = std::min(first_column + plan.block_columns, columns);
    const int batch = block / plan.row_blocks;
    char* const own =
        scratch.data() + offsets.workers + static_cast<size_t>(worker) * offsets.worker_bytes;
    Task(job, batch, own, offsets.rows).Run(first_row, last_row, first_column, last_column);
  });
  return kTfLiteOk;
}

}  // namespace

constexpr ConvImplementation kPointwiseBf16Conv = {.name = "pointwise_bf16",
                                                   .accepts = &IsPointwiseBf16,
                                                   .pack = &PackPointwise,
                                                   .scratch = &PointwiseScratch,
                                                   .run = &RunPointwise,
                                                   .fuses = true,
                                                   .float16_name = "pointwise_fp16"};
constexpr ConvImplementation kRowsBf16Conv = {.name = "rows_bf16",
                                              .accepts = &IsRowsBf16,
                                              .pack = &PackRows,
                                              .scratch = &RowsScratchBytes,
                                              .run = &RunRows,
                                              .fuses = true,
                                              .float16_name = "rows_fp16"};

}  // namespace deputy
