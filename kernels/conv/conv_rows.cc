// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D that reads its input in place. For one filter row the patches of adjacent output
// columns are runs of the input, `stride` pixels apart: a matrix product whose depth has one part
// per filter row. Only windows that extend beyond the left or right border are copied into patches;
// rows above and below the input are replaced by a row of zeros.
#include "kernels/conv/conv_rows.h"

namespace deputy {
namespace {

MatrixShape MatrixOf(const ConvShape& shape) {
  return {shape.output_pixels(), 1, shape.output_channels,
          shape.y.filter * shape.x.filter * shape.depth};
}

// Number of border windows multiplied in one call: one tile of rows, or two if the depth is small.
int EdgeRows(const ConvShape& shape, int tile_rows) {
  constexpr int kShortDepth = 512;
  return MatrixOf(shape).depth <= kShortDepth ? 2 * tile_rows : tile_rows;
}

// Partition of the output into tasks: blocks of rows of each batch, and blocks of output channels.
struct RowsPlan {
  int panel_rows;  // number of rows multiplied by each panel of weights at a time
  EvenCut rows, panels;
  int panel_columns, columns, tasks;

  RowsPlan(const ConvShape& shape, const GemmF32Kernels& kernels, int threads)
      : panel_columns(kernels.columns), columns(shape.output_channels) {
    // Wanted number of pixels that are multiplied by each panel of weights while it is in the
    // cache.
    constexpr int kMinPixels = 64;
    // Minimum number of operations per task; smaller tasks cost more in dispatch than parallelism
    // saves.
    constexpr double kMinTaskOperations = 100e3;
    // Number of operations. Fewer pixels than a tile has rows take as long as a whole tile.
    const double pixels =
        static_cast<double>(std::max<int64_t>(shape.output_pixels(), kernels.rows));
    const double operations = pixels * columns * shape.depth * shape.y.filter * shape.x.filter;
    // Four tasks per thread, for load balancing.
    const double wanted =
        threads <= 1 ? 1 : std::min(4.0 * threads, operations / kMinTaskOperations);
    const int height = std::max(shape.y.output, 1), batches = std::max(shape.batches, 1);
    const double row_operations = operations / height / batches;
    const double min_rows =
        std::min(kMinTaskOperations / std::max(row_operations, 1.0), static_cast<double>(height));
    panel_rows = std::clamp(kMinPixels / std::max(shape.x.output, 1),
                            std::max(static_cast<int>(min_rows), 1), height);
    // Latency dominates the time of border windows unless those of many rows are computed together.
    const double more = static_cast<double>(height) / panel_rows * batches / std::max(wanted, 1.0);
    const int block_rows =
        panel_rows * std::clamp(static_cast<int>(std::min(more, 1e6)), 1,
                                std::max(EdgeRows(shape, kernels.rows) / panel_rows, 1));
    // Increases the number of blocks to a multiple of the threads if possible.
    int64_t blocks = (height - 1) / block_rows + 1;
    while (blocks > 1 && blocks < height && blocks * batches % threads != 0) ++blocks;
    rows = EvenCut(shape.y.output, 1, blocks, 1);
    const double row_tasks = static_cast<double>(rows.parts()) * batches;
    const int all_panels = (columns - 1) / panel_columns + 1;
    const double parts = std::clamp(wanted / row_tasks, 1.0, static_cast<double>(all_panels));
    panels = EvenCut(all_panels, 1, static_cast<int64_t>(parts), 1);
    tasks = static_cast<int>(shape.batches * rows.parts() * panels.parts());
  }

