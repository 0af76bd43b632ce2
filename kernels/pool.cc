// SPDX-License-Identifier: Apache-2.0
//
// AVERAGE_POOL_2D and MAX_POOL_2D on float32, int8, uint8 and int16, and L2_POOL_2D on float32,
// NHWC. Padding is ignored: averages divide by the number of taps inside the input.
//
// The default arithmetic rescales quantised averages, and the input of MAX_POOL_2D, to the output's
// scale. The reference arithmetic does not: as in upstream, the output's scale is assumed to be the
// input's and is only used for the fused activation.
#include "core/kernel_api/scratch.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padding.h"
#include "kernels/common/requantize.h"
#include "kernels/common/rescale.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillPool(const OpOptions& options, TfLitePoolParams* params) {
  params->padding = options.Padding(0);
  params->stride_width = options.Int(1);
  params->stride_height = options.Int(2);
  params->filter_width = options.Int(3);
  params->filter_height = options.Int(4);
  params->activation = options.Activation(5);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct PoolData {
  WindowAxis y, x;
  int first_whole = 0, last_whole = 0;  // columns whose windows are completely inside the input
  int batches = 0, channels = 0;
  FloatRange float_range;
  IntRange int_range;
};

constexpr uint32_t kQuantizedTypes = kInt8Bit | kUInt8Bit | kInt16Bit;

TfLiteStatus PrepareTypes(TfLiteContext* context, TfLiteNode* node, uint32_t types) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const auto& params = ParamsOf<TfLitePoolParams>(node);
  PoolData& data = DataOf<PoolData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckRank(context, input, 4));
  data.batches = Dim(input, 0);
  data.channels = Dim(input, 3);
  data.y = {Dim(input, 1), params.filter_height, params.stride_height};
  data.x = {Dim(input, 2), params.filter_width, params.stride_width};
  DEPUTY_TRY(ComputeWindows(context, params.padding, "height", TooSmall::kEmpty, &data.y));
  DEPUTY_TRY(ComputeWindows(context, params.padding, "width", TooSmall::kEmpty, &data.x));
  // Upstream does not compute the height if the window is wider than the input by two strides or
  // more.
  if (data.x.output == 0 && data.x.input + 2 * int64_t{data.x.stride} <= data.x.filter) {
    data.y.output = 0;
  }
  data.first_whole = 0;
  data.last_whole = data.x.output;
  while (data.first_whole < data.last_whole && data.x.FirstTap(data.first_whole) > 0) {
    ++data.first_whole;
  }
  while (data.last_whole > data.first_whole &&
         data.x.LastTap(data.last_whole - 1) < data.x.filter) {
    --data.last_whole;
  }
  data.float_range = ActivationRange(params.activation);
  if (input->type != kTfLiteFloat32) {
    DEPUTY_TRY(QuantizedActivationRange(context, params.activation, output, &data.int_range));
  }
  const int dims[] = {data.batches, data.y.output, data.x.output, data.channels};
  return ResizeTo(context, output, dims);
}

template <uint32_t types>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  return PrepareTypes(context, node, types);
}

// ---- Reference --------------------------------------------------------------------------------

// Maximum of floats. Every reference pooling consists of an initial value (kFirst), a function that
// accumulates one input (Take), and a function that converts the accumulator of a channel, of type
// Sum, to the output given the number of inputs (Finish).
struct MaxFloat {
  using Value = float;
  using Sum = float;
  FloatRange range;
  static constexpr Sum kFirst = std::numeric_limits<float>::lowest();
  void Take(Sum* sum, Value value) const { *sum = std::max(*sum, value); }
  Value Finish(Sum sum, int64_t) const { return Clamp(sum, range); }
};

template <typename T>
struct MaxSteps {
  using Value = T;
  using Sum = T;
  IntRange range;
  static constexpr Sum kFirst = std::numeric_limits<T>::min();
  void Take(Sum* sum, Value value) const { *sum = std::max(*sum, value); }
  Value Finish(Sum sum, int64_t) const { return static_cast<Value>(Clamp<int32_t>(sum, range)); }
};

