// SPDX-License-Identifier: Apache-2.0
//
// Getters of the options of operators: each returns a field of the operator's options in the file.
#include "litert/c/litert_op_options.h"

#include "litert/src/layout.h"
#include "litert/src/log.h"
#include "litert/src/model.h"
#include "schema_generated.h"

using namespace deputy::schema;

// Exported by LiteRT, but in none of its headers.
extern "C" LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dOptions(
    LiteRtOp op, int8_t* padding, int32_t* stride_w, int32_t* stride_h, int32_t* filter_width,
    int32_t* filter_height, int8_t* fused_activation_function);

namespace {

// Returns the options of an operator with this code; null if it has none of this type.
template <typename Options>
const Options* OptionsOf(LiteRtOp op, LiteRtOpCode code) {
  if (op == nullptr || op->code != code || op->options == nullptr) return nullptr;
  if constexpr (BuiltinOptionsTraits<Options>::enum_value != BuiltinOptions::NONE) {
    return op->options->builtin_options_as<Options>();
  } else {
    return op->options->builtin_options_2_as<Options>();
  }
}

// Stores a field of the options.
template <typename Options, typename Field, typename Out>
LiteRtStatus Store(LiteRtOp op, LiteRtOpCode code, Field (Options::*field)() const, Out* out) {
  const Options* const options = OptionsOf<Options>(op, code);
  if (options == nullptr || out == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out = static_cast<Out>((options->*field)());
  return kLiteRtStatusOk;
}

// Stores address and size of a vector of the options; null and 0 if it is absent.
template <typename Options, typename T>
LiteRtStatus StoreArray(LiteRtOp op, LiteRtOpCode code,
                        const flatbuffers::Vector<T>* (Options::*field)() const, const T** out_data,
                        int32_t* out_size) {
  const Options* const options = OptionsOf<Options>(op, code);
  if (options == nullptr || out_data == nullptr || out_size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const flatbuffers::Vector<T>* const vector = (options->*field)();
  const bool is_empty = vector == nullptr || vector->size() == 0;
  *out_data = is_empty ? nullptr : vector->data();
  *out_size = is_empty ? 0 : static_cast<int32_t>(vector->size());
  return kLiteRtStatusOk;
}

// Stores address and size of a constant int32 tensor; null and 0 if it has no elements.
LiteRtStatus StoreShape(const LiteRtTensorT& shape, const int32_t** out_data, int32_t* out_size) {
  const std::optional<size_t> count = deputy::litert::ElementCount(shape.type.layout);
  if (shape.type.element_type != kLiteRtElementTypeInt32 || !count ||
      *count > shape.weights.bytes.size() / sizeof(int32_t)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const auto* const data = reinterpret_cast<const int32_t*>(shape.weights.bytes.data());
  *out_data = *count == 0 ? nullptr : data;
  *out_size = static_cast<int32_t>(*count);
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtStatus LiteRtGetAddFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  // Without options, the other getters report an invalid argument.
  const bool is_add = op != nullptr && op->code == kLiteRtOpCodeTflAdd;
  if (is_add && OptionsOf<AddOptions>(op, kLiteRtOpCodeTflAdd) == nullptr) {
    return kLiteRtStatusErrorNotFound;
  }
  return Store(op, kLiteRtOpCodeTflAdd, &AddOptions::fused_activation_function, fused_activation);
}

LiteRtStatus LiteRtGetSubFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  return Store(op, kLiteRtOpCodeTflSub, &SubOptions::fused_activation_function, fused_activation);
}

LiteRtStatus LiteRtGetMulFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  return Store(op, kLiteRtOpCodeTflMul, &MulOptions::fused_activation_function, fused_activation);
}

LiteRtStatus LiteRtGetDivFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  return Store(op, kLiteRtOpCodeTflDiv, &DivOptions::fused_activation_function, fused_activation);
}

LiteRtStatus LiteRtGetLeakyReluAlphaOption(LiteRtOp op, float* alpha) {
  return Store(op, kLiteRtOpCodeTflLeakyRelu, &LeakyReluOptions::alpha, alpha);
}

LiteRtStatus LiteRtGetGeluApproximateOption(LiteRtOp op, bool* approximate) {
  return Store(op, kLiteRtOpCodeTflGelu, &GeluOptions::approximate, approximate);
}

LiteRtStatus LiteRtGetSoftmaxBetaOption(LiteRtOp op, float* beta) {
  return Store(op, kLiteRtOpCodeTflSoftmax, &SoftmaxOptions::beta, beta);
}

LiteRtStatus LiteRtGetCumsumExclusiveOption(LiteRtOp op, bool* exclusive) {
  return Store(op, kLiteRtOpCodeTflCumsum, &CumsumOptions::exclusive, exclusive);
}

LiteRtStatus LiteRtGetCumsumReverseOption(LiteRtOp op, bool* reverse) {
  return Store(op, kLiteRtOpCodeTflCumsum, &CumsumOptions::reverse, reverse);
}

// ---- Matrix products ----------------------------------------------------------------------------

LiteRtStatus LiteRtGetBatchMatmulAdjXOption(LiteRtOp op, bool* adj_x) {
  return Store(op, kLiteRtOpCodeTflBatchMatmul, &BatchMatMulOptions::adj_x, adj_x);
}

LiteRtStatus LiteRtGetBatchMatmulAdjYOption(LiteRtOp op, bool* adj_y) {
  return Store(op, kLiteRtOpCodeTflBatchMatmul, &BatchMatMulOptions::adj_y, adj_y);
}

LiteRtStatus LiteRtGetBatchMatmulAsymmetricQuantizeInputOption(LiteRtOp op,
                                                               bool* asymmetric_quantize_input) {
  return Store(op, kLiteRtOpCodeTflBatchMatmul, &BatchMatMulOptions::asymmetric_quantize_inputs,
               asymmetric_quantize_input);
}

LiteRtStatus LiteRtGetFullyConnectedFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  return Store(op, kLiteRtOpCodeTflFullyConnected,
               &FullyConnectedOptions::fused_activation_function, fused_activation);
}

