// SPDX-License-Identifier: Apache-2.0
//
// Types of tensors, quantisation and edges of models.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Tensor types -------------------------------------------------------------------------------

// Type of a tensor's elements. The values are those of TfLiteType (tflite/c/c_api_types.h).
typedef enum {
  kLiteRtElementTypeNone = 0,
  kLiteRtElementTypeFloat32 = 1,
  kLiteRtElementTypeInt32 = 2,
  kLiteRtElementTypeUInt8 = 3,
  kLiteRtElementTypeInt64 = 4,
  kLiteRtElementTypeTfString = 5,
  kLiteRtElementTypeBool = 6,
  kLiteRtElementTypeInt16 = 7,
  kLiteRtElementTypeComplex64 = 8,
  kLiteRtElementTypeInt8 = 9,
  kLiteRtElementTypeFloat16 = 10,
  kLiteRtElementTypeFloat64 = 11,
  kLiteRtElementTypeComplex128 = 12,
  kLiteRtElementTypeUInt64 = 13,
  kLiteRtElementTypeTfResource = 14,
  kLiteRtElementTypeTfVariant = 15,
  kLiteRtElementTypeUInt32 = 16,
  kLiteRtElementTypeUInt16 = 17,
  // Two elements per byte.
  kLiteRtElementTypeInt4 = 18,
  kLiteRtElementTypeBFloat16 = 19,
  // Four elements per byte.
  kLiteRtElementTypeInt2 = 20,
  // Two elements per byte.
  kLiteRtElementTypeUInt4 = 21,
  kLiteRtElementTypeFloat8E4M3FN = 22,
  kLiteRtElementTypeFloat8E5M2 = 23,
} LiteRtElementType;

// Type of a tensor of unknown rank. The layout is frozen (4 bytes).
typedef struct {
  LiteRtElementType element_type;
} LiteRtUnrankedTensorType;

// Type of a tensor of known rank, with dimensions that may be unknown. The layout is frozen (72
// bytes).
typedef struct {
  LiteRtElementType element_type;
  LiteRtLayout layout;
} LiteRtRankedTensorType;

// Returns whether two types of unknown rank are equal. Neither may be NULL.
static inline bool LiteRtIsSameUnrankedTensorType(const LiteRtUnrankedTensorType* type1,
                                                  const LiteRtUnrankedTensorType* type2) {
  return type1->element_type == type2->element_type;
}

// Selects the struct that describes a tensor's type.
typedef enum {
  kLiteRtRankedTensorType = 0,
  kLiteRtUnrankedTensorType = 1,
} LiteRtTensorTypeId;

// ---- Quantisation -------------------------------------------------------------------------------

// One scale per tensor: real = scale * (stored - zero_point). The layout is frozen (16 bytes).
typedef struct {
  float scale;
  int64_t zero_point;
} LiteRtQuantizationPerTensor;

// One scale per index of a dimension. The arrays have `num_channels` elements and belong to the
// model. The layout is frozen (32 bytes).
typedef struct {
  // Dimension whose indices select the scale.
  int32_t quantized_dimension;
  uint64_t num_channels;
  float* scales;
  int64_t* zero_points;
} LiteRtQuantizationPerChannel;

// One scale per block of consecutive elements. The layout is frozen (24 bytes).
typedef struct {
  // Tensor with one scale per block.
  LiteRtTensor scales;
  // Tensor with one zero point per block; may be NULL.
  LiteRtTensor zero_points;
  // Number of elements per block.
  int32_t block_size;
} LiteRtQuantizationBlockWise;

// Selects the struct that describes a tensor's quantisation.
typedef enum {
  kLiteRtQuantizationNone = 0,
  kLiteRtQuantizationPerTensor = 1,
  kLiteRtQuantizationPerChannel = 2,
  kLiteRtQuantizationBlockWise = 3,
} LiteRtQuantizationTypeId;

// The following functions return the kind of a tensor's quantisation and its parameters.
// kLiteRtStatusErrorInvalidIrType if the tensor has another kind.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor,
                                                            LiteRtQuantizationTypeId* q_type_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerTensorQuantization(
    LiteRtTensor tensor, LiteRtQuantizationPerTensor* per_tensor_quantization);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerChannelQuantization(
    LiteRtTensor tensor, LiteRtQuantizationPerChannel* per_channel_quantization);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetBlockWiseQuantization(
    LiteRtTensor tensor, LiteRtQuantizationBlockWise* block_wise_quantization);

// ---- Edges and serialisation --------------------------------------------------------------------

// Producer of a tensor.
typedef struct LiteRtTensorDefiningOp {
  LiteRtOp op;
  // Index of the tensor among the outputs of `op`.
  LiteRtParamIndex op_output_index;
} LiteRtTensorDefiningOp;

// Consumer of a tensor.
typedef struct LiteRtTensorUserOp {
  LiteRtOp op;
  // Index of the tensor among the inputs of `op`.
  LiteRtParamIndex op_input_index;
} LiteRtTensorUserOp;

// Options of LiteRtSerializeModel.
typedef struct LiteRtModelSerializationOptions {
  // Alignment in bytes of bytecode that follows the model, relative to the model's first byte.
  size_t bytecode_alignment;
} LiteRtModelSerializationOptions;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_TYPES_H_
