// SPDX-License-Identifier: Apache-2.0
//
// DEPTHWISE_CONV_2D row by row: float32 several columns at once, int8 pixel by pixel with all
// channels. Several outputs per input channel are rare and stay with the reference, as uint8, int16
// and hybrid do.
#include <cstring>
#include <numeric>

#include "kernels/conv/conv.h"

namespace deputy {
namespace {

// ---- Float ------------------------------------------------------------------------------------

// With stride 1 the interior of a row is one run of values, and what a value is multiplied by
// depends on its channel alone: vectors may span pixels. Weights and bias are repeated for that
// until they fill whole vectors.
struct FlatWeights {
  // Lanes of the widest vectors.
  static constexpr int kLanes = 16;

  // Values after which a vector begins with the first channel again; 0: pixels fill vectors
  // without, or would be repeated too often.
  static int Period(const ConvShape& shape) {
    const int channels = shape.output_channels;
    if (shape.x.stride != 1 || channels % kLanes == 0 || channels > 4 * kLanes) return 0;
    const int period = std::lcm(channels, kLanes);
    return Interior(shape.x).columns() / 2 < period / channels ? 0 : period;
  }
  static size_t Values(const ConvShape& shape) {
    return static_cast<size_t>(Period(shape)) * (Taps(shape) + 1);
  }
  static size_t Taps(const ConvShape& shape) {
    return static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter);
  }

  int period;
  const float* weights;  // [taps][period]
  const float* bias;     // [period]

  // `room` holds Values().
  FlatWeights(const ConvShape& shape, const float* from, const float* from_bias, float* room)
      : period(Period(shape)), weights(room) {
    if (period == 0) return;
    const size_t taps = Taps(shape), channels = static_cast<size_t>(shape.output_channels);
    for (size_t tap = 0; tap < taps; ++tap, room += period)
      Repeat(from + tap * channels, channels, room);
    Repeat(from_bias, channels, room);
    bias = room;
  }

 private:
  void Repeat(const float* values, size_t count, float* out) const {
    for (int i = 0; i < period; i += static_cast<int>(count)) std::copy_n(values, count, out + i);
  }
};

// What the rows of a convolution have in common.
struct FloatRows {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const float* input;
  const float* weights;
  const float* bias;
  FloatRange range;
  Interior interior;
  FlatWeights flat;

  // Two pointers per row of the filter.
  static size_t ScratchBytes(const ConvShape& shape) {
    return AlignedBytes(2 * static_cast<size_t>(std::min(shape.y.filter, shape.y.input)) *
                        sizeof(void*));
  }
  void Run(int64_t row, char* scratch, float* out) const;
};

// One row of the output, `row` of all batches.
class FloatRow {
 public:
  FloatRow(const FloatRows& rows, int64_t row, char* scratch, float* out)
      : rows_(rows),
        y_(static_cast<int>(row % rows.shape.y.output)),
        batch_(row / rows.shape.y.output),
        inputs_(reinterpret_cast<const float**>(scratch)),
        out_(out) {
    const WindowAxis& y = rows.shape.y;
    first_ = y.FirstTap(y_);
    count_ = y.LastTap(y_) - first_;
    weights_ = inputs_ + std::min(y.filter, y.input);
  }

  void Run() {
    const WindowAxis& x = rows_.shape.x;
    const Interior& interior = rows_.interior;
    for (int i = 0; i < interior.first; ++i) Columns(i, 1, x.FirstTap(i), x.LastTap(i));
    if (rows_.flat.period > 0) {
      FlatColumns(interior);
    } else if (interior.columns() > 0) {
      Columns(interior.first, interior.columns(), 0, x.filter);
    }
    for (int i = interior.last; i < x.output; ++i) Columns(i, 1, x.FirstTap(i), x.LastTap(i));
  }

 private:
  // `weights` are [taps][channels].
  void PointAt(int column, int first_tap, const float* weights, int channels) {
    const WindowAxis &y = rows_.shape.y, &x = rows_.shape.x;
    const int64_t ix = x.Start(column) + int64_t{first_tap} * x.dilation;
    for (int i = 0; i < count_; ++i) {
      const int64_t ky = first_ + i;
      inputs_[i] = rows_.shape.Pixel(rows_.input, batch_, y.Start(y_) + ky * y.dilation, ix);
      weights_[i] = weights + (ky * x.filter + first_tap) * channels;
    }
  }

  // Taps [first_tap, last_tap) of each filter row.
  void Columns(int first, int columns, int first_tap, int last_tap) {
    const int channels = rows_.shape.output_channels;
    PointAt(first, first_tap, rows_.weights, channels);
    rows_.cpu.depthwise_f32.columns({.columns = columns,
                                     .channels = channels,
                                     .rows = count_,
                                     .taps = std::max(0, last_tap - first_tap),
                                     .inputs = inputs_,
                                     .weights = weights_,
                                     .column_step = Step(rows_.shape.x.stride),
                                     .tap_step = Step(rows_.shape.x.dilation),
                                     .weight_step = Step(1),
                                     .bias = rows_.bias,
                                     .low = rows_.range.low,
                                     .high = rows_.range.high,
                                     .out = out_ + first * Step(1)});
  }

