// SPDX-License-Identifier: Apache-2.0
//
// SELECT and SELECT_V2.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SELECT_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SELECT_H_

#include <algorithm>
#include <array>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// All tensors have the same shape.
template <typename D, typename T>
inline void Select(const RuntimeShape& input_condition_shape, const D* input_condition_data,
                   const RuntimeShape& input_x_shape, const T* input_x_data,
                   const RuntimeShape& input_y_shape, const T* input_y_data,
                   const RuntimeShape& output_shape, T* output_data) {
  const int count =
      MatchingFlatSize(input_condition_shape, input_x_shape, input_y_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] = input_condition_data[i] ? input_x_data[i] : input_y_data[i];
  }
}

// The condition has one element, or one per index of the first dimension of the other inputs.
template <typename D, typename T>
inline void RankOneSelect(const RuntimeShape& input_condition_shape, const D* input_condition_data,
                          const RuntimeShape& input_x_shape, const T* input_x_data,
                          const RuntimeShape& input_y_shape, const T* input_y_data,
                          const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_x_shape, input_y_shape, output_shape);
  const int rows = std::max(1, input_condition_shape.FlatSize());
  for (int i = 0; i < count; ++i) {
    output_data[i] = input_condition_data[i / (count / rows)] ? input_x_data[i] : input_y_data[i];
  }
}

// The three inputs are broadcast.
template <typename D, typename T>
inline void BroadcastSelectSimple(const RuntimeShape& cond_shape, const D* cond_data,
                                  const RuntimeShape& x_shape, const T* x_data,
                                  const RuntimeShape& y_shape, const T* y_data,
                                  const RuntimeShape& output_shape, T* output_data) {
  ForEachBroadcast<3>(output_shape, {&cond_shape, &x_shape, &y_shape},
                      [&](int position, const std::array<int, 3>& inputs) {
                        output_data[position] =
                            cond_data[inputs[0]] ? x_data[inputs[1]] : y_data[inputs[2]];
                      });
}

template <typename D, typename T>
inline void BroadcastSelect5DSlow(const RuntimeShape& input_condition_shape,
                                  const D* input_condition_data, const RuntimeShape& input_x_shape,
                                  const T* input_x_data, const RuntimeShape& input_y_shape,
                                  const T* input_y_data, const RuntimeShape& output_shape,
                                  T* output_data) {
  BroadcastSelectSimple(input_condition_shape, input_condition_data, input_x_shape, input_x_data,
                        input_y_shape, input_y_data, output_shape, output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SELECT_H_
