// SPDX-License-Identifier: Apache-2.0
//
// Converts TensorFlow Lite operators to MindSpore primitives. One table has, for each operator, the
// value and name in MindSpore's schema and the function that reads the attributes. An operator
// without a row becomes Custom (191).
#include "mindspore/src/primitive.h"

#include <algorithm>
#include <cstring>

#include "deputy/builtin_op_data.h"
#include "deputy/builtin_ops.h"
#include "mindspore/src/log.h"
#include "mindspore/src/tensor.h"

namespace deputy::ms_api {
namespace {

constexpr int kCustomType = 191;
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

// Activations, with their values in MindSpore's schema.
enum ActivationType {
  kNone = 0,
  kRelu = 1,
  kSigmoid = 2,
  kRelu6 = 3,
  kRelu1 = 7,
  kTanh = 10,
  kHardSwish = 12,
  kSign = 17,
  kGelu = 19
};
enum PadMode { kPadExplicit = 0, kPadSame = 1, kPadValid = 2 };
enum ReduceMode { kMean = 0, kMax = 1, kMin = 2, kProd = 3, kSum = 4, kAll = 7 };
enum ResizeMethod { kLinear = 0, kNearest = 1 };
enum CoordinateMode { kAsymmetric = 0, kAlignCorners = 1, kHalfPixel = 2 };

int64_t FusedActivation(TfLiteFusedActivation activation) {
  switch (activation) {
    case kTfLiteActRelu:
      return kRelu;
    case kTfLiteActReluN1To1:
      return kRelu1;
    case kTfLiteActRelu6:
      return kRelu6;
    case kTfLiteActTanh:
      return kTanh;
    case kTfLiteActSignBit:
      return kSign;
    case kTfLiteActSigmoid:
      return kSigmoid;
    default:
      return kNone;
  }
}

int64_t PadModeOf(TfLitePadding padding) {
  if (padding == kTfLitePaddingSame) return kPadSame;
  return padding == kTfLitePaddingValid ? kPadValid : kPadExplicit;
}

int DimOf(const TfLiteTensor* tensor, int axis) {
  return tensor == nullptr || tensor->dims == nullptr || axis >= tensor->dims->size
             ? 0
             : tensor->dims->data[axis];
}

int RankOf(const TfLiteTensor* tensor) {
  return tensor == nullptr || tensor->dims == nullptr ? 0 : tensor->dims->size;
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
  out->AddInt("format", kMSFormatNHWC);
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

void ReadTransposeConv(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteTransposeConvParams>();
  const TfLiteTensor* filter = source.input(1);
  out->Add("kernel_size", {DimOf(filter, 1), DimOf(filter, 2)});
  out->Add("stride", {p.stride_height, p.stride_width});
  out->Add("dilation", {1, 1});
  out->AddInt("pad_mode", PadModeOf(p.padding));
  out->AddInt("group", 1);
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
  out->AddInt("activation_type", kNone);
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
  out->AddInt("activation_type", kGelu);
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
  out->AddFloat("beta", source.params<TfLiteSoftmaxParams>().beta);
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
  const TfLiteTensor* axis = source.input(1);
  if (axis != nullptr && axis->allocation_type == kTfLiteMmapRo && axis->type == kTfLiteInt32 &&
      axis->bytes >= sizeof(int32_t)) {
    out->AddInt("axis", axis->data.i32[0]);
  }
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
  out->AddInt("activation_type",
              FusedActivation(source.params<TfLiteConcatenationParams>().activation));
}

void ReadSplit(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("output_num", source.node->outputs->size);
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
  out->AddInt("axis", source.params<TfLiteGatherParams>().axis);
  out->AddInt("batch_dims", source.params<TfLiteGatherParams>().batch_dims);
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
  out->AddInt("method", method);
  out->AddInt("new_height", DimOf(source.output(0), 1));
  out->AddInt("new_width", DimOf(source.output(0), 2));
  int64_t mode = half_pixel_centers ? kHalfPixel : kAsymmetric;
  if (align_corners) mode = kAlignCorners;
  out->AddInt("coordinate_transform_mode", mode);
}

void ReadBilinear(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteResizeBilinearParams>();
  AddResize(source, kLinear, p.align_corners, p.half_pixel_centers, out);
}

void ReadNearest(const Source& source, DeputyMSPrimitive* out) {
  const auto& p = source.params<TfLiteResizeNearestNeighborParams>();
  AddResize(source, kNearest, p.align_corners, p.half_pixel_centers, out);
}

void ReadDepthToSpace(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("block_size", source.params<TfLiteDepthToSpaceParams>().block_size);
}

void ReadSpaceToDepth(const Source& source, DeputyMSPrimitive* out) {
  out->AddInt("block_size", source.params<TfLiteSpaceToDepthParams>().block_size);
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

// Adds the types of input and output, as MindSpore's values.
void ReadTypes(const Source& source, DeputyMSPrimitive* out) {
  if (source.input(0) != nullptr) out->AddInt("src_t", DataTypeOf(source.input(0)->type));
  if (source.output(0) != nullptr) out->AddInt("dst_t", DataTypeOf(source.output(0)->type));
}

// ---- The table ----------------------------------------------------------------------------------

struct Row {
  int builtin_code;
  int type;
  const char* name;
  Reader read;
  bool has_params;  // the reader accesses builtin_data
};

constexpr Row kRows[] = {
    {kTfLiteBuiltinAbs, 1, "Abs", NoAttributes, false},
    {kTfLiteBuiltinRelu, 2, "Activation", ReadActivation<kRelu>, false},
    {kTfLiteBuiltinReluN1To1, 2, "Activation", ReadActivation<kRelu1>, false},
    {kTfLiteBuiltinRelu6, 2, "Activation", ReadActivation<kRelu6>, false},
    {kTfLiteBuiltinLogistic, 2, "Activation", ReadActivation<kSigmoid>, false},
    {kTfLiteBuiltinTanh, 2, "Activation", ReadActivation<kTanh>, false},
    {kTfLiteBuiltinHardSwish, 2, "Activation", ReadActivation<kHardSwish>, false},
    {kTfLiteBuiltinGelu, 2, "Activation", ReadGelu, true},
    {kTfLiteBuiltinAdd, 5, "AddFusion", ReadArithmetic, true},
    {kTfLiteBuiltinArgMax, 11, "ArgMaxFusion", ReadArg, false},
    {kTfLiteBuiltinArgMin, 12, "ArgMinFusion", ReadArg, false},
    {kTfLiteBuiltinAveragePool2d, 17, "AvgPoolFusion", ReadPool, true},
    {kTfLiteBuiltinBatchToSpaceNd, 22, "BatchToSpaceND", NoAttributes, false},
    {kTfLiteBuiltinBroadcastTo, 27, "BroadcastTo", NoAttributes, false},
    {kTfLiteBuiltinCast, 28, "Cast", ReadTypes, false},
    {kTfLiteBuiltinCeil, 29, "Ceil", NoAttributes, false},
    {kTfLiteBuiltinConcatenation, 31, "Concat", ReadConcat, true},
    {kTfLiteBuiltinConv2d, 35, "Conv2DFusion", ReadConv, true},
    {kTfLiteBuiltinDepthwiseConv2d, 35, "Conv2DFusion", ReadDepthwise, true},
    {kTfLiteBuiltinTransposeConv, 36, "Conv2dTransposeFusion", ReadTransposeConv, true},
    {kTfLiteBuiltinCos, 37, "Cos", NoAttributes, false},
    {kTfLiteBuiltinDepthToSpace, 45, "DepthToSpace", ReadDepthToSpace, true},
    {kTfLiteBuiltinDiv, 47, "DivFusion", ReadArithmetic, true},
    {kTfLiteBuiltinElu, 51, "Elu", ReadElu, false},
    {kTfLiteBuiltinEqual, 53, "Equal", NoAttributes, false},
    {kTfLiteBuiltinExp, 55, "ExpFusion", ReadExp, false},
    {kTfLiteBuiltinExpandDims, 56, "ExpandDims", NoAttributes, false},
    {kTfLiteBuiltinFloor, 63, "Floor", NoAttributes, false},
    {kTfLiteBuiltinFloorDiv, 64, "FloorDiv", NoAttributes, false},
    {kTfLiteBuiltinFloorMod, 65, "FloorMod", NoAttributes, false},
    {kTfLiteBuiltinFill, 66, "Fill", NoAttributes, false},
    {kTfLiteBuiltinFullyConnected, 67, "FullConnection", ReadFullConnection, true},
    {kTfLiteBuiltinGather, 69, "Gather", ReadGather, true},
    {kTfLiteBuiltinGatherNd, 70, "GatherNd", NoAttributes, false},
    {kTfLiteBuiltinGreater, 71, "Greater", NoAttributes, false},
    {kTfLiteBuiltinGreaterEqual, 72, "GreaterEqual", NoAttributes, false},
    {kTfLiteBuiltinLeakyRelu, 76, "LeakyRelu", ReadLeakyRelu, true},
    {kTfLiteBuiltinLess, 77, "Less", NoAttributes, false},
    {kTfLiteBuiltinLessEqual, 78, "LessEqual", NoAttributes, false},
    {kTfLiteBuiltinLog, 79, "Log", NoAttributes, false},
    {kTfLiteBuiltinLogicalAnd, 81, "LogicalAnd", NoAttributes, false},
    {kTfLiteBuiltinLogicalNot, 82, "LogicalNot", NoAttributes, false},
    {kTfLiteBuiltinLogicalOr, 83, "LogicalOr", NoAttributes, false},
    {kTfLiteBuiltinLocalResponseNormalization, 85, "LRN", ReadLrn, true},
    {kTfLiteBuiltinL2Normalization, 88, "L2NormalizeFusion", ReadL2Normalize, false},
    {kTfLiteBuiltinBatchMatmul, 89, "MatMulFusion", ReadMatMul, true},
    {kTfLiteBuiltinMaximum, 90, "Maximum", NoAttributes, false},
    {kTfLiteBuiltinMaxPool2d, 92, "MaxPoolFusion", ReadPool, true},
    {kTfLiteBuiltinMinimum, 96, "Minimum", NoAttributes, false},
    {kTfLiteBuiltinMul, 99, "MulFusion", ReadArithmetic, true},
    {kTfLiteBuiltinNeg, 101, "Neg", NoAttributes, false},
    {kTfLiteBuiltinNotEqual, 103, "NotEqual", NoAttributes, false},
    {kTfLiteBuiltinOneHot, 105, "OneHot", ReadOneHot, true},
    {kTfLiteBuiltinPad, 107, "PadFusion", ReadPad, false},
    {kTfLiteBuiltinPadv2, 107, "PadFusion", ReadPad, false},
    {kTfLiteBuiltinMirrorPad, 107, "PadFusion", ReadPad, true},
    {kTfLiteBuiltinPow, 110, "PowFusion", ReadPow, false},
    {kTfLiteBuiltinPrelu, 112, "PReLUFusion", ReadPrelu, false},
    {kTfLiteBuiltinQuantize, 113, "QuantDTypeCast", ReadTypes, false},
    {kTfLiteBuiltinDequantize, 113, "QuantDTypeCast", ReadTypes, false},
    {kTfLiteBuiltinRank, 114, "Rank", NoAttributes, false},
    {kTfLiteBuiltinRange, 115, "Range", NoAttributes, false},
    {kTfLiteBuiltinMean, 118, "ReduceFusion", ReadReduce<kMean>, true},
    {kTfLiteBuiltinReduceMax, 118, "ReduceFusion", ReadReduce<kMax>, true},
    {kTfLiteBuiltinReduceMin, 118, "ReduceFusion", ReadReduce<kMin>, true},
    {kTfLiteBuiltinReduceProd, 118, "ReduceFusion", ReadReduce<kProd>, true},
    {kTfLiteBuiltinSum, 118, "ReduceFusion", ReadReduce<kSum>, true},
    {kTfLiteBuiltinReduceAll, 118, "ReduceFusion", ReadReduce<kAll>, true},
    {kTfLiteBuiltinReshape, 119, "Reshape", NoAttributes, false},
    {kTfLiteBuiltinResizeBilinear, 120, "Resize", ReadBilinear, true},
    {kTfLiteBuiltinResizeNearestNeighbor, 120, "Resize", ReadNearest, true},
    {kTfLiteBuiltinReverseV2, 122, "ReverseV2", NoAttributes, false},
    {kTfLiteBuiltinRound, 125, "Round", NoAttributes, false},
    {kTfLiteBuiltinRsqrt, 126, "Rsqrt", NoAttributes, false},
    {kTfLiteBuiltinScatterNd, 128, "ScatterNd", NoAttributes, false},
    {kTfLiteBuiltinShape, 130, "Shape", NoAttributes, false},
    {kTfLiteBuiltinSin, 133, "Sin", NoAttributes, false},
    {kTfLiteBuiltinSlice, 135, "SliceFusion", NoAttributes, false},
    {kTfLiteBuiltinSoftmax, 138, "Softmax", ReadSoftmax, true},
    {kTfLiteBuiltinSpaceToBatchNd, 141, "SpaceToBatchND", NoAttributes, false},
    {kTfLiteBuiltinSpaceToDepth, 142, "SpaceToDepth", ReadSpaceToDepth, true},
    {kTfLiteBuiltinSplit, 145, "Split", ReadSplit, false},
    {kTfLiteBuiltinSplitV, 145, "Split", ReadSplit, false},
    {kTfLiteBuiltinSqrt, 146, "Sqrt", NoAttributes, false},
    {kTfLiteBuiltinSqueeze, 147, "Squeeze", ReadSqueeze, true},
    {kTfLiteBuiltinSquare, 148, "Square", NoAttributes, false},
    {kTfLiteBuiltinSquaredDifference, 149, "SquaredDifference", NoAttributes, false},
    {kTfLiteBuiltinPack, 150, "Stack", ReadStack, true},
    {kTfLiteBuiltinStridedSlice, 151, "StridedSlice", ReadStridedSlice, true},
    {kTfLiteBuiltinSub, 152, "SubFusion", ReadArithmetic, true},
    {kTfLiteBuiltinTile, 160, "TileFusion", NoAttributes, false},
    {kTfLiteBuiltinTopkV2, 161, "TopKFusion", ReadTopK, false},
    {kTfLiteBuiltinTranspose, 162, "Transpose", NoAttributes, false},
    {kTfLiteBuiltinUnpack, 166, "Unstack", ReadUnstack, true},
    {kTfLiteBuiltinWhere, 168, "Where", NoAttributes, false},
    {kTfLiteBuiltinSelect, 170, "Select", NoAttributes, false},
    {kTfLiteBuiltinSelectV2, 170, "Select", NoAttributes, false},
    {kTfLiteBuiltinLogSoftmax, 189, "LogSoftmax", ReadLogSoftmax, false},
    {kTfLiteBuiltinCumsum, 192, "CumSum", ReadCumSum, true},
};

const Row* FindRow(int builtin_code) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [builtin_code](const Row& r) {
    return r.builtin_code == builtin_code;
  });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

const char* TypeNameOf(int builtin_code) {
  const Row* row = FindRow(builtin_code);
  return row == nullptr ? "Custom" : row->name;
}

}  // namespace deputy::ms_api

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

DeputyMSPrimitive::DeputyMSPrimitive(const TfLiteContext& context, const TfLiteNode& node,
                                     const TfLiteRegistration& registration)
    : type(kCustomType),
      type_name("Custom"),
      builtin_code(registration.builtin_code),
      version(registration.version) {
  if (registration.builtin_code == kTfLiteBuiltinCustom && registration.custom_name != nullptr) {
    custom_name = registration.custom_name;
  }
  if (node.custom_initial_data != nullptr && node.custom_initial_data_size > 0) {
    attributes.push_back({"custom_options",
                          kDeputyMSAttributeBytes,
                          {},
                          0,
                          {static_cast<const char*>(node.custom_initial_data),
                           static_cast<size_t>(node.custom_initial_data_size)}});
  }
  const Row* row = FindRow(builtin_code);
  if (row == nullptr) return;
  type = row->type;
  type_name = row->name;
  if (row->has_params && node.builtin_data == nullptr) return;
  row->read({&context, &node, builtin_code}, this);
}

void DeputyMSPrimitive::Add(const char* name, std::vector<int64_t> values) {
  attributes.push_back({name, kDeputyMSAttributeInt, std::move(values), 0, {}});
}

void DeputyMSPrimitive::AddBool(const char* name, bool value) {
  attributes.push_back({name, kDeputyMSAttributeBool, {value ? 1 : 0}, 0, {}});
}

void DeputyMSPrimitive::AddFloat(const char* name, float value) {
  attributes.push_back({name, kDeputyMSAttributeFloat, {}, value, {}});
}

const Attribute* DeputyMSPrimitive::Find(const char* name, DeputyMSAttributeKind kind) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.kind == kind && std::strcmp(attribute.name, name) == 0) return &attribute;
  }
  return nullptr;
}