LiteRtStatus LiteRtGetFullyConnectedWeightsFormatOption(LiteRtOp op, uint32_t* weights_format) {
  return Store(op, kLiteRtOpCodeTflFullyConnected, &FullyConnectedOptions::weights_format,
               weights_format);
}

LiteRtStatus LiteRtGetFullyConnectedKeepNumDimsOption(LiteRtOp op, bool* keep_num_dims) {
  return Store(op, kLiteRtOpCodeTflFullyConnected, &FullyConnectedOptions::keep_num_dims,
               keep_num_dims);
}

LiteRtStatus LiteRtFullyConnectedGetQuantizedBiasTypeOption(LiteRtOp op,
                                                            uint32_t* quantized_bias_type) {
  return Store(op, kLiteRtOpCodeTflFullyConnected, &FullyConnectedOptions::quantized_bias_type,
               quantized_bias_type);
}

LiteRtStatus LiteRtGetFullyConnectedAsymmetricQuantizeInputOption(LiteRtOp op,
                                                                  bool* asymmetric_quantize_input) {
  return Store(op, kLiteRtOpCodeTflFullyConnected,
               &FullyConnectedOptions::asymmetric_quantize_inputs, asymmetric_quantize_input);
}

// ---- Convolutions -------------------------------------------------------------------------------

LiteRtStatus LiteRtGetConv2dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::padding, padding);
}

LiteRtStatus LiteRtGetConv2dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetConv2dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetConv2dFusedActivationOption(LiteRtOp op,
                                                  uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::fused_activation_function,
               fused_activation_function);
}

LiteRtStatus LiteRtGetConv2dDilationWOption(LiteRtOp op, int32_t* dilation_w_factor) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::dilation_w_factor, dilation_w_factor);
}

LiteRtStatus LiteRtGetConv2dDilationHOption(LiteRtOp op, int32_t* dilation_h_factor) {
  return Store(op, kLiteRtOpCodeTflConv2d, &Conv2DOptions::dilation_h_factor, dilation_h_factor);
}

LiteRtStatus LiteRtGetConv3dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::padding, padding);
}

LiteRtStatus LiteRtGetConv3dStrideDOption(LiteRtOp op, int32_t* stride_d) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::stride_d, stride_d);
}

LiteRtStatus LiteRtGetConv3dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetConv3dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetConv3dFusedActivationOption(LiteRtOp op,
                                                  uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::fused_activation_function,
               fused_activation_function);
}

LiteRtStatus LiteRtGetConv3dDilationDOption(LiteRtOp op, int32_t* dilation_d_factor) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::dilation_d_factor, dilation_d_factor);
}

LiteRtStatus LiteRtGetConv3dDilationWOption(LiteRtOp op, int32_t* dilation_w_factor) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::dilation_w_factor, dilation_w_factor);
}

LiteRtStatus LiteRtGetConv3dDilationHOption(LiteRtOp op, int32_t* dilation_h_factor) {
  return Store(op, kLiteRtOpCodeTflConv3d, &Conv3DOptions::dilation_h_factor, dilation_h_factor);
}

LiteRtStatus LiteRtGetDepthwiseConv2dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::padding, padding);
}

