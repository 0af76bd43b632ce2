// SPDX-License-Identifier: Apache-2.0
//
// Assertions of kernels. TFLITE_CHECK* abort the process in every build, TFLITE_DCHECK* only
// without NDEBUG; both evaluate their arguments in every build.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMPATIBILITY_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMPATIBILITY_H_

#include <cstdint>

#include "tensorflow/lite/kernels/op_macros.h"

#ifndef TFLITE_CHECK
#define TFLITE_CHECK(condition) ((condition) ? (void)0 : TFLITE_ABORT)
#define TFLITE_CHECK_EQ(x, y) TFLITE_CHECK((x) == (y))
#define TFLITE_CHECK_NE(x, y) TFLITE_CHECK((x) != (y))
#define TFLITE_CHECK_GE(x, y) TFLITE_CHECK((x) >= (y))
#define TFLITE_CHECK_GT(x, y) TFLITE_CHECK((x) > (y))
#define TFLITE_CHECK_LE(x, y) TFLITE_CHECK((x) <= (y))
#define TFLITE_CHECK_LT(x, y) TFLITE_CHECK((x) < (y))
#endif

#ifndef TFLITE_DCHECK
#define TFLITE_DCHECK(condition) ((condition) ? (void)0 : TFLITE_ASSERT_FALSE)
#define TFLITE_DCHECK_EQ(x, y) TFLITE_DCHECK((x) == (y))
#define TFLITE_DCHECK_NE(x, y) TFLITE_DCHECK((x) != (y))
#define TFLITE_DCHECK_GE(x, y) TFLITE_DCHECK((x) >= (y))
#define TFLITE_DCHECK_GT(x, y) TFLITE_DCHECK((x) > (y))
#define TFLITE_DCHECK_LE(x, y) TFLITE_DCHECK((x) <= (y))
#define TFLITE_DCHECK_LT(x, y) TFLITE_DCHECK((x) < (y))
#endif

// Names without a namespace that old kernels use.
using int8 = std::int8_t;
using uint8 = std::uint8_t;
using int16 = std::int16_t;
using uint16 = std::uint16_t;
using int32 = std::int32_t;
using uint32 = std::uint32_t;

#define TFLITE_PRETTY_FUNCTION __PRETTY_FUNCTION__

// Marks a declaration as deprecated, for compilers with a warning for its uses.
#ifndef TFLITE_DEPRECATED
#ifdef __clang__
#define TFLITE_DEPRECATED(message) __attribute__((deprecated(message)))
#else
#define TFLITE_DEPRECATED(message)
#endif
#endif

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMPATIBILITY_H_
