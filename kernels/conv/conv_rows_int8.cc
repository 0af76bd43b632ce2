// SPDX-License-Identifier: Apache-2.0
//
// int8 CONV_2D that reads its input in place and requantises in registers. For one filter row a
// patch is a contiguous piece of the input: a product whose depth has one part per filter row. If
// windows extend beyond the input, or if a piece is not a multiple of the kernel's run, windows
// read from a copy with zero points around the image. If the kernel requires its LhsEncoding, all
// windows read from a copy in that form: of the image or, if the filter is 1x1, of a block of
// pixels.
#include <cstring>

#include "core/support/int_math.h"
#include "kernels/conv/conv.h"

namespace deputy {
namespace {

constexpr int kTileColumns = 64;
// Row count from which block sizes are computed: about a multiple of the rows of every kernel's
// tile.
constexpr int kTileRows = 12;
// Number of patches whose addresses are computed at once.
constexpr int kMaxPatches = 192;
// Number of columns to which an addend is added at once, while the result is in the first-level
// cache.
constexpr int kSumColumns = 128;

MatrixShape MatrixOf(const ConvShape& shape) {
  return {shape.output_pixels(), 1, shape.output_channels,
          shape.y.filter * shape.x.filter * shape.depth};
}

// The image that windows read: the input, or a padded copy of the area that windows cover.
struct WindowImage {
  bool copied = false;
  bool by_pixels = false;  // true if blocks of pixels are copied just before they are multiplied
  int height = 0, width = 0;
  int64_t value_bytes = 1;
  int64_t row_bytes = 0;  // bytes per image row
  size_t bytes = 0;       // size of the copy of all batches; 0 without a copy
  int part_depth = 0;     // values per filter row, padded to whole runs

  WindowImage(const ConvShape& shape, const GemmS8Kernels& kernels) {
    const int depth = shape.x.filter * shape.depth, run = kernels.run;
    part_depth = static_cast<int>(CeilDiv(depth, run)) * run;
    const bool reaches_out = ReachesOut(shape.y) || ReachesOut(shape.x);
    by_pixels =
        kernels.requantizes_left && shape.y.filter == 1 && shape.x.filter == 1 && !reaches_out;
    copied = !by_pixels && (kernels.requantizes_left || part_depth != depth || reaches_out);
    height = copied ? Reach(shape.y) : shape.y.input;
    width = copied ? Reach(shape.x) : shape.x.input;
    if (copied) value_bytes = static_cast<int64_t>(kernels.requantized_bytes());
    row_bytes = int64_t{width} * shape.input_channels * value_bytes;
    // The kernel may read up to one run beyond the end of the last window.
    const int64_t all = row_bytes * height * shape.batches + run * value_bytes;
    bytes = copied ? static_cast<size_t>(all) : 0;
  }
  // Returns the size of a copy of `pixels` pixels; 0 unless blocks of pixels are copied.
  size_t BlockBytes(const GemmS8Kernels& kernels, int64_t pixels) const {
    const auto values = static_cast<size_t>(pixels) * static_cast<size_t>(part_depth);
    return by_pixels ? AlignedBytes(values * kernels.requantized_bytes()) : 0;
  }

 private:
  static bool ReachesOut(const WindowAxis& axis) {
    return axis.FirstTap(0) > 0 || axis.LastTap(axis.output - 1) < axis.filter;
  }
  static int Reach(const WindowAxis& axis) {
    return (axis.output - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1;
  }
};

// Writes values in the form in which GemmS8Kernels::requantized reads its left operand.
struct RowForm {
  const GemmS8Kernels& kernels;

