// SPDX-License-Identifier: Apache-2.0
//
// Types that all other public headers use: status codes, element types, the legacy quantisation
// parameters, and the names of the opaque types.
//
// Values never change and are never reused, but the enums grow: a client may receive a value that
// is newer than its header. Every switch over them needs a default.
#ifndef DEPUTY_C_API_INCLUDE_C_API_TYPES_H_
#define DEPUTY_C_API_INCLUDE_C_API_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks an exported function. The definition is the same for building and for using the library.
#ifndef TFL_CAPI_EXPORT
#if defined(_WIN32)
#define TFL_CAPI_EXPORT
#else
#define TFL_CAPI_EXPORT __attribute__((visibility("default")))
#endif
#endif

// Result of a function that can fail. All values are failures except kTfLiteOk and
// kTfLiteOutputShapeNotKnown, which only a kernel's prepare returns.
typedef enum TfLiteStatus {
  // Success.
  kTfLiteOk = 0,
  // Failure in the runtime or in a kernel.
  kTfLiteError = 1,
  // A delegate failed. All delegates have been removed from the graph, except under
  // kDeputyPolicyHot (deputy.h), where the graph is unchanged.
  kTfLiteDelegateError = 2,
  // The delegate cannot be applied to this graph, e.g. because it is immutable. The graph is
  // usable.
  kTfLiteApplicationError = 3,
  // Serialised delegate data: nothing is stored under the key.
  kTfLiteDelegateDataNotFound = 4,
  // Serialised delegate data: writing failed.
  kTfLiteDelegateDataWriteError = 5,
  // Serialised delegate data: reading failed.
  kTfLiteDelegateDataReadError = 6,
  // An operator of the model has no implementation.
  kTfLiteUnresolvedOps = 7,
  // Invoke or AllocateTensors was stopped by a Cancel call.
  kTfLiteCancelled = 8,
  // Result of a kernel's prepare: treat the outputs like dynamic ones. Not a failure.
  kTfLiteOutputShapeNotKnown = 9,
} TfLiteStatus;

// Element type of a tensor, with the packed size of one element in brackets.
typedef enum {
  // No type, e.g. of a tensor that a kernel has just added.
  kTfLiteNoType = 0,
  // IEEE single precision [4 bytes].
  kTfLiteFloat32 = 1,
  // Signed integer [4 bytes].
  kTfLiteInt32 = 2,
  // Unsigned integer, often affinely quantised [1 byte].
  kTfLiteUInt8 = 3,
  // Signed integer [8 bytes].
  kTfLiteInt64 = 4,
  // Packed list of byte strings [no fixed size]: int32 count, count + 1 int32 offsets, bytes.
  kTfLiteString = 5,
  // Boolean value, 0 or 1 [1 byte].
  kTfLiteBool = 6,
  // Signed integer, often symmetrically quantised [2 bytes].
  kTfLiteInt16 = 7,
  // Pair of single precision numbers [8 bytes].
  kTfLiteComplex64 = 8,
  // Signed integer, often affinely quantised [1 byte].
  kTfLiteInt8 = 9,
  // IEEE half precision [2 bytes].
  kTfLiteFloat16 = 10,
  // IEEE double precision [8 bytes].
  kTfLiteFloat64 = 11,
  // Pair of double precision numbers [16 bytes].
  kTfLiteComplex128 = 12,
  // Unsigned integer [8 bytes].
  kTfLiteUInt64 = 13,
  // Handle of a resource such as a variable or a hash table [no fixed size].
  kTfLiteResource = 14,
  // A C++ object with virtual functions, see kTfLiteVariantObject [no fixed size].
  kTfLiteVariant = 15,
  // Unsigned integer [4 bytes].
  kTfLiteUInt32 = 16,
  // Unsigned integer [2 bytes].
  kTfLiteUInt16 = 17,
  // Signed integer, two per byte, low nibble first [1/2 byte].
  kTfLiteInt4 = 18,
  // Upper half of a single precision number [2 bytes].
  kTfLiteBFloat16 = 19,
  // Signed integer, four per byte, lowest bits first [1/4 byte].
  kTfLiteInt2 = 20,
  // Unsigned integer, two per byte, low nibble first [1/2 byte].
  kTfLiteUInt4 = 21,
  // Eight-bit float with 4 exponent and 3 mantissa bits, no infinities [1 byte].
  kTfLiteFloat8E4M3FN = 22,
  // Eight-bit float with 5 exponent and 2 mantissa bits [1 byte].
  kTfLiteFloat8E5M2 = 23,
} TfLiteType;

// Affine quantisation with one scale per tensor: real = scale * (stored - zero_point). Both fields
// are zero if the tensor is not quantised or has several scales; TfLiteTensor.quantization is then
// the only valid description.
typedef struct TfLiteQuantizationParams {
  // Difference between adjacent quantised values; 0 if there is no per-tensor quantisation.
  float scale;
  // Stored value that represents zero.
  int32_t zero_point;
} TfLiteQuantizationParams;

// Opaque types: TfLiteContext, TfLiteNode and TfLiteTensor as incomplete types, for code that must
// not depend on the layout of these structs. The pointers are identical; the runtime casts between
// both types.

// Interface of a subgraph for kernels and delegates. Owned by the interpreter.
typedef struct TfLiteOpaqueContext TfLiteOpaqueContext;

// A node, for kernels and delegates. Owned by the subgraph.
typedef struct TfLiteOpaqueNode TfLiteOpaqueNode;

// A tensor. Owned by the subgraph; the pointer may move when tensors are added.
typedef struct TfLiteOpaqueTensor TfLiteOpaqueTensor;

// A delegate with public fields, defined in common.h.
typedef struct TfLiteDelegate TfLiteDelegate;

// Incomplete delegate type, for clients that require a stable ABI.
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegateStruct;

// Delegate type of the public functions. It is TfLiteDelegate, unless the client selects the
// incomplete type by defining one of the two macros as 1. The ABI is a pointer in both cases, and
// code of both kinds can be used together in one process.
#if (defined(TFLITE_USE_OPAQUE_DELEGATE) && TFLITE_USE_OPAQUE_DELEGATE) || \
    (defined(TFLITE_WITH_STABLE_ABI) && TFLITE_WITH_STABLE_ABI)
typedef TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;
#else
typedef TfLiteDelegate TfLiteOpaqueDelegate;
#endif

// An operator with callbacks, created by TfLiteOperatorCreate; see operator.h.
typedef struct TfLiteOperator TfLiteOperator;

// Name before TensorFlow 2.17 of TfLiteOperator.
typedef TfLiteOperator TfLiteRegistrationExternal;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_TYPES_H_
