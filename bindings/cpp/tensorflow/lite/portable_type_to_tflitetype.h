// SPDX-License-Identifier: Apache-2.0
//
// Correspondence of C++ types and TfLiteType, for integers, bool and floating-point types.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PORTABLE_TYPE_TO_TFLITETYPE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PORTABLE_TYPE_TO_TFLITETYPE_H_

#include <cstdint>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

// Returns the element type of tensors that hold `T`; kTfLiteNoType for other types.
template <typename T>
constexpr TfLiteType typeToTfLiteType() {
  return kTfLiteNoType;
}

// TfLiteTypeToType<kTfLite...>::Type is the C++ type of the elements.
template <TfLiteType kType>
struct TfLiteTypeToType {};

#define MATCH_TYPE_AND_TFLITE_TYPE(CPP_TYPE, TFLITE_TYPE_ENUM) \
  template <>                                                  \
  constexpr TfLiteType typeToTfLiteType<CPP_TYPE>() {          \
    return TFLITE_TYPE_ENUM;                                   \
  }                                                            \
  template <>                                                  \
  constexpr TfLiteType typeToTfLiteType<const CPP_TYPE>() {    \
    return TFLITE_TYPE_ENUM;                                   \
  }                                                            \
  template <>                                                  \
  struct TfLiteTypeToType<TFLITE_TYPE_ENUM> {                  \
    using Type = CPP_TYPE;                                     \
  }

MATCH_TYPE_AND_TFLITE_TYPE(std::int8_t, kTfLiteInt8);
MATCH_TYPE_AND_TFLITE_TYPE(std::uint8_t, kTfLiteUInt8);
MATCH_TYPE_AND_TFLITE_TYPE(std::int16_t, kTfLiteInt16);
MATCH_TYPE_AND_TFLITE_TYPE(std::uint16_t, kTfLiteUInt16);
MATCH_TYPE_AND_TFLITE_TYPE(std::int32_t, kTfLiteInt32);
MATCH_TYPE_AND_TFLITE_TYPE(std::uint32_t, kTfLiteUInt32);
MATCH_TYPE_AND_TFLITE_TYPE(std::int64_t, kTfLiteInt64);
MATCH_TYPE_AND_TFLITE_TYPE(std::uint64_t, kTfLiteUInt64);
MATCH_TYPE_AND_TFLITE_TYPE(bool, kTfLiteBool);
MATCH_TYPE_AND_TFLITE_TYPE(float, kTfLiteFloat32);
MATCH_TYPE_AND_TFLITE_TYPE(double, kTfLiteFloat64);
MATCH_TYPE_AND_TFLITE_TYPE(TfLiteFloat16, kTfLiteFloat16);
MATCH_TYPE_AND_TFLITE_TYPE(TfLiteBFloat16, kTfLiteBFloat16);

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_PORTABLE_TYPE_TO_TFLITETYPE_H_
