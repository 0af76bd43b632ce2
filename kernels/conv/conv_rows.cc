// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D that reads its input where it lies. Under one row of the filter the patches of
// neighbouring output columns are runs of the input, `stride` pixels apart: a matrix product whose
// depth comes in a part per row of the filter. Only windows that reach beyond the left or the right
// side are copied into patches; what lies above and below the input is a row of zeros.
#include "kernels/conv/conv.h"
#include "kernels/conv/patches.h"

namespace deputy {
namespace {

MatrixShape MatrixOf(const ConvShape& shape) {
  return {shape.output_pixels(), 1, shape.output_channels,
          shape.y.filter * shape.x.filter * shape.depth};
}

// Windows at a side that are multiplied in a call: a tile's, two tiles' of short ones.
int EdgeRows(const ConvShape& shape, int tile_rows) {
  constexpr int kShortDepth = 512;
  return MatrixOf(shape).depth <= kShortDepth ? 2 * tile_rows : tile_rows;
}

// How the output is cut into tasks: blocks of rows of each batch, and of output channels.
struct RowsPlan {
  int panel_rows;  // that each panel of weights meets at a time
  EvenCut rows, panels;
  int panel_columns, columns, tasks;

  RowsPlan(const ConvShape& shape, const GemmF32Kernels& kernels, int threads)
      : panel_columns(kernels.columns), columns(shape.output_channels) {
    // Pixels that a panel of weights meets once it is in the cache.
    constexpr int kFewestPixels = 64;
    // Below this a hand-over to other threads costs more than it saves.
    constexpr double kMinTaskOperations = 100e3;
    const double operations = static_cast<double>(shape.output_pixels()) * columns * shape.depth *
                              shape.y.filter * shape.x.filter;
    // Four tasks a thread even out threads that are late.
    const double wanted =
        threads <= 1 ? 1 : std::min(4.0 * threads, operations / kMinTaskOperations);
    const int height = std::max(shape.y.output, 1), batches = std::max(shape.batches, 1);
    const double row_operations = operations / height / batches;
    const double fewest =
        std::min(kMinTaskOperations / std::max(row_operations, 1.0), static_cast<double>(height));
    panel_rows = std::clamp(kFewestPixels / std::max(shape.x.output, 1),
                            std::max(static_cast<int>(fewest), 1), height);
    // Windows at the sides wait for their sums unless many rows have them computed together.
    const double more = static_cast<double>(height) / panel_rows * batches / std::max(wanted, 1.0);
    const int block_rows =
        panel_rows * std::clamp(static_cast<int>(std::min(more, 1e6)), 1,
                                std::max(EdgeRows(shape, kernels.rows) / panel_rows, 1));
    // As many for each thread.
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

// Windows of a row that are multiplied in one call.
constexpr int kMostWindows = 96;

// Where things lie in the scratch, in bytes: the bias padded to whole panels, a row of zeros, then
// for each worker a pointer per part and the patches of a call.
struct RowsScratch {
  size_t zeros, workers, patches, worker_bytes, total;

  RowsScratch(const ConvShape& shape, int tile_rows, int threads) {
    const auto depth = static_cast<size_t>(MatrixOf(shape).depth);
    const auto rows = static_cast<size_t>(EdgeRows(shape, tile_rows));
    zeros = AlignedBytes((static_cast<size_t>(shape.output_channels) + kMaxTileColumns) *
                         sizeof(float));
    workers = zeros + AlignedBytes(ZeroValues(shape) * sizeof(float));
    patches = AlignedBytes(static_cast<size_t>(shape.y.filter) * sizeof(float*));
    worker_bytes = patches + AlignedBytes(rows * depth * sizeof(float));
    total = workers + static_cast<size_t>(threads) * worker_bytes;
  }
  // What the windows of a call read of a row of the input.
  static size_t ZeroValues(const ConvShape& shape) {
    const int64_t columns = std::clamp(Interior(shape.x).columns(), 1, kMostWindows);
    const int64_t pixels = (columns - 1) * shape.x.stride + shape.x.filter;
    return static_cast<size_t>(pixels * shape.input_channels);
  }
};

// What all tasks share.
struct RowsJob {
  const ConvShape& shape;
  const CpuKernels& cpu;
  Interior interior;
  const PackedWeights<float>* packed;  // null: few columns, whose weights are read as they are
  const float* weights;
  const float* bias;  // padded if the weights are packed
  FloatRange range;
  const float* input;
  const float* zeros;
  float* out;
  const EpilogueF32* epilogue;
};

// A task at work.
class RowsTask {
 public:
  RowsTask(const RowsJob& job, int batch, char* scratch, size_t patches)
      : job_(job),
        shape_(job.shape),
        batch_(batch),
        parts_(reinterpret_cast<const float**>(scratch)),
        patches_(reinterpret_cast<float*>(scratch + patches)) {}

  void Run(int first_row, int last_row, int first_column, int last_column, int panel_rows) {
    first_column_ = first_column;
    last_column_ = last_column;
    for (int ox = 0; ox < job_.interior.first; ++ox) Edge(ox, first_row, last_row);
    for (int row = first_row; row < last_row; row += panel_rows) {
      const int end = std::min(row + panel_rows, last_row);
      ForEachPanel((end - row) * job_.interior.columns(), [&] {
        for (int oy = row; oy < end; ++oy) InteriorRow(oy);
      });
    }
    for (int ox = job_.interior.last; ox < shape_.x.output; ++ox) Edge(ox, first_row, last_row);
  }

 private:
  int64_t Position(int oy, int ox) const {
    return (int64_t{batch_} * shape_.y.output + oy) * shape_.x.output + ox;
  }

  // function() for columns_ from column_ on, which `windows` pass, until all of the task have been
  // these.
  template <typename Function>
  void ForEachPanel(int windows, const Function& function) {
    for (column_ = first_column_; column_ < last_column_; column_ += columns_) {
      const int left = last_column_ - column_;
      columns_ = job_.packed == nullptr ? left : ColumnsOfCall(job_.cpu.gemm_f32, windows, left);
      function();
    }
  }

  void InteriorRow(int oy) {
    const WindowAxis &y = shape_.y, &x = shape_.x;
    for (int ox = job_.interior.first; ox < job_.interior.last; ox += kMostWindows) {
      for (int ky = 0; ky < y.filter; ++ky) {
        const int64_t iy = y.Start(oy) + int64_t{ky} * y.dilation;
        parts_[ky] = iy < 0 || iy >= y.input ? job_.zeros
                                             : shape_.Pixel(job_.input, batch_, iy, x.Start(ox));
      }
      Multiply(std::min(kMostWindows, job_.interior.last - ox), y.filter, x.filter * shape_.depth,
               static_cast<size_t>(x.stride) * static_cast<size_t>(shape_.input_channels),
               Position(oy, ox), 1);
    }
  }

  // Rows [first, last) of column ox.
  void Edge(int ox, int first, int last) {
    const int32_t zero = 0;
    const PatchSource source = {&shape_, job_.input, &zero, 0, &job_.cpu};
    const int depth = MatrixOf(shape_).depth;
    const int rows = EdgeRows(shape_, job_.cpu.gemm_f32.rows);
    for (int oy = first; oy < last; oy += rows) {
      const int count = std::min(rows, last - oy);
      for (int i = 0; i < count; ++i) {
        FillPatch<float>(&source, Position(oy + i, ox), 0, patches_ + int64_t{i} * depth);
      }
      parts_[0] = patches_;
      ForEachPanel(count, [&] {
        Multiply(count, 1, depth, static_cast<size_t>(depth), Position(oy, ox), shape_.x.output);
      });
    }
  }

  // `rows` rows at parts_, into output pixels from `position` on, `pixel_step` apart.
  void Multiply(int rows, int parts, int depth, size_t stride, int64_t position, int pixel_step) {
    const int64_t channels = shape_.output_channels;
    float* const out = job_.out + position * channels + column_;
    const auto out_stride = static_cast<size_t>(pixel_step * channels);
    if (job_.packed == nullptr) {
      const auto b_stride = static_cast<size_t>(MatrixOf(shape_).depth);
      job_.cpu.gemm_f32.dots({rows, columns_, parts, depth, parts_, stride,
                              job_.weights + static_cast<size_t>(column_) * b_stride, b_stride,
                              job_.bias + column_, job_.range.low, job_.range.high, out,
                              out_stride});
      return;
    }
    const float* const panel = job_.packed->Panel(0, column_ / job_.cpu.gemm_f32.columns);
    const auto epilogue = PartOf(job_.epilogue, position, column_, pixel_step);
    job_.cpu.gemm_f32.tile({rows, columns_, parts, depth, parts_, stride, panel,
                            job_.bias + column_, job_.range.low, job_.range.high, out, out_stride,
                            epilogue ? &*epilogue : nullptr});
  }

  const RowsJob& job_;
  const ConvShape& shape_;
  int batch_;
  const float** parts_;
  float* patches_;
  int first_column_ = 0, last_column_ = 0;
  int column_ = 0, columns_ = 0;
};

// ---- The implementation -----------------------------------------------------------------------

bool IsRows(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  const ConvShape& shape = data.shape;
  // Bounds that keep all products of sizes within 32 bits.
  const bool small = shape.x.stride <= 64 && MatrixOf(shape).depth <= 1 << 20 &&
                     shape.output_pixels() <= 1 << 28 && shape.output_channels <= 1 << 20;
  // Where most windows reach beyond a side, patches make better tiles.
  return data.form == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr && shape.groups == 1 &&
         shape.x.dilation == 1 && !shape.IsPointwise() && small &&
         Interior(shape.x).columns() * 2 > shape.x.output;
}

bool IsFewColumnsRows(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return HasFewColumns(MatrixOf(data.shape)) && IsRows(data, tensors, cpu);
}

size_t ScratchBytes(const ConvData& data, const ConvTensors&, const CpuKernels& cpu, int workers) {
  return RowsScratch(data.shape, cpu.gemm_f32.rows, workers).total;
}

TfLiteStatus Pack(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                  const CpuKernels& cpu) {
  return data->matrix.PackFloat(context, cpu, MatrixOf(data->shape), tensors.filter);
}

TfLiteStatus Run(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                 const CpuKernels& cpu) {
  const ConvShape& shape = data->shape;
  // Pixels that lie side by side need no rows.
  if (shape.IsPointwise()) return kGemmFloatConv.run(context, data, tensors, cpu);
  const MatrixShape matrix = MatrixOf(shape);
  const PackedWeights<float>* packed = nullptr;
  if (!HasFewColumns(matrix)) {
    packed = data->matrix.FloatWeights(context, cpu, matrix, tensors.filter);
    if (packed == nullptr) return kTfLiteError;
  }
  const int tile_rows = cpu.gemm_f32.rows, threads = ThreadCount(context);
  const RowsScratch places(shape, tile_rows, threads);
  Scratch scratch;
  if (!scratch.Acquire(context, places.total)) {
    return TensorError(context, tensors.filter, "out of memory for its patches");
  }
  float* const bias = scratch.as<float>();
  std::fill_n(std::copy_n(Data<float>(tensors.bias), shape.output_channels, bias), kMaxTileColumns,
              0.0f);
  float* const zeros = reinterpret_cast<float*>(scratch.data() + places.zeros);
  std::fill_n(zeros, RowsScratch::ZeroValues(shape), 0.0f);
  const RowsJob job = {shape,
                       cpu,
                       Interior(shape.x),
                       packed,
                       Data<float>(tensors.filter),
                       bias,
                       data->float_range,
                       Data<float>(tensors.input),
                       zeros,
                       Data<float>(tensors.output),
                       tensors.epilogue};
  const RowsPlan plan(shape, cpu.gemm_f32, threads);
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    const auto column_block = task % plan.panels.parts(), block = task / plan.panels.parts();
    const auto batch = block / plan.rows.parts(), row_block = block % plan.rows.parts();
    char* const own =
        scratch.data() + places.workers + static_cast<size_t>(worker) * places.worker_bytes;
    RowsTask(job, static_cast<int>(batch), own, places.patches)
        .Run(static_cast<int>(plan.rows.Begin(row_block)),
             static_cast<int>(plan.rows.End(row_block)),
             plan.Column(plan.panels.Begin(column_block)),
             plan.Column(plan.panels.End(column_block)), plan.panel_rows);
  });
  return kTfLiteOk;
}

}  // namespace

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