  int Column(int64_t panel) const {
    return static_cast<int>(std::min<int64_t>(panel * panel_columns, columns));
  }
};

// Maximum number of windows of a row that are multiplied in one call.
constexpr int kMaxWindows = 96;

// Number of values in the row of zeros: as many values of an input row as the windows of one call
// read.
int64_t ZeroValues(const ConvShape& shape) {
  const int64_t columns = std::clamp(Interior(shape.x).columns(), 1, kMaxWindows);
  const int64_t pixels = (columns - 1) * shape.x.stride + shape.x.filter;
  return pixels * shape.input_channels;
}

size_t BiasBytes(const ConvShape& shape) {
  return AlignedBytes((static_cast<size_t>(shape.output_channels) + kMaxTileColumns) *
                      sizeof(float));
}

// Bytes of a worker's pointers, one per filter row; the worker's patches follow them.
size_t PointerBytes(const ConvShape& shape) {
  return AlignedBytes(static_cast<size_t>(shape.y.filter) * sizeof(float*));
}

// Computes one task: a block of rows and columns of the output matrix.
class RowsTask {
 public:
  RowsTask(const ConvRows& rows, const RowRing<const float>& input, int batch, char* scratch,
           const RowRing<float>& out)
      : rows_(rows),
        shape_(rows.shape),
        input_(input),
        out_(out),
        batch_(batch),
        parts_(reinterpret_cast<const float**>(scratch)),
        patches_(reinterpret_cast<float*>(scratch + PointerBytes(shape_))) {}

  void Run(const ConvRows::Block& block) {
    const Interior& interior = rows_.interior;
    first_column_ = block.first_column;
    last_column_ = block.last_column;
    for (int ox = 0; ox < interior.first; ++ox) Edge(ox, block.first_row, block.last_row);
    for (int row = block.first_row; row < block.last_row; row += block.panel_rows) {
      const int end = std::min(row + block.panel_rows, block.last_row);
      ForEachPanel((end - row) * interior.columns(), [&] {
        for (int oy = row; oy < end; ++oy) InteriorRow(oy);
      });
    }
    for (int ox = interior.last; ox < shape_.x.output; ++ox) {
      Edge(ox, block.first_row, block.last_row);
    }
  }

 private:
  // Calls function() for each range of columns of the task, [column_, column_ + columns_);
  // `windows` is the number of rows of the product.
  template <typename Function>
  void ForEachPanel(int windows, const Function& function) {
    for (column_ = first_column_; column_ < last_column_; column_ += columns_) {
      const int left = last_column_ - column_;
      columns_ = rows_.packed == nullptr ? left : ColumnsPerCall(rows_.cpu.gemm_f32, windows, left);
      function();
    }
  }

  void InteriorRow(int oy) {
    const WindowAxis &y = shape_.y, &x = shape_.x;
    for (int ox = rows_.interior.first; ox < rows_.interior.last; ox += kMaxWindows) {
      for (int ky = 0; ky < y.filter; ++ky) {
        const int64_t iy = y.Start(oy) + int64_t{ky} * y.dilation;
        parts_[ky] = iy < 0 || iy >= y.input
                         ? rows_.zeros
                         : input_.Row(iy) + int64_t{x.Start(ox)} * shape_.input_channels;
      }
      Multiply(std::min(kMaxWindows, rows_.interior.last - ox), y.filter, x.filter * shape_.depth,
               static_cast<size_t>(x.stride) * static_cast<size_t>(shape_.input_channels), oy, ox,
               1);
    }
  }

  // Computes the border column `ox` of output rows [first, last).
  void Edge(int ox, int first, int last) {
    const int depth = MatrixOf(shape_).depth;
    const int max_rows = EdgeRows(shape_, rows_.cpu.gemm_f32.rows);
    for (int oy = first, count; oy < last; oy += count) {
      count = static_cast<int>(std::min<int64_t>(std::min(max_rows, last - oy), out_.RunFrom(oy)));
      for (int i = 0; i < count; ++i) FillPatch(oy + i, ox, patches_ + int64_t{i} * depth);
      parts_[0] = patches_;
      ForEachPanel(count, [&] {
        Multiply(count, 1, depth, static_cast<size_t>(depth), oy, ox, shape_.x.output);
      });
    }
  }

