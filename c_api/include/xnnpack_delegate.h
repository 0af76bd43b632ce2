// SPDX-License-Identifier: Apache-2.0
//
// Functions of the XNNPACK delegate, for programs that link them.
//
// Deputy's CPU kernels are faster, so this delegate claims no node: applying it succeeds and has no
// effect. See TfLiteXNNPackDelegateCreate for the exception.
//
// The layout and size of the options struct differ between releases. Only `num_threads` has the
// same offset in all of them, so only this field of a caller's struct is read. Programs that were
// compiled with the headers of TensorFlow 2.12 or later can use all functions below. Programs of
// TensorFlow 2.11 and older must not call TfLiteXNNPackDelegateOptionsDefault: they expect a struct
// of 16 bytes in registers, which is a different calling convention.
#ifndef DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Enables signed 8-bit operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QS8 0x00000001
// Enables unsigned 8-bit operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QU8 0x00000002
// Computes float operators in half precision.
#define TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16 0x00000004
// Enables FULLY_CONNECTED with weights that are not constant.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DYNAMIC_FULLY_CONNECTED 0x00000008
// Enables variable operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_VARIABLE_OPERATORS 0x00000010
// Allocates indirection buffers temporarily.
#define TFLITE_XNNPACK_DELEGATE_FLAG_TRANSIENT_INDIRECTION_BUFFER 0x00000020
// Enables the most recently added operators.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_LATEST_OPERATORS 0x00000040
// Supports changes of input shapes.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_SUBGRAPH_RESHAPING 0x00000080
// Selects arithmetic that produces the same results on every machine, but is slower.
#define TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC 0x00000200
// Disables the support of changes of input shapes.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_SUBGRAPH_RESHAPING 0x00000400
// Disables operators with dynamically quantised activations.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_DYNAMICALLY_QUANTIZED_OPS 0x00000800

// Cache of packed weights that delegates share. This library stores nothing in it.
struct TfLiteXNNPackDelegateWeightsCache;

// Options of the delegate, in the current layout of 64 bytes.
typedef struct {
  // Number of threads; 1 or less means only the calling thread.
  int32_t num_threads;
  // Flags for XNNPACK's runtime.
  uint32_t runtime_flags;
  // Combination of the TFLITE_XNNPACK_DELEGATE_FLAG_… bits.
  uint32_t flags;
  // Cache of packed weights; borrowed, may be NULL.
  struct TfLiteXNNPackDelegateWeightsCache* weights_cache;
  // True: the delegate claims variable operators.
  bool handle_variable_ops;
  // Path of the file that stores packed weights between runs, borrowed; NULL for none.
  const char* weight_cache_file_path;
  // Descriptor of an open file that stores packed weights between runs; -1 or 0 for none.
  int weight_cache_file_descriptor;
  // C++ object of the original library that stores packed weights; ignored here.
  void* weight_cache_provider;
  // True: packed weights are locked in physical memory.
  bool weight_cache_lock_memory;
} TfLiteXNNPackDelegateOptions;

// Returns true if the platform supports anonymous in-memory files. Any thread.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void);

// Returns the path that selects an anonymous in-memory file for packed weights. Static string. Any
// thread.
TFL_CAPI_EXPORT const char* TfLiteXNNPackDelegateInMemoryFilePath(void);

// Returns the defaults. Any thread. A caller compiled with older headers provides less memory than
// this struct needs, so only its first 24 bytes are written, with zeros: set fields after `flags`
// and `weights_cache` before reading them.
TFL_CAPI_EXPORT TfLiteXNNPackDelegateOptions TfLiteXNNPackDelegateOptionsDefault(void);

// Creates a delegate; the caller owns it and deletes it after the interpreter. NULL options mean
// the defaults. NULL if out of memory. The delegate claims no node, unless the environment variable
// DEPUTY_XNNPACK is "bridge" and the plug-in "xnnpack" is installed.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteXNNPackDelegateCreate(
    const TfLiteXNNPackDelegateOptions* options);

// Creates a delegate like TfLiteXNNPackDelegateCreate; the context is ignored.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext* context);

// Returns NULL: the delegate has no threads.
TFL_CAPI_EXPORT void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate* delegate);

// Returns the delegate's options in the current layout, owned by it: the caller's num_threads, and
// for other fields the defaults of the original library's usual builds. NULL for NULL and for a
// delegate of the plug-in.
TFL_CAPI_EXPORT const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(
    TfLiteDelegate* delegate);

// Returns the delegate's `flags`; 0 for NULL and for a delegate of the plug-in.
TFL_CAPI_EXPORT int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate);

// Deletes a delegate of this header. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate);

// Creates an empty cache of packed weights; the caller deletes it after all delegates that use it.
// NULL if out of memory.
TFL_CAPI_EXPORT struct TfLiteXNNPackDelegateWeightsCache* TfLiteXNNPackDelegateWeightsCacheCreate(
    void);

// Creates an empty cache of packed weights. `size`, the initial size in bytes, is ignored.
TFL_CAPI_EXPORT struct TfLiteXNNPackDelegateWeightsCache*
TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t size);

// Makes a cache of packed weights accept only small additions from now on. Returns false for NULL.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

// Makes a cache of packed weights immutable. Returns false for NULL.
TFL_CAPI_EXPORT bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

// Deletes a cache of packed weights. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteXNNPackDelegateWeightsCacheDelete(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_XNNPACK_DELEGATE_H_
