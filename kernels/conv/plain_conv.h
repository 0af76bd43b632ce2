// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D as plain loops, as templates over the form of weights.
#ifndef DEPUTY_KERNELS_CONV_PLAIN_CONV_H_
#define DEPUTY_KERNELS_CONV_PLAIN_CONV_H_

#include "kernels/conv/conv.h"

namespace deputy {

// A node to be computed with plain loops.
struct PlainLayer {
  const ConvData& data;
  const ConvTensors& tensors;
  bool depthwise;
};

// Bytes of the sums of one output pixel: one per output channel, of the widest type.
inline size_t SumBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.output_channels) * sizeof(int64_t);
}

// Types and zero points of one form of weights. The input's zero points are per batch,
// `zero_stride` apart. Products of integers fit in 32 bits; their sums have type Sum.
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

// Computes one row of outputs and calls finish(sum, output pixel, channel, batch). The sum is over
// the taps inside the input.
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

// Computes a row with depthwise weights [ky][kx][channel]; `sums` has one element per output
// channel.
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
TfLiteStatus RunPlain(TfLiteContext* context, const PlainLayer& layer, const Conv& conv,
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

// Computes int8 and uint8 nodes with plain loops.
template <typename T>
TfLiteStatus PlainQuantized(TfLiteContext* context, const PlainLayer& layer) {
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

// Compute int16 and hybrid nodes, for which depthwise convolutions have only plain loops
// (conv_plain.cc).
TfLiteStatus PlainInt16(TfLiteContext* context, const PlainLayer& layer);
TfLiteStatus PlainHybrid(TfLiteContext* context, const PlainLayer& layer);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_PLAIN_CONV_H_