struct AverageFloat {
  using Value = float;
  using Sum = float;
  FloatRange range;
  static constexpr Sum kFirst = 0.0f;
  void Take(Sum* sum, Value value) const { *sum += value; }
  Value Finish(Sum sum, int64_t count) const {
    return Clamp(sum / static_cast<float>(count), range);
  }
};

struct L2Float {
  using Value = float;
  using Sum = float;
  FloatRange range;
  static constexpr Sum kFirst = 0.0f;
  void Take(Sum* sum, Value value) const { *sum += value * value; }
  Value Finish(Sum sum, int64_t count) const {
    return Clamp(std::sqrt(sum / static_cast<float>(count)), range);
  }
};

template <typename T>
struct AverageSteps {
  using Value = T;
  using Sum = int32_t;
  IntRange range;
  static constexpr Sum kFirst = 0;
  void Take(Sum* sum, Value value) const { Accumulate(sum, value); }
  Value Finish(Sum sum, int64_t count) const {
    // Rounds to nearest, ties away from zero.
    const int64_t half = sum > 0 ? count / 2 : -(count / 2);
    return static_cast<Value>(Clamp(static_cast<int32_t>((sum + half) / count), range));
  }
};

// Computes one output pixel, channel by channel. Compiled for size: used as the reference and for
// averages that are rescaled.
template <typename Pool>
[[gnu::cold]] void PoolPixel(const PoolData& data, const Pool& pool,
                             const typename Pool::Value* image, int oy, int ox,
                             typename Pool::Value* out) {
  const int first_y = data.y.FirstTap(oy), last_y = data.y.LastTap(oy);
  const int first_x = data.x.FirstTap(ox), last_x = data.x.LastTap(ox);
  const int64_t count = int64_t{last_y - first_y} * (last_x - first_x);
  for (int c = 0; c < data.channels; ++c) {
    typename Pool::Sum sum = Pool::kFirst;
    for (int ky = first_y; ky < last_y; ++ky) {
      for (int kx = first_x; kx < last_x; ++kx) {
        const int64_t pixel = (data.y.Start(oy) + ky) * data.x.input + data.x.Start(ox) + kx;
        pool.Take(&sum, image[pixel * data.channels + c]);
      }
    }
    out[c] = pool.Finish(sum, count);
  }
}

// A pooling without a vector loop; PoolPixel computes it in chunks of channels.
template <typename Reference>
struct ChunkedPool : Reference {};

// Computes one output pixel for a chunk of channels at a time, so that their sums stay in
// registers.
template <typename Pool>
void PoolPixel(const PoolData& data, const ChunkedPool<Pool>& pool,
               const typename Pool::Value* image, int oy, int ox, typename Pool::Value* out) {
  constexpr int kChunk = 32;
  const int first_y = data.y.FirstTap(oy), last_y = data.y.LastTap(oy);
  const int first_x = data.x.FirstTap(ox), last_x = data.x.LastTap(ox);
  const int64_t count = int64_t{last_y - first_y} * (last_x - first_x);
  for (int first = 0; first < data.channels; first += kChunk) {
    const int channels = std::min(kChunk, data.channels - first);
    typename Pool::Sum sums[kChunk];
    std::fill_n(sums, kChunk, Pool::kFirst);
    for (int ky = first_y; ky < last_y; ++ky) {
      for (int kx = first_x; kx < last_x; ++kx) {
        const int64_t pixel = (data.y.Start(oy) + ky) * data.x.input + data.x.Start(ox) + kx;
        const typename Pool::Value* values = image + pixel * data.channels + first;
        for (int c = 0; c < channels; ++c) pool.Take(&sums[c], values[c]);
      }
    }
    for (int c = 0; c < channels; ++c) out[first + c] = pool.Finish(sums[c], count);
  }
}

// A pooling with a vector loop, for adjacent windows that cover the same number of columns.
template <typename T, typename BoundsT>
struct VectorPool {
  using Value = T;
  void (*loop)(const PoolWindow<T>& window, const BoundsT& bounds);
  BoundsT bounds;
};

