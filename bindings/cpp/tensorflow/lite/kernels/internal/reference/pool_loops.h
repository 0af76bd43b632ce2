// SPDX-License-Identifier: Apache-2.0
//
// Loops of pooling over tensors [batch, height, width, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOL_LOOPS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOL_LOOPS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace pool_loops {

// For each output, accumulates the elements of its window that are in the image with
// add(sum, element), from `initial`, and calls store(position, sum, number of elements).
template <typename Sum, typename T, typename Add, typename Store>
inline void Pool(const PoolParams& params, const RuntimeShape& input_shape, const T* input_data,
                 const RuntimeShape& output_shape, Sum initial, const Add& add,
                 const Store& store) {
  const int batches = MatchingDim(input_shape, 0, output_shape, 0);
  const int depth = MatchingDim(input_shape, 3, output_shape, 3);
  for (int batch = 0; batch < batches; ++batch) {
    for (int out_y = 0; out_y < output_shape.Dims(1); ++out_y) {
      const int origin_y = out_y * params.stride_height - params.padding_values.height;
      const int begin_y = std::max(0, origin_y);
      const int end_y = std::min(origin_y + params.filter_height, input_shape.Dims(1));
      for (int out_x = 0; out_x < output_shape.Dims(2); ++out_x) {
        const int origin_x = out_x * params.stride_width - params.padding_values.width;
        const int begin_x = std::max(0, origin_x);
        const int end_x = std::min(origin_x + params.filter_width, input_shape.Dims(2));
        const int count = std::max(0, end_y - begin_y) * std::max(0, end_x - begin_x);
        for (int channel = 0; channel < depth; ++channel) {
          Sum sum = initial;
          for (int y = begin_y; y < end_y; ++y) {
            for (int x = begin_x; x < end_x; ++x) {
              sum = add(sum, input_data[Offset(input_shape, batch, y, x, channel)]);
            }
          }
          store(Offset(output_shape, batch, out_y, out_x, channel), sum, count);
        }
      }
    }
  }
}

// Averages of integers are rounded to nearest, halves away from zero. Returns false if a window is
// outside the image.
template <typename T>
inline bool AverageIntegers(const PoolParams& params, const RuntimeShape& input_shape,
                            const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  bool success = true;
  Pool<int32_t>(
      params, input_shape, input_data, output_shape, 0,
      [](int32_t sum, T value) { return sum + value; },
      [&](int position, int32_t sum, int count) {
        success = success && count != 0;
        if (count == 0) return;
        const int32_t average = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
        output_data[position] = static_cast<T>(std::min(
            std::max(average, params.quantized_activation_min), params.quantized_activation_max));
      });
  return success;
}

template <typename T, typename Limit>
inline void Maximum(const PoolParams& params, const RuntimeShape& input_shape, const T* input_data,
                    const RuntimeShape& output_shape, T* output_data, Limit min, Limit max) {
  Pool<T>(
      params, input_shape, input_data, output_shape, std::numeric_limits<T>::lowest(),
      [](T current, T value) { return std::max(current, value); },
      [&](int position, T value, int) {
        output_data[position] = static_cast<T>(std::min<Limit>(std::max<Limit>(value, min), max));
      });
}

}  // namespace pool_loops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOL_LOOPS_H_
