// SPDX-License-Identifier: Apache-2.0
//
// Macros of kernels that report unsupported types, and assertions that abort the process.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_OP_MACROS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_OP_MACROS_H_

#include <cstdio>
#include <cstdlib>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"

// Reports that an operator has no kernel for a type, and returns kTfLiteError.
#define TF_LITE_UNSUPPORTED_TYPE(context, type, op_name)                                        \
  do {                                                                                          \
    TF_LITE_KERNEL_LOG((context), "%s:%d Type %s is unsupported by op %s.", __FILE__, __LINE__, \
                       ::tflite::inline_c::TypeName(type), (op_name));                          \
    return kTfLiteError;                                                                        \
  } while (0)

#define TFLITE_ABORT abort()

#ifdef NDEBUG
#define TFLITE_ASSERT_FALSE (static_cast<void>(0))
#else
#define TFLITE_ASSERT_FALSE TFLITE_ABORT
#endif

// Prints a text on stderr and aborts.
#define TF_LITE_FATAL(msg)          \
  do {                              \
    fprintf(stderr, "%s\n", (msg)); \
    TFLITE_ABORT;                   \
  } while (0)

#define TF_LITE_ASSERT(x)        \
  do {                           \
    if (!(x)) TF_LITE_FATAL(#x); \
  } while (0)

#define TF_LITE_ASSERT_EQ(x, y)                            \
  do {                                                     \
    if ((x) != (y)) TF_LITE_FATAL(#x " didn't equal " #y); \
  } while (0)

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_OP_MACROS_H_