template <typename T, typename BoundsT>
void PoolPixels(const PoolData& data, const VectorPool<T, BoundsT>& pool, const T* image, int oy,
                int ox, int windows, T* out) {
  const int first_y = data.y.FirstTap(oy), last_y = data.y.LastTap(oy);
  const int first_x = data.x.FirstTap(ox), last_x = data.x.LastTap(ox);
  const int64_t pixel =
      (data.y.Start(oy) + first_y) * int64_t{data.x.input} + data.x.Start(ox) + first_x;
  pool.loop({.first = image + pixel * data.channels,
             .rows = last_y - first_y,
             .columns = last_x - first_x,
             .channels = data.channels,
             .row_stride = int64_t{data.x.input} * data.channels,
             .column_stride = data.channels,
             .out = out + int64_t{ox} * data.channels,
             .windows = windows,
             .window_stride = int64_t{data.x.stride} * data.channels},
            pool.bounds);
}

template <typename Pool>
void PoolRow(const PoolData& data, const Pool& pool, const typename Pool::Value* image, int oy,
             typename Pool::Value* out) {
  for (int ox = 0; ox < data.x.output; ++ox, out += data.channels) {
    PoolPixel(data, pool, image, oy, ox, out);
  }
}

template <typename T, typename BoundsT>
void PoolRow(const PoolData& data, const VectorPool<T, BoundsT>& pool, const T* image, int oy,
             T* out) {
  for (int ox = 0; ox < data.x.output;) {
    const bool whole = ox >= data.first_whole && ox < data.last_whole;
    const int windows = whole ? data.last_whole - ox : 1;
    PoolPixels(data, pool, image, oy, ox, windows, out);
    ox += windows;
  }
}

// ---- Eval -------------------------------------------------------------------------------------

// Function that computes output row `oy` of an image; `pool` points to a pooling of the type for
// which the function is instantiated.
using PoolRowFunction = void (*)(const PoolData& data, const void* pool, const void* image, int oy,
                                 void* out);

// Computes all output rows on all threads; values have `size` bytes.
TfLiteStatus RunRows(TfLiteContext* context, TfLiteNode* node, int64_t size, const void* pool,
                     PoolRowFunction pool_row) {
  const PoolData& data = DataOf<PoolData>(node);
  const int64_t image_bytes = int64_t{data.y.input} * data.x.input * data.channels * size;
  const auto* input = static_cast<const char*>(Input(context, node, 0)->data.data);
  auto* out = static_cast<char*>(Output(context, node, 0)->data.data);
  if (ElementCount(Output(context, node, 0)) == 0) return kTfLiteOk;
  const int64_t row_values = int64_t{data.x.output} * data.channels;
  const double row_inputs =
      static_cast<double>(row_values) * data.y.filter * static_cast<double>(data.x.filter);
  const int64_t rows = int64_t{data.batches} * data.y.output;
  ParallelRanges(context, rows,
                 static_cast<int64_t>(kElementsPerTask / std::max(row_inputs, 1.0)) + 1,
                 [&](int64_t first, int64_t last) {
                   for (int64_t row = first; row < last; ++row) {
                     pool_row(data, pool, input + row / data.y.output * image_bytes,
                              static_cast<int>(row % data.y.output), out + row * row_values * size);
                   }
                 });
  return kTfLiteOk;
}

template <typename Pool>
TfLiteStatus Run(TfLiteContext* context, TfLiteNode* node, const Pool& pool) {
  using Value = typename Pool::Value;
  return RunRows(context, node, sizeof(Value), &pool,
                 [](const PoolData& data, const void* typed, const void* image, int oy, void* to) {
                   PoolRow(data, *static_cast<const Pool*>(typed), static_cast<const Value*>(image),
                           oy, static_cast<Value*>(to));
                 });
}

// Vector loops of the CPU table for one kind of pooling, by element type.
struct PoolLoops {
  void (*f32)(const PoolWindow<float>&, const FloatBounds&);
  void (*s8)(const PoolWindow<int8_t>&, const StepBounds&);
  void (*u8)(const PoolWindow<uint8_t>&, const StepBounds&);
};

PoolLoops MaxLoops(const VectorKernels& vector) {
  return {vector.max_pool_f32, vector.max_pool_s8, vector.max_pool_u8};
}
PoolLoops AverageLoops(const VectorKernels& vector) {
  return {vector.average_pool_f32, vector.average_pool_s8, vector.average_pool_u8};
}

