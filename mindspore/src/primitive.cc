// SPDX-License-Identifier: Apache-2.0
//
// Converts TensorFlow Lite operators to MindSpore primitives. One table has, for each operator, the
// primitive and the function that adds its attributes. An operator without a row becomes Custom.
#include "mindspore/src/primitive.h"

#include <algorithm>
#include <cstring>

#include "core/support/op_names.h"
#include "deputy/builtin_op_data.h"
#include "deputy/builtin_ops.h"
#include "mindspore/schema/model_generated.h"
#include "mindspore/src/log.h"
#include "mindspore/src/tensor.h"

namespace deputy::ms_api {
namespace {

namespace schema = mindspore::schema;
using ms::Attribute;

constexpr int kImageRank = 4;

// A node whose attributes are read.
struct Source {
  const TfLiteContext* context;
  const TfLiteNode* node;
  int builtin_code;

  template <typename Params>
  const Params& params() const {
    return *static_cast<const Params*>(node->builtin_data);
  }
  const TfLiteTensor* input(int index) const {
    if (index >= node->inputs->size || node->inputs->data[index] < 0) return nullptr;
    return &context->tensors[node->inputs->data[index]];
  }
  const TfLiteTensor* output(int index) const {
    return index >= node->outputs->size ? nullptr : &context->tensors[node->outputs->data[index]];
  }
};

using Reader = void (*)(const Source& source, DeputyMSPrimitive* out);

int64_t FusedActivation(TfLiteFusedActivation activation) {
  switch (activation) {
    case kTfLiteActRelu:
      return schema::ActivationType_RELU;
    case kTfLiteActReluN1To1:
      return schema::ActivationType_RELU1;
    case kTfLiteActRelu6:
      return schema::ActivationType_RELU6;
    case kTfLiteActTanh:
      return schema::ActivationType_TANH;
    case kTfLiteActSignBit:
      return schema::ActivationType_SIGN;
    case kTfLiteActSigmoid:
      return schema::ActivationType_SIGMOID;
    default:
      return schema::ActivationType_NO_ACTIVATION;
  }
}

int64_t PadModeOf(TfLitePadding padding) {
  if (padding == kTfLitePaddingSame) return schema::PadMode_SAME;
  return padding == kTfLitePaddingValid ? schema::PadMode_VALID : schema::PadMode_PAD;
}

int DimOf(const TfLiteTensor* tensor, int axis) {
  return tensor == nullptr || tensor->dims == nullptr || axis >= tensor->dims->size
             ? 0
             : tensor->dims->data[axis];
}

int RankOf(const TfLiteTensor* tensor) {
  return tensor == nullptr || tensor->dims == nullptr ? 0 : tensor->dims->size;
}

// Returns the values of a constant of int32 or int64; none for other tensors.
std::vector<int64_t> ConstantInts(const TfLiteTensor* tensor) {
  if (tensor == nullptr || tensor->allocation_type != kTfLiteMmapRo ||
      tensor->data.raw_const == nullptr) {
    return {};
  }
  if (tensor->type == kTfLiteInt32) {
    return {tensor->data.i32, tensor->data.i32 + tensor->bytes / sizeof(int32_t)};
  }
  if (tensor->type == kTfLiteInt64) {
    return {tensor->data.i64, tensor->data.i64 + tensor->bytes / sizeof(int64_t)};
  }
  return {};
}

// Zero padding before and after an axis, as implied by SAME.
struct Pads {
  int64_t before = 0;
  int64_t after = 0;
};
Pads PadsOf(TfLitePadding padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation) {
  if (padding != kTfLitePaddingSame || stride < 1) return {};
  // The output's extent is computed from the input's: after a resize of an input, the output tensor
  // may still have the extent in the file.
  const int64_t out = (in + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((out - 1) * stride + (kernel - 1) * dilation + 1 - in, 0);
  return {total / 2, total - total / 2};
}

// Parameters of a window; index 0 is the height, 1 the width.
struct Window {
  int64_t kernel[2], stride[2], dilation[2];
};

void AddWindow(const Source& source, const Window& window, TfLitePadding padding,
               const char* stride_name, const char* pad_name, DeputyMSPrimitive* out) {
  std::vector<int64_t> pads;
  for (int i = 0; i < 2; ++i) {
    const Pads pad = PadsOf(padding, DimOf(source.input(0), 1 + i), window.kernel[i],
                            window.stride[i], window.dilation[i]);
    pads.insert(pads.end(), {pad.before, pad.after});
  }
  out->Add("kernel_size", {window.kernel[0], window.kernel[1]});
  out->Add(stride_name, {window.stride[0], window.stride[1]});
  out->AddInt("pad_mode", PadModeOf(padding));
  out->Add(pad_name, std::move(pads));
  out->AddInt("format", schema::Format_NHWC);
}

// ---- Readers ------------------------------------------------------------------------------------

void NoAttributes(const Source& /*source*/, DeputyMSPrimitive* /*out*/) {}

// Adds the attributes of Conv2DFusion for CONV_2D and DEPTHWISE_CONV_2D, which differ in the number
// of groups.
void AddConv(const Source& source, const Window& window, TfLitePadding padding, int64_t group,
             TfLiteFusedActivation activation, DeputyMSPrimitive* out) {
  AddWindow(source, window, padding, "stride", "pad_list", out);
  out->Add("dilation", {window.dilation[0], window.dilation[1]});
  out->AddInt("group", group);
  out->AddInt("in_channel", DimOf(source.input(0), kImageRank - 1));
  out->AddInt("out_channel", DimOf(source.output(0), kImageRank - 1));
  out->AddInt("activation_type", FusedActivation(activation));
}

void ReadConv(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteConvParams>();
  const TfLiteTensor* filter = source.input(1);
  const Window window = {{DimOf(filter, 1), DimOf(filter, 2)},
                         {p.stride_height, p.stride_width},
                         {p.dilation_height_factor, p.dilation_width_factor}};
  const int in = DimOf(source.input(0), kImageRank - 1);
  const int filter_in = DimOf(filter, kImageRank - 1);
  const int group = filter_in > 0 ? std::max(in / filter_in, 1) : 1;
  AddConv(source, window, p.padding, group, p.activation, out);
}

void ReadDepthwise(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteDepthwiseConvParams>();
  const TfLiteTensor* filter = source.input(1);
  const Window window = {{DimOf(filter, 1), DimOf(filter, 2)},
                         {p.stride_height, p.stride_width},
                         {p.dilation_height_factor, p.dilation_width_factor}};
  AddConv(source, window, p.padding, DimOf(source.input(0), kImageRank - 1), p.activation, out);
}

// Reads TRANSPOSE_CONV, whose inputs are the output's shape, the filter and the image. The padding
// is the part of the full result that is cut off on each side.
void ReadTransposeConv(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteTransposeConvParams>();
  const TfLiteTensor* filter = source.input(1);
  const int64_t kernel[] = {DimOf(filter, 1), DimOf(filter, 2)};
  const int64_t stride[] = {p.stride_height, p.stride_width};
  std::vector<int64_t> pads;
  for (int i = 0; i < 2; ++i) {
    const Pads pad =
        PadsOf(p.padding, DimOf(source.output(0), 1 + i), kernel[i], stride[i], /*dilation=*/1);
    pads.insert(pads.end(), {pad.before, pad.after});
  }
  out->Add("kernel_size", {kernel[0], kernel[1]});
  out->Add("stride", {stride[0], stride[1]});
  out->Add("dilation", {1, 1});
  out->AddInt("pad_mode", PadModeOf(p.padding));
  out->Add("pad_list", std::move(pads));
  out->AddInt("format", schema::Format_NHWC);
  out->AddInt("group", 1);
  out->AddInt("in_channel", DimOf(source.input(2), kImageRank - 1));
  out->AddInt("out_channel", DimOf(filter, 0));
  out->AddInt("activation_type", FusedActivation(p.activation));
}

void ReadPool(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLitePoolParams>();
  const Window window = {
      {p.filter_height, p.filter_width}, {p.stride_height, p.stride_width}, {1, 1}};
  AddWindow(source, window, p.padding, "strides", "pad", out);
  out->AddInt("round_mode", 0);  // rounds the output size down
  out->AddBool("global", false);
  out->AddInt("activation_type", FusedActivation(p.activation));
}

void ReadFullConnection(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteFullyConnectedParams>();
  out->AddBool("has_bias", source.input(2) != nullptr);
  out->AddBool("use_axis", true);
  out->AddInt("axis", p.keep_num_dims ? std::max(RankOf(source.input(0)) - 1, 0) : 1);
  out->AddInt("activation_type", FusedActivation(p.activation));
}

void ReadMatMul(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteBatchMatMulParams>();
  out->AddBool("transpose_a", p.adj_x);
  out->AddBool("transpose_b", p.adj_y);
  out->AddInt("activation_type", schema::ActivationType_NO_ACTIVATION);
}

// Reads ADD, SUB, MUL and DIV, each of which has its own parameter struct.
void ReadArithmetic(const Source& source, DeputyMSPrimitive* out) {
  TfLiteFusedActivation activation = kTfLiteActNone;
  if (source.builtin_code == kTfLiteBuiltinAdd) {
    activation = source.params<TfLiteAddParams>().activation;
  } else if (source.builtin_code == kTfLiteBuiltinSub) {
    activation = source.params<TfLiteSubParams>().activation;
  } else if (source.builtin_code == kTfLiteBuiltinMul) {
    activation = source.params<TfLiteMulParams>().activation;
  } else {
    activation = source.params<TfLiteDivParams>().activation;
  }
  out->AddInt("activation_type", FusedActivation(activation));
}

template <int kType>
void ReadActivation(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->AddInt("activation_type", kType);
}

void ReadGelu(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("activation_type", schema::ActivationType_GELU);
  out->AddBool("approximate", source.params<TfLiteGeluParams>().approximate);
}

void ReadLeakyRelu(const Source& source, DeputyMSPrimitive* out) {
  out->AddFloat("negative_slope", source.params<TfLiteLeakyReluParams>().alpha);
}

void ReadElu(const Source& /*source*/, DeputyMSPrimitive* out) { out->AddFloat("alpha", 1); }

void ReadPrelu(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->AddBool("channel_shared", false);
}

void ReadSoftmax(const Source& source, DeputyMSPrimitive* out) {
  out->Add("axis", {-1});
  out->AddExtraFloat("beta", source.params<TfLiteSoftmaxParams>().beta);
}

void ReadLogSoftmax(const Source& /*source*/, DeputyMSPrimitive* out) { out->AddInt("axis", -1); }

void ReadL2Normalize(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->Add("axis", {-1});
  out->AddFloat("epsilon", 1e-6F);
}

void ReadLrn(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteLocalResponseNormParams>();
  out->AddInt("depth_radius", p.radius);
  out->AddFloat("bias", p.bias);
  out->AddFloat("alpha", p.alpha);
  out->AddFloat("beta", p.beta);
}

template <int kMode>
void ReadReduce(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("mode", kMode);
  out->AddBool("keep_dims", source.params<TfLiteReducerParams>().keep_dims);
  out->AddBool("reduce_to_end", false);
  out->AddFloat("coeff", 1);
}

// Reads ARG_MAX and ARG_MIN, whose axis is input 1.
void ReadArg(const Source& source, DeputyMSPrimitive* out) {
  const std::vector<int64_t> axis = ConstantInts(source.input(1));
  if (axis.size() == 1) out->AddInt("axis", axis[0]);
  out->AddBool("keep_dims", false);
  out->AddInt("top_k", 1);
  out->AddBool("out_max_value", false);
}

void ReadTopK(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->AddInt("axis", -1);
  out->AddBool("sorted", true);
  out->AddInt("largest", 1);
}

void ReadConcat(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("axis", source.params<TfLiteConcatenationParams>().axis);
  out->AddExtraInt("activation_type",
                   FusedActivation(source.params<TfLiteConcatenationParams>().activation));
}

// Reads SPLIT and SPLIT_V, whose axis and sizes are inputs, and become attributes if they are
// constants.
void ReadSplit(const Source& source, DeputyMSPrimitive* out) {
  const bool has_sizes = source.builtin_code == kTfLiteBuiltinSplitV;
  out->AddInt("output_num", source.node->outputs->size);
  if (has_sizes) out->Add("size_splits", ConstantInts(source.input(1)));
  const std::vector<int64_t> axis = ConstantInts(source.input(has_sizes ? 2 : 0));
  if (axis.size() == 1) out->AddInt("axis", axis[0]);
}

void ReadStack(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("axis", source.params<TfLitePackParams>().axis);
}

void ReadUnstack(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("axis", source.params<TfLiteUnpackParams>().axis);
}

void ReadSqueeze(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteSqueezeParams>();
  const int count = std::clamp(p.num_squeeze_dims, 0, 8);
  out->Add("axis", {p.squeeze_dims, p.squeeze_dims + count});
}

void ReadGather(const Source& source, DeputyMSPrimitive* out) {
  out->AddExtraInt("axis", source.params<TfLiteGatherParams>().axis);
  out->AddExtraInt("batch_dims", source.params<TfLiteGatherParams>().batch_dims);
}

void ReadStridedSlice(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteStridedSliceParams>();
  out->AddInt("begin_mask", p.begin_mask);
  out->AddInt("end_mask", p.end_mask);
  out->AddInt("ellipsis_mask", p.ellipsis_mask);
  out->AddInt("new_axis_mask", p.new_axis_mask);
  out->AddInt("shrink_axis_mask", p.shrink_axis_mask);
}

// Reads PAD, PADV2 and MIRROR_PAD. Padding modes are 0 (constant), 1 (reflect) and 2 (symmetric).
void ReadPad(const Source& source, DeputyMSPrimitive* out) {
  int64_t mode = 0;
  if (source.builtin_code == kTfLiteBuiltinMirrorPad) {
    mode = source.params<TfLiteMirrorPaddingParams>().mode == kTfLiteMirrorPaddingReflect ? 1 : 2;
  }
  out->AddInt("padding_mode", mode);
}

void ReadOneHot(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("axis", source.params<TfLiteOneHotParams>().axis);
}

void AddResize(const Source& source, int64_t method, bool align_corners, bool half_pixel_centers,
               DeputyMSPrimitive* out) {
  out->AddInt("format", schema::Format_NHWC);
  out->AddInt("method", method);
  out->AddInt("new_height", DimOf(source.output(0), 1));
  out->AddInt("new_width", DimOf(source.output(0), 2));
  int64_t mode = half_pixel_centers ? schema::CoordinateTransformMode_HALF_PIXEL
                                    : schema::CoordinateTransformMode_ASYMMETRIC;
  if (align_corners) mode = schema::CoordinateTransformMode_ALIGN_CORNERS;
  out->AddInt("coordinate_transform_mode", mode);
}

void ReadBilinear(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteResizeBilinearParams>();
  AddResize(source, schema::ResizeMethod_LINEAR, p.align_corners, p.half_pixel_centers, out);
}

void ReadNearest(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteResizeNearestNeighborParams>();
  AddResize(source, schema::ResizeMethod_NEAREST, p.align_corners, p.half_pixel_centers, out);
}

void ReadDepthToSpace(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("block_size", source.params<TfLiteDepthToSpaceParams>().block_size);
  out->AddInt("format", schema::Format_NHWC);
}

void ReadSpaceToDepth(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("block_size", source.params<TfLiteSpaceToDepthParams>().block_size);
  out->AddInt("format", schema::Format_NHWC);
}

void ReadCumSum(const Source& source, DeputyMSPrimitive* out) {
  out->AddBool("exclusive", source.params<TfLiteCumsumParams>().exclusive);
  out->AddBool("reverse", source.params<TfLiteCumsumParams>().reverse);
}

void ReadExp(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->AddFloat("base", -1);
  out->AddFloat("scale", 1);
  out->AddFloat("shift", 0);
}

void ReadPow(const Source& /*source*/, DeputyMSPrimitive* out) {
  out->AddFloat("scale", 1);
  out->AddFloat("shift", 0);
}

// Adds the types of input and output, as MindSpore's values. Cast has them as extra attributes.
void ReadQuantCast(const Source& source, DeputyMSPrimitive* out) {
  if (source.input(0) != nullptr) out->AddInt("src_t", DataTypeOf(source.input(0)->type));
  if (source.output(0) != nullptr) out->AddInt("dst_t", DataTypeOf(source.output(0)->type));
}

void ReadCast(const Source& source, DeputyMSPrimitive* out) {
  if (source.input(0) != nullptr) out->AddExtraInt("src_t", DataTypeOf(source.input(0)->type));
  if (source.output(0) != nullptr) out->AddExtraInt("dst_t", DataTypeOf(source.output(0)->type));
}

// ---- The table ----------------------------------------------------------------------------------

struct Row {
  int builtin_code;
  schema::PrimitiveType type;
  Reader read;
  bool has_params;  // the reader accesses builtin_data
};

constexpr Row kRows[] = {
    {kTfLiteBuiltinAbs, schema::PrimitiveType_Abs, NoAttributes, false},
    {kTfLiteBuiltinRelu, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_RELU>, false},
    {kTfLiteBuiltinReluN1To1, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_RELU1>, false},
    {kTfLiteBuiltinRelu6, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_RELU6>, false},
    {kTfLiteBuiltinLogistic, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_SIGMOID>, false},
    {kTfLiteBuiltinTanh, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_TANH>, false},
    {kTfLiteBuiltinHardSwish, schema::PrimitiveType_Activation,
     ReadActivation<schema::ActivationType_HSWISH>, false},
    {kTfLiteBuiltinGelu, schema::PrimitiveType_Activation, ReadGelu, true},
    {kTfLiteBuiltinAdd, schema::PrimitiveType_AddFusion, ReadArithmetic, true},
    {kTfLiteBuiltinArgMax, schema::PrimitiveType_ArgMaxFusion, ReadArg, false},
    {kTfLiteBuiltinArgMin, schema::PrimitiveType_ArgMinFusion, ReadArg, false},
    {kTfLiteBuiltinAveragePool2d, schema::PrimitiveType_AvgPoolFusion, ReadPool, true},
    {kTfLiteBuiltinBatchToSpaceNd, schema::PrimitiveType_BatchToSpaceND, NoAttributes, false},
    {kTfLiteBuiltinBroadcastTo, schema::PrimitiveType_BroadcastTo, NoAttributes, false},
    {kTfLiteBuiltinCast, schema::PrimitiveType_Cast, ReadCast, false},
    {kTfLiteBuiltinCeil, schema::PrimitiveType_Ceil, NoAttributes, false},
    {kTfLiteBuiltinConcatenation, schema::PrimitiveType_Concat, ReadConcat, true},
    {kTfLiteBuiltinConv2d, schema::PrimitiveType_Conv2DFusion, ReadConv, true},
    {kTfLiteBuiltinDepthwiseConv2d, schema::PrimitiveType_Conv2DFusion, ReadDepthwise, true},
    {kTfLiteBuiltinTransposeConv, schema::PrimitiveType_Conv2dTransposeFusion, ReadTransposeConv,
     true},
    {kTfLiteBuiltinCos, schema::PrimitiveType_Cos, NoAttributes, false},
    {kTfLiteBuiltinDepthToSpace, schema::PrimitiveType_DepthToSpace, ReadDepthToSpace, true},
    {kTfLiteBuiltinDiv, schema::PrimitiveType_DivFusion, ReadArithmetic, true},
    {kTfLiteBuiltinElu, schema::PrimitiveType_Elu, ReadElu, false},
    {kTfLiteBuiltinEqual, schema::PrimitiveType_Equal, NoAttributes, false},
    {kTfLiteBuiltinExp, schema::PrimitiveType_ExpFusion, ReadExp, false},
    {kTfLiteBuiltinExpandDims, schema::PrimitiveType_ExpandDims, NoAttributes, false},
    {kTfLiteBuiltinFloor, schema::PrimitiveType_Floor, NoAttributes, false},
    {kTfLiteBuiltinFloorDiv, schema::PrimitiveType_FloorDiv, NoAttributes, false},
    {kTfLiteBuiltinFloorMod, schema::PrimitiveType_FloorMod, NoAttributes, false},
    {kTfLiteBuiltinFill, schema::PrimitiveType_Fill, NoAttributes, false},
    {kTfLiteBuiltinFullyConnected, schema::PrimitiveType_FullConnection, ReadFullConnection, true},
    {kTfLiteBuiltinGather, schema::PrimitiveType_Gather, ReadGather, true},
    {kTfLiteBuiltinGatherNd, schema::PrimitiveType_GatherNd, NoAttributes, false},
    {kTfLiteBuiltinGreater, schema::PrimitiveType_Greater, NoAttributes, false},
    {kTfLiteBuiltinGreaterEqual, schema::PrimitiveType_GreaterEqual, NoAttributes, false},
    {kTfLiteBuiltinLeakyRelu, schema::PrimitiveType_LeakyRelu, ReadLeakyRelu, true},
    {kTfLiteBuiltinLess, schema::PrimitiveType_Less, NoAttributes, false},
    {kTfLiteBuiltinLessEqual, schema::PrimitiveType_LessEqual, NoAttributes, false},
    {kTfLiteBuiltinLog, schema::PrimitiveType_Log, NoAttributes, false},
    {kTfLiteBuiltinLogicalAnd, schema::PrimitiveType_LogicalAnd, NoAttributes, false},
    {kTfLiteBuiltinLogicalNot, schema::PrimitiveType_LogicalNot, NoAttributes, false},
    {kTfLiteBuiltinLogicalOr, schema::PrimitiveType_LogicalOr, NoAttributes, false},
    {kTfLiteBuiltinLocalResponseNormalization, schema::PrimitiveType_LRN, ReadLrn, true},
    {kTfLiteBuiltinL2Normalization, schema::PrimitiveType_L2NormalizeFusion, ReadL2Normalize,
     false},
    {kTfLiteBuiltinBatchMatmul, schema::PrimitiveType_MatMulFusion, ReadMatMul, true},
    {kTfLiteBuiltinMaximum, schema::PrimitiveType_Maximum, NoAttributes, false},
    {kTfLiteBuiltinMaxPool2d, schema::PrimitiveType_MaxPoolFusion, ReadPool, true},
    {kTfLiteBuiltinMinimum, schema::PrimitiveType_Minimum, NoAttributes, false},
    {kTfLiteBuiltinMul, schema::PrimitiveType_MulFusion, ReadArithmetic, true},
    {kTfLiteBuiltinNeg, schema::PrimitiveType_Neg, NoAttributes, false},
    {kTfLiteBuiltinNotEqual, schema::PrimitiveType_NotEqual, NoAttributes, false},
    {kTfLiteBuiltinOneHot, schema::PrimitiveType_OneHot, ReadOneHot, true},
    {kTfLiteBuiltinPad, schema::PrimitiveType_PadFusion, ReadPad, false},
    {kTfLiteBuiltinPadv2, schema::PrimitiveType_PadFusion, ReadPad, false},
    {kTfLiteBuiltinMirrorPad, schema::PrimitiveType_PadFusion, ReadPad, true},
    {kTfLiteBuiltinPow, schema::PrimitiveType_PowFusion, ReadPow, false},
    {kTfLiteBuiltinPrelu, schema::PrimitiveType_PReLUFusion, ReadPrelu, false},
    {kTfLiteBuiltinQuantize, schema::PrimitiveType_QuantDTypeCast, ReadQuantCast, false},
    {kTfLiteBuiltinDequantize, schema::PrimitiveType_QuantDTypeCast, ReadQuantCast, false},
    {kTfLiteBuiltinRank, schema::PrimitiveType_Rank, NoAttributes, false},
    {kTfLiteBuiltinRange, schema::PrimitiveType_Range, NoAttributes, false},
    {kTfLiteBuiltinMean, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceMean>, true},
    {kTfLiteBuiltinReduceMax, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceMax>, true},
    {kTfLiteBuiltinReduceMin, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceMin>, true},
    {kTfLiteBuiltinReduceProd, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceProd>, true},
    {kTfLiteBuiltinSum, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceSum>, true},
    {kTfLiteBuiltinReduceAll, schema::PrimitiveType_ReduceFusion,
     ReadReduce<schema::ReduceMode_ReduceAll>, true},
    {kTfLiteBuiltinReshape, schema::PrimitiveType_Reshape, NoAttributes, false},
    {kTfLiteBuiltinResizeBilinear, schema::PrimitiveType_Resize, ReadBilinear, true},
    {kTfLiteBuiltinResizeNearestNeighbor, schema::PrimitiveType_Resize, ReadNearest, true},
    {kTfLiteBuiltinReverseV2, schema::PrimitiveType_ReverseV2, NoAttributes, false},
    {kTfLiteBuiltinRound, schema::PrimitiveType_Round, NoAttributes, false},
    {kTfLiteBuiltinRsqrt, schema::PrimitiveType_Rsqrt, NoAttributes, false},
    {kTfLiteBuiltinScatterNd, schema::PrimitiveType_ScatterNd, NoAttributes, false},
    {kTfLiteBuiltinShape, schema::PrimitiveType_Shape, NoAttributes, false},
    {kTfLiteBuiltinSin, schema::PrimitiveType_Sin, NoAttributes, false},
    {kTfLiteBuiltinSlice, schema::PrimitiveType_SliceFusion, NoAttributes, false},
    {kTfLiteBuiltinSoftmax, schema::PrimitiveType_Softmax, ReadSoftmax, true},
    {kTfLiteBuiltinSpaceToBatchNd, schema::PrimitiveType_SpaceToBatchND, NoAttributes, false},
    {kTfLiteBuiltinSpaceToDepth, schema::PrimitiveType_SpaceToDepth, ReadSpaceToDepth, true},
    {kTfLiteBuiltinSplit, schema::PrimitiveType_Split, ReadSplit, false},
    {kTfLiteBuiltinSplitV, schema::PrimitiveType_Split, ReadSplit, false},
    {kTfLiteBuiltinSqrt, schema::PrimitiveType_Sqrt, NoAttributes, false},
    {kTfLiteBuiltinSqueeze, schema::PrimitiveType_Squeeze, ReadSqueeze, true},
    {kTfLiteBuiltinSquare, schema::PrimitiveType_Square, NoAttributes, false},
    {kTfLiteBuiltinSquaredDifference, schema::PrimitiveType_SquaredDifference, NoAttributes, false},
    {kTfLiteBuiltinPack, schema::PrimitiveType_Stack, ReadStack, true},
    {kTfLiteBuiltinStridedSlice, schema::PrimitiveType_StridedSlice, ReadStridedSlice, true},
    {kTfLiteBuiltinSub, schema::PrimitiveType_SubFusion, ReadArithmetic, true},
    {kTfLiteBuiltinTile, schema::PrimitiveType_TileFusion, NoAttributes, false},
    {kTfLiteBuiltinTopkV2, schema::PrimitiveType_TopKFusion, ReadTopK, false},
    {kTfLiteBuiltinTranspose, schema::PrimitiveType_Transpose, NoAttributes, false},
    {kTfLiteBuiltinUnpack, schema::PrimitiveType_Unstack, ReadUnstack, true},
    {kTfLiteBuiltinWhere, schema::PrimitiveType_Where, NoAttributes, false},
    {kTfLiteBuiltinSelect, schema::PrimitiveType_Select, NoAttributes, false},
    {kTfLiteBuiltinSelectV2, schema::PrimitiveType_Select, NoAttributes, false},
    {kTfLiteBuiltinLogSoftmax, schema::PrimitiveType_LogSoftmax, ReadLogSoftmax, false},
    {kTfLiteBuiltinCumsum, schema::PrimitiveType_CumSum, ReadCumSum, true},
};

const Row* FindRow(int builtin_code) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [builtin_code](const Row& r) {
    return r.builtin_code == builtin_code;
  });
  return row == std::end(kRows) ? nullptr : row;
}

Attribute IntAttribute(const char* name, std::vector<int64_t> values) {
  return {.name = name, .kind = Attribute::Kind::kInt, .ints = std::move(values)};
}

Attribute FloatAttribute(const char* name, float value) {
  return {.name = name, .kind = Attribute::Kind::kFloat, .floats = {value}};
}

}  // namespace

