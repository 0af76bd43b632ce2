// SPDX-License-Identifier: Apache-2.0
//
// Value of one of several types, for options and metrics.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ANY_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ANY_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Member of LiteRtAny that is valid.
typedef enum {
  kLiteRtAnyTypeNone = 0,
  kLiteRtAnyTypeBool = 1,
  kLiteRtAnyTypeInt = 2,
  kLiteRtAnyTypeReal = 3,
  kLiteRtAnyTypeString = 8,
  kLiteRtAnyTypeVoidPtr = 9,
} LiteRtAnyType;

// Returns the name of a type as a constant string; "Unknown" for other values.
static inline const char* LiteRtAnyTypeToString(LiteRtAnyType type) {
  switch (type) {
    case kLiteRtAnyTypeNone:
      return "kLiteRtAnyTypeNone";
    case kLiteRtAnyTypeBool:
      return "kLiteRtAnyTypeBool";
    case kLiteRtAnyTypeInt:
      return "kLiteRtAnyTypeInt";
    case kLiteRtAnyTypeReal:
      return "kLiteRtAnyTypeReal";
    case kLiteRtAnyTypeString:
      return "kLiteRtAnyTypeString";
    case kLiteRtAnyTypeVoidPtr:
      return "kLiteRtAnyTypeVoidPtr";
  }
  return "Unknown";
}

// A value with its type. Strings and pointers are borrowed from the producer of the value. The
// layout is frozen (16 bytes).
typedef struct {
  LiteRtAnyType type;
  union {
    bool bool_value;
    int64_t int_value;
    double real_value;
    const char* str_value;
    const void* ptr_value;
  };
} LiteRtAny;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ANY_H_
