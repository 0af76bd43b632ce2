// SPDX-License-Identifier: Apache-2.0
//
// The types that every other public header needs: status codes, element types, the legacy
// quantisation pair, and the names of the opaque objects.
//
// Numbers never change and never get re-used, but the lists grow: a client may meet a value that is
// newer than the header it was compiled with. Never write a switch that trusts them to be complete.
#ifndef DEPUTY_C_API_INCLUDE_C_API_TYPES_H_
#define DEPUTY_C_API_INCLUDE_C_API_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks a function that the library exports. Clients of a shared library need nothing else, so it
// is the same for building and for using.
#ifndef TFL_CAPI_EXPORT
#if defined(_WIN32)
#define TFL_CAPI_EXPORT
#else
#define TFL_CAPI_EXPORT __attribute__((visibility("default")))
#endif
#endif

// What a fallible call returns. Everything but kTfLiteOk is a failure, except
// kTfLiteOutputShapeNotKnown, which only a kernel's prepare returns.
typedef enum TfLiteStatus {
  // Success.
  kTfLiteOk = 0,
  // Failure in the runtime or in a kernel.
  kTfLiteError = 1,
  // A delegate failed. The graph has been put back to what it was without delegates.
  kTfLiteDelegateError = 2,
  // Delegate and graph do not fit together, for example an immutable graph. The graph is usable.
  kTfLiteApplicationError = 3,
  // Serialised delegate data: nothing is stored under that key.
  kTfLiteDelegateDataNotFound = 4,
  // Serialised delegate data: writing failed.
  kTfLiteDelegateDataWriteError = 5,
  // Serialised delegate data: reading failed.
  kTfLiteDelegateDataReadError = 6,
  // An operator of the model has no implementation.
  kTfLiteUnresolvedOps = 7,
  // Invoke or AllocateTensors was stopped by a Cancel call.
  kTfLiteCancelled = 8,
  // Answer of a kernel's prepare: treat the outputs like dynamic ones. Not a failure.
  kTfLiteOutputShapeNotKnown = 9,
} TfLiteStatus;

// The element type of a tensor. The packed size of one element stands in brackets.
typedef enum {
  // No type yet, as in a tensor that a kernel has just added.
  kTfLiteNoType = 0,
  // IEEE single precision [4 bytes].
  kTfLiteFloat32 = 1,
  // Signed integer [4 bytes].
  kTfLiteInt32 = 2,
  // Unsigned integer, often affinely quantised [1 byte].
  kTfLiteUInt8 = 3,
  // Signed integer [8 bytes].
  kTfLiteInt64 = 4,
  // A packed list of byte strings [no fixed size]: int32 count, count + 1 int32 offsets, bytes.
  kTfLiteString = 5,
  // Truth value, 0 or 1 [1 byte].
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
  // A C++ object behind a virtual interface, see kTfLiteVariantObject [no fixed size].
  kTfLiteVariant = 15,
  // Unsigned integer [4 bytes].
  kTfLiteUInt32 = 16,
  // Unsigned integer [2 bytes].
  kTfLiteUInt16 = 17,
  // Signed integer, two per byte, the lower half first [1/2 byte].
  kTfLiteInt4 = 18,
  // The upper half of a single precision number [2 bytes].
  kTfLiteBFloat16 = 19,
  // Signed integer, four per byte, the lowest bits first [1/4 byte].
  kTfLiteInt2 = 20,
  // Unsigned integer, two per byte, the lower half first [1/2 byte].
  kTfLiteUInt4 = 21,
  // Eight-bit float with 4 exponent and 3 mantissa bits, no infinities [1 byte].
  kTfLiteFloat8E4M3FN = 22,
  // Eight-bit float with 5 exponent and 2 mantissa bits [1 byte].
  kTfLiteFloat8E5M2 = 23,
} TfLiteType;

// The per-tensor view of affine quantisation: real = scale * (stored - zero_point). Both fields are
// zero when the tensor is not quantised with one scale for the whole tensor; then
// TfLiteTensor.quantization is the only truth.
typedef struct TfLiteQuantizationParams {
  // Step between neighbouring stored values; 0 when there is no per-tensor quantisation.
  float scale;
  // Stored value that stands for zero.
  int32_t zero_point;
} TfLiteQuantizationParams;

// The next three are TfLiteContext, TfLiteNode and TfLiteTensor, seen through an incomplete type by
// code that wants to survive changes of those structs. The pointers are identical; casting between
// the two views is what the runtime itself does.

// What a kernel or delegate sees of the subgraph it works for. Owned by the interpreter.
typedef struct TfLiteOpaqueContext TfLiteOpaqueContext;

// What a kernel or delegate sees of one node. Owned by the subgraph.
typedef struct TfLiteOpaqueNode TfLiteOpaqueNode;

// A tensor. Owned by the subgraph; the pointer may move when tensors are added.
typedef struct TfLiteOpaqueTensor TfLiteOpaqueTensor;

// A delegate with public fields, defined in common.h.
typedef struct TfLiteDelegate TfLiteDelegate;

// The incomplete delegate type of builds that want a stable ABI.
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegateStruct;

// The delegate type in signatures of the public API. It is TfLiteDelegate, unless the client asks
// for the incomplete type by defining one of the two macros to 1. The binary interface is a pointer
// either way, and both kinds of code may be mixed in one process.
#if (defined(TFLITE_USE_OPAQUE_DELEGATE) && TFLITE_USE_OPAQUE_DELEGATE) || \
    (defined(TFLITE_WITH_STABLE_ABI) && TFLITE_WITH_STABLE_ABI)
typedef TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;
#else
typedef TfLiteDelegate TfLiteOpaqueDelegate;
#endif

// An operator with callbacks, made by TfLiteOperatorCreate; see operator.h.
typedef struct TfLiteOperator TfLiteOperator;

// The name that TfLiteOperator had before TensorFlow 2.17.
typedef TfLiteOperator TfLiteRegistrationExternal;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_TYPES_H_
