// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D on float32 and int8, NHWC. The fast path of CONV_2D is a matrix
// product whose rows are the input patches under the filter; a 1x1 convolution with stride 1 needs
// no patches, its rows lie in the input already.
//
// As in TensorFlow Lite: CONV_2D insists on a bias; the number of groups follows from the channels
// of input and filter; DEPTHWISE_CONV_2D ignores depth_multiplier in the options (channels tell)
// and the zero point of its filter.
#include <cstring>

#include "kernels/activation_range.h"
#include "kernels/channel_scaling.h"
#include "kernels/cpu.h"
#include "kernels/kernel.h"
#include "kernels/matrix_layer.h"
#include "kernels/padding.h"
#include "kernels/registry.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillConv(const OpOptions& options, TfLiteConvParams* params) {
  params->padding = options.Padding(0);
  params->stride_width = options.Int(1);
  params->stride_height = options.Int(2);
  params->activation = options.Activation(3);
  params->dilation_width_factor = options.Int(4, 1);
  params->dilation_height_factor = options.Int(5, 1);
  params->quantized_bias_type = options.Type(6);
  return true;
}

bool FillDepthwiseConv(const OpOptions& options, TfLiteDepthwiseConvParams* params) {
  params->padding = options.Padding(0);
  params->stride_width = options.Int(1);
  params->stride_height = options.Int(2);
  params->depth_multiplier = options.Int(3);
  params->activation = options.Activation(4);
  params->dilation_width_factor = options.Int(5, 1);
  params->dilation_height_factor = options.Int(6, 1);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

// The sizes of a convolution. Both operators are one: out channel c of group g sums over `depth`
// input channels; in a depthwise convolution groups = input channels and depth = 1.
struct ConvShape {
  WindowAxis y, x;
  int batches = 0;
  int input_channels = 0, output_channels = 0;
  int groups = 1, depth = 0;

  int64_t output_pixels() const { return int64_t{batches} * y.output * x.output; }
  const auto* Pixel(const auto* input, int64_t batch, int64_t iy, int64_t ix) const {
    return input + ((batch * y.input + iy) * x.input + ix) * input_channels;
  }
};

struct ConvData {
  ConvShape shape;
  FloatRange float_range;
  ChannelScaling scaling;
  MatrixLayer matrix;
  Block scratch;  // depthwise: pointers and sums of every thread
  Block bias;     // depthwise int8: with the input's zero point in it
};

TfLiteStatus PositiveDims(TfLiteContext* context, const TfLiteTensor* tensor, int first_axis) {
  DEPUTY_TRY(CheckRank(context, tensor, 4));
  for (int axis = first_axis; axis < 4; ++axis) {
    if (Dim(tensor, axis) < 1 || Dim(tensor, axis) > (1 << 30)) {
      return TensorError(context, tensor, "expected dimension %d to be from 1 to 2^30, found %d",
                         axis, Dim(tensor, axis));
    }
  }
  return kTfLiteOk;
}

// What both operators check and compute alike; `channel_axis` is the filter's output channel.
// Both parameter structs name these fields the same.
template <typename Params>
TfLiteStatus PrepareShared(TfLiteContext* context, TfLiteNode* node, const Params& params,
                           int channel_axis) {
  ConvData& data = DataOf<ConvData>(node);
  ConvShape& shape = data.shape;
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, filter, input));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckType(context, bias, input->type == kTfLiteFloat32 ? kFloat32Bit : kInt32Bit));
  DEPUTY_TRY(CheckElementCount(context, bias, shape.output_channels));

  shape.batches = Dim(input, 0);
  shape.y = {Dim(input, 1), Dim(filter, 1), params.stride_height, params.dilation_height_factor};
  shape.x = {Dim(input, 2), Dim(filter, 2), params.stride_width, params.dilation_width_factor};
  DEPUTY_TRY(PlaceWindows(context, params.padding, "height", TooSmall::kRefuse, &shape.y));
  DEPUTY_TRY(PlaceWindows(context, params.padding, "width", TooSmall::kRefuse, &shape.x));
  data.float_range = ActivationRange(params.activation);
  if (input->type == kTfLiteInt8) {
    DEPUTY_TRY(data.scaling.Prepare(context, input, filter, channel_axis, output,
                                    params.activation, ExactRounding::kTwice));
  }
  data.matrix.Reset();
  const int dims[] = {shape.batches, shape.y.output, shape.x.output, shape.output_channels};
  return ResizeTo(context, output, dims);
}

