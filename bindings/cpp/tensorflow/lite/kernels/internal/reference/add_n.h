// SPDX-License-Identifier: Apache-2.0
//
// ADD_N of tensors of equal shapes.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_N_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_N_H_

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename T>
inline void AddN(const RuntimeShape& input_shape, const size_t num_inputs,
                 const T* const* input_data, T* output_data) {
  const int count = input_shape.FlatSize();
  for (int i = 0; i < count; ++i) {
    T sum = 0;
    for (size_t input = 0; input < num_inputs; ++input) sum += input_data[input][i];
    output_data[i] = sum;
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_N_H_
