// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_TENSOR_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_TENSOR_UTILS_H_

#include <cstring>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

// Fills a variable with zeros; an int8 one with its zero point. Other tensors stay unchanged.
inline TfLiteStatus ResetVariableTensor(TfLiteTensor* tensor) {
  if (!tensor->is_variable) return kTfLiteOk;
  const int value = tensor->type == kTfLiteInt8 ? tensor->params.zero_point : 0;
  if (tensor->data.raw != nullptr) std::memset(tensor->data.raw, value, tensor->bytes);
  return kTfLiteOk;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_TENSOR_UTILS_H_