const char* TypeNameOf(int builtin_code) {
  const Row* row = FindRow(builtin_code);
  return schema::EnumNamePrimitiveType(row == nullptr ? schema::PrimitiveType_Custom : row->type);
}

}  // namespace deputy::ms_api

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)
using deputy::ms::Attribute;

DeputyMSPrimitive::DeputyMSPrimitive(const TfLiteContext& context, const TfLiteNode& node,
                                     const TfLiteRegistration& registration)
    : builtin_code(registration.builtin_code), version(registration.version) {
  if (registration.builtin_code == kTfLiteBuiltinCustom && registration.custom_name != nullptr) {
    custom_name = registration.custom_name;
  }
  const Source source = {&context, &node, builtin_code};
  const Row* row = FindRow(builtin_code);
  SetType(row == nullptr ? mindspore::schema::PrimitiveType_Custom : row->type);
  if (row == nullptr) {
    AddCustomAttributes(node);
  } else if (!row->has_params || node.builtin_data != nullptr) {
    row->read(source, this);
  }
  Finish();
}

std::unique_ptr<DeputyMSPrimitive> DeputyMSPrimitive::WithContents(
    const mindspore::schema::Primitive& from, size_t* budget) const {
  std::unique_ptr<DeputyMSPrimitive> result(new DeputyMSPrimitive);
  if (!deputy::ms::ReadAttributes(from, budget, &result->attributes)) return nullptr;
  result->builtin_code = builtin_code;
  result->version = version;
  result->custom_name = custom_name;
  result->SetType(from.value_type());
  result->Finish();
  return result;
}

