// SPDX-License-Identifier: Apache-2.0
//
// Maps a tensor's element type, known at run time, to a C++ type, for kernels that are templates.
// bool elements are uint8_t in kernels, because clients may write any byte.
#ifndef DEPUTY_KERNELS_COMMON_ELEMENT_TYPE_H_
#define DEPUTY_KERNELS_COMMON_ELEMENT_TYPE_H_

#include <cstdint>

#include "kernels/common/elements.h"
#include "kernels/common/half.h"
#include "kernels/common/kernel.h"

namespace deputy {

template <typename T>
struct ElementTag {
  using type = T;
};

// Calls function(ElementTag<T>()) for the C++ type T of the tensor's elements. Only the types in
// the mask are instantiated; other types are reported as an error.
template <uint32_t types, typename Function>
TfLiteStatus DispatchType(TfLiteContext* context, const TfLiteTensor* tensor,
                          const Function& function) {
#define DEPUTY_DISPATCH_CASE(tflite_type, cpp_type)      \
  case tflite_type:                                      \
    if constexpr ((types & TypeBit(tflite_type)) != 0) { \
      return function(ElementTag<cpp_type>());           \
    } else {                                             \
      break;                                             \
    }
  switch (tensor->type) {
    DEPUTY_DISPATCH_CASE(kTfLiteFloat32, float)
    DEPUTY_DISPATCH_CASE(kTfLiteFloat64, double)
    DEPUTY_DISPATCH_CASE(kTfLiteFloat16, Half)
    DEPUTY_DISPATCH_CASE(kTfLiteBFloat16, BFloat16)
    DEPUTY_DISPATCH_CASE(kTfLiteInt8, int8_t)
    DEPUTY_DISPATCH_CASE(kTfLiteUInt8, uint8_t)
    DEPUTY_DISPATCH_CASE(kTfLiteInt16, int16_t)
    DEPUTY_DISPATCH_CASE(kTfLiteUInt16, uint16_t)
    DEPUTY_DISPATCH_CASE(kTfLiteInt32, int32_t)
    DEPUTY_DISPATCH_CASE(kTfLiteUInt32, uint32_t)
    DEPUTY_DISPATCH_CASE(kTfLiteInt64, int64_t)
    DEPUTY_DISPATCH_CASE(kTfLiteUInt64, uint64_t)
    DEPUTY_DISPATCH_CASE(kTfLiteBool, uint8_t)
    default:
      break;
  }
#undef DEPUTY_DISPATCH_CASE
  return UnexpectedType(context, tensor);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_ELEMENT_TYPE_H_