TfLiteStatus PrepareConv(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(PositiveDims(context, input, 1));
  DEPUTY_TRY(PositiveDims(context, filter, 0));
  ConvShape& shape = DataOf<ConvData>(node).shape;
  shape.input_channels = Dim(input, 3);
  shape.output_channels = Dim(filter, 0);
  shape.depth = Dim(filter, 3);
  if (shape.input_channels % shape.depth != 0) {
    return TensorError(context, filter, "expected a divisor of the input's %d channels, found %d",
                       shape.input_channels, shape.depth);
  }
  shape.groups = shape.input_channels / shape.depth;
  if (shape.output_channels % shape.groups != 0) {
    return TensorError(context, filter, "expected output channels for %d groups, found %d",
                       shape.groups, shape.output_channels);
  }
  if (int64_t{Dim(filter, 1)} * Dim(filter, 2) > (1 << 30) / shape.depth) {
    return TensorError(context, filter, "expected at most 2^30 weights per channel, found more");
  }
  if (input->type == kTfLiteInt8) {
    const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
    const TfLiteIntArray* zero_points =
        filter->quantization.type == kTfLiteAffineQuantization && affine != nullptr
            ? affine->zero_point
            : nullptr;
    for (int i = 0; zero_points != nullptr && i < zero_points->size; ++i) {
      if (zero_points->data[i] != 0) {
        return TensorError(context, filter, "expected zero point 0, found %d",
                           zero_points->data[i]);
      }
    }
  }
  return PrepareShared(context, node, ParamsOf<TfLiteConvParams>(node), 0);
}

TfLiteStatus PrepareDepthwise(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(PositiveDims(context, input, 1));
  DEPUTY_TRY(PositiveDims(context, filter, 1));
  DEPUTY_TRY(CheckDim(context, filter, 0, 1));
  ConvShape& shape = DataOf<ConvData>(node).shape;
  shape.input_channels = shape.groups = Dim(input, 3);
  shape.output_channels = Dim(filter, 3);
  shape.depth = 1;
  if (shape.output_channels % shape.input_channels != 0) {
    return TensorError(context, filter, "expected a multiple of the input's %d channels, found %d",
                       shape.input_channels, shape.output_channels);
  }
  return PrepareShared(context, node, ParamsOf<TfLiteDepthwiseConvParams>(node), 3);
}

// ---- Reference --------------------------------------------------------------------------------

// out = finish(sum, channel) for every output, where sum is over the taps inside the input of
// (input - zero_point) * weight. `weight` answers the weight of (channel, ky, kx, d).
template <typename T, typename Sum, typename Weight, typename Finish>
void ReferenceConv(const ConvShape& shape, const T* input, Sum zero_point, const Weight& weight,
                   T* out, const Finish& finish) {
  const int group_channels = shape.output_channels / shape.groups;
  for (int b = 0; b < shape.batches; ++b) {
    for (int oy = 0; oy < shape.y.output; ++oy) {
      for (int ox = 0; ox < shape.x.output; ++ox) {
        for (int channel = 0; channel < shape.output_channels; ++channel) {
          const int first = channel / group_channels * shape.depth;
          Sum sum = 0;
          for (int ky = shape.y.FirstTap(oy); ky < shape.y.LastTap(oy); ++ky) {
            const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
            for (int kx = shape.x.FirstTap(ox); kx < shape.x.LastTap(ox); ++kx) {
              const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
              const T* pixel = shape.Pixel(input, b, iy, ix) + first;
              for (int d = 0; d < shape.depth; ++d) {
                Accumulate(&sum, (static_cast<Sum>(pixel[d]) - zero_point) *
                                     static_cast<Sum>(weight(channel, ky, kx, d)));
              }
            }
          }
          *out++ = finish(sum, channel);
        }
      }
    }
  }
}

