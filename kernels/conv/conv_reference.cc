// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D in plain loops, for all forms of weights: what every faster
// implementation is held against.
#include "kernels/conv/conv.h"

namespace deputy {
namespace {

// One node at work.
struct Layer {
  const ConvData& data;
  const ConvTensors& tensors;
  bool depthwise;
};

// One sum of the widest kind for every output channel.
size_t SumBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.output_channels) * sizeof(int64_t);
}

// Types and zero points of one form. Zero points of the input are those of the batches,
// `zero_stride` apart. Products of integers fit 32 bits, sums of them are of Sum.
template <typename InT, typename WeightT, typename SumT>
struct PlainConv {
  using In = InT;
  using Weight = WeightT;
  using Sum = SumT;
  using Product = std::conditional_t<std::is_same_v<In, float>, float, int32_t>;

  const In* input;
  const Weight* weights;
  const Product* input_zeros;
  int zero_stride;
  Product weights_zero;

  Product InputZero(int64_t batch) const { return input_zeros[batch * zero_stride]; }
  Product Multiply(In a, Weight w, Product input_zero) const {
    return (static_cast<Product>(a) - input_zero) * (static_cast<Product>(w) - weights_zero);
  }
};

// One row of outputs: finish(sum, output pixel, channel, batch), where the sum is over the taps
// inside the input.
template <typename Conv, typename Finish>
void PlainConvRow(const ConvShape& shape, const Conv& conv, int64_t row, const Finish& finish) {
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const int group_channels = shape.output_channels / shape.groups;
  const auto zero = conv.InputZero(b);
  for (int ox = 0; ox < shape.x.output; ++ox) {
    for (int channel = 0; channel < shape.output_channels; ++channel) {
      const int first = channel / group_channels * shape.depth;
      typename Conv::Sum sum = 0;
      for (int ky = shape.y.FirstTap(oy); ky < shape.y.LastTap(oy); ++ky) {
        const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
        for (int kx = shape.x.FirstTap(ox); kx < shape.x.LastTap(ox); ++kx) {
          const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
          const auto* pixel = shape.Pixel(conv.input, b, iy, ix) + first;
          const auto* weights =
              conv.weights +
              ((int64_t{channel} * shape.y.filter + ky) * shape.x.filter + kx) * shape.depth;
          for (int d = 0; d < shape.depth; ++d) {
            Accumulate(&sum, conv.Multiply(pixel[d], weights[d], zero));
          }
        }
      }
      finish(sum, row * shape.x.output + ox, channel, b);
    }
  }
}

// The same for depthwise weights, [ky][kx][channel]; `sums` holds one per output channel.
template <typename Conv, typename Finish>
void PlainDepthwiseRow(const ConvShape& shape, const Conv& conv, int64_t row,
                       typename Conv::Sum* sums, const Finish& finish) {
  const int oy = static_cast<int>(row % shape.y.output);
  const int64_t b = row / shape.y.output;
  const int multiplier = shape.output_channels / shape.input_channels;
  const auto zero = conv.InputZero(b);
  for (int ox = 0; ox < shape.x.output; ++ox) {
    std::fill_n(sums, shape.output_channels, typename Conv::Sum{0});
    for (int ky = shape.y.FirstTap(oy); ky < shape.y.LastTap(oy); ++ky) {
      const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
      for (int kx = shape.x.FirstTap(ox); kx < shape.x.LastTap(ox); ++kx) {
        const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
        const auto* pixel = shape.Pixel(conv.input, b, iy, ix);
        const auto* weights =
            conv.weights + (int64_t{ky} * shape.x.filter + kx) * shape.output_channels;
        int channel = 0;
        for (int c = 0; c < shape.input_channels; ++c) {
          for (int m = 0; m < multiplier; ++m, ++channel) {
            Accumulate(&sums[channel], conv.Multiply(pixel[c], weights[channel], zero));
          }
        }
      }
    }
    for (int channel = 0; channel < shape.output_channels; ++channel) {
      finish(sums[channel], row * shape.x.output + ox, channel, b);
    }
  }
}

template <typename Conv, typename Finish>
TfLiteStatus RunPlain(TfLiteContext* context, const Layer& layer, const Conv& conv,
                      const Finish& finish) {
  using Sum = typename Conv::Sum;
  const ConvShape& shape = layer.data.shape;
  if (!layer.depthwise) {
    ForEachOutputRow(context, shape,
                     [&](int64_t row, int) { PlainConvRow(shape, conv, row, finish); });
    return kTfLiteOk;
  }
  Scratch scratch;
  if (!scratch.AcquireForWorkers(context, SumBytes(shape), ThreadCount(context))) {
    return TensorError(context, layer.tensors.filter, "out of memory for its sums");
  }
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    PlainDepthwiseRow(shape, conv, row, reinterpret_cast<Sum*>(scratch.worker(worker)), finish);
  });
  return kTfLiteOk;
}

