// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D of 3x3 with stride 1 by Winograd's algorithm: output tiles are products of
// transformed planes, which take 2.25 (2x2 tiles) or 4 times (4x4) fewer multiplications than
// direct convolution. Rounding errors are those of sums with fewer terms, amplified by the
// transforms.
//
// The weights are packed as in conv_rows.cc. Each panel is transformed when it is used, which costs
// a few per cent but needs no permanent memory.
#include "kernels/conv/patches.h"
#include "kernels/conv/winograd.h"

namespace deputy {
namespace {

// ---- Selection --------------------------------------------------------------------------------

// Returns the best tile size, or 0 if Winograd's algorithm is not faster. Costs were measured with
// AVX2. The size of the batch has no influence, so that an image has the same bits in every batch.
int TileSizeFor(const ConvShape& batch) {
  ConvShape shape = batch;
  shape.batches = std::min(batch.batches, 1);
  // Maximum number of input channels for 4x4 tiles; with more channels they lose too much
  // precision.
  constexpr int kMaxChannelsOfFour = 128;
  constexpr WinogradCost kTwo = {120, 160, 60, 3}, kFour = {320, 650, 120, 3};
  const double two = RelativeWinogradCost(shape, 2, kTwo);
  const double four =
      shape.depth > kMaxChannelsOfFour ? 1.0 : RelativeWinogradCost(shape, 4, kFour);
  if (std::min(two, four) > kMaxWinogradCost) return 0;
  return two < four ? 2 : 4;
}

bool IsWinograd(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  return data.form == WeightsForm::kFloat && data.allows_winograd && cpu.gemm_f32.tile != nullptr &&
         cpu.winograd_f32.finish != nullptr && HasWinogradWindows(shape) &&
         shape.depth >= cpu.winograd_f32.channels && TileSizeFor(shape) != 0;
}

WinogradPlan PlanOf(const ConvShape& shape, const CpuKernels& cpu, int threads) {
  return {shape, TileSizeFor(shape), cpu.gemm_f32.rows, cpu.gemm_f32.columns, threads};
}

// Offsets in the scratch memory, in bytes: the bias padded to whole panels, a row of zeros, the
// planes of a group's inputs, then for each worker a panel's planes, the planes of its products, a
// tile of outputs, and a window's patch. Plane strides are a cache line longer than the planes:
// strides of a power of two would cause conflicts in the cache.
struct ScratchLayout {
  size_t input_stride, panel_stride, product_stride;  // strides between planes, in values
  size_t zeros, inputs, workers, products, values, patch, worker_bytes, total;

  ScratchLayout(const ConvShape& shape, const WinogradPlan& plan, int threads) {
    constexpr size_t kApart = kTensorAlignment / sizeof(float);
    const auto depth = static_cast<size_t>(shape.depth);
    const auto columns = static_cast<size_t>(plan.panel_columns);
    const auto planes = static_cast<size_t>(plan.tiles.planes());
    const auto size = static_cast<size_t>(plan.tiles.size);
    const size_t input_values = static_cast<size_t>(plan.group_tiles) * depth;
    input_stride = AlignedBytes(input_values * sizeof(float)) / sizeof(float) + kApart;
    panel_stride = depth * columns + kApart;
    product_stride = static_cast<size_t>(plan.block_tiles) * columns + kApart;
    zeros = AlignedBytes((static_cast<size_t>(shape.output_channels) + kMaxTileColumns) *
                         sizeof(float));
    inputs = zeros + AlignedBytes(ZeroValues(shape) * sizeof(float));
    workers = inputs + AlignedBytes(planes * input_stride * sizeof(float));
    products = AlignedBytes(planes * panel_stride * sizeof(float));
    values = products + AlignedBytes(planes * product_stride * sizeof(float));
    patch = values + AlignedBytes(size * size * columns * sizeof(float));
    worker_bytes = patch + AlignedBytes(kWinogradTaps * depth * sizeof(float));
    total = workers + static_cast<size_t>(threads) * worker_bytes;
  }
  // Number of zeros that are used as padding pixels and as the bias of a product.
  static size_t ZeroValues(const ConvShape& shape) {
    return static_cast<size_t>(std::max(shape.depth, kMaxTileColumns));
  }
};

// ---- Execution --------------------------------------------------------------------------------

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Data shared by all tasks.
struct Job {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const WinogradTransforms& transforms;
  const WinogradPlan& plan;
  const ScratchLayout& layout;
  const PackedWeights<float>& packed;
  FloatRange range;
  const EpilogueF32* epilogue;
  const float* input;
  float* out;
  const float* bias;
  const float* zeros;
  float* inputs;  // planes of the transformed inputs of a group