// Runs the reference with the weights as CONV_2D ([channel][ky][kx][d]) or DEPTHWISE_CONV_2D
// ([ky][kx][channel]) stores them.
template <typename T, typename Sum, typename Finish>
void ReferenceEither(bool depthwise, const ConvShape& shape, const T* input, Sum zero_point,
                     const T* weights, T* out, const Finish& finish) {
  const int64_t width = shape.x.filter;
  if (depthwise) {
    const auto weight = [&](int channel, int ky, int kx, int) {
      return weights[(ky * width + kx) * shape.output_channels + channel];
    };
    ReferenceConv(shape, input, zero_point, weight, out, finish);
  } else {
    const auto weight = [&](int channel, int ky, int kx, int d) {
      return weights[((int64_t{channel} * shape.y.filter + ky) * width + kx) * shape.depth + d];
    };
    ReferenceConv(shape, input, zero_point, weight, out, finish);
  }
}

void Reference(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  const ConvData& data = DataOf<ConvData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) {
    ReferenceEither(depthwise, data.shape, Data<float>(input), 0.0f, Data<float>(filter),
                    Data<float>(output), [&](float sum, int channel) {
                      return Clamp(sum + Data<float>(bias)[channel], data.float_range);
                    });
  } else {
    const Arithmetic arithmetic = ArithmeticOf(context);
    ReferenceEither(depthwise, data.shape, Data<int8_t>(input), data.scaling.input_zero_point(),
                    Data<int8_t>(filter), Data<int8_t>(output), [&](int32_t sum, int channel) {
                      Accumulate(&sum, Data<int32_t>(bias)[channel]);
                      return data.scaling.Requantize(arithmetic, sum, channel);
                    });
  }
}

// ---- CONV_2D, fast path -----------------------------------------------------------------------

struct PatchSource {
  const ConvShape* shape;
  const void* input;
  int32_t zero_point;
  void (*widen)(const int8_t* values, size_t count, int16_t* out);

  void Copy(const float* from, int64_t count, float* to) const {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  void Copy(const int8_t* from, int64_t count, int16_t* to) const {
    widen(from, static_cast<size_t>(count), to);
  }
};

// The patch under the filter at one output pixel, taps outside the input as zero points.
template <typename T, typename Out>
void FillPatch(const void* source_pointer, int64_t row, int group, Out* out) {
  const PatchSource& source = *static_cast<const PatchSource*>(source_pointer);
  const ConvShape& shape = *source.shape;
  const T* input = static_cast<const T*>(source.input);
  const int ox = static_cast<int>(row % shape.x.output);
  const int oy = static_cast<int>(row / shape.x.output % shape.y.output);
  const int64_t b = row / shape.x.output / shape.y.output;
  const int64_t depth = shape.depth;
  const int first_y = shape.y.FirstTap(oy), last_y = shape.y.LastTap(oy);
  const int first_x = shape.x.FirstTap(ox), last_x = std::max(first_x, shape.x.LastTap(ox));
  const Out outside = static_cast<Out>(source.zero_point);
  // Taps side by side in memory are copied as one run.
  const bool one_run = shape.x.dilation == 1 && shape.groups == 1;
  for (int ky = 0; ky < shape.y.filter; ++ky, out += shape.x.filter * depth) {
    if (ky < first_y || ky >= last_y || first_x == last_x) {
      std::fill_n(out, shape.x.filter * depth, outside);
      continue;
    }
    const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
    const auto pixel = [&](int kx) {
      const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
      return shape.Pixel(input, b, iy, ix) + group * depth;
    };
    std::fill_n(out, first_x * depth, outside);
    if (one_run) {
      source.Copy(pixel(first_x), (last_x - first_x) * depth, out + first_x * depth);
    } else {
      for (int kx = first_x; kx < last_x; ++kx) source.Copy(pixel(kx), depth, out + kx * depth);
    }
    std::fill_n(out + last_x * depth, (shape.x.filter - last_x) * depth, outside);
  }
}

TfLiteStatus FastConv(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu) {
  ConvData& data = DataOf<ConvData>(node);
  const ConvShape& shape = data.shape;
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  const MatrixShape matrix = {shape.output_pixels(), shape.groups,
                              shape.output_channels / shape.groups,
                              shape.y.filter * shape.x.filter * shape.depth};
  const PatchSource source = {&shape, input->data.data, data.scaling.input_zero_point(),
                              cpu.widen_s8};
  if (input->type == kTfLiteFloat32) {
    MatrixLayer::Rows<float> rows;
    if (shape.x.filter == 1 && shape.y.filter == 1 && shape.x.stride == 1 && shape.y.stride == 1) {
      rows.direct = Data<float>(input);
      rows.stride = static_cast<size_t>(shape.input_channels);
    } else {
      rows.fill = &FillPatch<float, float>;
      rows.source = &source;
    }
    return data.matrix.RunFloat(context, cpu, matrix, rows, filter, bias, data.float_range,
                                Data<float>(output));
  }
  MatrixLayer::Rows<int16_t> rows;
  rows.fill = &FillPatch<int8_t, int16_t>;
  rows.source = &source;
  return data.matrix.RunInt8(context, cpu, matrix, rows, filter, bias, data.scaling,
                             Data<int8_t>(output));
}

// ---- DEPTHWISE_CONV_2D, fast path -------------------------------------------------------------

// Scratch of one thread: a pointer per tap twice over, then one sum per channel, then (int8) a row
// of zero points that stands for taps outside the input.
struct DepthwiseScratch {
  size_t pointers_bytes, bytes;

