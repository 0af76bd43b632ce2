// SPDX-License-Identifier: Apache-2.0
//
// int8 DEPTHWISE_CONV_2D: several columns of a row at once if the kernel group supports it,
// otherwise pixel by pixel, which also supports the exact rounding of TensorFlow Lite's reference.
// depthwise_uint8.cc calls it with int8 copies of uint8 tensors; then the output's sign bits are
// flipped.
#include <cstring>

#include "core/support/int_math.h"
#include "kernels/conv/depthwise.h"

namespace deputy {
namespace {

bool IsInt8(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return data.form == WeightsForm::kInt8 && IsOneToOne(tensors.shape) &&
         cpu.depthwise_s8.pixel != nullptr;
}

size_t SumBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.output_channels) * sizeof(int32_t);
}

// ---- Weights ----------------------------------------------------------------------------------

// Returns true if sharing loads between adjacent columns of a 3x3 filter is better than vectors
// that span pixels: if at least three quarters of the lanes of a pixel's vectors are used.
bool SharesColumns(const ConvShape& shape, int lanes) {
  const auto padded = static_cast<int>(RoundUp(shape.output_channels, lanes));
  return shape.filter_parts == 1 && shape.y.filter == 3 && shape.x.filter == 3 &&
         shape.x.dilation == 1 && int64_t{padded} * 3 <= int64_t{shape.output_channels} * 4;
}

int FlatPeriod(const ConvShape& shape, const CpuKernels& cpu) {
  const int lanes = cpu.depthwise_s8.lanes;
  if (lanes > 0 && SharesColumns(shape, lanes)) return 0;
  return cpu.depthwise_s8.columns == nullptr ? 0 : FlatPeriod(shape, lanes, 4 * lanes);
}

bool PackFilter(TfLiteContext* context, const CpuKernels& cpu, const ConvShape& shape,
                const TfLiteTensor* filter, int period, PackedConstant* out) {
  const auto pack = cpu.depthwise_s8.pack;
  const int8_t* weights = Data<int8_t>(filter);
  const int taps = static_cast<int>(DepthwiseTaps(shape)), channels = shape.output_channels;
  const PackedKey key = {weights, reinterpret_cast<const void*>(pack), {taps, channels, period}};
  const size_t bytes = pack(weights, taps, channels, period, nullptr);
  return out->Ensure(context, key, IsConstant(filter), bytes, [&](char* to) {
    pack(weights, taps, channels, period, reinterpret_cast<int8_t*>(to));
  });
}

// Packs the filter if the kernel reads it in another order than the model's.
TfLiteStatus PackFilters(TfLiteContext* context, const CpuKernels& cpu, ConvData* data,
                         const TfLiteTensor* filter) {
  if (cpu.depthwise_s8.pack == nullptr) return kTfLiteOk;
  const ConvShape& shape = data->shape;
  const int period = FlatPeriod(shape, cpu);
  if (PackFilter(context, cpu, shape, filter, shape.output_channels, &data->packed_filter) &&
      (period == 0 || PackFilter(context, cpu, shape, filter, period, &data->flat_filter))) {
    return kTfLiteOk;
  }
  return TensorError(context, filter, "out of memory for its packed copy");
}

TfLiteStatus PackInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  return IsReadableConstant(tensors.filter) ? PackFilters(context, cpu, data, tensors.filter)
                                            : kTfLiteOk;
}

const int8_t* Packed(const PackedConstant& filter) {
  return reinterpret_cast<const int8_t*>(filter.data());
}

// Returns the input's zero point as int8; for uint8 tensors it is offset by -128.
int32_t InputZeroPoint(const ConvData& data) {
  return data.scaling.input_zero_point() - data.scaling.output_offset();
}

// Repeats the addresses of the first part's taps for the other parts.
void RepeatTaps(const ConvShape& shape, const int8_t** taps) {
  const size_t count = DepthwiseTaps(shape) / static_cast<size_t>(shape.filter_parts);
  for (int part = 1; part < shape.filter_parts; ++part) {
    std::copy_n(taps, count, taps + static_cast<size_t>(part) * count);
  }
}

void FinishRow(const ConvData& data, int8_t* out) {
  if (data.scaling.output_offset() != 0) FlipSigns(out, DepthwiseRowValues(data.shape));
}

// ---- Pixel by pixel ---------------------------------------------------------------------------