// Computes the node with the CPU table's loop or, if it is null, with `reference`.
template <typename T, typename BoundsT, typename Pool>
TfLiteStatus RunLoop(TfLiteContext* context, TfLiteNode* node,
                     void (*loop)(const PoolWindow<T>&, const BoundsT&), const Pool& reference) {
  const auto& range = reference.range;
  if (loop == nullptr) return Run(context, node, reference);
  return Run(context, node, VectorPool<T, BoundsT>{loop, {range.low, range.high}});
}

template <PoolLoops (*loops_of)(const VectorKernels&), typename FloatPool,
          template <typename> typename StepsPool>
TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const PoolData& data = DataOf<PoolData>(node);
  const PoolLoops loops = loops_of(CpuOf(context).vector);
  switch (Input(context, node, 0)->type) {
    case kTfLiteFloat32:
      return RunLoop(context, node, loops.f32, FloatPool{data.float_range});
    case kTfLiteInt8:
      return RunLoop(context, node, loops.s8, StepsPool<int8_t>{data.int_range});
    case kTfLiteUInt8:
      return RunLoop(context, node, loops.u8, StepsPool<uint8_t>{data.int_range});
    case kTfLiteInt16:
      return Run(context, node, ChunkedPool<StepsPool<int16_t>>{{data.int_range}});
    default:
      return UnexpectedType(context, Input(context, node, 0));
  }
}

// Average of quantised values, rescaled to the output's scale.
template <typename T>
struct RescaledAverage {
  using Value = T;
  using Sum = int64_t;
  IntRange range;
  Rescaler rescaler;
  static constexpr Sum kFirst = 0;
  void Take(Sum* sum, Value value) const { Accumulate(sum, value); }
  Value Finish(Sum sum, int64_t count) const {
    const double average = static_cast<double>(sum) / static_cast<double>(count);
    return static_cast<Value>(rescaler.InRange(average, range.low, range.high));
  }
};

template <typename T>
TfLiteStatus RunRescaledAverage(TfLiteContext* context, TfLiteNode* node) {
  const Rescaler rescaler(Input(context, node, 0), Output(context, node, 0));
  return Run(context, node, RescaledAverage<T>{DataOf<PoolData>(node).int_range, rescaler});
}

// Rows of an image's only window, divided into blocks for threads. The blocks depend on the shape
// only, so that results do not depend on the threads.
struct WindowBlocks {
  static constexpr int kBlocks = 16;
  // Minimum number of input values for which the blocks are worthwhile.
  static constexpr double kMinValues = kBlocks * static_cast<double>(kElementsPerTask);

  explicit WindowBlocks(const PoolData& data)
      : rows(data.y.LastTap(0) - data.y.FirstTap(0)),
        columns(data.x.LastTap(0) - data.x.FirstTap(0)) {}
  int Begin(int64_t block) const { return static_cast<int>(rows * block / kBlocks); }
  int Rows(int64_t block) const { return Begin(block + 1) - Begin(block); }

  const int rows, columns;
};

// Returns true if each image has a single window, with enough rows to divide.
bool IsDivided(const PoolData& data) {
  if (data.y.output != 1 || data.x.output != 1) return false;
  const WindowBlocks blocks(data);
  const double values = static_cast<double>(blocks.rows) * blocks.columns * data.channels;
  return blocks.rows >= 2 * WindowBlocks::kBlocks && values >= WindowBlocks::kMinValues;
}

// Returns the bytes of the averages of all blocks.
size_t BlockBytes(const PoolData& data) {
  return static_cast<size_t>(data.batches) * WindowBlocks::kBlocks *
         static_cast<size_t>(data.channels) * sizeof(float);
}

TfLiteStatus PrepareAverage(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareTypes(context, node, kFloat32Bit | kQuantizedTypes));
  const PoolData& data = DataOf<PoolData>(node);
  if (Input(context, node, 0)->type == kTfLiteFloat32 && IsDivided(data)) {
    AnnounceScratch(context, BlockBytes(data));
  }
  return kTfLiteOk;
}