// ---- The C API ----------------------------------------------------------------------------------

namespace {

const Attribute* CheckedAttribute(const DeputyMSPrimitive* primitive, const char* name,
                                  DeputyMSAttributeKind kind) {
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

size_t DeputyMSPrimitiveAttributeCount(const DeputyMSPrimitive* primitive) {
  return primitive == nullptr ? 0 : primitive->attributes.size();
}
const char* DeputyMSPrimitiveAttributeName(const DeputyMSPrimitive* primitive, size_t index) {
  return index < DeputyMSPrimitiveAttributeCount(primitive) ? primitive->attributes[index].name
                                                            : nullptr;
}
int32_t DeputyMSPrimitiveAttributeKindOf(const DeputyMSPrimitive* primitive, size_t index) {
  return index < DeputyMSPrimitiveAttributeCount(primitive) ? primitive->attributes[index].kind
                                                            : -1;
}

MSStatus DeputyMSPrimitiveGetInt(const DeputyMSPrimitive* primitive, const char* name,
                                 int64_t* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, kDeputyMSAttributeInt);
  if (attribute == nullptr || attribute->ints.size() != 1 || out_value == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_value = attribute->ints[0];
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetInts(const DeputyMSPrimitive* primitive, const char* name,
                                  const int64_t** out_values, size_t* out_count) {
  const Attribute* attribute = CheckedAttribute(primitive, name, kDeputyMSAttributeInt);
  if (attribute == nullptr || out_values == nullptr || out_count == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_values = attribute->ints.data();
  *out_count = attribute->ints.size();
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetFloat(const DeputyMSPrimitive* primitive, const char* name,
                                   float* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, kDeputyMSAttributeFloat);
  if (attribute == nullptr || out_value == nullptr) return kMSStatusLiteInvalidOpAttr;
  *out_value = attribute->number;
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetBool(const DeputyMSPrimitive* primitive, const char* name,
                                  bool* out_value) {
  const Attribute* attribute = CheckedAttribute(primitive, name, kDeputyMSAttributeBool);
  if (attribute == nullptr || out_value == nullptr) return kMSStatusLiteInvalidOpAttr;
  *out_value = attribute->ints[0] != 0;
  return kMSStatusSuccess;
}

MSStatus DeputyMSPrimitiveGetBytes(const DeputyMSPrimitive* primitive, const char* name,
                                   const void** out_bytes, size_t* out_size) {
  const Attribute* attribute = CheckedAttribute(primitive, name, kDeputyMSAttributeBytes);
  if (attribute == nullptr || out_bytes == nullptr || out_size == nullptr) {
    return kMSStatusLiteInvalidOpAttr;
  }
  *out_bytes = attribute->bytes.data();
  *out_size = attribute->bytes.size();
  return kMSStatusSuccess;
}