  // Copies the patch of an output pixel, with zeros outside the input.
  void FillPatch(int oy, int ox, float* out) const {
    const WindowAxis &y = shape_.y, &x = shape_.x;
    const int64_t depth = shape_.depth;
    const int first_y = y.FirstTap(oy), last_y = y.LastTap(oy);
    const int first_x = x.FirstTap(ox), last_x = std::max(first_x, x.LastTap(ox));
    // `zero` is not a literal, because the compiler would call memset even for a few values.
    const float zero = *rows_.zeros;
    for (int ky = 0; ky < y.filter; ++ky, out += x.filter * depth) {
      if (ky < first_y || ky >= last_y || first_x == last_x) {
        std::fill_n(out, x.filter * depth, zero);
        continue;
      }
      const float* const row = input_.Row(y.Start(oy) + int64_t{ky} * y.dilation);
      std::fill_n(out, first_x * depth, zero);
      std::copy_n(row + (int64_t{x.Start(ox)} + first_x) * depth, (last_x - first_x) * depth,
                  out + first_x * depth);
      std::fill_n(out + last_x * depth, (x.filter - last_x) * depth, zero);
    }
  }

  // Multiplies the `rows` rows to which parts_ points into the output pixels from (oy, ox) on,
  // `pixel_step` apart.
  void Multiply(int rows, int parts, int depth, size_t stride, int oy, int ox, int pixel_step) {
    const int64_t channels = shape_.output_channels;
    float* const out = out_.Row(oy) + ox * channels + column_;
    const auto out_stride = static_cast<size_t>(pixel_step * channels);
    if (rows_.packed == nullptr) {
      const auto b_stride = static_cast<size_t>(MatrixOf(shape_).depth);
      rows_.cpu.gemm_f32.dots({rows, columns_, parts, depth, parts_, stride,
                               rows_.weights + static_cast<size_t>(column_) * b_stride, b_stride,
                               rows_.bias + column_, rows_.range.low, rows_.range.high, out,
                               out_stride});
      return;
    }
    const float* const panel = rows_.packed->Panel(0, column_ / rows_.cpu.gemm_f32.columns);
    const int64_t position = (int64_t{batch_} * shape_.y.output + oy) * shape_.x.output + ox;
    const auto epilogue = PartOf(rows_.epilogue, position, column_, pixel_step);
    rows_.cpu.gemm_f32.tile({rows, columns_, parts, depth, parts_, stride, panel,
                             rows_.bias + column_, rows_.range.low, rows_.range.high, out,
                             out_stride, epilogue ? &*epilogue : nullptr});
  }

  const ConvRows& rows_;
  const ConvShape& shape_;
  const RowRing<const float>& input_;
  const RowRing<float>& out_;
  int batch_;
  const float** parts_;
  float* patches_;
  int first_column_ = 0, last_column_ = 0;
  int column_ = 0, columns_ = 0;
};

// ---- The implementation -----------------------------------------------------------------------

bool IsRows(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  // These limits keep the products of sizes that are ints within 32 bits.
  const bool small = shape.x.stride <= 64 && MatrixOf(shape).depth <= 1 << 20 &&
                     shape.output_pixels() <= 1 << 28 && shape.output_channels <= 1 << 20;
  // If most windows extend beyond a border, im2col patches make better tiles.
  return data.form == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr && shape.groups == 1 &&
         shape.x.dilation == 1 && !shape.IsPointwise() && small &&
         Interior(shape.x).columns() * 2 > shape.x.output;
}

bool IsFewColumnsRows(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return HasFewColumns(MatrixOf(tensors.shape)) && IsRows(data, tensors, cpu);
}

size_t ScratchBytes(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return ConvRows::SharedBytes(tensors.shape) +
         static_cast<size_t>(workers) * ConvRows::ScratchBytes(tensors.shape, cpu);
}

TfLiteStatus Pack(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                  const CpuKernels& cpu) {
  return data->matrix.PackFloat(context, cpu, MatrixOf(tensors.shape), tensors.filter);
}

TfLiteStatus Run(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                 const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  // The rows of a pointwise convolution are contiguous pixels: a plain matrix product.
  if (shape.IsPointwise()) return kGemmFloatConv.run(context, data, tensors, cpu);
  const PackedWeights<float>* packed = nullptr;
  if (!HasFewColumns(MatrixOf(shape))) {
    packed = PackedForRows(context, data, tensors, cpu);
    if (packed == nullptr) return kTfLiteError;
  }
  const int threads = ThreadCount(context);
  const size_t shared = ConvRows::SharedBytes(shape), each = ConvRows::ScratchBytes(shape, cpu);
  Scratch scratch;
  if (!scratch.Acquire(context, shared + static_cast<size_t>(threads) * each)) {
    return TensorError(context, tensors.filter, "out of memory for its patches");
  }
  const ConvRows rows(tensors, cpu, packed, scratch.data());
  const RowsPlan plan(shape, cpu.gemm_f32, threads);
  const int64_t in_values = int64_t{shape.x.input} * shape.input_channels;
  const int64_t out_values = int64_t{shape.x.output} * shape.output_channels;
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    const auto column_block = task % plan.panels.parts(), block = task / plan.panels.parts();
    const auto batch = block / plan.rows.parts(), row_block = block % plan.rows.parts();
    rows.Run(
        {Data<float>(tensors.input) + batch * shape.y.input * in_values, shape.y.input, in_values},
        static_cast<int>(batch),
        {static_cast<int>(plan.rows.Begin(row_block)), static_cast<int>(plan.rows.End(row_block)),
         plan.Column(plan.panels.Begin(column_block)), plan.Column(plan.panels.End(column_block)),
         plan.panel_rows},
        scratch.data() + shared + static_cast<size_t>(worker) * each,
        {Data<float>(tensors.output) + batch * shape.y.output * out_values, shape.y.output,
         out_values});
  });
  return kTfLiteOk;
}

}  // namespace