LiteRtStatus LiteRtGetDepthwiseConv2dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetDepthwiseConv2dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetDepthwiseConv2dDepthMultiplierOption(LiteRtOp op, int32_t* depth_multiplier) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::depth_multiplier,
               depth_multiplier);
}

LiteRtStatus LiteRtGetDepthwiseConv2dFusedActivationOption(LiteRtOp op,
                                                           uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d,
               &DepthwiseConv2DOptions::fused_activation_function, fused_activation_function);
}

LiteRtStatus LiteRtGetDepthwiseConv2dDilationWOption(LiteRtOp op, int32_t* dilation_w_factor) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::dilation_w_factor,
               dilation_w_factor);
}

LiteRtStatus LiteRtGetDepthwiseConv2dDilationHOption(LiteRtOp op, int32_t* dilation_h_factor) {
  return Store(op, kLiteRtOpCodeTflDepthwiseConv2d, &DepthwiseConv2DOptions::dilation_h_factor,
               dilation_h_factor);
}

LiteRtStatus LiteRtGetTransposeConvPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflTransposeConv, &TransposeConvOptions::padding, padding);
}

LiteRtStatus LiteRtGetTransposeConvStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflTransposeConv, &TransposeConvOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetTransposeConvStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflTransposeConv, &TransposeConvOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetTransposeConvFusedActivationOption(LiteRtOp op,
                                                         uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflTransposeConv, &TransposeConvOptions::fused_activation_function,
               fused_activation_function);
}

// ---- Pooling ------------------------------------------------------------------------------------

LiteRtStatus LiteRtGetAveragePool2dOptions(LiteRtOp op, int8_t* padding, int32_t* stride_w,
                                           int32_t* stride_h, int32_t* filter_width,
                                           int32_t* filter_height,
                                           int8_t* fused_activation_function) {
  constexpr LiteRtOpCode kCode = kLiteRtOpCodeTflAveragePool2d;
  LITERT_TRY(Store(op, kCode, &Pool2DOptions::padding, padding));
  LITERT_TRY(Store(op, kCode, &Pool2DOptions::stride_w, stride_w));
  LITERT_TRY(Store(op, kCode, &Pool2DOptions::stride_h, stride_h));
  LITERT_TRY(Store(op, kCode, &Pool2DOptions::filter_width, filter_width));
  LITERT_TRY(Store(op, kCode, &Pool2DOptions::filter_height, filter_height));
  return Store(op, kCode, &Pool2DOptions::fused_activation_function, fused_activation_function);
}

LiteRtStatus LiteRtGetAveragePool2dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::padding, padding);
}

LiteRtStatus LiteRtGetAveragePool2dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetAveragePool2dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetAveragePool2dFilterWidthOption(LiteRtOp op, int32_t* filter_width) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::filter_width, filter_width);
}

LiteRtStatus LiteRtGetAveragePool2dFilterHeightOption(LiteRtOp op, int32_t* filter_height) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::filter_height, filter_height);
}

LiteRtStatus LiteRtGetAveragePool2dFusedActivationOption(LiteRtOp op,
                                                         uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflAveragePool2d, &Pool2DOptions::fused_activation_function,
               fused_activation_function);
}

LiteRtStatus LiteRtGetMaxPool2dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::padding, padding);
}

LiteRtStatus LiteRtGetMaxPool2dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetMaxPool2dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetMaxPool2dFilterWidthOption(LiteRtOp op, int32_t* filter_width) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::filter_width, filter_width);
}

LiteRtStatus LiteRtGetMaxPool2dFilterHeightOption(LiteRtOp op, int32_t* filter_height) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::filter_height, filter_height);
}

LiteRtStatus LiteRtGetMaxPool2dFusedActivationOption(LiteRtOp op,
                                                     uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflMaxPool2d, &Pool2DOptions::fused_activation_function,
               fused_activation_function);
}

LiteRtStatus LiteRtGetL2Pool2dPaddingOption(LiteRtOp op, uint32_t* padding) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::padding, padding);
}

LiteRtStatus LiteRtGetL2Pool2dStrideWOption(LiteRtOp op, int32_t* stride_w) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::stride_w, stride_w);
}

LiteRtStatus LiteRtGetL2Pool2dStrideHOption(LiteRtOp op, int32_t* stride_h) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::stride_h, stride_h);
}

LiteRtStatus LiteRtGetL2Pool2dFilterWidthOption(LiteRtOp op, int32_t* filter_width) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::filter_width, filter_width);
}

LiteRtStatus LiteRtGetL2Pool2dFilterHeightOption(LiteRtOp op, int32_t* filter_height) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::filter_height, filter_height);
}

