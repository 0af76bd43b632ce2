// SPDX-License-Identifier: Apache-2.0
//
// Tensor buffers of a running model, for delegates. A delegate obtains the context from its
// TfLiteContext as external context kTfLiteLiteRtBufferContext.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_EXTERNAL_LITERT_BUFFER_CONTEXT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_EXTERNAL_LITERT_BUFFER_CONTEXT_H_

#include <stdbool.h>

#include "litert/c/internal/deputy_tflite_types.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the buffer of a tensor with a new reference, which the caller destroys.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetExternalLiteRtBufferContextTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer* tensor_buffer);

// Allocates a buffer that satisfies the registered requirements of a tensor. The caller owns it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextCreateBufferForTensor(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer* buffer);

// Sets the buffer of a tensor, of which the context takes ownership.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextRegisterTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer buffer);

// Removes the buffer of a tensor.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextUnregisterTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor);

// Registers the requirements of a delegate for a tensor, of which the context takes ownership. They
// are joined with those of other delegates.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextRegisterBufferRequirements(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBufferRequirements buffer_requirements);

// Returns the environment of the compiled model.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextGetEnvironment(
    LiteRtExternalLiteRtBufferContext context, LiteRtEnvironment* env);

// Sets `is_async_execution_mode` to whether the current run is asynchronous.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextIsAsyncExecutionMode(
    LiteRtExternalLiteRtBufferContext context, bool* is_async_execution_mode);

// Returns the options of the current run, valid until it ends.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtExternalLiteRtBufferContextGetRunOptions(
    LiteRtExternalLiteRtBufferContext context, LiteRtOptions* run_options);

// Destroys the context. For its owner, the compiled model.
LITERT_CAPI_EXPORT void LiteRtDestroyExternalLiteRtBufferContext(
    LiteRtExternalLiteRtBufferContext context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_EXTERNAL_LITERT_BUFFER_CONTEXT_H_
