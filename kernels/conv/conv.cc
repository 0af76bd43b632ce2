// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D in all the forms of weights_form.h, NHWC. The fast path of CONV_2D
// is a matrix product whose rows are the input patches under the filter; a float 1x1 convolution
// with stride 1 needs no patches, its rows lie in the input already. int16 stays with the plain
// code.
//
// As in TensorFlow Lite: CONV_2D insists on a bias; the number of groups follows from the channels
// of input and filter; DEPTHWISE_CONV_2D ignores depth_multiplier in the options (channels tell)
// and the zero point of an int8 filter. Hybrid CONV_2D quantises its input symmetrically when all
// scales of the filter are the same, and otherwise, as DEPTHWISE_CONV_2D does, with a zero point.
#include <cstring>

#include "kernels/common/activation_range.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padding.h"
#include "kernels/cpu/cpu.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/linalg/weights_form.h"

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
  WeightsForm form = WeightsForm::kFloat;
  FloatRange float_range;
  ChannelScaling scaling;
  bool wide_sums = false;       // int16
  WeightScales weight_scales;   // hybrid
  bool asymmetric_rows = true;  // hybrid
  HybridRows hybrid;
  MatrixLayer matrix;
  Block scratch;                        // depthwise: pointers and sums of every thread
  Block bias;                           // depthwise int8: with the input's zero point in it
  Block packed_filter;                  // depthwise int8: in the table's order
  const int8_t* packed_from = nullptr;  // the filter that is in it
  const CpuKernels* packed_by = nullptr;
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

// The quantisation of every form; `channel_axis` is the filter's output channel.
TfLiteStatus PrepareQuantization(TfLiteContext* context, TfLiteNode* node,
                                 TfLiteFusedActivation activation, int channel_axis) {
  ConvData& data = DataOf<ConvData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* output = Output(context, node, 0);
  if (data.form == WeightsForm::kFloat) return kTfLiteOk;
  if (data.form == WeightsForm::kHybrid) {
    return data.weight_scales.Prepare(context, filter, channel_axis);
  }
  DEPUTY_TRY(data.scaling.Prepare(context, input, filter, channel_axis, output, activation,
                                  ExactRounding::kTwice));
  if (data.form == WeightsForm::kInt16) {
    DEPUTY_TRY(CheckNoZeroPoint(context, input));
    DEPUTY_TRY(CheckNoZeroPoint(context, output));
  }
  if (data.form == WeightsForm::kUInt8) {
    if (data.scaling.per_channel()) {
      return TensorError(context, filter, "expected one scale for uint8, found several");
    }
    DEPUTY_TRY(CheckQuantized(context, filter));
    return CheckBiasScale(context, input, filter, Input(context, node, 2), output);
  }
  return kTfLiteOk;
}

// What both operators check and compute alike. Both parameter structs name these fields the same.
template <typename Params>
TfLiteStatus PrepareShared(TfLiteContext* context, TfLiteNode* node, const Params& params,
                           TfLiteType bias_type, int channel_axis) {
  ConvData& data = DataOf<ConvData>(node);
  ConvShape& shape = data.shape;
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckBias(context, data.form, bias, bias_type, shape.output_channels));
  data.wide_sums = HasWideSums(bias, bias_type);

  shape.batches = Dim(input, 0);
  shape.y = {Dim(input, 1), Dim(filter, 1), params.stride_height, params.dilation_height_factor};
  shape.x = {Dim(input, 2), Dim(filter, 2), params.stride_width, params.dilation_width_factor};
  DEPUTY_TRY(PlaceWindows(context, params.padding, "height", TooSmall::kRefuse, &shape.y));
  DEPUTY_TRY(PlaceWindows(context, params.padding, "width", TooSmall::kRefuse, &shape.x));
  data.float_range = ActivationRange(params.activation);
  DEPUTY_TRY(PrepareQuantization(context, node, params.activation, channel_axis));
  data.matrix.Reset();
  data.packed_from = nullptr;
  const int dims[] = {shape.batches, shape.y.output, shape.x.output, shape.output_channels};
  return ResizeTo(context, output, dims);
}

