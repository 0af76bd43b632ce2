// SPDX-License-Identifier: Apache-2.0
//
// Options of operators, one group per operator: getters, and a function that sets all options of an
// operator that a builder has added (litert_builder.h).
//
// A getter returns kLiteRtStatusErrorInvalidArgument for an operator of another kind, and an error
// if the operator has no options. Arrays and strings belong to the model. A setter copies the
// values; every pointer is required.
//
// Enum values are those of the .tflite schema. Fused activation: 0 none, 1 RELU, 2 RELU_N1_TO_1, 3
// RELU6, 4 TANH, 5 SIGN_BIT. Padding: 0 SAME, 1 VALID. Strides, dilations, filter and block sizes
// count elements.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OP_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OP_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Element-wise operators ---------------------------------------------------------------------

// ADD.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAddFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildAddOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                              uint32_t* fused_activation);

// SUB.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSubOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                              uint32_t* fused_activation);

// MUL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMulFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildMulOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                              uint32_t* fused_activation);

// DIV.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDivFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildDivOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                              uint32_t* fused_activation);

// LEAKY_RELU. `alpha` is the slope for negative inputs.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetLeakyReluAlphaOption(LiteRtOp op, float* alpha);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildLeakyReluOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, float* alpha);

// GELU. `approximate` selects the approximation with tanh.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetGeluApproximateOption(LiteRtOp op, bool* approximate);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildGeluOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                               bool* approximate);

// SOFTMAX. `beta` is the factor of the inputs.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSoftmaxBetaOption(LiteRtOp op, float* beta);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSoftmaxOpOption(LiteRtBuilder builder,
                                                                  LiteRtOp op, float* beta);

// CUMSUM. `exclusive` leaves the element itself out of its sum, `reverse` sums from the end.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCumsumExclusiveOption(LiteRtOp op, bool* exclusive);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCumsumReverseOption(LiteRtOp op, bool* reverse);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildCumsumOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                 bool* exclusive, bool* reverse);

// ---- Matrix products ----------------------------------------------------------------------------

// BATCH_MATMUL. `adj_x` and `adj_y` transpose the operands; `asymmetric_quantize_input` applies to
// float inputs with int8 weights.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetBatchMatmulAdjXOption(LiteRtOp op, bool* adj_x);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetBatchMatmulAdjYOption(LiteRtOp op, bool* adj_y);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetBatchMatmulAsymmetricQuantizeInputOption(LiteRtOp op, bool* asymmetric_quantize_input);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildBatchMatmulOpOption(
    LiteRtBuilder builder, LiteRtOp op, bool* adj_x, bool* adj_y, bool* asymmetric_quantize_input);

// FULLY_CONNECTED. `weights_format` is 0 for the default, 1 for SHUFFLED4x16INT8;
// `quantized_bias_type` is a TensorType of the schema, 0 if none is set.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetFullyConnectedFusedActivationOption(LiteRtOp op, uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetFullyConnectedWeightsFormatOption(LiteRtOp op, uint32_t* weights_format);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetFullyConnectedKeepNumDimsOption(LiteRtOp op,
                                                                         bool* keep_num_dims);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtFullyConnectedGetQuantizedBiasTypeOption(LiteRtOp op, uint32_t* quantized_bias_type);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetFullyConnectedAsymmetricQuantizeInputOption(LiteRtOp op, bool* asymmetric_quantize_input);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildFullyConnectedOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* fused_activation, uint32_t* weights_format,
    bool* keep_num_dims, uint32_t* quantized_bias_type, bool* asymmetric_quantize_input);

// ---- Convolutions -------------------------------------------------------------------------------

// CONV_2D.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv2dPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv2dStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv2dStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetConv2dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv2dDilationWOption(LiteRtOp op,
                                                               int32_t* dilation_w_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv2dDilationHOption(LiteRtOp op,
                                                               int32_t* dilation_h_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildConv2dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* dilation_w_factor, int32_t* dilation_h_factor, uint32_t* fused_activation_function);

