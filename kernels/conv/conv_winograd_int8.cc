// SPDX-License-Identifier: Apache-2.0
//
// int8 CONV_2D of 3x3 with stride 1 by Winograd's algorithm with 2x2 tiles: 2.25 times fewer
// multiplications, of 16-bit values. All values are integers and all divisions are exact, so that
// the sums are bit-identical to those of direct convolution. It is faster if int8 products are
// computed in 16 bits anyway.
//
// The weights are packed as in conv_rows_int8.cc for filter rows that are whole runs: in one part.
#include "kernels/conv/winograd.h"

namespace deputy {
namespace {

constexpr int kSize = 2;

const WinogradS8Kernels& KernelsOf(const CpuKernels& cpu) { return *cpu.gemm_s8.winograd; }

WinogradPlan PlanOf(const ConvShape& shape, const CpuKernels& cpu, int threads) {
  return {shape, kSize, KernelsOf(cpu).rows, cpu.gemm_s8.columns, threads};
}

bool IsWinograd(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  constexpr WinogradCost kCost = {120, 250, 40, 1};  // costs measured with AVX2
  const ConvShape& shape = tensors.shape;
  return data.form == WeightsForm::kInt8 && data.allows_winograd &&
         cpu.gemm_s8.winograd != nullptr && HasWinogradWindows(shape) &&
         shape.depth % KernelsOf(cpu).channels == 0 &&
         RelativeWinogradCost(shape, kSize, kCost) <= kMaxWinogradCost;
}

// Offsets in the scratch memory, in bytes: the bias padded to whole panels, a pixel of zero points,
// the planes of a group's inputs, then for each worker a panel's planes, the planes of its
// products, two lines of sums, and a requantised line before its addend. Plane strides are longer
// than the planes by whole cache lines: strides of a power of two would cause conflicts in the
// cache.
struct ScratchLayout {
  size_t input_stride, panel_stride, product_stride;  // strides between planes, in values
  size_t zeros, inputs, workers, products, sums, made, worker_bytes, total;

  ScratchLayout(const ConvShape& shape, const WinogradPlan& plan, int threads) {
    constexpr size_t kApart = kTensorAlignment;
    const auto depth = static_cast<size_t>(shape.depth);
    const auto columns = static_cast<size_t>(plan.panel_columns);
    const auto planes = static_cast<size_t>(plan.tiles.planes());
    const auto line = kSize * static_cast<size_t>(std::min(plan.block_tiles, plan.tiles.columns));
    input_stride = AlignedBytes(static_cast<size_t>(plan.group_tiles) * depth) + kApart;
    panel_stride = AlignedBytes(depth * columns) + kApart;
    product_stride = static_cast<size_t>(plan.block_tiles) * columns + kApart;
    zeros = AlignedBytes((static_cast<size_t>(shape.output_channels) + 2 * kMaxTileColumns) *
                         sizeof(int32_t));
    inputs = zeros + AlignedBytes(depth);
    workers = inputs + AlignedBytes(planes * input_stride * sizeof(int16_t));
    products = AlignedBytes(planes * panel_stride * sizeof(int16_t));
    sums = products + AlignedBytes(planes * product_stride * sizeof(int32_t));
    made = sums + AlignedBytes(kSize * line * columns * sizeof(int32_t));
    worker_bytes = made + AlignedBytes(line * columns);
    total = workers + static_cast<size_t>(threads) * worker_bytes;
  }
};

// Data shared by all tasks.
struct Job {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const WinogradPlan& plan;
  const ScratchLayout& layout;
  const PackedWeights<int8_t>& packed;
  const ChannelScaling& scaling;
  const AddendS8* addend;  // null if there is none
  const int8_t* input;
  int8_t* out;
  const int32_t* bias;
  const int8_t* zeros;
  int16_t* inputs;  // planes of the transformed inputs of a group

  void TransformInputs(int64_t group, int first, int last) const {
    TransformWinogradTiles(shape, plan.tiles, group, first, last, input, zeros,
                           [this](const int8_t* const* pixels, int tile) {
                             KernelsOf(cpu).input(pixels, shape.depth,
                                                  inputs + int64_t{tile} * shape.depth,
                                                  layout.input_stride);
                           });
  }
};

// Computes a block of tiles for a panel of weights.
class Task {
 public:
  Task(const Job& job, int panel, char* scratch)
      : job_(job),
        shape_(job.shape),
        kernels_(KernelsOf(job.cpu)),
        panel_(panel),
        columns_(job.plan.panel_columns),
        weights_(reinterpret_cast<int16_t*>(scratch)),
        products_(reinterpret_cast<int32_t*>(scratch + job.layout.products)),
        sums_(reinterpret_cast<int32_t*>(scratch + job.layout.sums)),
        made_(reinterpret_cast<int8_t*>(scratch + job.layout.made)) {}

  // Computes tiles [first, last) of the group that begins at tile `group`, one run of horizontally
  // adjacent tiles at a time.
  void Run(int64_t group, int first, int last) const {
    MultiplyPlanes(first, last - first);
    const int across = job_.plan.tiles.columns;
    for (int tile = first; tile < last;) {
      const int in_row = across - static_cast<int>((group + tile) % across);
      const int count = std::min(in_row, last - tile);
      FinishRun(job_.plan.tiles.PositionOf(shape_, group + tile), tile - first, count);
      tile += count;
    }
  }