// Averages blocks of rows on all threads, and then these averages, weighted by their numbers of
// rows.
TfLiteStatus RunDividedAverage(TfLiteContext* context, TfLiteNode* node) {
  const PoolData& data = DataOf<PoolData>(node);
  const WindowBlocks blocks(data);
  const auto channels = static_cast<size_t>(data.channels);
  Scratch scratch;
  if (!scratch.Acquire(context, BlockBytes(data))) {
    return TensorError(context, Output(context, node, 0), "out of memory for %zu bytes of averages",
                       BlockBytes(data));
  }
  auto* const averages = scratch.as<float>();
  const float* const input = Data<float>(Input(context, node, 0));
  const auto loop = CpuOf(context).vector.average_pool_f32;
  const FloatRange all = ActivationRange(kTfLiteActNone);
  const int64_t row_stride = int64_t{data.x.input} * data.channels;
  ParallelRanges(
      context, int64_t{data.batches} * WindowBlocks::kBlocks, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t batch = i / WindowBlocks::kBlocks, block = i % WindowBlocks::kBlocks;
          const int64_t row =
              batch * data.y.input + data.y.Start(0) + data.y.FirstTap(0) + blocks.Begin(block);
          const int64_t column = data.x.Start(0) + data.x.FirstTap(0);
          loop({.first = input + row * row_stride + column * data.channels,
                .rows = blocks.Rows(block),
                .columns = blocks.columns,
                .channels = data.channels,
                .row_stride = row_stride,
                .column_stride = data.channels,
                .out = averages + static_cast<size_t>(i) * channels},
               {all.low, all.high});
        }
      });
  float* out = Data<float>(Output(context, node, 0));
  for (int batch = 0; batch < data.batches; ++batch, out += channels) {
    const float* const first =
        averages + static_cast<size_t>(batch) * WindowBlocks::kBlocks * channels;
    for (size_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (int block = 0; block < WindowBlocks::kBlocks; ++block) {
        sum += first[static_cast<size_t>(block) * channels + c] *
               (static_cast<float>(blocks.Rows(block)) / static_cast<float>(blocks.rows));
      }
      out[c] = Clamp(sum, data.float_range);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus EvalAverage(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteFloat32 && IsDivided(DataOf<PoolData>(node)) &&
      CpuOf(context).vector.average_pool_f32 != nullptr) {
    return RunDividedAverage(context, node);
  }
  if (!NeedsRescaling(context, input, Output(context, node, 0))) {
    return Eval<&AverageLoops, AverageFloat, AverageSteps>(context, node);
  }
  if (input->type == kTfLiteInt8) return RunRescaledAverage<int8_t>(context, node);
  if (input->type == kTfLiteUInt8) return RunRescaledAverage<uint8_t>(context, node);
  return RunRescaledAverage<int16_t>(context, node);
}

TfLiteStatus EvalL2(TfLiteContext* context, TfLiteNode* node) {
  return Run(context, node, ChunkedPool<L2Float>{{DataOf<PoolData>(node).float_range}});
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<5, TfLitePoolParams, &FillPool>(KernelRow<PoolData>(
        "AVERAGE_POOL_2D", kTfLiteBuiltinAveragePool2d, 3, kFloat32Bit | kQuantizedTypes,
        &Guarded<&PrepareAverage>, &Guarded<&EvalAverage>)),
    WithOptions<5, TfLitePoolParams, &FillPool>(KernelRow<PoolData>(
        "MAX_POOL_2D", kTfLiteBuiltinMaxPool2d, 3, kFloat32Bit | kQuantizedTypes,
        &Guarded<&PrepareMove<RescaleInputs(1), &Prepare<kFloat32Bit | kQuantizedTypes>>>,
        &Guarded<&EvalMove<RescaleInputs(1), &Eval<&MaxLoops, MaxFloat, MaxSteps>>>)),
    WithOptions<5, TfLitePoolParams, &FillPool>(
        KernelRow<PoolData>("L2_POOL_2D", kTfLiteBuiltinL2Pool2d, 1, kFloat32Bit,
                            &Guarded<&Prepare<kFloat32Bit>>, &Guarded<&EvalL2>)),
};

}  // namespace

constexpr std::span<const OpDef> kPoolOps = kTable;

}  // namespace deputy
