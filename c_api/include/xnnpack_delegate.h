// SPDX-License-Identifier: Apache-2.0
//
// The XNNPACK delegate's functions, for programs that link them.
//
// The CPU kernels here are fast without it, so this delegate claims no node: applying it succeeds
// and changes nothing.
//
// Beware of the options struct: its layout and size differ between releases. Only `num_threads`
// sits at the same place in all of them, so that is all that is read from a caller's struct.
// Programs that were compiled with the headers of TensorFlow 2.12 or later can use all functions
// below. Those of TensorFlow 2.11 and older cannot call TfLiteXNNPackDelegateOptionsDefault: their
// struct of 16 bytes would be returned in registers, and one function cannot return both ways.
#ifndef DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Enable signed 8-bit operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QS8 0x00000001
// Enable unsigned 8-bit operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QU8 0x00000002
// Compute float operators in half precision.
#define TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16 0x00000004
// Enable FULLY_CONNECTED with weights that are not constant.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DYNAMIC_FULLY_CONNECTED 0x00000008
// Enable variable operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_VARIABLE_OPERATORS 0x00000010
// Build indirection buffers when they are needed and drop them afterwards.
#define TFLITE_XNNPACK_DELEGATE_FLAG_TRANSIENT_INDIRECTION_BUFFER 0x00000020
// Enable the operators that were added last.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_LATEST_OPERATORS 0x00000040
// Cope with changing shapes.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_SUBGRAPH_RESHAPING 0x00000080
// Give the same results on every machine, at the price of speed.
#define TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC 0x00000200
// Do not cope with changing shapes.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_SUBGRAPH_RESHAPING 0x00000400
// Do not quantise activations on the fly.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_DYNAMICALLY_QUANTIZED_OPS 0x00000800

// Packed weights that delegates share.
struct TfLiteXNNPackDelegateWeightsCache;

// Options of the delegate, today's layout of 64 bytes.
typedef struct {
  // Threads to use; 1 or less means the calling thread only.
  int32_t num_threads;
  // Flags for XNNPACK's runtime.
  uint32_t runtime_flags;
  // TFLITE_XNNPACK_DELEGATE_FLAG bits.
  uint32_t flags;
  // Borrowed, may be NULL.
  struct TfLiteXNNPackDelegateWeightsCache* weights_cache;
  // Take over variable operators.
  bool handle_variable_ops;
  // Where packed weights are kept between runs, borrowed; NULL for nowhere.
  const char* weight_cache_file_path;
  // An open file for the same; -1 or 0 for none.
  int weight_cache_file_descriptor;
  // An object that keeps packed weights; a C++ object of the original, ignored here.
  void* weight_cache_provider;
  // Keep packed weights in memory that is never paged out.
  bool weight_cache_lock_memory;
} TfLiteXNNPackDelegateOptions;

// Whether the platform has anonymous files in memory. Any thread.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void);

// The path that asks for such a file. Static string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteXNNPackDelegateInMemoryFilePath(void);

// The defaults by value. Any thread. A caller compiled with older headers has less room than this
// struct needs, so only its first 24 bytes are written, with zeros: set a field behind `flags` and
// `weights_cache` before you read it.
TFL_CAPI_EXPORT TfLiteXNNPackDelegateOptions TfLiteXNNPackDelegateOptionsDefault(void);

// Makes a delegate; the caller owns it and deletes it after the interpreter. NULL options are the
// defaults. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteXNNPackDelegateCreate(
    const TfLiteXNNPackDelegateOptions* options);

// The same; the context is not used.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext* context);

// NULL: the delegate has no threads.
TFL_CAPI_EXPORT void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate* delegate);

// The delegate's options in today's layout, owned by it: the caller's num_threads, and for the rest
// what the original's usual builds have as defaults. NULL for NULL.
TFL_CAPI_EXPORT const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(
    TfLiteDelegate* delegate);

// The delegate's `flags` word; 0 for NULL.
TFL_CAPI_EXPORT int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate);

// Frees a delegate made here. NULL is fine.
TFL_CAPI_EXPORT void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate);

// An empty cache; the caller deletes it after all delegates that use it. NULL if memory is short.
TFL_CAPI_EXPORT struct TfLiteXNNPackDelegateWeightsCache* TfLiteXNNPackDelegateWeightsCacheCreate(
    void);

// The same with a first size in bytes.
TFL_CAPI_EXPORT struct TfLiteXNNPackDelegateWeightsCache*
TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t size);

// No more than a little may be added from now on. False for NULL.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

// Nothing may be added from now on. False for NULL.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

// Frees a cache. NULL is fine.
TFL_CAPI_EXPORT void TfLiteXNNPackDelegateWeightsCacheDelete(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_
