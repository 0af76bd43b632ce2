// SPDX-License-Identifier: Apache-2.0
//
// Changes of a subgraph by the transformations of compiler plug-ins. A builder records the changes
// of one call of a LiteRtPatternFn. The runtime applies them if the function returns
// kLiteRtStatusOk and discards them otherwise. New objects belong to the builder until then, to the
// model afterwards.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_BUILDER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_BUILDER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_op_code.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds a tensor. `tensor_type_id` and `quantization_type_id` select which of the type and
// quantisation arguments is used; the others are ignored. `weights` and `name` are optional.
// kLiteRtStatusErrorInvalidArgument for weights of a tensor without rank.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildTensor(
    LiteRtBuilder builder, LiteRtTensorTypeId tensor_type_id,
    LiteRtRankedTensorType ranked_tensor_type, LiteRtUnrankedTensorType unranked_tensor_type,
    LiteRtWeights weights, LiteRtQuantizationTypeId quantization_type_id,
    LiteRtQuantizationPerTensor per_tensor_quantization,
    LiteRtQuantizationPerChannel per_channel_quantization,
    LiteRtQuantizationBlockWise block_wise_quantization, const char* name,
    LiteRtTensor* new_tensor);

// Sets the constant data of `tensor`, which this builder has added. `data` is copied; it may be
// NULL if `size`, in bytes, is 0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildWeights(LiteRtBuilder builder,
                                                          const uint8_t* data,
                                                          LiteRtParamIndex size,
                                                          LiteRtTensor tensor,
                                                          LiteRtWeights* new_weights);

// Adds an operator. The arrays are copied and contain no NULL. Options are added with the
// LiteRtBuilderBuild...OpOption functions (litert_op_options.h).
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildOp(LiteRtBuilder builder, LiteRtOpCode op_code,
                                                     LiteRtParamIndex num_inputs,
                                                     LiteRtTensor* inputs,
                                                     LiteRtParamIndex num_outputs,
                                                     LiteRtTensor* outputs, LiteRtOp* new_op);

// Removes an operator.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderEraseOp(LiteRtBuilder builder, LiteRtOp op_to_erase);

struct LiteRtCompilerContext;

// A transformation: inspects `op` through `context` and records changes in `builder`. Returns
// kLiteRtStatusPatternNoMatch if it does not apply.
typedef LiteRtStatus (*LiteRtPatternFn)(const struct LiteRtCompilerContext* context,
                                        LiteRtBuilder builder, LiteRtOp op);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_BUILDER_H_
