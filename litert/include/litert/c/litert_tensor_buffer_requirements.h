// SPDX-License-Identifier: Apache-2.0
//
// Memory that an input or output of a compiled model or of a plug-in accepts: kinds in order of
// preference, size and alignment in bytes, strides in elements.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_REQUIREMENTS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_REQUIREMENTS_H_

#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates requirements; the arrays are copied. At least one type; `strides` may be NULL if
// `num_strides` is 0. The alignment is LITERT_HOST_MEMORY_BUFFER_ALIGNMENT.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferRequirements(
    int num_supported_tensor_buffer_types,
    const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
    int num_strides, const uint32_t* strides, LiteRtTensorBufferRequirements* requirements);

// Creates requirements with another alignment, a power of two.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferRequirementsWithAlignment(
    int num_supported_tensor_buffer_types,
    const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
    int num_strides, const uint32_t* strides, size_t alignment,
    LiteRtTensorBufferRequirements* requirements);

// Destroys requirements that the caller owns; NULL is allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyTensorBufferRequirements(
    LiteRtTensorBufferRequirements requirements);

// The following functions enumerate the kinds of memory, most preferred first.
// kLiteRtStatusErrorInvalidArgument if the index is out of range.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(
    LiteRtTensorBufferRequirements requirements, int* num_types);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(
    LiteRtTensorBufferRequirements requirements, int type_index, LiteRtTensorBufferType* type);

// Returns the size of the buffer.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsBufferSize(
    LiteRtTensorBufferRequirements requirements, size_t* buffer_size);

// Returns the strides, which belong to the requirements; 0 for dense memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsStrides(
    LiteRtTensorBufferRequirements requirements, int* num_strides, const uint32_t** strides);

// Returns the alignment.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsAlignment(
    LiteRtTensorBufferRequirements requirements, size_t* alignment);

// Creates requirements that satisfy both arguments: the common kinds in the order of the first one,
// the larger size and alignment. kLiteRtStatusErrorInvalidArgument if no kind is common or the
// strides differ. The caller owns the result.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtJoinTensorBufferRequirements(LiteRtTensorBufferRequirements src_requirements_1,
                                   LiteRtTensorBufferRequirements src_requirements_2,
                                   LiteRtTensorBufferRequirements* joined_requirements);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_REQUIREMENTS_H_