  // Writes `count` values to `to` and returns the end of the written bytes.
  char* Copy(const int8_t* from, int64_t count, char* to) const {
    if (kernels.requantizes_left) {
      kernels.left_from_s8(from, static_cast<size_t>(count), to);
    } else {
      std::memcpy(to, from, static_cast<size_t>(count));
    }
    return to + count * static_cast<int64_t>(kernels.requantized_bytes());
  }
  char* Fill(int8_t value, int64_t count, char* to) const {
    const int32_t left = value + (kernels.requantizes_left ? kernels.left_offset() : 0);
    if (kernels.requantized_bytes() == 1) {
      std::memset(to, left, static_cast<size_t>(count));
    } else {
      std::fill_n(reinterpret_cast<int16_t*>(to), count, static_cast<int16_t>(left));
    }
    return to + count * static_cast<int64_t>(kernels.requantized_bytes());
  }
};

// Writes one row of the padded copy of the image.
void CopyRow(const ConvShape& shape, const WindowImage& image, const RowForm& form,
             const int8_t* input, int8_t zero_point, int64_t row, char* out) {
  const int64_t batch = row / image.height;
  const int64_t y = row % image.height - shape.y.before;
  const int64_t channels = shape.input_channels;
  out += row * image.row_bytes;
  if (y < 0 || y >= shape.y.input) {
    form.Fill(zero_point, image.width * channels, out);
    return;
  }
  const int64_t before = std::min<int64_t>(shape.x.before, image.width);
  const int64_t inside = std::min<int64_t>(shape.x.input, image.width - before);
  out = form.Fill(zero_point, before * channels, out);
  out = form.Copy(shape.Pixel(input, batch, y, 0), inside * channels, out);
  form.Fill(zero_point, (image.width - before - inside) * channels, out);
}

// Returns the image that windows read: the input itself, or a padded copy in `out`.
const char* PaddedImage(TfLiteContext* context, const ConvShape& shape, const WindowImage& image,
                        const RowForm& form, const int8_t* input, int8_t zero_point, char* out) {
  if (!image.copied) return reinterpret_cast<const char*>(input);
  constexpr int64_t kBytesPerTask = 32 * 1024;
  const int64_t rows = int64_t{image.height} * shape.batches;
  const int64_t portion = std::max<int64_t>(kBytesPerTask / std::max<int64_t>(image.row_bytes, 1),
                                            std::max<int64_t>(rows >> 20, 1));
  ParallelFor(context, static_cast<int>(CeilDiv(rows, portion)), [&](int task, int) {
    const int64_t last = std::min(rows, (task + 1) * portion);
    for (int64_t row = task * portion; row < last; ++row) {
      CopyRow(shape, image, form, input, zero_point, row, out);
    }
  });
  const size_t end = static_cast<size_t>(rows * image.row_bytes);
  std::memset(out + end, 0, image.bytes - end);
  return out;
}

// Returns the partition of the product: blocks of patches if every worker can afford to read all
// weights, otherwise preferably blocks of columns.
GemmPlan CutOf(const ConvShape& shape, const GemmS8Kernels& kernels, int threads) {
  // Shares of the second-level cache for a block's input and for the weights, in bytes.
  constexpr int64_t kBlockBytes = 96 * 1024, kSharedWeights = 256 * 1024;
  const MatrixShape matrix = MatrixOf(shape);
  // Number of bytes that each additional patch adds to the input of a block.
  const int64_t row_bytes = int64_t{shape.y.filter} * shape.x.stride * shape.input_channels *
                            static_cast<int64_t>(kernels.requantized_bytes());
  const int64_t max_rows = std::clamp<int64_t>(kBlockBytes / row_bytes, kTileRows, kMaxPatches);
  return CutForThreads(
      {.rows = matrix.rows,
       .columns = matrix.columns,
       .depth = matrix.depth,
       .tile_rows = kTileRows,
       .panel_columns = kTileColumns,
       .block_rows = max_rows,
       .weights_are_large = int64_t{matrix.depth} * matrix.columns > kSharedWeights},
      threads);
}

// Writes `count` addresses that are `step` bytes apart. Vectorised, because a scalar loop takes as
// long as a small product.
void FindAddresses(const char* from, int64_t step, int64_t count, const void** out) {
  using Pair = uintptr_t __attribute__((vector_size(16)));
  const auto first = reinterpret_cast<uintptr_t>(from), apart = static_cast<uintptr_t>(step);
  Pair pair = {first, first + apart};
  for (; count >= 4; count -= 4, out += 4, pair += 4 * apart) {
    const Pair next = pair + 2 * apart;
    memcpy(out, &pair, sizeof(pair));
    memcpy(out + 2, &next, sizeof(next));
  }
  for (uintptr_t offset = pair[0]; count > 0; --count, ++out, offset += apart) {
    memcpy(out, &offset, sizeof(offset));
  }
}

// Finds the patches of output pixels [first, first + count).
void FindPatches(const ConvShape& shape, const WindowImage& image, const char* data, int64_t first,
                 int count, const void** out) {
  const int64_t x_step = int64_t{shape.x.stride} * shape.input_channels * image.value_bytes;
  if (!image.copied && shape.IsPointwise()) {
    FindAddresses(data + first * x_step, x_step, count, out);
    return;
  }
  int64_t ox = first % shape.x.output, row = first / shape.x.output;
  for (int64_t done = 0, run = 0; done < count; done += run, ox = 0, ++row) {
    run = std::min(shape.x.output - ox, count - done);
    const int64_t image_row =
        row / shape.y.output * image.height + row % shape.y.output * shape.y.stride;
    FindAddresses(data + image_row * image.row_bytes + ox * x_step, x_step, run, out + done);
  }
}

// Copies input pixels to `to`, where they are contiguous, and updates `pixels`.
void CopyPixels(const ConvShape& shape, const WindowImage& image, const RowForm& form, int count,
                const void** pixels, char* to) {
  const int64_t depth = shape.depth, padding = image.part_depth - depth;
  if (padding == 0 && shape.IsPointwise()) {
    const char* const end = form.Copy(static_cast<const int8_t*>(pixels[0]), count * depth, to);
    for (int i = 0; i < count; ++i) pixels[i] = to + (end - to) / count * i;
    return;
  }
  for (int i = 0; i < count; ++i) {
    char* const end = form.Copy(static_cast<const int8_t*>(pixels[i]), depth, to);
    pixels[i] = to;
    to = form.Fill(0, padding, end);
  }
}

// ---- The implementation -----------------------------------------------------------------------

bool IsRowsInt8(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  if (data.form != WeightsForm::kInt8 || cpu.gemm_s8.requantized == nullptr || shape.groups != 1 ||
      shape.x.dilation != 1 || shape.output_pixels() == 0) {
    return false;
  }
  // These limits keep the products of sizes that are ints within 32 bits, and the size of copies in
  // proportion.
  constexpr int kMaxExtent = 1 << 20;
  const auto small = [](const WindowAxis& axis) {
    return axis.stride <= 64 && axis.dilation <= 64 && axis.filter <= 1024 &&
           axis.output <= kMaxExtent;
  };
  if (!small(shape.y) || !small(shape.x) || MatrixOf(shape).depth > kMaxExtent ||
      shape.output_channels > kMaxExtent || shape.input_channels > kMaxExtent) {
    return false;
  }
  const double copy = (static_cast<double>(shape.y.output) * shape.y.stride + shape.y.filter) *
                      (static_cast<double>(shape.x.output) * shape.x.stride + shape.x.filter) *
                      shape.batches * shape.input_channels;
  return copy <= 4.0 * static_cast<double>(tensors.input->bytes) + (1 << 16) &&
         copy < static_cast<double>(1 << 30);
}

int Parts(const ConvShape& shape, const CpuKernels& cpu) {
  // If a filter row is a whole number of runs, the packed parts are contiguous and count as one.
  return shape.x.filter * shape.depth % cpu.gemm_s8.run == 0 ? 1 : shape.y.filter;
}

size_t BiasBytes(const ConvShape& shape) {
  return AlignedBytes((static_cast<size_t>(shape.output_channels) + 2 * kTileColumns) *
                      sizeof(int32_t));
}

// Offsets in the scratch memory: the bias, the copy of the image, and for each worker a block of
// pixels and a block of results to which an addend is added.
struct RowsScratch {
  size_t image, workers, made, worker_bytes, total;