// Scratch memory of one thread: a pointer per tap, then one aligned sum per channel, then a row of
// zero points for taps outside the input.
struct PixelScratch {
  size_t pointers_bytes, bytes;

  explicit PixelScratch(const ConvShape& shape)
      : pointers_bytes(AlignedBytes(DepthwiseTaps(shape) * sizeof(void*))),
        bytes(AlignedBytes(pointers_bytes + static_cast<size_t>(shape.output_channels) * 5)) {}
};

void PixelRow(const ConvData& data, const CpuKernels& cpu, const int8_t* input,
              const int8_t* weights, const int32_t* bias, Arithmetic arithmetic, int64_t row,
              char* scratch, int8_t* out) {
  const ConvShape& shape = data.shape;
  const ChannelScaling& scaling = data.scaling;
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const int channels = shape.output_channels;
  const int8_t** inputs = reinterpret_cast<const int8_t**>(scratch);
  int32_t* sums = reinterpret_cast<int32_t*>(scratch + PixelScratch(shape).pointers_bytes);
  int8_t* outside = reinterpret_cast<int8_t*>(sums + channels);
  std::fill_n(outside, channels, static_cast<int8_t>(InputZeroPoint(data)));
  const DepthwisePixelS8 pixel = {
      static_cast<int>(DepthwiseTaps(shape)), channels, inputs, weights, bias, sums};
  const auto requantize = scaling.TileFunctionOf(cpu, arithmetic);
  RequantizeTile finish = scaling.Tile(0);
  finish.rows = 1;
  finish.columns = channels;
  finish.sums = sums;
  for (int ox = 0; ox < shape.x.output; ++ox, out += channels) {
    const int8_t** next = inputs;
    for (int ky = 0; ky < shape.y.filter; ++ky) {
      const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
      for (int kx = 0; kx < shape.x.filter; ++kx) {
        const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
        const bool inside = iy >= 0 && iy < shape.y.input && ix >= 0 && ix < shape.x.input;
        *next++ = inside ? shape.Pixel(input, b, iy, ix) : outside;
      }
    }
    RepeatTaps(shape, inputs);
    cpu.depthwise_s8.pixel(pixel);
    finish.out = out;
    requantize(finish);
  }
}

TfLiteStatus RunPixels(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu, const int32_t* bias) {
  const ConvShape& shape = tensors.shape;
  const int8_t* weights =
      cpu.depthwise_s8.pack == nullptr ? Data<int8_t>(tensors.filter) : Packed(data->packed_filter);
  Scratch scratch;
  DEPUTY_TRY(AcquireDepthwiseScratch(context, PixelScratch(shape).bytes, tensors, &scratch));
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int64_t row_values = DepthwiseRowValues(shape);
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    int8_t* const out = Data<int8_t>(tensors.output) + row * row_values;
    PixelRow(*data, cpu, Data<int8_t>(tensors.input), weights, bias, arithmetic, row,
             scratch.worker(worker), out);
    FinishRow(*data, out);
  });
  return kTfLiteOk;
}

// ---- Several columns at once ------------------------------------------------------------------

// Layout of the data shared by all rows: bias and factors in the kernel's order, for single pixels
// and repeated for vectors that span pixels; a row of zero points as long as an input row; and a
// temporary bias.
struct ColumnsLayout {
  size_t channels, period, zeros_bytes, bytes;

  ColumnsLayout(const ConvShape& shape, const CpuKernels& cpu)
      : channels(Ordered(shape.output_channels, cpu)),
        period(Ordered(FlatPeriod(shape, cpu), cpu)),
        zeros_bytes(AlignedBytes(static_cast<size_t>(shape.x.input) *
                                 static_cast<size_t>(shape.input_channels))),
        bytes(2 * (channels + period) * sizeof(int32_t) + zeros_bytes + SumBytes(shape)) {}

 private:
  static size_t Ordered(int count, const CpuKernels& cpu) {
    const auto lanes = static_cast<size_t>(cpu.depthwise_s8.lanes);
    return RoundUp(static_cast<size_t>(count), lanes);
  }
};

// Weights, bias and factors of `count` channels in the kernel's order.
struct OrderedChannels {
  int count;
  const int8_t* weights;
  const int32_t* bias;
  const int32_t* factors;  // bits of float factors
};