// All zero points of the filter are 0.
TfLiteStatus CheckFilterZeroPoints(TfLiteContext* context, const TfLiteTensor* filter) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(filter->quantization.params);
  const TfLiteIntArray* zero_points =
      filter->quantization.type == kTfLiteAffineQuantization && affine != nullptr
          ? affine->zero_point
          : nullptr;
  for (int i = 0; zero_points != nullptr && i < zero_points->size; ++i) {
    if (zero_points->data[i] != 0) {
      return TensorError(context, filter, "expected zero point 0, found %d", zero_points->data[i]);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareConv(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  ConvData& data = DataOf<ConvData>(node);
  DEPUTY_TRY(FindWeightsForm(context, input, filter, Output(context, node, 0), &data.form));
  DEPUTY_TRY(PositiveDims(context, input, 1));
  DEPUTY_TRY(PositiveDims(context, filter, 0));
  ConvShape& shape = data.shape;
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
  if (data.form != WeightsForm::kUInt8) DEPUTY_TRY(CheckFilterZeroPoints(context, filter));
  const auto& params = ParamsOf<TfLiteConvParams>(node);
  DEPUTY_TRY(PrepareShared(context, node, params, params.quantized_bias_type, 0));
  if (data.form != WeightsForm::kHybrid) return kTfLiteOk;
  data.asymmetric_rows = data.weight_scales.differ();
  if (shape.groups > 1 && shape.output_channels > 1 && !data.weight_scales.per_channel()) {
    return TensorError(context, filter, "expected a scale per channel for %d groups, found one",
                       shape.groups);
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareDepthwise(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  ConvData& data = DataOf<ConvData>(node);
  DEPUTY_TRY(FindWeightsForm(context, input, filter, Output(context, node, 0), &data.form));
  DEPUTY_TRY(PositiveDims(context, input, 1));
  DEPUTY_TRY(PositiveDims(context, filter, 1));
  DEPUTY_TRY(CheckDim(context, filter, 0, 1));
  ConvShape& shape = data.shape;
  shape.input_channels = shape.groups = Dim(input, 3);
  shape.output_channels = Dim(filter, 3);
  shape.depth = 1;
  if (shape.output_channels % shape.input_channels != 0) {
    return TensorError(context, filter, "expected a multiple of the input's %d channels, found %d",
                       shape.input_channels, shape.output_channels);
  }
  // int16 wants a bias of int64 here.
  const TfLiteType bias_type = data.form == WeightsForm::kInt16 ? kTfLiteInt64 : kTfLiteFloat32;
  DEPUTY_TRY(PrepareShared(context, node, ParamsOf<TfLiteDepthwiseConvParams>(node), bias_type, 3));
  if (data.form == WeightsForm::kHybrid && shape.output_channels > 1 &&
      !data.weight_scales.per_channel()) {
    return TensorError(context, filter, "expected a scale for each of %d channels, found one",
                       shape.output_channels);
  }
  return kTfLiteOk;
}

// ---- Reference --------------------------------------------------------------------------------

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

// One row of outputs: out = finish(sum, channel, batch), where sum is over the taps inside the
// input. `sums` holds one per output channel.
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

// Rows are handed out in portions: a hand-over must not cost more than the work.
template <typename Function>
void ForEachOutputRow(TfLiteContext* context, const ConvShape& shape, const Function& function) {
  const int64_t rows = int64_t{shape.batches} * shape.y.output;
  const double operations = static_cast<double>(shape.x.output) * shape.output_channels *
                            shape.depth * shape.y.filter * shape.x.filter;
  const int64_t portion =
      std::max<int64_t>({1, static_cast<int64_t>(50e3 / std::max(operations, 1.0)), rows >> 20});
  const int tasks = static_cast<int>((rows + portion - 1) / portion);
  ParallelFor(context, tasks, [&](int task, int worker) {
    const int64_t last = std::min(rows, (task + 1) * portion);
    for (int64_t row = task * portion; row < last; ++row) function(row, worker);
  });
}

template <typename Conv, typename Finish>
TfLiteStatus RunPlain(TfLiteContext* context, TfLiteNode* node, bool depthwise, const Conv& conv,
                      const Finish& finish) {
  using Sum = typename Conv::Sum;
  ConvData& data = DataOf<ConvData>(node);
  const ConvShape& shape = data.shape;
  if (!depthwise) {
    ForEachOutputRow(context, shape,
                     [&](int64_t row, int) { PlainConvRow(shape, conv, row, finish); });
    return kTfLiteOk;
  }
  const size_t channels = static_cast<size_t>(shape.output_channels);
  if (!data.scratch.Reserve(channels * sizeof(Sum) * static_cast<size_t>(ThreadCount(context)), 0,
                            LimitsOf(context))) {
    return TensorError(context, Input(context, node, 1), "out of memory for its sums");
  }
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    Sum* sums =
        reinterpret_cast<Sum*>(data.scratch.data()) + static_cast<size_t>(worker) * channels;
    PlainDepthwiseRow(shape, conv, row, sums, finish);
  });
  return kTfLiteOk;
}

// int8 and uint8.
template <typename T>
TfLiteStatus PlainQuantized(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  const ConvData& data = DataOf<ConvData>(node);
  const int32_t* bias = Data<int32_t>(Input(context, node, 2));
  const TfLiteTensor* filter = Input(context, node, 1);
  T* out = Data<T>(Output(context, node, 0));
  const int32_t input_zero = data.scaling.input_zero_point();
  const int32_t filter_zero = std::is_same_v<T, uint8_t> ? filter->params.zero_point : 0;
  const PlainConv<T, T, int32_t> conv = {Data<T>(Input(context, node, 0)), Data<T>(filter),
                                         &input_zero, 0, filter_zero};
  const Arithmetic arithmetic = ArithmeticOf(context);
  return RunPlain(context, node, depthwise, conv,
                  [&](int32_t sum, int64_t pixel, int channel, int64_t) {
                    Accumulate(&sum, bias[channel]);
                    out[pixel * data.shape.output_channels + channel] =
                        static_cast<T>(data.scaling.Requantize(arithmetic, sum, channel));
                  });
}

TfLiteStatus PlainFloat(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  const ConvData& data = DataOf<ConvData>(node);
  const float* bias = Data<float>(Input(context, node, 2));
  float* out = Data<float>(Output(context, node, 0));
  const float zero = 0.0f;
  const PlainConv<float, float, float> conv = {
      Data<float>(Input(context, node, 0)), Data<float>(Input(context, node, 1)), &zero, 0, 0.0f};
  return RunPlain(context, node, depthwise, conv,
                  [&](float sum, int64_t pixel, int channel, int64_t) {
                    out[pixel * data.shape.output_channels + channel] =
                        Clamp(sum + bias[channel], data.float_range);
                  });
}

TfLiteStatus PlainInt16(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  const ConvData& data = DataOf<ConvData>(node);
  const TfLiteTensor* bias = Input(context, node, 2);
  int16_t* out = Data<int16_t>(Output(context, node, 0));
  const int32_t zero = 0;
  const PlainConv<int16_t, int8_t, int64_t> conv = {
      Data<int16_t>(Input(context, node, 0)), Data<int8_t>(Input(context, node, 1)), &zero, 0, 0};
  return RunPlain(
      context, node, depthwise, conv, [&](int64_t sum, int64_t pixel, int channel, int64_t) {
        out[pixel * data.shape.output_channels + channel] =
            data.scaling.RequantizeInt16(AddInt16Bias(sum, bias, channel), data.wide_sums, channel);
      });
}

// After the input has been quantised.
TfLiteStatus PlainHybrid(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  const ConvData& data = DataOf<ConvData>(node);
  const float* bias = Data<float>(Input(context, node, 2));
  float* out = Data<float>(Output(context, node, 0));
  const PlainConv<int8_t, int8_t, int32_t> conv = {
      data.hybrid.values(), Data<int8_t>(Input(context, node, 1)), data.hybrid.zero_points(), 1, 0};
  return RunPlain(context, node, depthwise, conv,
                  [&](int32_t sum, int64_t pixel, int channel, int64_t batch) {
                    const float scale = data.weight_scales[channel] * data.hybrid.scales()[batch];
                    out[pixel * data.shape.output_channels + channel] =
                        Clamp(static_cast<float>(sum) * scale + bias[channel], data.float_range);
                  });
}

TfLiteStatus Plain(TfLiteContext* context, TfLiteNode* node, bool depthwise) {
  switch (DataOf<ConvData>(node).form) {
    case WeightsForm::kFloat:
      return PlainFloat(context, node, depthwise);
    case WeightsForm::kInt8:
      return PlainQuantized<int8_t>(context, node, depthwise);
    case WeightsForm::kUInt8:
      return PlainQuantized<uint8_t>(context, node, depthwise);
    case WeightsForm::kInt16:
      return PlainInt16(context, node, depthwise);
    case WeightsForm::kHybrid:
      return PlainHybrid(context, node, depthwise);
  }
  return kTfLiteError;
}

// ---- CONV_2D, fast path -----------------------------------------------------------------------

struct PatchSource {
  const ConvShape* shape;
  const void* input;
  const int32_t* zero_points;  // of the batches, `zero_stride` apart, as int8
  int zero_stride;
  const CpuKernels* cpu;

  void Copy(const float* from, int64_t count, float* to) const {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  void Copy(const int8_t* from, int64_t count, void* to) const {
    cpu->gemm_s8.left_from_s8(from, static_cast<size_t>(count), to);
  }
  void Copy(const uint8_t* from, int64_t count, void* to) const {
    cpu->gemm_s8.left_from_u8(from, static_cast<size_t>(count), to);
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
  int32_t zero_point = source.zero_points[b * source.zero_stride];
  if constexpr (!std::is_same_v<Out, float>) zero_point += source.cpu->gemm_s8.left_offset();
  const Out outside = static_cast<Out>(zero_point);
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

// The same as bytes, for integers.
template <typename T, typename Out>
void FillLeftPatch(const void* source, int64_t row, int group, uint8_t* out) {
  FillPatch<T, Out>(source, row, group, reinterpret_cast<Out*>(out));
}

template <typename T>
MatrixLayer::FillRow<uint8_t> LeftPatchFunction(const CpuKernels& cpu) {
  return cpu.gemm_s8.left == LeftForm::kInt16 ? &FillLeftPatch<T, int16_t>
                                              : &FillLeftPatch<T, uint8_t>;
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
  const int32_t zero_point = data.form == WeightsForm::kFloat
                                 ? 0
                                 : data.scaling.input_zero_point() - data.scaling.output_offset();
  PatchSource source = {&shape, input->data.data, &zero_point, 0, &cpu};
  if (data.form == WeightsForm::kFloat) {
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
  MatrixLayer::Rows<uint8_t> rows;
  rows.source = &source;
  rows.fill = LeftPatchFunction<int8_t>(cpu);
  if (data.form == WeightsForm::kHybrid) {
    source.input = data.hybrid.values();
    source.zero_points = data.hybrid.zero_points();
    source.zero_stride = 1;
    const int64_t rows_per_scale = int64_t{shape.y.output} * shape.x.output;
    return data.matrix.RunHybrid(
        context, cpu, matrix, rows, filter, bias,
        {&data.hybrid, rows_per_scale, &data.weight_scales, data.float_range}, Data<float>(output));
  }
  const bool is_unsigned = data.form == WeightsForm::kUInt8;
  if (is_unsigned) rows.fill = LeftPatchFunction<uint8_t>(cpu);
  const int32_t filter_zero = is_unsigned ? filter->params.zero_point - 128 : 0;
  return data.matrix.RunInt8(context, cpu, matrix, rows, {filter, is_unsigned, filter_zero}, bias,
                             data.scaling, output->data.data);
}

// ---- DEPTHWISE_CONV_2D, fast path -------------------------------------------------------------

// Scratch of one thread: a pointer per tap twice over, then one sum per channel, then (int8) a row
// of zero points that stands for taps outside the input.
struct DepthwiseScratch {
  size_t pointers_bytes, bytes;

  DepthwiseScratch(const ConvShape& shape)
      : pointers_bytes(2 * Taps(shape) * sizeof(void*)),
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
  DepthwisePixelF32 pixel = {0,  shape.output_channels, inputs, rows, bias, range.low, range.high,
                             out};
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

// The bias of every channel less the zero point times the channel's weights: valid because the
// int8 rows see all taps, padding included.
TfLiteStatus FoldZeroPoint(TfLiteContext* context, const CpuKernels& cpu, ConvData* data,
                           const TfLiteTensor* filter, const TfLiteTensor* bias) {
  const int32_t zero_point = data->scaling.input_zero_point() + cpu.depthwise_s8.left_offset();
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
      Accumulate(&folded[c], -zero_point * weights[c]);
    }
  }
  return kTfLiteOk;
}

// The filter as the table reads it; constant ones are packed once.
TfLiteStatus PackDepthwise(TfLiteContext* context, const CpuKernels& cpu, ConvData* data,
                           const TfLiteTensor* filter, const int8_t** out_weights) {
  const int8_t* weights = Data<int8_t>(filter);
  *out_weights = weights;
  if (cpu.depthwise_s8.pack == nullptr) return kTfLiteOk;
  const int taps = static_cast<int>(DepthwiseScratch::Taps(data->shape));
  const int channels = data->shape.output_channels;
  const bool current =
      IsConstant(filter) && data->packed_from == weights && data->packed_by == &cpu;
  if (!current) {
    data->packed_from = nullptr;
    const size_t bytes = cpu.depthwise_s8.pack(weights, taps, channels, nullptr);
    if (!data->packed_filter.Reserve(bytes, 0, LimitsOf(context))) {
      return TensorError(context, filter, "out of memory for its packed copy");
    }
    cpu.depthwise_s8.pack(weights, taps, channels,
                          reinterpret_cast<int8_t*>(data->packed_filter.data()));
    data->packed_from = weights;
    data->packed_by = &cpu;
  }
  *out_weights = reinterpret_cast<const int8_t*>(data->packed_filter.data());
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
  const bool is_float = data.form == WeightsForm::kFloat;
  const int8_t* weights = nullptr;
  if (!is_float) {
    DEPUTY_TRY(FoldZeroPoint(context, cpu, &data, filter, bias));
    DEPUTY_TRY(PackDepthwise(context, cpu, &data, filter, &weights));
  }
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int64_t row_values = int64_t{shape.x.output} * shape.output_channels;
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    char* mine = data.scratch.data() + static_cast<size_t>(worker) * scratch.bytes;
    if (is_float) {
      DepthwiseRowFloat(shape, cpu, Data<float>(input), Data<float>(filter), Data<float>(bias),
                        data.float_range, row, mine, Data<float>(output) + row * row_values);
    } else {
      DepthwiseRowInt8(shape, cpu, Data<int8_t>(input), weights,
                       reinterpret_cast<const int32_t*>(data.bias.data()), data.scaling, arithmetic,
                       row, mine, Data<int8_t>(output) + row * row_values);
    }
  });
  return kTfLiteOk;
}

// ---- Eval -------------------------------------------------------------------------------------

// Hybrid only: a scale and a zero point for every picture.
TfLiteStatus QuantizeInput(TfLiteContext* context, TfLiteNode* node) {
  ConvData& data = DataOf<ConvData>(node);
  if (data.form != WeightsForm::kHybrid) return kTfLiteOk;
  const TfLiteTensor* input = Input(context, node, 0);
  const int64_t values =
      int64_t{data.shape.y.input} * data.shape.x.input * data.shape.input_channels;
  return data.hybrid.Quantize(context, input, Data<float>(input), data.shape.batches, values,
                              data.asymmetric_rows);
}

TfLiteStatus EvalConv(TfLiteContext* context, TfLiteNode* node) {
  const ConvData& data = DataOf<ConvData>(node);
  if (data.shape.output_pixels() == 0) return kTfLiteOk;
  DEPUTY_TRY(QuantizeInput(context, node));
  const CpuKernels& cpu = Cpu();
  if (cpu.gemm_f32.tile != nullptr && data.form != WeightsForm::kInt16) {
    return FastConv(context, node, cpu);
  }
  return Plain(context, node, false);
}

TfLiteStatus EvalDepthwise(TfLiteContext* context, TfLiteNode* node) {
  const ConvData& data = DataOf<ConvData>(node);
  if (data.shape.output_pixels() == 0) return kTfLiteOk;
  DEPUTY_TRY(QuantizeInput(context, node));
  const CpuKernels& cpu = Cpu();
  // Several outputs per input channel are rare and stay with the plain code, as uint8, int16 and
  // hybrid do.
  const bool usual = data.shape.input_channels == data.shape.output_channels &&
                     (data.form == WeightsForm::kFloat || data.form == WeightsForm::kInt8);
  if (cpu.depthwise_f32.pixel != nullptr && usual) return FastDepthwise(context, node, cpu);
  return Plain(context, node, true);
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<1, TfLiteConvParams, &FillConv>(
        KernelRow<ConvData>("CONV_2D", kTfLiteBuiltinConv2d, 8, kWeightsFormInputs,
                            &Guarded<&PrepareConv>, &Guarded<&EvalConv>)),
    WithOptions<2, TfLiteDepthwiseConvParams, &FillDepthwiseConv>(KernelRow<ConvData>(
        "DEPTHWISE_CONV_2D", kTfLiteBuiltinDepthwiseConv2d, 7, kWeightsFormInputs,
        &Guarded<&PrepareDepthwise>, &Guarded<&EvalDepthwise>)),
};

}  // namespace

constexpr std::span<const OpDef> kConvOps = kTable;

}  // namespace deputy
