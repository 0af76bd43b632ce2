// SPDX-License-Identifier: Apache-2.0
//
// DEPTHWISE_CONV_2D pixel by pixel, all channels at once. Several outputs per input channel are
// rare and stay with the reference, as uint8, int16 and hybrid do.
#include <cstring>

#include "kernels/conv/conv.h"

namespace deputy {
namespace {

// Scratch of one thread: a pointer per tap twice over, then one sum per channel, then (int8) a row
// of zero points that stands for taps outside the input. Sums are aligned.
struct DepthwiseScratch {
  size_t pointers_bytes, bytes;

  DepthwiseScratch(const ConvShape& shape)
      : pointers_bytes((2 * Taps(shape) * sizeof(void*) + kTensorAlignment - 1) / kTensorAlignment *
                       kTensorAlignment),
        bytes((pointers_bytes + static_cast<size_t>(shape.output_channels) * 5 + kTensorAlignment) /
              kTensorAlignment * kTensorAlignment) {}
  static size_t Taps(const ConvShape& shape) {
    return static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter);
  }
};

void DepthwiseRowFloat(const ConvShape& shape, const CpuKernels& cpu, const float* input,
                       const float* weights, const float* bias, const FloatRange& range,
                       int64_t row, char* scratch, float* out) {
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const float** inputs = reinterpret_cast<const float**>(scratch);
  const float** rows = inputs + DepthwiseScratch::Taps(shape);
  float* const first = out;
  DepthwisePixelF32 pixel = {0,    shape.output_channels, inputs, rows, bias, range.low, range.high,
                             first};
  for (int ox = 0; ox < shape.x.output; ++ox, pixel.out += shape.output_channels) {
    pixel.taps = 0;
    for (int ky = shape.y.FirstTap(oy); ky < shape.y.LastTap(oy); ++ky) {
      const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
      for (int kx = shape.x.FirstTap(ox); kx < shape.x.LastTap(ox); ++kx) {
        const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
        inputs[pixel.taps] = shape.Pixel(input, b, iy, ix);
        rows[pixel.taps++] = weights + (int64_t{ky} * shape.x.filter + kx) * shape.output_channels;
      }
    }
    cpu.depthwise_f32.pixel(pixel);
  }
}

void DepthwiseRowInt8(const ConvShape& shape, const CpuKernels& cpu, const int8_t* input,
                      const int8_t* weights, const int32_t* bias, const ChannelScaling& scaling,
                      Arithmetic arithmetic, int64_t row, char* scratch, int8_t* out) {
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const int channels = shape.output_channels;
  const int8_t** inputs = reinterpret_cast<const int8_t**>(scratch);
  int32_t* sums = reinterpret_cast<int32_t*>(scratch + DepthwiseScratch(shape).pointers_bytes);
  int8_t* outside = reinterpret_cast<int8_t*>(sums + channels);
  std::fill_n(outside, channels, static_cast<int8_t>(scaling.input_zero_point()));
  const DepthwisePixelS8 pixel = {
      static_cast<int>(DepthwiseScratch::Taps(shape)), channels, inputs, weights, bias, sums};
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

// ---- Float ------------------------------------------------------------------------------------

bool IsOneToOne(const ConvShape& shape) { return shape.input_channels == shape.output_channels; }

bool IsFloat(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && IsOneToOne(data.shape) &&
         cpu.depthwise_f32.pixel != nullptr;
}

// Bytes in all; 0 when they do not fit.
size_t WorkerScratch(const ConvData& data, int workers) {
  size_t each, total;
  return ScratchForWorkers(DepthwiseScratch(data.shape).bytes, workers, &each, &total) ? total : 0;
}

size_t FloatScratch(const ConvData& data, const ConvTensors&, const CpuKernels&, int workers) {
  return WorkerScratch(data, workers);
}

TfLiteStatus AcquireScratch(TfLiteContext* context, const ConvData& data,
                            const ConvTensors& tensors, Scratch* out) {
  const size_t bytes = DepthwiseScratch(data.shape).bytes;
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
  Scratch scratch;
  DEPUTY_TRY(AcquireScratch(context, *data, tensors, &scratch));
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    DepthwiseRowFloat(shape, cpu, Data<float>(tensors.input), Data<float>(tensors.filter),
                      Data<float>(tensors.bias), data->float_range, row, scratch.worker(worker),
                      Data<float>(tensors.output) + row * RowValues(shape));
  });
  return kTfLiteOk;
}

// ---- int8 -------------------------------------------------------------------------------------

bool IsInt8(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kInt8 && IsOneToOne(data.shape) &&
         cpu.depthwise_s8.pixel != nullptr;
}

size_t BiasBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.output_channels) * sizeof(int32_t);
}

size_t Int8Scratch(const ConvData& data, const ConvTensors&, const CpuKernels&, int workers) {
  return WorkerScratch(data, workers) + BiasBytes(data.shape) + kTensorAlignment;
}

// The bias of every channel less the zero point times the channel's weights: valid because the
// int8 rows see all taps, padding included.
void FoldZeroPoint(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
                   int32_t* folded) {
  const int32_t zero_point = data.scaling.input_zero_point() + cpu.depthwise_s8.left_offset();
  const auto channels = static_cast<size_t>(data.shape.output_channels);
  std::memcpy(folded, tensors.bias->data.data, channels * sizeof(int32_t));
  const int8_t* weights = Data<int8_t>(tensors.filter);
  const size_t taps = DepthwiseScratch::Taps(data.shape);
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
  const int taps = static_cast<int>(DepthwiseScratch::Taps(data->shape));
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
  DEPUTY_TRY(AcquireScratch(context, *data, tensors, &scratch));
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

constexpr ConvImplementation kDepthwiseFloat = {.name = "pixel_float",
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