  RowsScratch(const ConvShape& shape, const WindowImage& window, const GemmS8Kernels& kernels,
              int threads)
      : image(BiasBytes(shape)), workers(image + AlignedBytes(window.bytes)) {
    const int64_t rows =
        std::min<int64_t>(CutOf(shape, kernels, threads).block_rows(), kMaxPatches);
    made = window.BlockBytes(kernels, rows);
    worker_bytes = made + AlignedBytes(static_cast<size_t>(rows) * kSumColumns);
    total = workers + worker_bytes * static_cast<size_t>(threads);
  }
};

size_t ScratchBytes(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  const WindowImage image(tensors.shape, cpu.gemm_s8);
  return RowsScratch(tensors.shape, image, cpu.gemm_s8, workers).total;
}

TfLiteStatus Pack(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                  const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.filter)) return kTfLiteOk;
  const auto* packed = data->matrix.Int8Weights(
      context, cpu, MatrixOf(tensors.shape), {tensors.filter, false, 0}, Parts(tensors.shape, cpu));
  return packed == nullptr ? kTfLiteError : kTfLiteOk;
}

// Data shared by all tasks.
class RowsJob {
 public:
  const ConvShape& shape;
  const CpuKernels& cpu;
  const WindowImage& image;
  const PackedWeights<int8_t>& weights;
  const int32_t* bias;
  const ChannelScaling& scaling;
  const char* input;       // the image that windows read
  const AddendS8* addend;  // null if there is none
  int8_t* out;

  // Computes output pixels [first, last); `pixels` and `made` are the worker's scratch memory for
  // pixels and for results before the addend.
  void RunBlock(int64_t first, int64_t last, int first_column, int columns, char* pixels,
                char* made) const {
    const void* patches[kMaxPatches];
    const int64_t channels = shape.output_channels;
    for (int64_t row = first; row < last; row += kMaxPatches) {
      const int count = static_cast<int>(std::min<int64_t>(kMaxPatches, last - row));
      FindPatches(shape, image, input, row, count, patches);
      if (image.by_pixels) CopyPixels(shape, image, {cpu.gemm_s8}, count, patches, pixels);
      if (addend == nullptr || cpu.gemm_s8.adds) {
        const int64_t offset = row * channels + first_column;
        RowsAddendS8 added = {};
        if (addend != nullptr) added = addend->RowsFrom(offset);
        Multiply(patches, count, first_column, columns, out + offset, static_cast<size_t>(channels),
                 addend == nullptr ? nullptr : &added);
        continue;
      }
      auto* const steps = reinterpret_cast<int8_t*>(made);
      for (int c = first_column; c < first_column + columns; c += kSumColumns) {
        const int width = std::min(kSumColumns, first_column + columns - c);
        Multiply(patches, count, c, width, steps, static_cast<size_t>(width), nullptr);
        AddUp(steps, count, width, row * channels + c);
      }
    }
  }