  void FlatColumns(const Interior& interior) {
    const FlatWeights& flat = rows_.flat;
    const int values = interior.columns() * rows_.shape.output_channels;
    const int periods = values / flat.period, rest = values % flat.period;
    const auto period = static_cast<size_t>(flat.period);
    PointAt(interior.first, 0, flat.weights, flat.period);
    DepthwiseColumnsF32 run = {.columns = periods,
                               .channels = flat.period,
                               .rows = count_,
                               .taps = rows_.shape.x.filter,
                               .inputs = inputs_,
                               .weights = weights_,
                               .column_step = period,
                               .tap_step = Step(rows_.shape.x.dilation),
                               .weight_step = period,
                               .bias = flat.bias,
                               .low = rows_.range.low,
                               .high = rows_.range.high,
                               .out = out_ + interior.first * Step(1)};
    rows_.cpu.depthwise_f32.columns(run);
    if (rest == 0) return;
    const size_t done = static_cast<size_t>(periods) * period;
    for (int i = 0; i < count_; ++i) inputs_[i] += done;
    run.columns = 1;
    run.channels = rest;
    run.out += done;
    rows_.cpu.depthwise_f32.columns(run);
  }

  // Values from a pixel to the one `pixels` further.
  size_t Step(int pixels) const {
    return static_cast<size_t>(pixels) * static_cast<size_t>(rows_.shape.output_channels);
  }

  const FloatRows& rows_;
  int y_;
  int64_t batch_;
  int first_, count_;  // rows of the filter that lie inside the input
  const float** inputs_;
  const float** weights_;
  float* out_;
};

void FloatRows::Run(int64_t row, char* scratch, float* out) const {
  FloatRow(*this, row, scratch, out).Run();
}

bool IsOneToOne(const ConvShape& shape) { return shape.input_channels == shape.output_channels; }

bool IsFloat(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && IsOneToOne(data.shape) &&
         cpu.depthwise_f32.columns != nullptr;
}

// Bytes in all; 0 when they do not fit.
size_t WorkerScratch(size_t bytes, int workers) {
  size_t each, total;
  return ScratchForWorkers(bytes, workers, &each, &total) ? total : 0;
}

size_t FloatScratch(const ConvData& data, const ConvTensors&, const CpuKernels&, int workers) {
  return WorkerScratch(FloatRows::ScratchBytes(data.shape), workers) +
         AlignedBytes(FlatWeights::Values(data.shape) * sizeof(float));
}

TfLiteStatus AcquireScratch(TfLiteContext* context, size_t bytes, const ConvTensors& tensors,
                            Scratch* out) {
  return out->AcquireForWorkers(context, bytes, ThreadCount(context))
             ? kTfLiteOk
             : TensorError(context, tensors.filter, "out of memory for its taps");
}

int64_t RowValues(const ConvShape& shape) {
  return int64_t{shape.x.output} * shape.output_channels;
}

TfLiteStatus RunFloat(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  const ConvShape& shape = data->shape;
  Scratch flat, scratch;
  if (!flat.Acquire(context, FlatWeights::Values(shape) * sizeof(float))) {
    return TensorError(context, tensors.filter, "out of memory for a copy");
  }
  DEPUTY_TRY(AcquireScratch(context, FloatRows::ScratchBytes(shape), tensors, &scratch));
  const float* const weights = Data<float>(tensors.filter);
  const float* const bias = Data<float>(tensors.bias);
  const FloatRows rows = {shape,
                          cpu,
                          Data<float>(tensors.input),
                          weights,
                          bias,
                          data->float_range,
                          Interior(shape.x),
                          FlatWeights(shape, weights, bias, flat.as<float>())};
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    rows.Run(row, scratch.worker(worker), Data<float>(tensors.output) + row * RowValues(shape));
  });
  return kTfLiteOk;
}

// ---- int8 -------------------------------------------------------------------------------------

// Scratch of one thread: a pointer per tap, then one sum per channel, then a row of zero points
// that stands for taps outside the input. Sums are aligned.
struct Int8PixelScratch {
  size_t pointers_bytes, bytes;

  explicit Int8PixelScratch(const ConvShape& shape)
      : pointers_bytes(AlignedBytes(Taps(shape) * sizeof(void*))),
        bytes(AlignedBytes(pointers_bytes + static_cast<size_t>(shape.output_channels) * 5)) {}
  static size_t Taps(const ConvShape& shape) {
    return static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter);
  }
};

