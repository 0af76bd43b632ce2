// SPDX-License-Identifier: Apache-2.0
//
// MAXIMUM and MINIMUM.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MAXIMUM_MINIMUM_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MAXIMUM_MINIMUM_H_

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Stores op(input 1, input 2); inputs are broadcast.
template <typename T, typename Op, int N = 5>
inline void MaximumMinimumBroadcastSlow(const RuntimeShape& input1_shape, const T* input1_data,
                                        const RuntimeShape& input2_shape, const T* input2_data,
                                        const RuntimeShape& output_shape, T* output_data, Op op) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  op);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MAXIMUM_MINIMUM_H_
