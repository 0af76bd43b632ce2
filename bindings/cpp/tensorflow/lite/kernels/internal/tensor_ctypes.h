// SPDX-License-Identifier: Apache-2.0
//
// Data and shapes of TfLiteTensor for kernels.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_

#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/macros.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Returns the tensor's data, whose type is not checked; null for a null tensor.
template <typename T>
inline T* GetTensorData(TfLiteTensor* tensor) {
  return tensor != nullptr ? reinterpret_cast<T*>(tensor->data.raw) : nullptr;
}

template <typename T>
inline const T* GetTensorData(const TfLiteTensor* tensor) {
  return tensor != nullptr ? reinterpret_cast<const T*>(tensor->data.raw) : nullptr;
}

// Returns the tensor's dimensions; the shape of a scalar for a null tensor or one without
// dimensions.
inline RuntimeShape GetTensorShape(const TfLiteTensor* tensor) {
  if (tensor == nullptr || tensor->dims == nullptr) return RuntimeShape();
  return RuntimeShape(tensor->dims->size, tensor->dims->data);
}

inline RuntimeShape GetTensorShape(std::vector<int32_t> data) {
  return RuntimeShape(static_cast<int>(data.size()), data.data());
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_