void DeputyMSPrimitive::SetType(int32_t number) {
  type = number;
  type_name = mindspore::schema::EnumNamePrimitiveType(
      static_cast<mindspore::schema::PrimitiveType>(number));
}

// Describes an operator that MindSpore does not have: its name as the type, and its custom options
// as an entry.
void DeputyMSPrimitive::AddCustomAttributes(const TfLiteNode& node) {
  const char* builtin_name = deputy::FindBuiltinName(builtin_code);
  std::string name = custom_name;
  if (name.empty() && builtin_name != nullptr) name = builtin_name;
  attributes.push_back({.name = "type", .kind = Attribute::Kind::kBytes, .bytes = std::move(name)});
  if (node.custom_initial_data == nullptr || node.custom_initial_data_size <= 0) return;
  attributes.push_back({.name = "custom_options",
                        .kind = Attribute::Kind::kBytes,
                        .bytes = {static_cast<const char*>(node.custom_initial_data),
                                  static_cast<size_t>(node.custom_initial_data_size)},
                        .is_entry = true});
}

void DeputyMSPrimitive::Finish() {
  buffer = deputy::ms::BuildPrimitive(type, attributes);
  attributes.clear();
  const auto* root = flatbuffers::GetRoot<mindspore::schema::Primitive>(buffer.data());
  size_t unlimited = SIZE_MAX;
  deputy::ms::ReadAttributes(*root, &unlimited, &attributes);
  attributes.insert(attributes.end(), extra_.begin(), extra_.end());
}