// Fills a block that has the layout of ColumnsLayout.
void PrepareColumns(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
                    char* out) {
  const ConvShape& shape = tensors.shape;
  const ColumnsLayout layout(shape, cpu);
  auto* const bias = reinterpret_cast<int32_t*>(out + layout.bytes - SumBytes(shape));
  FoldZeroPoint(data, cpu, tensors, bias);
  // The float factors are reordered as if they were integers.
  const auto* const factors = reinterpret_cast<const int32_t*>(data.scaling.Tile(0).factors);
  auto* next = reinterpret_cast<int32_t*>(out);
  const auto order = [&](int count, size_t buffer) {
    if (count > 0) {
      cpu.depthwise_s8.order(bias, shape.output_channels, count, next);
      cpu.depthwise_s8.order(factors, shape.output_channels, count, next + buffer);
    }
    next += 2 * buffer;
  };
  order(shape.output_channels, layout.channels);
  order(FlatPeriod(shape, cpu), layout.period);
  std::memset(next, InputZeroPoint(data), layout.zeros_bytes);
}

class ColumnsJob {
 public:
  // `prepared` is the block that PrepareColumns has filled.
  ColumnsJob(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
             const char* prepared)
      : data_(data),
        shape_(tensors.shape),
        cpu_(cpu),
        interior_(tensors.shape.x),
        tile_(data.scaling.Tile(0)),
        input_(Data<int8_t>(tensors.input)),
        out_(Data<int8_t>(tensors.output)) {
    const ColumnsLayout layout(shape_, cpu);
    const auto* next = reinterpret_cast<const int32_t*>(prepared);
    const int period = FlatPeriod(shape_, cpu);
    plain_ = {shape_.output_channels, Packed(data.packed_filter), next, next + layout.channels};
    next += 2 * layout.channels;
    flat_ = {period, period == 0 ? nullptr : Packed(data.flat_filter), next, next + layout.period};
    next += 2 * layout.period;
    zeros_ = reinterpret_cast<const int8_t*>(next);
  }

  void Row(int64_t row, const int8_t** taps) const {
    const WindowAxis& x = shape_.x;
    int8_t* out = out_ + row * DepthwiseRowValues(shape_);
    for (int i = 0; i < interior_.first; ++i) Columns(row, i, 1, plain_, taps, out);
    const int columns = interior_.columns();
    if (flat_.count > 0) {
      FlatColumns(row, taps, out);
    } else if (columns > 0) {
      Columns(row, interior_.first, columns, plain_, taps, out);
    }
    for (int i = interior_.last; i < x.output; ++i) Columns(row, i, 1, plain_, taps, out);
    FinishRow(data_, out);
  }

 private:
  // Writes the addresses of the taps of output column `ox`.
  void PointAt(int64_t row, int ox, const int8_t** taps) const {
    const WindowAxis &y = shape_.y, &x = shape_.x;
    const int oy = static_cast<int>(row % y.output);
    const int8_t** const first = taps;
    for (int ky = 0; ky < y.filter; ++ky) {
      const int64_t iy = y.Start(oy) + int64_t{ky} * y.dilation;
      for (int kx = 0; kx < x.filter; ++kx) {
        const int64_t ix = x.Start(ox) + int64_t{kx} * x.dilation;
        const bool inside = iy >= 0 && iy < y.input && ix >= 0 && ix < x.input;
        *taps++ = inside ? shape_.Pixel(input_, row / y.output, iy, ix) : zeros_;
      }
    }
    RepeatTaps(shape_, first);
  }

  DepthwiseColumnsS8 RunOf(const OrderedChannels& channels, const int8_t** taps) const {
    return {.columns = 1,
            .taps = static_cast<int>(DepthwiseTaps(shape_)),
            .channels = channels.count,
            .inputs = taps,
            .column_step = static_cast<size_t>(channels.count),
            .weights = channels.weights,
            .bias = channels.bias,
            .factors = reinterpret_cast<const float*>(channels.factors),
            .zero_point = tile_.zero_point,
            .low = tile_.low,
            .high = tile_.high,
            .out = nullptr};
  }

  void Columns(int64_t row, int first, int columns, const OrderedChannels& channels,
               const int8_t** taps, int8_t* out) const {
    PointAt(row, first, taps);
    DepthwiseColumnsS8 run = RunOf(channels, taps);
    run.columns = columns;
    run.column_step *= static_cast<size_t>(shape_.x.stride);
    run.out = out + int64_t{first} * shape_.output_channels;
    cpu_.depthwise_s8.columns(run);
  }