LiteRtStatus LiteRtGetL2Pool2dFusedActivationOption(LiteRtOp op,
                                                    uint32_t* fused_activation_function) {
  return Store(op, kLiteRtOpCodeTflL2Pool2d, &Pool2DOptions::fused_activation_function,
               fused_activation_function);
}

// ---- Reductions ---------------------------------------------------------------------------------

LiteRtStatus LiteRtGetSumKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflSum, &ReducerOptions::keep_dims, keepdims);
}

LiteRtStatus LiteRtGetMeanKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflMean, &ReducerOptions::keep_dims, keepdims);
}

LiteRtStatus LiteRtGetReduceMaxKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflReduceMax, &ReducerOptions::keep_dims, keepdims);
}

LiteRtStatus LiteRtGetReduceMinKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflReduceMin, &ReducerOptions::keep_dims, keepdims);
}

LiteRtStatus LiteRtGetReduceAnyKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflReduceAny, &ReducerOptions::keep_dims, keepdims);
}

LiteRtStatus LiteRtGetReduceAllKeepDimsOption(LiteRtOp op, bool* keepdims) {
  return Store(op, kLiteRtOpCodeTflReduceAll, &ReducerOptions::keep_dims, keepdims);
}

// ---- Data movement ------------------------------------------------------------------------------

// Operators without options have the shape as their second input.
LiteRtStatus LiteRtGetReshapeNewShapeOption(LiteRtOp op, const int32_t** new_shape,
                                            int32_t* new_shape_size) {
  if (OptionsOf<ReshapeOptions>(op, kLiteRtOpCodeTflReshape) != nullptr) {
    return StoreArray(op, kLiteRtOpCodeTflReshape, &ReshapeOptions::new_shape, new_shape,
                      new_shape_size);
  }
  if (op == nullptr || op->code != kLiteRtOpCodeTflReshape || op->inputs.size() < 2 ||
      new_shape == nullptr || new_shape_size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return StoreShape(*op->inputs[1], new_shape, new_shape_size);
}

LiteRtStatus LiteRtGetSqueezeDimsOption(LiteRtOp op, const int32_t** squeeze_dims,
                                        int32_t* num_squeeze_dims) {
  return StoreArray(op, kLiteRtOpCodeTflSqueeze, &SqueezeOptions::squeeze_dims, squeeze_dims,
                    num_squeeze_dims);
}

LiteRtStatus LiteRtGetConcatenationFusedActivationOption(LiteRtOp op, uint32_t* fused_activation) {
  return Store(op, kLiteRtOpCodeTflConcatenation, &ConcatenationOptions::fused_activation_function,
               fused_activation);
}

LiteRtStatus LiteRtGetConcatenationAxisOption(LiteRtOp op, int32_t* axis) {
  return Store(op, kLiteRtOpCodeTflConcatenation, &ConcatenationOptions::axis, axis);
}

LiteRtStatus LiteRtGetSplitNumSplitsOption(LiteRtOp op, int32_t* num_splits) {
  return Store(op, kLiteRtOpCodeTflSplit, &SplitOptions::num_splits, num_splits);
}

LiteRtStatus LiteRtGetSplitVNumSplitsOption(LiteRtOp op, int32_t* num_splits) {
  return Store(op, kLiteRtOpCodeTflSplitV, &SplitVOptions::num_splits, num_splits);
}

LiteRtStatus LiteRtGetPackAxisOption(LiteRtOp op, int32_t* axis) {
  return Store(op, kLiteRtOpCodeTflPack, &PackOptions::axis, axis);
}

LiteRtStatus LiteRtGetPackValuesCountOption(LiteRtOp op, int32_t* values_count) {
  return Store(op, kLiteRtOpCodeTflPack, &PackOptions::values_count, values_count);
}

LiteRtStatus LiteRtGetUnpackAxisOption(LiteRtOp op, int32_t* axis) {
  return Store(op, kLiteRtOpCodeTflUnpack, &UnpackOptions::axis, axis);
}

LiteRtStatus LiteRtGetUnpackNumOption(LiteRtOp op, int32_t* num) {
  return Store(op, kLiteRtOpCodeTflUnpack, &UnpackOptions::num, num);
}

LiteRtStatus LiteRtGetGatherAxisOption(LiteRtOp op, int32_t* axis) {
  return Store(op, kLiteRtOpCodeTflGather, &GatherOptions::axis, axis);
}

LiteRtStatus LiteRtGetGatherBatchDimsOption(LiteRtOp op, int32_t* batch_dims) {
  return Store(op, kLiteRtOpCodeTflGather, &GatherOptions::batch_dims, batch_dims);
}

LiteRtStatus LiteRtGetOneHotAxisOption(LiteRtOp op, int32_t* axis) {
  return Store(op, kLiteRtOpCodeTflOneHot, &OneHotOptions::axis, axis);
}

LiteRtStatus LiteRtGetStridedSliceBeginMaskOption(LiteRtOp op, int32_t* begin_mask) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::begin_mask, begin_mask);
}