  void TransformInputs(int64_t group, int first, int last) const {
    TransformWinogradTiles(shape, plan.tiles, group, first, last, input, zeros,
                           [this](const float* const* pixels, int tile) {
                             transforms.input(pixels, shape.depth,
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
        panel_(panel),
        columns_(job.plan.panel_columns),
        weights_(reinterpret_cast<float*>(scratch)),
        products_(reinterpret_cast<float*>(scratch + job.layout.products)),
        values_(reinterpret_cast<float*>(scratch + job.layout.values)),
        patch_(reinterpret_cast<float*>(scratch + job.layout.patch)) {}

  // Computes tiles [first, last) of the group that begins at tile `group`.
  void Run(int64_t group, int first, int last) const {
    MultiplyPlanes(first, last - first);
    for (int tile = first; tile < last; ++tile) {
      const auto tile_position = job_.plan.tiles.PositionOf(shape_, group + tile);
      const float* const products = products_ + int64_t{tile - first} * columns_;
      if (!job_.transforms.output(products, job_.layout.product_stride, columns_, values_)) {
        SumWindows(tile_position);
      }
      Finish(tile_position);
    }
  }

 private:
  const float* Panel() const { return job_.packed.Panel(0, panel_); }

  void MultiplyPlanes(int first, int tiles) const {
    const size_t tap_values = static_cast<size_t>(shape_.depth) * static_cast<size_t>(columns_);
    job_.transforms.filter(Panel(), tap_values, static_cast<int>(tap_values), weights_,
                           job_.layout.panel_stride);
    const size_t panel_values = kWinogradTaps * tap_values;
    const Prefetcher next_panel(Panel() + panel_values,
                                panel_ + 1 < job_.plan.panels ? panel_values * sizeof(float) : 0);
    MultiplyWinogradPlanes(
        job_.plan.tiles.planes(), tiles, job_.cpu.gemm_f32.rows, shape_.depth, next_panel,
        [this, first](size_t plane, int64_t row, int count) {
          Multiply(count, shape_.depth,
                   job_.inputs + plane * job_.layout.input_stride + (first + row) * shape_.depth,
                   weights_ + plane * job_.layout.panel_stride,
                   products_ + plane * job_.layout.product_stride + row * columns_);
        });
  }

  void Multiply(int rows, int depth, const float* a, const float* b, float* out) const {
    job_.cpu.gemm_f32.tile({rows, columns_, 1, depth, &a, static_cast<size_t>(depth), b, job_.zeros,
                            -kInfinity, kInfinity, out, static_cast<size_t>(columns_)});
  }

  // Computes the tile's outputs as sums over their windows, because transformed infinities would
  // become NaN and spread over the tile.
  void SumWindows(const WinogradTiles::TilePosition& tile_position) const {
    const int32_t zero = 0;
    const PatchSource source = {&shape_, job_.input, &zero, 0, &job_.cpu};
    for (int y = 0; y < tile_position.rows; ++y) {
      for (int x = 0; x < tile_position.columns; ++x) {
        FillPatch<float>(&source, tile_position.Position(shape_, y, x), 0, patch_);
        Multiply(1, kWinogradTaps * shape_.depth, patch_, Panel(),
                 values_ + int64_t{y * job_.plan.tiles.size + x} * columns_);
      }
    }
  }

  void Finish(const WinogradTiles::TilePosition& tile_position) const {
    const int column = panel_ * columns_;
    const int64_t position = tile_position.Position(shape_);
    const auto epilogue = PartOf(job_.epilogue, position, column);
    const auto stride = static_cast<size_t>(columns_);
    job_.cpu.winograd_f32.finish({.lines = tile_position.rows,
                                  .rows = tile_position.columns,
                                  .columns = std::min(columns_, shape_.output_channels - column),
                                  .values = values_,
                                  .value_line = static_cast<size_t>(job_.plan.tiles.size) * stride,
                                  .stride = stride,
                                  .bias = job_.bias + column,
                                  .low = job_.range.low,
                                  .high = job_.range.high,
                                  .out = job_.out + position * shape_.output_channels + column,
                                  .line_rows = static_cast<size_t>(shape_.x.output),
                                  .out_stride = static_cast<size_t>(shape_.output_channels),
                                  .epilogue = epilogue ? &*epilogue : nullptr});
  }

  const Job& job_;
  const ConvShape& shape_;
  const int panel_, columns_;
  float* const weights_;   // planes of the transformed panel of weights
  float* const products_;  // planes of the products
  float* const values_;
  float* const patch_;
};

// ---- The implementation -----------------------------------------------------------------------

size_t ScratchBytes(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return ScratchLayout(tensors.shape, PlanOf(tensors.shape, cpu, workers), workers).total;
}

TfLiteStatus Pack(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                  const CpuKernels& cpu) {
  return data->matrix.PackFloat(context, cpu, WinogradMatrix(tensors.shape), tensors.filter);
}

TfLiteStatus Run(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                 const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  // A fusion group with a subsampled output (fused_conv.cc) has windows with strides, unlike the
  // node.
  if (!HasWinogradWindows(shape)) return kRowsConv.run(context, data, tensors, cpu);
  const PackedWeights<float>* const packed =
      data->matrix.FloatWeights(context, cpu, WinogradMatrix(shape), tensors.filter);
  if (packed == nullptr) return kTfLiteError;
  const int threads = ThreadCount(context);
  const WinogradPlan plan = PlanOf(shape, cpu, threads);
  const ScratchLayout layout(shape, plan, threads);
  Scratch scratch;
  if (!scratch.Acquire(context, layout.total)) {
    return TensorError(context, tensors.filter, "out of memory for its planes");
  }
  float* const bias = scratch.as<float>();
  std::fill_n(std::copy_n(Data<float>(tensors.bias), shape.output_channels, bias), kMaxTileColumns,
              0.0f);
  float* const zeros = reinterpret_cast<float*>(scratch.data() + layout.zeros);
  std::fill_n(zeros, ScratchLayout::ZeroValues(shape), 0.0f);
  const Job job = {shape,
                   cpu,
                   plan.tiles.size == 4 ? cpu.winograd_f32.four : cpu.winograd_f32.two,
                   plan,
                   layout,
                   *packed,
                   tensors.float_range,
                   tensors.epilogue,
                   Data<float>(tensors.input),
                   Data<float>(tensors.output),
                   bias,
                   zeros,
                   reinterpret_cast<float*>(scratch.data() + layout.inputs)};
  RunWinogradTasks<Task>(context, job, layout, scratch.data());
  return kTfLiteOk;
}

}  // namespace

constexpr ConvImplementation kWinogradConv = {.name = "winograd",
                                              .accepts = &IsWinograd,
                                              .pack = &Pack,
                                              .scratch = &ScratchBytes,
                                              .run = &Run,
                                              .fuses = true,
                                              .subsamples = true};

}  // namespace deputy