  DepthwiseScratch(const ConvShape& shape)
      : pointers_bytes(2 * Taps(shape) * sizeof(void*)),
        bytes((pointers_bytes + static_cast<size_t>(shape.output_channels) * 5 +
               kTensorAlignment) / kTensorAlignment * kTensorAlignment) {}
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
  DepthwisePixelF32 pixel = {0,    shape.output_channels, inputs, rows, bias, range.low,
                             range.high, out};
  for (int ox = 0; ox < shape.x.output; ++ox, pixel.out += shape.output_channels) {
    pixel.taps = 0;
    for (int ky = shape.y.FirstTap(oy); ky < shape.y.LastTap(oy); ++ky) {
      const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
      for (int kx = shape.x.FirstTap(ox); kx < shape.x.LastTap(ox); ++kx) {
        const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
        inputs[pixel.taps] = shape.Pixel(input, b, iy, ix);
        rows[pixel.taps++] =
            weights + (int64_t{ky} * shape.x.filter + kx) * shape.output_channels;
      }
    }
    cpu.depthwise_f32(pixel);
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
  const DepthwisePixelS8 pixel = {static_cast<int>(DepthwiseScratch::Taps(shape)), channels,
                                  inputs, weights, bias, sums};
  const auto requantize = scaling.RowFunctionOf(cpu, arithmetic);
  RequantizeRow finish = scaling.Row(0);
  finish.count = channels;
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
    cpu.depthwise_s8(pixel);
    finish.out = out;
    requantize(finish);
  }
}

// The bias of every channel less the zero point times the channel's weights: valid because the
// int8 rows see all taps, padding included.
TfLiteStatus FoldZeroPoint(TfLiteContext* context, ConvData* data, const TfLiteTensor* filter,
                           const TfLiteTensor* bias) {
  const size_t channels = static_cast<size_t>(data->shape.output_channels);
  if (!data->bias.Reserve(channels * sizeof(int32_t), 0, LimitsOf(context))) {
    return TensorError(context, bias, "out of memory for a copy");
  }
  int32_t* folded = reinterpret_cast<int32_t*>(data->bias.data());
  std::memcpy(folded, bias->data.data, channels * sizeof(int32_t));
  const int8_t* weights = Data<int8_t>(filter);
  const size_t taps = DepthwiseScratch::Taps(data->shape);
  for (size_t tap = 0; tap < taps; ++tap, weights += channels) {
    for (size_t c = 0; c < channels; ++c) {
      Accumulate(&folded[c], -data->scaling.input_zero_point() * weights[c]);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus FastDepthwise(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu) {
  ConvData& data = DataOf<ConvData>(node);
  const ConvShape& shape = data.shape;
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  const DepthwiseScratch scratch(shape);
  if (!data.scratch.Reserve(scratch.bytes * static_cast<size_t>(ThreadCount(context)), 0,
                            LimitsOf(context))) {
    return TensorError(context, filter, "out of memory for its taps");
  }
  const bool is_float = input->type == kTfLiteFloat32;
  if (!is_float) DEPUTY_TRY(FoldZeroPoint(context, &data, filter, bias));
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int64_t rows = int64_t{shape.batches} * shape.y.output;
  const int64_t row_values = int64_t{shape.x.output} * shape.output_channels;
  // Rows are handed out in portions: a hand-over must not cost more than the work.
  const int64_t operations =
      std::max<int64_t>(1, row_values * static_cast<int64_t>(DepthwiseScratch::Taps(shape)));
  const int64_t portion = std::max<int64_t>({1, 50'000 / operations, rows >> 20});
  const int tasks = static_cast<int>((rows + portion - 1) / portion);
  ParallelFor(context, tasks, [&](int task, int worker) {
    char* mine = data.scratch.data() + static_cast<size_t>(worker) * scratch.bytes;
    const int64_t last = std::min(rows, (task + 1) * portion);
    for (int64_t row = task * portion; row < last; ++row) {
      if (is_float) {
        DepthwiseRowFloat(shape, cpu, Data<float>(input), Data<float>(filter), Data<float>(bias),
                          data.float_range, row, mine, Data<float>(output) + row * row_values);
      } else {
        DepthwiseRowInt8(shape, cpu, Data<int8_t>(input), Data<int8_t>(filter),
                         reinterpret_cast<const int32_t*>(data.bias.data()), data.scaling,
                         arithmetic, row, mine, Data<int8_t>(output) + row * row_values);
      }
    }
  });
  return kTfLiteOk;
}

// ---- Eval -------------------------------------------------------------------------------------

TfLiteStatus EvalConv(TfLiteContext* context, TfLiteNode* node) {
  if (DataOf<ConvData>(node).shape.output_pixels() == 0) return kTfLiteOk;
  const CpuKernels& cpu = Cpu();
  if (cpu.gemm_f32 != nullptr) return FastConv(context, node, cpu);
  Reference(context, node, false);
  return kTfLiteOk;
}

TfLiteStatus EvalDepthwise(TfLiteContext* context, TfLiteNode* node) {
  const ConvShape& shape = DataOf<ConvData>(node).shape;
  if (shape.output_pixels() == 0) return kTfLiteOk;
  const CpuKernels& cpu = Cpu();
  // Several outputs per input channel are rare and stay with the reference.
  const bool plain = shape.input_channels == shape.output_channels;
  if (cpu.depthwise_f32 != nullptr && plain) return FastDepthwise(context, node, cpu);
  Reference(context, node, true);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "CONV_2D",
     .code = kTfLiteBuiltinConv2d,
     .min_version = 1,
     .max_version = 8,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 1},
     .params_size = sizeof(TfLiteConvParams),
     .parse = &ParseOptions<1, TfLiteConvParams, &FillConv>,
     .init = &GuardedInit<&NewData<ConvData>>,
     .free = &DeleteData<ConvData>,
     .prepare = &Guarded<&PrepareConv>,
     .invoke = &Guarded<&EvalConv>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "DEPTHWISE_CONV_2D",
     .code = kTfLiteBuiltinDepthwiseConv2d,
     .min_version = 1,
     .max_version = 7,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 2},
     .params_size = sizeof(TfLiteDepthwiseConvParams),
     .parse = &ParseOptions<2, TfLiteDepthwiseConvParams, &FillDepthwiseConv>,
     .init = &GuardedInit<&NewData<ConvData>>,
     .free = &DeleteData<ConvData>,
     .prepare = &Guarded<&PrepareDepthwise>,
     .invoke = &Guarded<&EvalDepthwise>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kConvOps = kTable;

}  // namespace deputy