void DeputyMSPrimitive::Add(const char* name, std::vector<int64_t> values) {
  attributes.push_back(IntAttribute(name, std::move(values)));
}

void DeputyMSPrimitive::AddBool(const char* name, bool value) {
  attributes.push_back({.name = name, .kind = Attribute::Kind::kBool, .ints = {value ? 1 : 0}});
}

void DeputyMSPrimitive::AddFloat(const char* name, float value) {
  attributes.push_back(FloatAttribute(name, value));
}

void DeputyMSPrimitive::AddExtraInt(const char* name, int64_t value) {
  extra_.push_back(IntAttribute(name, {value}));
}

void DeputyMSPrimitive::AddExtraFloat(const char* name, float value) {
  extra_.push_back(FloatAttribute(name, value));
}

const Attribute* DeputyMSPrimitive::Find(const char* name, Attribute::Kind kind) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.kind == kind && attribute.name == name) return &attribute;
  }
  return nullptr;
}

// ---- The C API ----------------------------------------------------------------------------------

namespace {

const Attribute* CheckedAttribute(const DeputyMSPrimitive* primitive, const char* name,
                                  Attribute::Kind kind) {
  return primitive == nullptr || name == nullptr ? nullptr : primitive->Find(name, kind);
}

}  // namespace

int32_t DeputyMSPrimitiveType(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? 0 : primitive->type;
}
const char* DeputyMSPrimitiveTypeName(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? "NONE" : primitive->type_name;
}
int32_t DeputyMSPrimitiveBuiltinCode(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? -1 : primitive->builtin_code;
}
int32_t DeputyMSPrimitiveVersion(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? 0 : primitive->version;
}
const char* DeputyMSPrimitiveCustomName(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? "" : primitive->custom_name.c_str();
}