  void FlatColumns(int64_t row, const int8_t** taps, int8_t* out) const {
    PointAt(row, interior_.first, taps);
    const int64_t values = int64_t{interior_.columns()} * shape_.output_channels;
    DepthwiseColumnsS8 run = RunOf(flat_, taps);
    run.columns = static_cast<int>(values / flat_.count);
    run.out = out + int64_t{interior_.first} * shape_.output_channels;
    cpu_.depthwise_s8.columns(run);
    run.channels = static_cast<int>(values % flat_.count);
    if (run.channels == 0) return;
    const size_t done = static_cast<size_t>(run.columns) * run.column_step;
    for (int tap = 0; tap < run.taps; ++tap) taps[tap] += done;
    run.columns = 1;
    run.out += done;
    cpu_.depthwise_s8.columns(run);
  }

  const ConvData& data_;
  const ConvShape& shape_;
  const CpuKernels& cpu_;
  Interior interior_;
  RequantizeTile tile_;
  const int8_t* input_;
  int8_t* out_;
  OrderedChannels plain_ = {}, flat_ = {};
  const int8_t* zeros_ = nullptr;
};

TfLiteStatus RunColumns(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                        const CpuKernels& cpu) {
  const ConvShape& shape = tensors.shape;
  Scratch scratch;
  // The packed data depends on scales and on the input's width, so its key is the node.
  const PackedKey key = {data, nullptr, {}};
  const bool fixed = IsConstant(tensors.filter) && IsConstant(tensors.bias);
  if (!data->columns.Ensure(context, key, fixed, ColumnsLayout(shape, cpu).bytes,
                            [&](char* out) { PrepareColumns(*data, cpu, tensors, out); })) {
    return TensorError(context, tensors.filter, "out of memory for its scales");
  }
  DEPUTY_TRY(
      AcquireDepthwiseScratch(context, DepthwiseTaps(shape) * sizeof(void*), tensors, &scratch));
  const ColumnsJob job(*data, cpu, tensors, data->columns.data());
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    job.Row(row, reinterpret_cast<const int8_t**>(scratch.worker(worker)));
  });
  return kTfLiteOk;
}

// ---- The implementation -----------------------------------------------------------------------

size_t Int8Scratch(const ConvData&, const ConvTensors& tensors, const CpuKernels&, int workers) {
  const ConvShape& shape = tensors.shape;
  return WorkerScratch(PixelScratch(shape).bytes, workers) + SumBytes(shape) + kTensorAlignment;
}

TfLiteStatus RunInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels& cpu) {
  DEPUTY_TRY(PackFilters(context, cpu, data, tensors.filter));
  if (cpu.depthwise_s8.columns != nullptr && ArithmeticOf(context) == Arithmetic::kDefault) {
    return RunColumns(context, data, tensors, cpu);
  }
  Scratch bias;
  if (!bias.Acquire(context, SumBytes(tensors.shape))) {
    return TensorError(context, tensors.bias, "out of memory for a copy");
  }
  FoldZeroPoint(*data, cpu, tensors, bias.as<int32_t>());
  return RunPixels(context, data, tensors, cpu, bias.as<int32_t>());
}

}  // namespace

void FoldZeroPoint(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
                   int32_t* folded) {
  const int32_t zero_point = InputZeroPoint(data) + cpu.depthwise_s8.left_offset();
  const auto channels = static_cast<size_t>(tensors.shape.output_channels);
  std::memcpy(folded, tensors.bias->data.data, channels * sizeof(int32_t));
  const int8_t* weights = Data<int8_t>(tensors.filter);
  const size_t taps = DepthwiseTaps(tensors.shape);
  for (size_t tap = 0; tap < taps; ++tap, weights += channels) {
    for (size_t c = 0; c < channels; ++c) Accumulate(&folded[c], -zero_point * weights[c]);
  }
}

constexpr ConvImplementation kDepthwiseInt8 = {.name = "columns_int8",
                                               .accepts = &IsInt8,
                                               .pack = &PackInt8,
                                               .scratch = &Int8Scratch,
                                               .run = &RunInt8};

}  // namespace deputy
