// SPDX-License-Identifier: Apache-2.0
//
// Types of the asynchronous API: async_kernel.h, async_task.h, async_signature_runner.h. The
// original has its functions in a separate library.
#ifndef DEPUTY_C_API_INCLUDE_ASYNC_TYPES_H_
#define DEPUTY_C_API_INCLUDE_ASYNC_TYPES_H_

#ifdef __cplusplus
extern "C" {
#endif

// Direction of a signature's tensor.
typedef enum TfLiteIoType {
  // Invalid value.
  kTfLiteIoTypeUnknown = 0,
  // An input.
  kTfLiteIoTypeInput = 1,
  // An output.
  kTfLiteIoTypeOutput = 2,
} TfLiteIoType;

// Asynchronous interface of a delegate's kernel. Owned by the delegate.
typedef struct TfLiteAsyncKernel TfLiteAsyncKernel;

// One scheduled execution.
typedef struct TfLiteExecutionTask TfLiteExecutionTask;

// Runs a signature asynchronously.
typedef struct TfLiteAsyncSignatureRunner TfLiteAsyncSignatureRunner;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_ASYNC_TYPES_H_