// CONV_3D.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dStrideDOption(LiteRtOp op, int32_t* stride_d);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetConv3dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dDilationDOption(LiteRtOp op,
                                                               int32_t* dilation_d_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dDilationWOption(LiteRtOp op,
                                                               int32_t* dilation_w_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConv3dDilationHOption(LiteRtOp op,
                                                               int32_t* dilation_h_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildConv3dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* stride_d, int32_t* dilation_w_factor, int32_t* dilation_h_factor,
    int32_t* dilation_d_factor, uint32_t* fused_activation_function);

// DEPTHWISE_CONV_2D. `depth_multiplier` is the number of output channels per input channel.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthwiseConv2dPaddingOption(LiteRtOp op,
                                                                      uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthwiseConv2dStrideWOption(LiteRtOp op,
                                                                      int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthwiseConv2dStrideHOption(LiteRtOp op,
                                                                      int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetDepthwiseConv2dDepthMultiplierOption(LiteRtOp op, int32_t* depth_multiplier);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetDepthwiseConv2dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthwiseConv2dDilationWOption(LiteRtOp op,
                                                                        int32_t* dilation_w_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthwiseConv2dDilationHOption(LiteRtOp op,
                                                                        int32_t* dilation_h_factor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildDepthwiseConv2dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* depth_multiplier, uint32_t* fused_activation_function, int32_t* dilation_w_factor,
    int32_t* dilation_h_factor);

// TRANSPOSE_CONV.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTransposeConvPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTransposeConvStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTransposeConvStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetTransposeConvFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildTransposeConvOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    uint32_t* fused_activation_function);

// ---- Pooling ------------------------------------------------------------------------------------

// AVERAGE_POOL_2D.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dFilterWidthOption(LiteRtOp op,
                                                                        int32_t* filter_width);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetAveragePool2dFilterHeightOption(LiteRtOp op,
                                                                         int32_t* filter_height);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetAveragePool2dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildAveragePool2dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* filter_width, int32_t* filter_height, uint32_t* fused_activation_function);

// MAX_POOL_2D.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMaxPool2dPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMaxPool2dStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMaxPool2dStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMaxPool2dFilterWidthOption(LiteRtOp op,
                                                                    int32_t* filter_width);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMaxPool2dFilterHeightOption(LiteRtOp op,
                                                                     int32_t* filter_height);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetMaxPool2dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildMaxPool2dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* filter_width, int32_t* filter_height, uint32_t* fused_activation_function);

// L2_POOL_2D.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetL2Pool2dPaddingOption(LiteRtOp op, uint32_t* padding);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetL2Pool2dStrideWOption(LiteRtOp op, int32_t* stride_w);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetL2Pool2dStrideHOption(LiteRtOp op, int32_t* stride_h);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetL2Pool2dFilterWidthOption(LiteRtOp op,
                                                                   int32_t* filter_width);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetL2Pool2dFilterHeightOption(LiteRtOp op,
                                                                    int32_t* filter_height);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetL2Pool2dFusedActivationOption(LiteRtOp op, uint32_t* fused_activation_function);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildL2Pool2dOpOption(
    LiteRtBuilder builder, LiteRtOp op, uint32_t* padding, int32_t* stride_w, int32_t* stride_h,
    int32_t* filter_width, int32_t* filter_height, uint32_t* fused_activation_function);

// ---- Reductions ---------------------------------------------------------------------------------

// SUM, MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL. `keepdims` keeps reduced dimensions
// with size 1.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSumKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSumOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                              bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMeanKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildMeanOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                               bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetReduceMaxKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildReduceMaxOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetReduceMinKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildReduceMinOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetReduceAnyKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildReduceAnyOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetReduceAllKeepDimsOption(LiteRtOp op, bool* keepdims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildReduceAllOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, bool* keepdims);

// ---- Data movement ------------------------------------------------------------------------------

// RESHAPE. `new_shape_size` is the number of dimensions; NULL and 0 for an operator that makes a
// scalar or reads its shape from an input.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetReshapeNewShapeOption(LiteRtOp op,
                                                               const int32_t** new_shape,
                                                               int32_t* new_shape_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildReshapeOpOption(LiteRtBuilder builder,
                                                                  LiteRtOp op, int32_t* new_shape,
                                                                  int32_t new_shape_size);

// SQUEEZE. Without dimensions the operator removes all of size 1.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSqueezeDimsOption(LiteRtOp op,
                                                           const int32_t** squeeze_dims,
                                                           int32_t* num_squeeze_dims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSqueezeOpOption(LiteRtBuilder builder,
                                                                  LiteRtOp op,
                                                                  const int32_t* squeeze_dims,
                                                                  int32_t num_squeeze_dims);

// CONCATENATION. A negative `axis` counts from the end.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetConcatenationFusedActivationOption(LiteRtOp op, uint32_t* fused_activation);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetConcatenationAxisOption(LiteRtOp op, int32_t* axis);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildConcatenationOpOption(LiteRtBuilder builder,
                                                                        LiteRtOp op,
                                                                        uint32_t* fused_activation,
                                                                        int32_t* axis);

// SPLIT.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSplitNumSplitsOption(LiteRtOp op, int32_t* num_splits);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSplitOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                int32_t* num_splits);