 private:
  void Multiply(const void* const* patches, int rows, int column, int columns, int8_t* to,
                size_t stride, const RowsAddendS8* added) const {
    const RequantizeTile tile = scaling.Tile(column);
    cpu.gemm_s8.requantized({.rows = rows,
                             .columns = columns,
                             .parts = shape.y.filter,
                             .depth = image.part_depth,
                             .a = patches,
                             .part_step = static_cast<size_t>(shape.y.dilation * image.row_bytes),
                             .b = weights.Panel(0, column / cpu.gemm_s8.columns),
                             .panel_stride = weights.panel_stride(),
                             .bias = bias + column,
                             .factors = tile.factors,
                             .zero_point = tile.zero_point,
                             .low = tile.low,
                             .high = tile.high,
                             .out = to,
                             .out_stride = stride,
                             .addend = added});
  }

  // Adds the addend to contiguous rows of `steps` and stores them in the output from `offset` on.
  void AddUp(const int8_t* steps, int rows, int columns, int64_t offset) const {
    const int64_t channels = shape.output_channels;
    const bool together = columns == channels;
    const int64_t count = together ? int64_t{rows} * columns : columns;
    for (int r = 0; r < (together ? 1 : rows); ++r, steps += columns, offset += channels) {
      addend->AddTo(cpu, steps, offset, count, out + offset);
    }
  }
};

TfLiteStatus Run(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                 const CpuKernels& cpu) {
  if (ArithmeticOf(context) != Arithmetic::kDefault) {
    return kGemmInt8Conv.run(context, data, tensors, cpu);
  }
  const ConvShape& shape = tensors.shape;
  const MatrixShape matrix = MatrixOf(shape);
  const PackedWeights<int8_t>* weights =
      data->matrix.Int8Weights(context, cpu, matrix, {tensors.filter, false, 0}, Parts(shape, cpu));
  if (weights == nullptr) return kTfLiteError;
  const WindowImage image(shape, cpu.gemm_s8);
  const RowForm form = {cpu.gemm_s8};
  const int threads = ThreadCount(context);
  const RowsScratch offsets(shape, image, cpu.gemm_s8, threads);
  Scratch scratch;
  if (!scratch.Acquire(context, offsets.total)) {
    return TensorError(context, tensors.input, "out of memory for a copy");
  }
  auto* const bias = scratch.as<int32_t>();
  const int32_t zero_point = data->scaling.input_zero_point();
  FoldBias(*weights, Data<int32_t>(tensors.bias), matrix.columns,
           zero_point + cpu.gemm_s8.left_offset(), bias);
  const RowsJob job = {shape,
                       cpu,
                       image,
                       *weights,
                       bias,
                       data->scaling,
                       PaddedImage(context, shape, image, form, Data<int8_t>(tensors.input),
                                   static_cast<int8_t>(zero_point), scratch.data() + offsets.image),
                       tensors.addend,
                       Data<int8_t>(tensors.output)};
  const GemmPlan plan = CutOf(shape, cpu.gemm_s8, threads);
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    const GemmPlan::Cut cut = plan.TaskCut(task);
    char* const own =
        scratch.data() + offsets.workers + static_cast<size_t>(worker) * offsets.worker_bytes;
    job.RunBlock(cut.first_row, cut.last_row, cut.first_column, cut.last_column - cut.first_column,
                 own, own + offsets.made);
  });
  return kTfLiteOk;
}

}  // namespace

void FoldBias(const PackedWeights<int8_t>& weights, const int32_t* bias, int columns,
              int32_t zero_point, int32_t* out) {
  for (int c = 0; c < columns; ++c) {
    out[c] = static_cast<int32_t>(static_cast<uint32_t>(bias[c]) -
                                  static_cast<uint32_t>(zero_point) *
                                      static_cast<uint32_t>(weights.ColumnSum(0, c)));
  }
  std::fill(out + columns, out + weights.padded_columns() + kMaxTileColumns, 0);
}

constexpr ConvImplementation kRowsInt8Conv = {.name = "rows_int8",
                                              .accepts = &IsRowsInt8,
                                              .pack = &Pack,
                                              .scratch = &ScratchBytes,
                                              .run = &Run,
                                              .fuses = true,
                                              .subsamples = true};

}  // namespace deputy