void DepthwiseRowInt8(const ConvShape& shape, const CpuKernels& cpu, const int8_t* input,
                      const int8_t* weights, const int32_t* bias, const ChannelScaling& scaling,
                      Arithmetic arithmetic, int64_t row, char* scratch, int8_t* out) {
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const int channels = shape.output_channels;
  const int8_t** inputs = reinterpret_cast<const int8_t**>(scratch);
  int32_t* sums = reinterpret_cast<int32_t*>(scratch + Int8PixelScratch(shape).pointers_bytes);
  int8_t* outside = reinterpret_cast<int8_t*>(sums + channels);
  std::fill_n(outside, channels, static_cast<int8_t>(scaling.input_zero_point()));
  const DepthwisePixelS8 pixel = {
      static_cast<int>(Int8PixelScratch::Taps(shape)), channels, inputs, weights, bias, sums};
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
    cpu.depthwise_s8.pixel(pixel);
    finish.out = out;
    requantize(finish);
  }
}

bool IsInt8(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kInt8 && IsOneToOne(data.shape) &&
         cpu.depthwise_s8.pixel != nullptr;
}

size_t BiasBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.output_channels) * sizeof(int32_t);
}

size_t Int8Scratch(const ConvData& data, const ConvTensors&, const CpuKernels&, int workers) {
  return WorkerScratch(Int8PixelScratch(data.shape).bytes, workers) + BiasBytes(data.shape) +
         kTensorAlignment;
}

// The bias of every channel less the zero point times the channel's weights: valid because the
// int8 rows see all taps, padding included.
void FoldZeroPoint(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
                   int32_t* folded) {
  const int32_t zero_point = data.scaling.input_zero_point() + cpu.depthwise_s8.left_offset();
  const auto channels = static_cast<size_t>(data.shape.output_channels);
  std::memcpy(folded, tensors.bias->data.data, channels * sizeof(int32_t));
  const int8_t* weights = Data<int8_t>(tensors.filter);
  const size_t taps = Int8PixelScratch::Taps(data.shape);
  for (size_t tap = 0; tap < taps; ++tap, weights += channels) {
    for (size_t c = 0; c < channels; ++c) {
      Accumulate(&folded[c], -zero_point * weights[c]);
    }
  }
}

// The filter as the table reads it, in data->packed_filter if that is another order.
TfLiteStatus PackFilter(TfLiteContext* context, const CpuKernels& cpu, ConvData* data,
                        const TfLiteTensor* filter) {
  const auto pack = cpu.depthwise_s8.pack;
  if (pack == nullptr) return kTfLiteOk;
  const int8_t* weights = Data<int8_t>(filter);
  const int taps = static_cast<int>(Int8PixelScratch::Taps(data->shape));
  const int channels = data->shape.output_channels;
  const PackedKey key = {weights, reinterpret_cast<const void*>(pack), {taps, channels}};
  const size_t bytes = pack(weights, taps, channels, nullptr);
  if (data->packed_filter.Ensure(context, key, IsConstant(filter), bytes, [&](char* out) {
        pack(weights, taps, channels, reinterpret_cast<int8_t*>(out));
      })) {
    return kTfLiteOk;
  }
  return TensorError(context, filter, "out of memory for its packed copy");
}

TfLiteStatus PackInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  return IsReadableConstant(tensors.filter) ? PackFilter(context, cpu, data, tensors.filter)
                                            : kTfLiteOk;
}

TfLiteStatus RunInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels& cpu) {
  const ConvShape& shape = data->shape;
  DEPUTY_TRY(PackFilter(context, cpu, data, tensors.filter));
  const int8_t* weights = cpu.depthwise_s8.pack == nullptr
                              ? Data<int8_t>(tensors.filter)
                              : reinterpret_cast<const int8_t*>(data->packed_filter.data());
  Scratch bias, scratch;
  if (!bias.Acquire(context, BiasBytes(shape))) {
    return TensorError(context, tensors.bias, "out of memory for a copy");
  }
  DEPUTY_TRY(AcquireScratch(context, Int8PixelScratch(shape).bytes, tensors, &scratch));
  FoldZeroPoint(*data, cpu, tensors, bias.as<int32_t>());
  const Arithmetic arithmetic = ArithmeticOf(context);
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    DepthwiseRowInt8(shape, cpu, Data<int8_t>(tensors.input), weights, bias.as<int32_t>(),
                     data->scaling, arithmetic, row, scratch.worker(worker),
                     Data<int8_t>(tensors.output) + row * RowValues(shape));
  });
  return kTfLiteOk;
}

}  // namespace

constexpr ConvImplementation kDepthwiseFloat = {.name = "columns_float",
                                                .accepts = &IsFloat,
                                                .pack = nullptr,
                                                .scratch = &FloatScratch,
                                                .run = &RunFloat};
constexpr ConvImplementation kDepthwiseInt8 = {.name = "pixel_int8",
                                               .accepts = &IsInt8,
                                               .pack = &PackInt8,
                                               .scratch = &Int8Scratch,
                                               .run = &RunInt8};

}  // namespace deputy