LiteRtStatus LiteRtGetStridedSliceEndMaskOption(LiteRtOp op, int32_t* end_mask) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::end_mask, end_mask);
}

LiteRtStatus LiteRtGetStridedSliceEllipsisMaskOption(LiteRtOp op, int32_t* ellipsis_mask) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::ellipsis_mask,
               ellipsis_mask);
}

LiteRtStatus LiteRtGetStridedSliceNewAxisMaskOption(LiteRtOp op, int32_t* new_axis_mask) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::new_axis_mask,
               new_axis_mask);
}

LiteRtStatus LiteRtGetStridedSliceShrinkAxisMaskOption(LiteRtOp op, int32_t* shrink_axis_mask) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::shrink_axis_mask,
               shrink_axis_mask);
}

LiteRtStatus LiteRtGetStridedSliceOffsetOption(LiteRtOp op, bool* offset) {
  return Store(op, kLiteRtOpCodeTflStridedSlice, &StridedSliceOptions::offset, offset);
}

LiteRtStatus LiteRtGetMirrorPadModeOption(LiteRtOp op, uint32_t* mode) {
  return Store(op, kLiteRtOpCodeTflMirrorPad, &MirrorPadOptions::mode, mode);
}

LiteRtStatus LiteRtGetDepthToSpaceBlockSizeOption(LiteRtOp op, int32_t* block_size) {
  return Store(op, kLiteRtOpCodeTflDepthToSpace, &DepthToSpaceOptions::block_size, block_size);
}

LiteRtStatus LiteRtGetSpaceToDepthBlockSizeOption(LiteRtOp op, int32_t* block_size) {
  return Store(op, kLiteRtOpCodeTflSpaceToDepth, &SpaceToDepthOptions::block_size, block_size);
}

// ---- Resizing of images -------------------------------------------------------------------------

LiteRtStatus LiteRtGetResizeBilinearAlignCornersOption(LiteRtOp op, bool* align_corners) {
  return Store(op, kLiteRtOpCodeTflResizeBilinear, &ResizeBilinearOptions::align_corners,
               align_corners);
}

LiteRtStatus LiteRtGetResizeBilinearHalfPixelCenterOption(LiteRtOp op, bool* half_pixel_centers) {
  return Store(op, kLiteRtOpCodeTflResizeBilinear, &ResizeBilinearOptions::half_pixel_centers,
               half_pixel_centers);
}

LiteRtStatus LiteRtGetResizeNearestNeighborAlignCornersOption(LiteRtOp op, bool* align_corners) {
  return Store(op, kLiteRtOpCodeTflResizeNearestNeighbor,
               &ResizeNearestNeighborOptions::align_corners, align_corners);
}

LiteRtStatus LiteRtGetResizeNearestNeighborHalfPixelCenterOption(LiteRtOp op,
                                                                 bool* half_pixel_centers) {
  return Store(op, kLiteRtOpCodeTflResizeNearestNeighbor,
               &ResizeNearestNeighborOptions::half_pixel_centers, half_pixel_centers);
}

// ---- StableHLO composites -----------------------------------------------------------------------

LiteRtStatus LiteRtGetSHLOCompositeOpName(LiteRtOp op, const char** name) {
  const auto* const options = OptionsOf<StableHLOCompositeOptions>(op, kLiteRtOpCodeShloComposite);
  if (options == nullptr || name == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *name = options->name() == nullptr ? "" : options->name()->c_str();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex(
    LiteRtOp op, int32_t* decomposition_subgraph_index) {
  return Store(op, kLiteRtOpCodeShloComposite,
               &StableHLOCompositeOptions::decomposition_subgraph_index,
               decomposition_subgraph_index);
}

LiteRtStatus LiteRtGetSHLOCompositeOpAttributes(LiteRtOp op, const uint8_t** attributes,
                                                int32_t* attributes_size) {
  return StoreArray(op, kLiteRtOpCodeShloComposite,
                    &StableHLOCompositeOptions::composite_attributes, attributes, attributes_size);
}

LiteRtStatus LiteRtGetSHLOCompositeOpVersion(LiteRtOp op, int32_t* version) {
  return Store(op, kLiteRtOpCodeShloComposite, &StableHLOCompositeOptions::version, version);
}
