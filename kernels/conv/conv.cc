// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D and DEPTHWISE_CONV_2D for all forms of weights_form.h, NHWC: validation of the node, and
// the lists of implementations.
//
// Behaviour of TensorFlow Lite that is kept: CONV_2D requires a bias; the number of groups follows
// from the channels of input and filter; DEPTHWISE_CONV_2D ignores depth_multiplier in the options
// (it follows from the channels) and the zero point of an int8 filter; a 4-bit filter is accepted
// where TensorFlow Lite accepts one, in DEPTHWISE_CONV_2D for int8 only. Hybrid CONV_2D quantises
// its input symmetrically if all scales of the filter are equal, otherwise with a zero point, as
// DEPTHWISE_CONV_2D does.
#include "kernels/conv/conv.h"

#include "kernels/common/families.h"

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

// Checks that filter height x width x `depth` is at most 2^30, so that sizes fit in an int.
TfLiteStatus CheckWeightsOfChannel(TfLiteContext* context, const TfLiteTensor* filter, int depth) {
  if (int64_t{Dim(filter, 1)} * Dim(filter, 2) <= (1 << 30) / depth) return kTfLiteOk;
  return TensorError(context, filter, "expected at most 2^30 weights per channel, found more");
}

// Prepares the quantisation for all forms of weights; `channel_axis` is the filter's axis of output
// channels.
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

// Checks tensors and options, and computes the parameters, that CONV_2D and DEPTHWISE_CONV_2D
// share. The Params structs of both operators have the fields that are used here, with the same
// names.
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
  DEPUTY_TRY(ComputeWindows(context, params.padding, "height", TooSmall::kRefuse, &shape.y));
  DEPUTY_TRY(ComputeWindows(context, params.padding, "width", TooSmall::kRefuse, &shape.x));
  data.float_range = ActivationRange(params.activation);
  DEPUTY_TRY(PrepareQuantization(context, node, params.activation, channel_axis));
  data.allows_winograd = ArithmeticOf(context) == Arithmetic::kDefault;
  data.allows_bf16 = PrecisionOf(context) != Precision::kFloat32;
  data.matrix.Reset();
  data.bf16.Reset();
  data.bf16_filter.Invalidate();
  data.int8_parts.Invalidate();
  data.packed_filter.Invalidate();
  data.flat_filter.Invalidate();
  data.columns.Invalidate();
  data.lines.Invalidate();
  data.dense_filter.Invalidate();
  const int dims[] = {shape.batches, shape.y.output, shape.x.output, shape.output_channels};
  return ResizeTo(context, output, dims);
}

TfLiteStatus ReadConv(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  ConvData& data = DataOf<ConvData>(node);
  DEPUTY_TRY(FindWeightsForm(context, input, filter, Output(context, node, 0), TypeBit(kTfLiteInt4),
                             &data.form));
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
  DEPUTY_TRY(CheckWeightsOfChannel(context, filter, shape.depth));
  if (data.form == WeightsForm::kInt8 || data.form == WeightsForm::kInt16) {
    DEPUTY_TRY(CheckNoZeroPoints(context, filter));
  }
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

TfLiteStatus ReadDepthwise(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* filter = Input(context, node, 1);
  ConvData& data = DataOf<ConvData>(node);
  const uint32_t packed = input->type == kTfLiteInt8 ? TypeBit(kTfLiteInt4) : 0;
  DEPUTY_TRY(FindWeightsForm(context, input, filter, Output(context, node, 0), packed, &data.form));
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
  DEPUTY_TRY(CheckWeightsOfChannel(context, filter, shape.depth));
  // An int16 depthwise convolution requires an int64 bias.
  const TfLiteType bias_type = data.form == WeightsForm::kInt16 ? kTfLiteInt64 : kTfLiteFloat32;
  DEPUTY_TRY(PrepareShared(context, node, ParamsOf<TfLiteDepthwiseConvParams>(node), bias_type, 3));
  if (data.form == WeightsForm::kHybrid && shape.output_channels > 1 &&
      !data.weight_scales.per_channel()) {
    return TensorError(context, filter, "expected a scale for each of %d channels, found one",
                       shape.output_channels);
  }
  return kTfLiteOk;
}

// Sets the number of times that each input channel is repeated: more than once if the layer has
// several outputs per input channel and there are fast kernels, which compute one output per input
// channel.
void RepeatChannels(const CpuKernels& cpu, ConvData* data) {
  ConvShape& shape = data->shape;
  data->repeats = 1;
  const bool is_fast = data->form == WeightsForm::kFloat ? cpu.depthwise_f32.columns != nullptr
                       : data->form == WeightsForm::kInt8 || data->form == WeightsForm::kUInt8
                           ? cpu.depthwise_s8.pixel != nullptr
                           : false;
  if (!is_fast) return;
  data->repeats = shape.output_channels / shape.input_channels;
  shape.input_channels = shape.groups = shape.output_channels;
}

// ---- Implementations --------------------------------------------------------------------------

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  ConvData& data = DataOf<ConvData>(node);
  if (data.shape.output_pixels() == 0) return kTfLiteOk;
  DEPUTY_TRY(data.dense_filter.Ensure(context, Input(context, node, 1)));
  ConvTensors tensors = TensorsOf(context, node);
  RepeatedChannels repeated;
  if (data.repeats > 1) DEPUTY_TRY(repeated.Replace(context, data, &tensors));
  return data.choice.Run(context, &data, tensors);
}