 private:
  void MultiplyPlanes(int first, int tiles) const {
    const int8_t* const panel = job_.packed.Panel(0, panel_);
    const size_t tap_values = static_cast<size_t>(shape_.depth) * static_cast<size_t>(columns_);
    kernels_.filter(panel, tap_values, static_cast<int>(tap_values), weights_,
                    job_.layout.panel_stride);
    const size_t panel_bytes = kWinogradTaps * tap_values;
    const Prefetcher next_panel(panel + panel_bytes,
                                panel_ + 1 < job_.plan.panels ? panel_bytes : 0);
    MultiplyWinogradPlanes(
        job_.plan.tiles.planes(), tiles, kernels_.rows, shape_.depth, next_panel,
        [this, first](size_t plane, int64_t row, int count) {
          const size_t inputs = plane * job_.layout.input_stride;
          kernels_.multiply(
              {.rows = count,
               .depth = shape_.depth,
               .a = job_.inputs + inputs + (first + row) * shape_.depth,
               .a_stride = static_cast<size_t>(shape_.depth),
               .b = weights_ + plane * job_.layout.panel_stride,
               .sums = products_ + plane * job_.layout.product_stride + row * columns_,
               .sums_stride = static_cast<size_t>(columns_)});
        });
  }

  // Transforms the products of `count` horizontally adjacent tiles, the first at `position`, into
  // outputs and stores them.
  void FinishRun(const WinogradTiles::TilePosition& position, int first, int count) const {
    const int column = panel_ * columns_;
    const size_t line = kSize * static_cast<size_t>(count) * static_cast<size_t>(columns_);
    for (int tile = 0; tile < count; ++tile) {
      kernels_.output(products_ + int64_t{first + tile} * columns_, job_.layout.product_stride,
                      job_.bias + column, sums_ + int64_t{kSize} * tile * columns_, line);
    }
    for (int y = 0; y < position.rows; ++y) {
      RequantizeTile tile = job_.scaling.Tile(column);
      tile.rows = std::min(kSize * count, shape_.x.output - position.x);
      tile.columns = std::min(columns_, shape_.output_channels - column);
      tile.sums = sums_ + static_cast<size_t>(y) * line;
      tile.sums_stride = static_cast<size_t>(columns_);
      Store(tile, position.Position(shape_, y) * shape_.output_channels + column);
    }
  }

  // Requantises a line of pixels and stores it in the output from `position` on.
  void Store(RequantizeTile tile, int64_t position) const {
    const int64_t channels = shape_.output_channels;
    const bool adds = job_.addend != nullptr;
    tile.out = adds ? made_ : job_.out + position;
    tile.out_stride = static_cast<size_t>(adds ? tile.columns : channels);
    job_.cpu.requantize.in_float(tile);
    if (!adds) return;
    const int8_t* steps = made_;
    for (int x = 0; x < tile.rows; ++x, steps += tile.columns, position += channels) {
      job_.addend->AddTo(job_.cpu, steps, position, tile.columns, job_.out + position);
    }
  }

  const Job& job_;
  const ConvShape& shape_;
  const WinogradS8Kernels& kernels_;
  const int panel_, columns_;
  int16_t* const weights_;   // planes of the transformed panel of weights
  int32_t* const products_;  // planes of the products
  int32_t* const sums_;
  int8_t* const made_;
};

// ---- The implementation -----------------------------------------------------------------------

size_t ScratchBytes(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return ScratchLayout(tensors.shape, PlanOf(tensors.shape, cpu, workers), workers).total;
}

// Returns the packed weights, or null if out of memory. They have a single part: channel counts
// that are whole vectors are whole runs, so the taps are contiguous without padding.
const PackedWeights<int8_t>* Weights(TfLiteContext* context, ConvData* data,
                                     const ConvTensors& tensors, const CpuKernels& cpu) {
  return data->matrix.Int8Weights(context, cpu, WinogradMatrix(tensors.shape),
                                  {tensors.filter, false, 0}, 1);
}

TfLiteStatus Pack(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                  const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.filter)) return kTfLiteOk;
  return Weights(context, data, tensors, cpu) == nullptr ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus Run(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                 const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  // A fusion group with a subsampled output (fused_conv.cc) has windows with strides, unlike the
  // node.
  if (!HasWinogradWindows(shape) || ArithmeticOf(context) != Arithmetic::kDefault) {
    return kRowsInt8Conv.run(context, data, tensors, cpu);
  }
  const PackedWeights<int8_t>* const packed = Weights(context, data, tensors, cpu);
  if (packed == nullptr) return kTfLiteError;
  const int threads = ThreadCount(context);
  const WinogradPlan plan = PlanOf(shape, cpu, threads);
  const ScratchLayout layout(shape, plan, threads);
  Scratch scratch;
  if (!scratch.Acquire(context, layout.total)) {
    return TensorError(context, tensors.filter, "out of memory for its planes");
  }
  const int32_t zero_point = data->scaling.input_zero_point();
  auto* const bias = scratch.as<int32_t>();
  FoldBias(*packed, Data<int32_t>(tensors.bias), shape.output_channels, zero_point, bias);
  auto* const zeros = reinterpret_cast<int8_t*>(scratch.data() + layout.zeros);
  std::fill_n(zeros, shape.depth, static_cast<int8_t>(zero_point));
  const Job job = {shape,
                   cpu,
                   plan,
                   layout,
                   *packed,
                   data->scaling,
                   tensors.addend,
                   Data<int8_t>(tensors.input),
                   Data<int8_t>(tensors.output),
                   bias,
                   zeros,
                   reinterpret_cast<int16_t*>(scratch.data() + layout.inputs)};
  RunWinogradTasks<Task>(context, job, layout, scratch.data());
  return kTfLiteOk;
}

}  // namespace

constexpr ConvImplementation kWinogradInt8Conv = {.name = "winograd_int8",
                                                  .accepts = &IsWinograd,
                                                  .pack = &Pack,
                                                  .scratch = &ScratchBytes,
                                                  .run = &Run,
                                                  .fuses = true,
                                                  .subsamples = true};

}  // namespace deputy
