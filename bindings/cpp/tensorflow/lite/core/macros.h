// SPDX-License-Identifier: Apache-2.0
//
// Attributes of functions and hints to the optimizer. g++ and clang have all of them.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MACROS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MACROS_H_

#define TFLITE_EXPECT_FALSE(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define TFLITE_EXPECT_TRUE(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define TFLITE_NOINLINE __attribute__((noinline))
#define TFLITE_ATTRIBUTE_WEAK __attribute__((weak))
#define TFLITE_HAS_ATTRIBUTE_WEAK 1

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MACROS_H_