// int8 and uint8.
template <typename T>
TfLiteStatus PlainQuantized(TfLiteContext* context, const Layer& layer) {
  const ConvData& data = layer.data;
  const int32_t* bias = Data<int32_t>(layer.tensors.bias);
  const TfLiteTensor* filter = layer.tensors.filter;
  T* out = Data<T>(layer.tensors.output);
  const int32_t input_zero = data.scaling.input_zero_point();
  const int32_t filter_zero = std::is_same_v<T, uint8_t> ? filter->params.zero_point : 0;
  const PlainConv<T, T, int32_t> conv = {Data<T>(layer.tensors.input), Data<T>(filter), &input_zero,
                                         0, filter_zero};
  const Arithmetic arithmetic = ArithmeticOf(context);
  return RunPlain(context, layer, conv, [&](int32_t sum, int64_t pixel, int channel, int64_t) {
    Accumulate(&sum, bias[channel]);
    out[pixel * data.shape.output_channels + channel] =
        static_cast<T>(data.scaling.Requantize(arithmetic, sum, channel));
  });
}

TfLiteStatus PlainFloat(TfLiteContext* context, const Layer& layer) {
  const ConvData& data = layer.data;
  const float* bias = Data<float>(layer.tensors.bias);
  float* out = Data<float>(layer.tensors.output);
  const float zero = 0.0f;
  const PlainConv<float, float, float> conv = {Data<float>(layer.tensors.input),
                                               Data<float>(layer.tensors.filter), &zero, 0, 0.0f};
  return RunPlain(context, layer, conv, [&](float sum, int64_t pixel, int channel, int64_t) {
    out[pixel * data.shape.output_channels + channel] =
        Clamp(sum + bias[channel], data.float_range);
  });
}

TfLiteStatus PlainInt16(TfLiteContext* context, const Layer& layer) {
  const ConvData& data = layer.data;
  const TfLiteTensor* bias = layer.tensors.bias;
  int16_t* out = Data<int16_t>(layer.tensors.output);
  const int32_t zero = 0;
  const PlainConv<int16_t, int8_t, int64_t> conv = {
      Data<int16_t>(layer.tensors.input), Data<int8_t>(layer.tensors.filter), &zero, 0, 0};
  return RunPlain(context, layer, conv, [&](int64_t sum, int64_t pixel, int channel, int64_t) {
    out[pixel * data.shape.output_channels + channel] =
        data.scaling.RequantizeInt16(AddInt16Bias(sum, bias, channel), data.wide_sums, channel);
  });
}

TfLiteStatus PlainHybrid(TfLiteContext* context, const Layer& layer) {
  const ConvData& data = layer.data;
  HybridRows hybrid;
  DEPUTY_TRY(data.QuantizeInput(context, layer.tensors, &hybrid));
  const float* bias = Data<float>(layer.tensors.bias);
  float* out = Data<float>(layer.tensors.output);
  const PlainConv<int8_t, int8_t, int32_t> conv = {
      hybrid.values(), Data<int8_t>(layer.tensors.filter), hybrid.zero_points(), 1, 0};
  return RunPlain(context, layer, conv,
                  [&](int32_t sum, int64_t pixel, int channel, int64_t batch) {
                    const float scale = data.weight_scales[channel] * hybrid.scales()[batch];
                    out[pixel * data.shape.output_channels + channel] =
                        Clamp(static_cast<float>(sum) * scale + bias[channel], data.float_range);
                  });
}

TfLiteStatus Plain(TfLiteContext* context, const Layer& layer) {
  switch (layer.data.form) {
    case WeightsForm::kFloat:
      return PlainFloat(context, layer);
    case WeightsForm::kInt8:
      return PlainQuantized<int8_t>(context, layer);
    case WeightsForm::kUInt8:
      return PlainQuantized<uint8_t>(context, layer);
    case WeightsForm::kInt16:
      return PlainInt16(context, layer);
    case WeightsForm::kHybrid:
      return PlainHybrid(context, layer);
  }
  return kTfLiteError;
}

TfLiteStatus RunConv(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels&) {
  return Plain(context, {*data, tensors, false});
}

TfLiteStatus RunDepthwise(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                          const CpuKernels&) {
  return Plain(context, {*data, tensors, true});
}

}  // namespace

constexpr ConvImplementation kReferenceConv = {.name = "reference",
                                               .accepts = &AcceptsAll<ConvData, ConvTensors>,
                                               .pack = nullptr,
                                               .scratch = nullptr,
                                               .run = &RunConv};
constexpr ConvImplementation kReferenceDepthwise = {.name = "reference",
                                                    .accepts = &AcceptsAll<ConvData, ConvTensors>,
                                                    .pack = nullptr,
                                                    .scratch = nullptr,
                                                    .run = &RunDepthwise};

}  // namespace deputy