// SPLIT_V. The setter exists since LiteRT 2.3.0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSplitVNumSplitsOption(LiteRtOp op, int32_t* num_splits);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSplitVOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                 int32_t* num_splits);

// PACK. `values_count` is the number of inputs.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPackAxisOption(LiteRtOp op, int32_t* axis);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPackValuesCountOption(LiteRtOp op, int32_t* values_count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildPackOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                               int32_t* axis,
                                                               int32_t* values_count);

// UNPACK. `num` is the number of outputs.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetUnpackAxisOption(LiteRtOp op, int32_t* axis);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetUnpackNumOption(LiteRtOp op, int32_t* num);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildUnpackOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                 int32_t* axis, int32_t* num);

// GATHER. `batch_dims` is the number of leading dimensions that input and indices share.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetGatherAxisOption(LiteRtOp op, int32_t* axis);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetGatherBatchDimsOption(LiteRtOp op, int32_t* batch_dims);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildGatherOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                 int32_t* axis,
                                                                 int32_t* batch_dims);

// ONE_HOT. The setter exists since LiteRT 2.3.0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOneHotAxisOption(LiteRtOp op, int32_t* axis);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildOneHotOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                                 int32_t* axis);

// STRIDED_SLICE. Bit i of a mask applies to dimension i. `offset`: the end is relative to the
// begin.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetStridedSliceBeginMaskOption(LiteRtOp op,
                                                                     int32_t* begin_mask);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetStridedSliceEndMaskOption(LiteRtOp op, int32_t* end_mask);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetStridedSliceEllipsisMaskOption(LiteRtOp op,
                                                                        int32_t* ellipsis_mask);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetStridedSliceNewAxisMaskOption(LiteRtOp op,
                                                                       int32_t* new_axis_mask);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetStridedSliceShrinkAxisMaskOption(LiteRtOp op, int32_t* shrink_axis_mask);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetStridedSliceOffsetOption(LiteRtOp op, bool* offset);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildStridedSliceOpOption(
    LiteRtBuilder builder, LiteRtOp op, int32_t* begin_mask, int32_t* end_mask,
    int32_t* ellipsis_mask, int32_t* new_axis_mask, int32_t* shrink_axis_mask, bool* offset);

// MIRROR_PAD. `mode` is 0 for REFLECT, 1 for SYMMETRIC.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMirrorPadModeOption(LiteRtOp op, uint32_t* mode);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildMirrorPadOpOption(LiteRtBuilder builder,
                                                                    LiteRtOp op, uint32_t* mode);

// DEPTH_TO_SPACE and SPACE_TO_DEPTH.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetDepthToSpaceBlockSizeOption(LiteRtOp op,
                                                                     int32_t* block_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildDepthToSpaceOpOption(LiteRtBuilder builder,
                                                                       LiteRtOp op,
                                                                       int32_t* block_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSpaceToDepthBlockSizeOption(LiteRtOp op,
                                                                     int32_t* block_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildSpaceToDepthOpOption(LiteRtBuilder builder,
                                                                       LiteRtOp op,
                                                                       int32_t* block_size);

// ---- Resizing of images -------------------------------------------------------------------------

// RESIZE_BILINEAR.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetResizeBilinearAlignCornersOption(LiteRtOp op,
                                                                          bool* align_corners);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetResizeBilinearHalfPixelCenterOption(LiteRtOp op, bool* half_pixel_centers);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildResizeBilinearOpOption(LiteRtBuilder builder,
                                                                         LiteRtOp op,
                                                                         bool* align_corners,
                                                                         bool* half_pixel_centers);

// RESIZE_NEAREST_NEIGHBOR.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetResizeNearestNeighborAlignCornersOption(LiteRtOp op, bool* align_corners);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetResizeNearestNeighborHalfPixelCenterOption(LiteRtOp op, bool* half_pixel_centers);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildResizeNearestNeighborOpOption(
    LiteRtBuilder builder, LiteRtOp op, bool* align_corners, bool* half_pixel_centers);

// ---- StableHLO composites -----------------------------------------------------------------------

// STABLEHLO_COMPOSITE: the composite's name, the subgraph that computes it from other operators,
// its attributes as a flexbuffer of `attributes_size` bytes, and its version.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSHLOCompositeOpName(LiteRtOp op, const char** name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex(
    LiteRtOp op, int32_t* decomposition_subgraph_index);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSHLOCompositeOpAttributes(LiteRtOp op,
                                                                   const uint8_t** attributes,
                                                                   int32_t* attributes_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSHLOCompositeOpVersion(LiteRtOp op, int32_t* version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OP_OPTIONS_H_