MSStatus DeputyMSPrimitiveGetBuffer(const DeputyMSPrimitive* primitive, const void** out_data,
                                    size_t* out_size) {
  if (primitive == nullptr || out_data == nullptr || out_size == nullptr) {
    return kMSStatusLiteNullptr;
  }
  *out_data = primitive->buffer.data();
  *out_size = primitive->buffer.size();
  return kMSStatusSuccess;
}

size_t DeputyMSPrimitiveAttributeCount(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? 0 : primitive->attributes.size();
}
const char* DeputyMSPrimitiveAttributeName(const DeputyMSPrimitive* primitive, size_t index) {
  return index < DeputyMSPrimitiveAttributeCount(primitive)
             ? primitive->attributes[index].name.c_str()
             : nullptr;
}
int32_t DeputyMSPrimitiveAttributeKindOf(const DeputyMSPrimitive* primitive, size_t index) {
  if (index >= DeputyMSPrimitiveAttributeCount(primitive)) return -1;
  switch (primitive->attributes[index].kind) {
    case Attribute::Kind::kInt:
      return kDeputyMSAttributeInt;
    case Attribute::Kind::kFloat:
      return kDeputyMSAttributeFloat;
    case Attribute::Kind::kBool:
      return kDeputyMSAttributeBool;
    case Attribute::Kind::kBytes:
      return kDeputyMSAttributeBytes;
  }
  return -1;
}

