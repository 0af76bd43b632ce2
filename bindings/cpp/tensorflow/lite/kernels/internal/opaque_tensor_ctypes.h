// SPDX-License-Identifier: Apache-2.0
//
// Shapes of TfLiteOpaqueTensor for kernels.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPAQUE_TENSOR_CTYPES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPAQUE_TENSOR_CTYPES_H_

#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/core/macros.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Returns the tensor's dimensions; a scalar's for a null tensor.
inline RuntimeShape GetTensorShape(const TfLiteOpaqueTensor* tensor) {
  if (tensor == nullptr) return RuntimeShape();
  RuntimeShape shape(TfLiteOpaqueTensorNumDims(tensor));
  for (int i = 0; i < shape.DimensionsCount(); ++i) {
    shape.SetDim(i, TfLiteOpaqueTensorDim(tensor, i));
  }
  return shape;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_OPAQUE_TENSOR_CTYPES_H_
