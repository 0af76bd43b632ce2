// SPDX-License-Identifier: Apache-2.0
//
// Element-wise functions of two inputs of at most eight dimensions.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BROADCAST_LOOP_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BROADCAST_LOOP_H_

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename Pointer1, typename Pointer2, typename OutputType, typename BinaryOp>
inline void BroadcastBinaryOpSimple(const RuntimeShape& input1_shape, Pointer1 input1_data,
                                    const RuntimeShape& input2_shape, Pointer2 input2_data,
                                    const RuntimeShape& output_shape, OutputType* output_data,
                                    BinaryOp op) {
  ForEachBroadcast<2>(output_shape, {&input1_shape, &input2_shape},
                      [&](int position, const std::array<int, 2>& inputs) {
                        output_data[position] = op(input1_data[inputs[0]], input2_data[inputs[1]]);
                      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BROADCAST_LOOP_H_