MSStatus DeputyMSPrimitiveGetInt(const DeputyMSPrimitive* primitive, const char* name,
                                 int64_t* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kInt);
  if (attribute == nullptr || attribute->ints.size() != 1 || out_value == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_value = attribute->ints[0];
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetInts(const DeputyMSPrimitive* primitive, const char* name,
                                  const int64_t** out_values, size_t* out_count) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kInt);
  if (attribute == nullptr || out_values == nullptr || out_count == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_values = attribute->ints.data();
  *out_count = attribute->ints.size();
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetFloat(const DeputyMSPrimitive* primitive, const char* name,
                                   float* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kFloat);
  if (attribute == nullptr || attribute->floats.size() != 1 || out_value == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_value = attribute->floats[0];
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetFloats(const DeputyMSPrimitive* primitive, const char* name,
                                    const float** out_values, size_t* out_count) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kFloat);
  if (attribute == nullptr || out_values == nullptr || out_count == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_values = attribute->floats.data();
  *out_count = attribute->floats.size();
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetBool(const DeputyMSPrimitive* primitive, const char* name,
                                  bool* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kBool);
  if (attribute == nullptr || out_value == nullptr) return kMSStatusLiteInvalidOpAttr;
  *out_value = attribute->ints[0] != 0;
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetBytes(const DeputyMSPrimitive* primitive, const char* name,
                                   const void** out_bytes, size_t* out_size) {
  const Attribute* attribute = CheckedAttribute(primitive, name, Attribute::Kind::kBytes);
  if (attribute == nullptr || out_bytes == nullptr || out_size == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_bytes = attribute->bytes.data();
  *out_size = attribute->bytes.size();
  return kMSStatusSuccess;
}
