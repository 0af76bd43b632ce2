// SPDX-License-Identifier: Apache-2.0
//
// portable_tensor_utils.h and activations of vectors.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_UTILS_H_

#include <cmath>

#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/kernels/internal/portable_tensor_utils.h"

namespace tflite {
namespace tensor_utils {

inline void ApplyTanhToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = std::tanh(vector[i]);
}

inline void ApplySigmoidToVector(const float* vector, int v_size, float* result) {
  for (int i = 0; i < v_size; ++i) result[i] = 1.0f / (1.0f + std::exp(-vector[i]));
}

// Stores nothing for kTfLiteActNone.
inline void ApplyActivationToVector(const float* vector, int v_size,
                                    TfLiteFusedActivation activation, float* result) {
  switch (activation) {
    case kTfLiteActNone:
      return;
    case kTfLiteActRelu:
      return ApplyReluToVector(vector, v_size, result);
    case kTfLiteActReluN1To1:
      return ApplyRelu1ToVector(vector, v_size, result);
    case kTfLiteActRelu6:
      return ApplyRelu6ToVector(vector, v_size, result);
    case kTfLiteActTanh:
      return ApplyTanhToVector(vector, v_size, result);
    case kTfLiteActSignBit:
      return ApplySignbitToVector(vector, v_size, result);
    case kTfLiteActSigmoid:
      return ApplySigmoidToVector(vector, v_size, result);
  }
}

}  // namespace tensor_utils
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_UTILS_H_
