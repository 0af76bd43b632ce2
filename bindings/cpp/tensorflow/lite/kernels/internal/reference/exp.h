// SPDX-License-Identifier: Apache-2.0
//
// EXP.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_EXP_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_EXP_H_

#include <cmath>
#include <cstddef>

namespace tflite {
namespace reference_ops {

template <typename T>
inline void Exp(const T* input_data, const size_t num_elements, T* output_data) {
  for (size_t i = 0; i < num_elements; ++i) {
    output_data[i] = static_cast<T>(std::exp(static_cast<float>(input_data[i])));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_EXP_H_