ConvRows::ConvRows(const ConvTensors& tensors, const CpuKernels& kernels,
                   const PackedWeights<float>* packed_weights, char* buffer)
    : shape(tensors.shape),
      cpu(kernels),
      packed(packed_weights),
      weights(Data<float>(tensors.filter)),
      range(tensors.float_range),
      interior(shape.x),
      bias(reinterpret_cast<float*>(buffer)),
      zeros(reinterpret_cast<float*>(buffer + BiasBytes(shape))),
      epilogue(tensors.epilogue) {
  float* const padded = reinterpret_cast<float*>(buffer);
  std::fill_n(std::copy_n(Data<float>(tensors.bias), shape.output_channels, padded),
              kMaxTileColumns, 0.0f);
  std::fill_n(reinterpret_cast<float*>(buffer + BiasBytes(shape)), ZeroValues(shape), 0.0f);
}

size_t ConvRows::SharedBytes(const ConvShape& shape) {
  return BiasBytes(shape) + AlignedBytes(static_cast<size_t>(ZeroValues(shape)) * sizeof(float));
}

size_t ConvRows::ScratchBytes(const ConvShape& shape, const CpuKernels& cpu) {
  const auto rows = static_cast<size_t>(EdgeRows(shape, cpu.gemm_f32.rows));
  return PointerBytes(shape) +
         AlignedBytes(rows * static_cast<size_t>(MatrixOf(shape).depth) * sizeof(float));
}

void ConvRows::Run(const RowRing<const float>& input, int batch, const Block& block, char* scratch,
                   const RowRing<float>& out) const {
  RowsTask(*this, input, batch, scratch, out).Run(block);
}

const PackedWeights<float>* PackedForRows(TfLiteContext* context, ConvData* data,
                                          const ConvTensors& tensors, const CpuKernels& cpu) {
  return data->matrix.FloatWeights(context, cpu, MatrixOf(tensors.shape), tensors.filter);
}

constexpr ConvImplementation kFewColumnsRowsConv = {.name = "few_columns_rows",
                                                    .accepts = &IsFewColumnsRows,
                                                    .pack = nullptr,
                                                    .scratch = &ScratchBytes,
                                                    .run = &Run};
constexpr ConvImplementation kRowsConv = {.name = "rows_float",
                                          .accepts = &IsRows,
                                          .pack = &Pack,
                                          .scratch = &ScratchBytes,
                                          .run = &Run,
                                          .fuses = true,
                                          .subsamples = true};

}  // namespace deputy