// Computes the node as part of a fusion group. A layer with repeated channels is never in one,
// since it offers no fusion.
TfLiteStatus EvalGroup(TfLiteContext* context, TfLiteNode* node, const GroupRun& group) {
  if (const auto* const strips = std::get_if<StripRun>(&group)) return RunStrips(context, *strips);
  ConvData& data = DataOf<ConvData>(node);
  if (data.shape.output_pixels() == 0) return kTfLiteOk;
  DEPUTY_TRY(data.dense_filter.Ensure(context, Input(context, node, 1)));
  const FusedConv fused(context, std::get<LayerRun>(group), data, TensorsOf(context, node));
  return data.choice.Run(context, &data, fused.tensors());
}

TfLiteStatus Pack(TfLiteContext* context, TfLiteNode* node) {
  ConvData& data = DataOf<ConvData>(node);
  const TfLiteTensor* filter = Input(context, node, 1);
  if (IsReadableConstant(filter)) DEPUTY_TRY(data.dense_filter.Ensure(context, filter));
  return data.choice.Pack(context, &data, TensorsOf(context, node));
}

void Announce(TfLiteContext* context, const GroupRun& group) {
  if (const auto* const strips = std::get_if<StripRun>(&group)) {
    DeclareStripScratch(context, *strips);
  } else {
    DeclareFactorScratch(context, std::get<LayerRun>(group));
  }
}

void Choose(TfLiteContext* context, TfLiteNode* node,
            std::span<const ConvImplementation* const> implementations) {
  ConvData& data = DataOf<ConvData>(node);
  data.choice.Make(context, CpuOf(context), implementations, data, TensorsOf(context, node));
  RequestPacking(context, node, &Guarded<&Pack>);
  const bool is_float = data.form == WeightsForm::kFloat;
  if (data.repeats > 1 || !data.choice.fuses() ||
      (!is_float && data.choice.cpu().vector.sum_s8 == nullptr))
    return;
  // A pointwise convolution reads pixels in place, so it cannot absorb a PAD.
  const WindowAxis &y = data.shape.y, &x = data.shape.x;
  const bool has_window = y.filter > 1 || x.filter > 1;
  OfferFusion(
      context, node,
      {.invoke = &Guarded<&Eval>,
       .run = &GuardedGroup<&EvalGroup>,
       .announce = &Announce,
       .role = HeadRole{.absorbs_padding = has_window && is_float,
                        .absorbs_factors = SupportsFactors(data),
                        .subsamples = data.choice.subsamples() && data.shape.output_pixels() > 0,
                        .pointwise = !has_window && y.before == 0 && x.before == 0,
                        .stride = {y.stride, x.stride},
                        .strip = StripOfferOf(data)}});
}

TfLiteStatus PrepareConv(TfLiteContext* context, TfLiteNode* node) {
  static constexpr const ConvImplementation* kImplementations[] = {
      &kPointwiseBf16Conv, &kRowsBf16Conv,  &kFewColumnsRowsConv, &kWinogradConv, &kRowsConv,
      &kFewColumnsConv,    &kGemmFloatConv, &kWinogradInt8Conv,   &kRowsInt8Conv, &kGemmInt8Conv,
      &kGemmHybridConv,    &kDotsInt16Conv, &kReferenceConv};
  DEPUTY_TRY(ReadConv(context, node));
  Choose(context, node, kImplementations);
  return kTfLiteOk;
}

TfLiteStatus PrepareDepthwise(TfLiteContext* context, TfLiteNode* node) {
  static constexpr const ConvImplementation* kImplementations[] = {
      &kDepthwiseFloat, &kDepthwiseLinesInt8, &kDepthwiseInt8, &kDepthwiseUInt8,
      &kReferenceDepthwise};
  DEPUTY_TRY(ReadDepthwise(context, node));
  ConvData& data = DataOf<ConvData>(node);
  RepeatChannels(CpuOf(context), &data);
  data.shape.filter_parts = data.form == WeightsForm::kUInt8
                                ? FilterPartsOf(Input(context, node, 1)->params.zero_point)
                                : 1;
  if (data.repeats > 1) {
    AnnounceScratch(context, RepeatedChannels::ScratchBytes(data, Input(context, node, 0)));
  }
  Choose(context, node, kImplementations);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<1, TfLiteConvParams, &FillConv>(
        KernelRow<ConvData>("CONV_2D", kTfLiteBuiltinConv2d, 8, kWeightsFormInputs,
                            &Guarded<&PrepareConv>, &Guarded<&Eval>)),
    WithOptions<2, TfLiteDepthwiseConvParams, &FillDepthwiseConv>(
        KernelRow<ConvData>("DEPTHWISE_CONV_2D", kTfLiteBuiltinDepthwiseConv2d, 7,
                            kWeightsFormInputs, &Guarded<&PrepareDepthwise>, &Guarded<&Eval>)),
};

}  // namespace

constexpr std::span<const OpDef> kConvOps = kTable;

}  // namespace deputy
