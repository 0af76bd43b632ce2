// SPDX-License-Identifier: Apache-2.0
//
// Types of TensorFlow Lite that the headers of this folder use: complete if TensorFlow Lite's
// headers are in the include path, as Deputy installs them, otherwise only declared.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_DEPUTY_TFLITE_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_DEPUTY_TFLITE_TYPES_H_

#if defined(__has_include)
#if __has_include("tflite/c/common.h")
#define DEPUTY_LITERT_HAS_TFLITE_HEADERS 1
#endif
#endif

#if defined(DEPUTY_LITERT_HAS_TFLITE_HEADERS)

#include "tflite/c/common.h"

#else

typedef struct TfLiteTensor TfLiteTensor;
typedef struct TfLiteDelegate TfLiteDelegate;
typedef struct TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegateStruct;

// Delegate type of the functions, selected as in TensorFlow Lite's headers. The ABI is a pointer in
// both cases.
#if (defined(TFLITE_USE_OPAQUE_DELEGATE) && TFLITE_USE_OPAQUE_DELEGATE) || \
    (defined(TFLITE_WITH_STABLE_ABI) && TFLITE_WITH_STABLE_ABI)
typedef TfLiteOpaqueDelegateStruct TfLiteOpaqueDelegate;
#else
typedef TfLiteDelegate TfLiteOpaqueDelegate;
#endif

#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_DEPUTY_TFLITE_TYPES_H_
