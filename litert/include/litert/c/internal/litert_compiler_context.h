// SPDX-License-Identifier: Apache-2.0
//
// Functions of the host for compiler plug-ins, which therefore need no symbols of libLiteRt.so.
//
// Each member is the function of the same name in camel case with the prefix LiteRt, and behaves as
// described in the header that the comment names. A plug-in checks a member that its host may lack
// with LITERT_ABI_HAS_API.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_COMPILER_CONTEXT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_COMPILER_CONTEXT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_op_code.h"

#ifdef __cplusplus
extern "C" {
#endif

// Table of functions. The host owns it; it is constant and valid for the whole process. Members are
// added at its end only: version 1.1 has 1104 bytes, version 1.3 1408.
typedef struct LiteRtCompilerContext {
  LiteRtAbiHeader abi_header;

  // litert_model.h: models and subgraphs.
  LiteRtStatus (*get_num_model_subgraphs)(LiteRtModel model, LiteRtParamIndex* num_subgraphs);
  LiteRtStatus (*get_model_subgraph)(LiteRtModel model, LiteRtParamIndex subgraph_index,
                                     LiteRtSubgraph* subgraph);
  LiteRtStatus (*get_num_subgraph_ops)(LiteRtSubgraph subgraph, LiteRtParamIndex* num_ops);
  LiteRtStatus (*get_subgraph_op)(LiteRtSubgraph subgraph, LiteRtParamIndex op_index, LiteRtOp* op);
  LiteRtStatus (*get_num_subgraph_inputs)(LiteRtSubgraph subgraph, LiteRtParamIndex* num_inputs);
  LiteRtStatus (*get_subgraph_input)(LiteRtSubgraph subgraph, LiteRtParamIndex input_index,
                                     LiteRtTensor* input);
  LiteRtStatus (*get_num_subgraph_outputs)(LiteRtSubgraph subgraph, LiteRtParamIndex* num_outputs);
  LiteRtStatus (*get_subgraph_output)(LiteRtSubgraph subgraph, LiteRtParamIndex output_index,
                                      LiteRtTensor* output);

  // litert_model.h: operators.
  LiteRtStatus (*get_op_code)(LiteRtOp op, LiteRtOpCode* code);
  LiteRtStatus (*get_custom_code)(LiteRtOp op, const char** code);
  LiteRtStatus (*get_num_op_inputs)(LiteRtOp op, LiteRtParamIndex* num_inputs);
  LiteRtStatus (*get_op_input)(LiteRtOp op, LiteRtParamIndex input_index, LiteRtTensor* input);
  LiteRtStatus (*get_num_op_outputs)(LiteRtOp op, LiteRtParamIndex* num_outputs);
  LiteRtStatus (*get_op_output)(LiteRtOp op, LiteRtParamIndex output_index, LiteRtTensor* output);

  // litert_model.h: tensors.
  LiteRtStatus (*get_tensor_name)(LiteRtTensor tensor, const char** name);
  LiteRtStatus (*get_tensor_index)(LiteRtTensor tensor, uint32_t* tensor_index);
  LiteRtStatus (*get_tensor_type_id)(LiteRtTensor tensor, LiteRtTensorTypeId* type_id);
  LiteRtStatus (*get_ranked_tensor_type)(LiteRtTensor tensor,
                                         LiteRtRankedTensorType* ranked_tensor_type);
  LiteRtStatus (*get_unranked_tensor_type)(LiteRtTensor tensor,
                                           LiteRtUnrankedTensorType* unranked_tensor_type);
  LiteRtStatus (*get_quantization_type_id)(LiteRtTensor tensor,
                                           LiteRtQuantizationTypeId* q_type_id);
  LiteRtStatus (*get_per_tensor_quantization)(LiteRtTensor tensor,
                                              LiteRtQuantizationPerTensor* per_tensor_quantization);
  LiteRtStatus (*get_per_channel_quantization)(
      LiteRtTensor tensor, LiteRtQuantizationPerChannel* per_channel_quantization);
  LiteRtStatus (*get_num_tensor_uses)(LiteRtTensor tensor, LiteRtParamIndex* num_uses);
  LiteRtStatus (*get_tensor_use)(LiteRtTensor tensor, LiteRtParamIndex use_index, LiteRtOp* user,
                                 LiteRtParamIndex* user_arg_index);
  LiteRtStatus (*get_tensor_defining_op)(LiteRtTensor tensor, bool* has_defining_op,
                                         LiteRtTensorDefiningOp* defining_op);

  // litert_model.h: weights.
  LiteRtStatus (*get_tensor_weights)(LiteRtTensor tensor, LiteRtWeights* weights);
  LiteRtStatus (*get_weights_buffer_id)(LiteRtWeights weights, int32_t* buffer_id);
  LiteRtStatus (*get_weights_bytes)(LiteRtWeights weights, const void** addr, size_t* size);

  // litert_op_options.h: StableHLO composites.
  LiteRtStatus (*get_shlo_composite_op_name)(LiteRtOp op, const char** name);
  LiteRtStatus (*get_shlo_composite_op_decomposition_subgraph_index)(
      LiteRtOp op, int32_t* decomposition_subgraph_index);
  LiteRtStatus (*get_shlo_composite_op_attributes)(LiteRtOp op, const uint8_t** attributes,
                                                   int32_t* attributes_size);
  LiteRtStatus (*get_shlo_composite_op_version)(LiteRtOp op, int32_t* version);

  // litert_model.h.
  LiteRtStatus (*push_op)(LiteRtOpList op_list, LiteRtOp op, LiteRtParamIndex partition_index);

  // litert_options.h, litert_opaque_options.h and litert_environment_options.h.
  LiteRtStatus (*get_opaque_options)(LiteRtOptions options, LiteRtOpaqueOptions* opaque_options);
  LiteRtStatus (*find_opaque_options_data)(LiteRtOpaqueOptions options,
                                           const char* payload_identifier, void** payload_data);
  void (*destroy_options)(LiteRtOptions options);
  LiteRtStatus (*get_environment_options_value)(LiteRtEnvironmentOptions options,
                                                LiteRtEnvOptionTag tag, LiteRtAny* value);

  // litert_op_options.h: options of operators.
  LiteRtStatus (*get_strided_slice_begin_mask_option)(LiteRtOp op, int32_t* begin_mask);
  LiteRtStatus (*get_strided_slice_end_mask_option)(LiteRtOp op, int32_t* end_mask);
  LiteRtStatus (*get_strided_slice_shrink_axis_mask_option)(LiteRtOp op, int32_t* shrink_axis_mask);
  LiteRtStatus (*get_strided_slice_ellipsis_mask_option)(LiteRtOp op, int32_t* ellipsis_mask);
  LiteRtStatus (*get_strided_slice_new_axis_mask_option)(LiteRtOp op, int32_t* new_axis_mask);
  LiteRtStatus (*get_strided_slice_offset_option)(LiteRtOp op, bool* offset);

  LiteRtStatus (*get_sub_fused_activation_option)(LiteRtOp op, uint32_t* fused_activation);
  LiteRtStatus (*get_sum_keep_dims_option)(LiteRtOp op, bool* keepdims);

  LiteRtStatus (*get_conv_2d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_conv_2d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_conv_2d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_conv_2d_fused_activation_option)(LiteRtOp op,
                                                      uint32_t* fused_activation_function);
  LiteRtStatus (*get_conv_2d_dilation_w_option)(LiteRtOp op, int32_t* dilation_w_factor);
  LiteRtStatus (*get_conv_2d_dilation_h_option)(LiteRtOp op, int32_t* dilation_h_factor);

  LiteRtStatus (*get_depthwise_conv_2d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_depthwise_conv_2d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_depthwise_conv_2d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_depthwise_conv_2d_depth_multiplier_option)(LiteRtOp op,
                                                                int32_t* depth_multiplier);
  LiteRtStatus (*get_depthwise_conv_2d_fused_activation_option)(
      LiteRtOp op, uint32_t* fused_activation_function);
  LiteRtStatus (*get_depthwise_conv_2d_dilation_w_option)(LiteRtOp op, int32_t* dilation_w_factor);
  LiteRtStatus (*get_depthwise_conv_2d_dilation_h_option)(LiteRtOp op, int32_t* dilation_h_factor);

  LiteRtStatus (*get_transpose_conv_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_transpose_conv_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_transpose_conv_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_transpose_conv_fused_activation_option)(LiteRtOp op,
                                                             uint32_t* fused_activation_function);

  LiteRtStatus (*get_add_fused_activation_option)(LiteRtOp op, uint32_t* fused_activation);
  LiteRtStatus (*get_mul_fused_activation_option)(LiteRtOp op, uint32_t* fused_activation);
  LiteRtStatus (*get_div_fused_activation_option)(LiteRtOp op, uint32_t* fused_activation);

  LiteRtStatus (*get_fully_connected_fused_activation_option)(LiteRtOp op,
                                                              uint32_t* fused_activation);
  LiteRtStatus (*get_fully_connected_weights_format_option)(LiteRtOp op, uint32_t* weights_format);
  LiteRtStatus (*get_fully_connected_keep_num_dims_option)(LiteRtOp op, bool* keep_num_dims);
  LiteRtStatus (*get_fully_connected_quantized_bias_type_option)(LiteRtOp op,
                                                                 uint32_t* quantized_bias_type);
  LiteRtStatus (*get_fully_connected_asymmetric_quantize_input_option)(
      LiteRtOp op, bool* asymmetric_quantize_input);

  LiteRtStatus (*get_softmax_beta_option)(LiteRtOp op, float* beta);
  LiteRtStatus (*get_concatenation_axis_option)(LiteRtOp op, int32_t* axis);
  LiteRtStatus (*get_concatenation_fused_activation_option)(LiteRtOp op,
                                                            uint32_t* fused_activation);
  LiteRtStatus (*get_split_num_splits_option)(LiteRtOp op, int32_t* num_splits);
  LiteRtStatus (*get_mean_keep_dims_option)(LiteRtOp op, bool* keepdims);
  LiteRtStatus (*get_reduce_max_keep_dims_option)(LiteRtOp op, bool* keepdims);

  LiteRtStatus (*get_resize_bilinear_align_corners_option)(LiteRtOp op, bool* align_corners);
  LiteRtStatus (*get_resize_bilinear_half_pixel_center_option)(LiteRtOp op,
                                                               bool* half_pixel_centers);
  LiteRtStatus (*get_resize_nearest_neighbor_align_corners_option)(LiteRtOp op,
                                                                   bool* align_corners);
  LiteRtStatus (*get_resize_nearest_neighbor_half_pixel_center_option)(LiteRtOp op,
                                                                       bool* half_pixel_centers);

  LiteRtStatus (*get_batch_matmul_adj_x_option)(LiteRtOp op, bool* adj_x);
  LiteRtStatus (*get_batch_matmul_adj_y_option)(LiteRtOp op, bool* adj_y);
  LiteRtStatus (*get_batch_matmul_asymmetric_quantize_input_option)(
      LiteRtOp op, bool* asymmetric_quantize_input);

  LiteRtStatus (*get_average_pool_2d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_average_pool_2d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_average_pool_2d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_average_pool_2d_filter_width_option)(LiteRtOp op, int32_t* filter_width);
  LiteRtStatus (*get_average_pool_2d_filter_height_option)(LiteRtOp op, int32_t* filter_height);
  LiteRtStatus (*get_average_pool_2d_fused_activation_option)(LiteRtOp op,
                                                              uint32_t* fused_activation);

  LiteRtStatus (*get_max_pool_2d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_max_pool_2d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_max_pool_2d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_max_pool_2d_filter_width_option)(LiteRtOp op, int32_t* filter_width);
  LiteRtStatus (*get_max_pool_2d_filter_height_option)(LiteRtOp op, int32_t* filter_height);
  LiteRtStatus (*get_max_pool_2d_fused_activation_option)(LiteRtOp op, uint32_t* fused_activation);

  LiteRtStatus (*get_leaky_relu_alpha_option)(LiteRtOp op, float* alpha);
  LiteRtStatus (*get_reshape_new_shape_option)(LiteRtOp op, const int32_t** new_shape,
                                               int32_t* new_shape_size);

  LiteRtStatus (*get_reduce_min_keep_dims_option)(LiteRtOp op, bool* keepdims);
  LiteRtStatus (*get_reduce_any_keep_dims_option)(LiteRtOp op, bool* keepdims);
  LiteRtStatus (*get_reduce_all_keep_dims_option)(LiteRtOp op, bool* keepdims);

  LiteRtStatus (*get_pack_axis_option)(LiteRtOp op, int32_t* axis);
  LiteRtStatus (*get_pack_values_count_option)(LiteRtOp op, int32_t* values_count);
  LiteRtStatus (*get_one_hot_axis_option)(LiteRtOp op, int32_t* axis);
  LiteRtStatus (*get_unpack_axis_option)(LiteRtOp op, int32_t* axis);
  LiteRtStatus (*get_unpack_num_option)(LiteRtOp op, int32_t* num);
  LiteRtStatus (*get_gather_axis_option)(LiteRtOp op, int32_t* axis);
  LiteRtStatus (*get_gather_batch_dims_option)(LiteRtOp op, int32_t* batch_dims);

  LiteRtStatus (*get_conv_3d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_conv_3d_stride_d_option)(LiteRtOp op, int32_t* stride_d);
  LiteRtStatus (*get_conv_3d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_conv_3d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_conv_3d_fused_activation_option)(LiteRtOp op,
                                                      uint32_t* fused_activation_function);
  LiteRtStatus (*get_conv_3d_dilation_d_option)(LiteRtOp op, int32_t* dilation_d_factor);
  LiteRtStatus (*get_conv_3d_dilation_w_option)(LiteRtOp op, int32_t* dilation_w_factor);
  LiteRtStatus (*get_conv_3d_dilation_h_option)(LiteRtOp op, int32_t* dilation_h_factor);

  LiteRtStatus (*get_l2_pool_2d_padding_option)(LiteRtOp op, uint32_t* padding);
  LiteRtStatus (*get_l2_pool_2d_stride_w_option)(LiteRtOp op, int32_t* stride_w);
  LiteRtStatus (*get_l2_pool_2d_stride_h_option)(LiteRtOp op, int32_t* stride_h);
  LiteRtStatus (*get_l2_pool_2d_filter_width_option)(LiteRtOp op, int32_t* filter_width);
  LiteRtStatus (*get_l2_pool_2d_filter_height_option)(LiteRtOp op, int32_t* filter_height);
  LiteRtStatus (*get_l2_pool_2d_fused_activation_option)(LiteRtOp op,
                                                         uint32_t* fused_activation_function);

  LiteRtStatus (*get_depth_to_space_block_size_option)(LiteRtOp op, int32_t* block_size);
  LiteRtStatus (*get_space_to_depth_block_size_option)(LiteRtOp op, int32_t* block_size);
  LiteRtStatus (*get_cumsum_exclusive_option)(LiteRtOp op, bool* exclusive);
  LiteRtStatus (*get_cumsum_reverse_option)(LiteRtOp op, bool* reverse);
  LiteRtStatus (*get_gelu_approximate_option)(LiteRtOp op, bool* approximate);
  LiteRtStatus (*get_mirror_pad_mode_option)(LiteRtOp op, uint32_t* mode);
  LiteRtStatus (*get_squeeze_dims_option)(LiteRtOp op, const int32_t** squeeze_dims,
                                          int32_t* num_squeeze_dims);

  // litert_model.h: custom operators and serialisation. `share_weights` is the parameter
  // `destroy_model` of LiteRtSerializeModelWithSignatures.
  LiteRtStatus (*get_custom_options)(LiteRtOp op, const uint8_t** custom_options,
                                     int32_t* custom_options_size);
  LiteRtStatus (*serialize_model_with_signatures)(LiteRtModel model, uint8_t** buf, size_t* size,
                                                  size_t* offset, bool share_weights,
                                                  char** signature_keys, size_t num_signatures,
                                                  LiteRtModelSerializationOptions options);

  // litert_builder.h; the names there begin with LiteRtBuilder. Since version 1.1.
  LiteRtStatus (*build_tensor)(LiteRtBuilder builder, LiteRtTensorTypeId tensor_type_id,
                               LiteRtRankedTensorType ranked_tensor_type,
                               LiteRtUnrankedTensorType unranked_tensor_type, LiteRtWeights weights,
                               LiteRtQuantizationTypeId quantization_type_id,
                               LiteRtQuantizationPerTensor per_tensor_quantization,
                               LiteRtQuantizationPerChannel per_channel_quantization,
                               LiteRtQuantizationBlockWise block_wise_quantization,
                               const char* name, LiteRtTensor* new_tensor);
  LiteRtStatus (*build_weights)(LiteRtBuilder builder, const uint8_t* data, LiteRtParamIndex size,
                                LiteRtTensor tensor, LiteRtWeights* new_weights);
  LiteRtStatus (*build_op)(LiteRtBuilder builder, LiteRtOpCode op_code, LiteRtParamIndex num_inputs,
                           LiteRtTensor* inputs, LiteRtParamIndex num_outputs,
                           LiteRtTensor* outputs, LiteRtOp* new_op);
  LiteRtStatus (*erase_op)(LiteRtBuilder builder, LiteRtOp op_to_erase);
  LiteRtStatus (*build_add_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                      uint32_t* fused_activation);
  LiteRtStatus (*build_batch_matmul_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* adj_x,
                                               bool* adj_y, bool* asymmetric_quantize_input);

  // litert_model.h; since version 1.1.
  LiteRtStatus (*get_block_wise_quantization)(LiteRtTensor tensor,
                                              LiteRtQuantizationBlockWise* block_wise_quantization);

  // litert_op_options.h: setters, whose names there begin with LiteRtBuilder, and a getter. Since
  // LiteRT 2.3.0 (version 1.3), whose headers are not published; the names follow those of the
  // other members. The declaration of the first one is not known; its machine code has the
  // parameters (builder, op, const char* name, int32_t* decomposition_subgraph_index, int32_t*
  // version, const uint8_t* attributes, size_t size).
  void (*build_shlo_composite_op_option)(void);
  LiteRtStatus (*build_average_pool_2d_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                  uint32_t* padding, int32_t* stride_w,
                                                  int32_t* stride_h, int32_t* filter_width,
                                                  int32_t* filter_height,
                                                  uint32_t* fused_activation_function);
  LiteRtStatus (*build_concatenation_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                uint32_t* fused_activation, int32_t* axis);
  LiteRtStatus (*build_conv_2d_op_option)(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                          int32_t* stride_w, int32_t* stride_h,
                                          int32_t* dilation_w_factor, int32_t* dilation_h_factor,
                                          uint32_t* fused_activation_function);
  LiteRtStatus (*build_conv_3d_op_option)(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                          int32_t* stride_w, int32_t* stride_h, int32_t* stride_d,
                                          int32_t* dilation_w_factor, int32_t* dilation_h_factor,
                                          int32_t* dilation_d_factor,
                                          uint32_t* fused_activation_function);
  LiteRtStatus (*build_cumsum_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* exclusive,
                                         bool* reverse);
  LiteRtStatus (*build_depth_to_space_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                 int32_t* block_size);
  LiteRtStatus (*build_depthwise_conv_2d_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                    uint32_t* padding, int32_t* stride_w,
                                                    int32_t* stride_h, int32_t* depth_multiplier,
                                                    uint32_t* fused_activation_function,
                                                    int32_t* dilation_w_factor,
                                                    int32_t* dilation_h_factor);
  LiteRtStatus (*build_div_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                      uint32_t* fused_activation);
  LiteRtStatus (*build_fully_connected_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                  uint32_t* fused_activation,
                                                  uint32_t* weights_format, bool* keep_num_dims,
                                                  uint32_t* quantized_bias_type,
                                                  bool* asymmetric_quantize_input);
  LiteRtStatus (*build_gather_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                         int32_t* batch_dims);
  LiteRtStatus (*build_gelu_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* approximate);
  LiteRtStatus (*build_l2_pool_2d_op_option)(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                             int32_t* stride_w, int32_t* stride_h,
                                             int32_t* filter_width, int32_t* filter_height,
                                             uint32_t* fused_activation_function);
  LiteRtStatus (*build_leaky_relu_op_option)(LiteRtBuilder builder, LiteRtOp op, float* alpha);
  LiteRtStatus (*build_max_pool_2d_op_option)(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                              int32_t* stride_w, int32_t* stride_h,
                                              int32_t* filter_width, int32_t* filter_height,
                                              uint32_t* fused_activation_function);
  LiteRtStatus (*build_mean_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_mirror_pad_op_option)(LiteRtBuilder builder, LiteRtOp op, uint32_t* mode);
  LiteRtStatus (*build_mul_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                      uint32_t* fused_activation);
  LiteRtStatus (*build_one_hot_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* axis);
  LiteRtStatus (*build_pack_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                       int32_t* values_count);
  LiteRtStatus (*build_reduce_all_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_reduce_any_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_reduce_max_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_reduce_min_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_reshape_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* new_shape,
                                          int32_t new_shape_size);
  LiteRtStatus (*build_resize_bilinear_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                  bool* align_corners, bool* half_pixel_centers);
  LiteRtStatus (*build_resize_nearest_neighbor_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                          bool* align_corners,
                                                          bool* half_pixel_centers);
  LiteRtStatus (*build_softmax_op_option)(LiteRtBuilder builder, LiteRtOp op, float* beta);
  LiteRtStatus (*build_space_to_depth_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                 int32_t* block_size);
  LiteRtStatus (*build_split_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* num_splits);
  LiteRtStatus (*build_split_v_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* num_splits);
  LiteRtStatus (*build_squeeze_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                          const int32_t* squeeze_dims, int32_t num_squeeze_dims);
  LiteRtStatus (*build_strided_slice_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                int32_t* begin_mask, int32_t* end_mask,
                                                int32_t* ellipsis_mask, int32_t* new_axis_mask,
                                                int32_t* shrink_axis_mask, bool* offset);
  LiteRtStatus (*build_sub_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                      uint32_t* fused_activation);
  LiteRtStatus (*build_sum_op_option)(LiteRtBuilder builder, LiteRtOp op, bool* keepdims);
  LiteRtStatus (*build_transpose_conv_op_option)(LiteRtBuilder builder, LiteRtOp op,
                                                 uint32_t* padding, int32_t* stride_w,
                                                 int32_t* stride_h,
                                                 uint32_t* fused_activation_function);
  LiteRtStatus (*build_unpack_op_option)(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                         int32_t* num);
  LiteRtStatus (*get_split_v_num_splits_option)(LiteRtOp op, int32_t* num_splits);
} LiteRtCompilerContext;

// Returns the table of this library.
LiteRtCompilerContext* LrtGetCompilerContext(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_COMPILER_CONTEXT_H_
