// SPDX-License-Identifier: Apache-2.0
//
// ARG_MIN and ARG_MAX.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ARG_MIN_MAX_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ARG_MIN_MAX_H_

#include <cmath>
#include <functional>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Returns the predicate "the first argument is better". NaN is worse than every number.
template <typename T>
inline std::function<bool(T, T)> GetComparefunction(bool is_arg_max) {
  return [is_arg_max](T candidate, T best) {
    if constexpr (std::is_floating_point<T>::value) {
      if (std::isnan(candidate)) return false;
      if (std::isnan(best)) return true;
    }
    return is_arg_max ? candidate > best : candidate < best;
  };
}

// Stores the index of the first best element along the axis *input2_data. cmp(a, b) is true if `a`
// is better.
template <typename T1, typename T2, typename T3, typename Cmp>
inline void ArgMinMax(const RuntimeShape& input1_shape, const T1* input1_data,
                      const T3* input2_data, const RuntimeShape&, T2* output_data, const Cmp& cmp) {
  const int rank = input1_shape.DimensionsCount();
  const int axis = static_cast<int>(input2_data[0]) + (input2_data[0] < 0 ? rank : 0);
  TFLITE_DCHECK(axis >= 0 && axis < rank);
  const int size = input1_shape.Dims(axis);
  int outer_size = 1;
  int inner_size = 1;
  for (int d = 0; d < rank; ++d) {
    if (d < axis) outer_size *= input1_shape.Dims(d);
    if (d > axis) inner_size *= input1_shape.Dims(d);
  }
  for (int outer = 0; outer < outer_size; ++outer) {
    for (int inner = 0; inner < inner_size; ++inner) {
      const T1* elements = input1_data + outer * size * inner_size + inner;
      int best = 0;
      for (int i = 1; i < size; ++i) {
        if (cmp(elements[i * inner_size], elements[best * inner_size])) best = i;
      }
      *output_data++ = static_cast<T2>(best);
    }
  }
}

template <typename T1, typename T2, typename T3>
inline void ArgMinMax(const RuntimeShape& input1_shape, const T1* input1_data,
                      const T3* input2_data, const RuntimeShape& output_shape, T2* output_data,
                      const bool is_arg_max) {
  ArgMinMax(input1_shape, input1_data, input2_data, output_shape, output_data,
            GetComparefunction<T1>(is_arg_max));
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ARG_MIN_MAX_H_
