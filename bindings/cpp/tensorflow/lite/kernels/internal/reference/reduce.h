// SPDX-License-Identifier: Apache-2.0
//
// Reductions and MEAN. `temp_index` has an element per dimension of the input, `resolved_axis` one
// per axis, temporary sums have the output's shape.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REDUCE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REDUCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Converts axes to indices of dimensions without duplicates. Returns false if one is out of range;
// for a scalar all axes are ignored.
inline bool ResolveAxis(const int num_dims, const int* axis, const int64_t num_axis, int* out_axis,
                        int* out_num_axis) {
  *out_num_axis = 0;
  if (num_dims == 0) return true;
  for (int64_t i = 0; i < num_axis; ++i) {
    const int dimension = axis[i] < 0 ? axis[i] + num_dims : axis[i];
    if (dimension < 0 || dimension >= num_dims) return false;
    int* const end = out_axis + *out_num_axis;
    if (std::find(out_axis, end, dimension) != end) continue;
    *end = dimension;
    ++*out_num_axis;
  }
  return true;
}

inline int64_t CountElements(const int* dims, int num_dims) {
  int64_t count = 1;
  for (int d = 0; d < num_dims; ++d) count *= dims[d];
  return count;
}

// Replaces each output by reducer(output, element) for the elements that are reduced to it.
template <typename In, typename Out, typename Reducer>
inline bool ReduceWith(const In* input_data, const int* input_dims, const int input_num_dims,
                       const int* axis, const int num_axis, int* input_iter, const Reducer& reducer,
                       Out* output_data) {
  std::fill(input_iter, input_iter + input_num_dims, 0);
  if (CountElements(input_dims, input_num_dims) == 0) return true;
  do {
    Out& output =
        output_data[ReducedOutputOffset(input_num_dims, input_dims, input_iter, num_axis, axis)];
    output = reducer(output, *input_data++);
  } while (NextIndex(input_num_dims, input_dims, input_iter));
  return true;
}

template <typename In, typename Out>
inline bool Reduce(const In* input_data, const int* input_dims, const int*,
                   const int input_num_dims, const int, const int* axis, const int num_axis,
                   int* input_iter, Out reducer(Out current, const In in), Out* output_data) {
  return ReduceWith(input_data, input_dims, input_num_dims, axis, num_axis, input_iter, reducer,
                    output_data);
}

template <typename In, typename Out>
inline bool ReduceSumImpl(const In* input_data, const int* input_dims, const int*,
                          const int input_num_dims, const int, const int* axis, const int num_axis,
                          int* input_iter, Out* output_data) {
  return ReduceWith(
      input_data, input_dims, input_num_dims, axis, num_axis, input_iter,
      [](Out sum, In value) { return WrappingAdd(sum, static_cast<Out>(value)); }, output_data);
}

template <typename T>
inline bool InitTensorDataForReduce(const int* dims, const int num_dims, const T init_value,
                                    T* data) {
  std::fill(data, data + CountElements(dims, num_dims), init_value);
  return true;
}

// Returns false if an axis is out of range.
template <typename T>
inline bool ReduceGeneric(const T* input_data, const int* input_dims, const int input_num_dims,
                          T* output_data, const int* output_dims, const int output_num_dims,
                          const int* axis, const int64_t num_axis_dimensions, bool, int* temp_index,
                          int* resolved_axis, T init_value,
                          T reducer(const T current, const T in)) {
  int num_axis = 0;
  return InitTensorDataForReduce(output_dims, output_num_dims, init_value, output_data) &&
         ResolveAxis(input_num_dims, axis, num_axis_dimensions, resolved_axis, &num_axis) &&
         ReduceWith(input_data, input_dims, input_num_dims, resolved_axis, num_axis, temp_index,
                    reducer, output_data);
}

// Stores the sums in `temp_sum`, and in `out_count` the number of elements of each sum. Returns
// false if an axis is out of range.
template <typename T, typename U>
inline bool SumOverAxes(const T* input_data, const int* input_dims, const int input_num_dims,
                        const int* output_dims, const int output_num_dims, const int* axis,
                        const int num_axis_dimensions, int* temp_index, int* resolved_axis,
                        U* temp_sum, int64_t* out_count) {
  int num_axis = 0;
  InitTensorDataForReduce(output_dims, output_num_dims, U(), temp_sum);
  if (!ResolveAxis(input_num_dims, axis, num_axis_dimensions, resolved_axis, &num_axis)) {
    return false;
  }
  *out_count = 1;
  for (int i = 0; i < num_axis; ++i) *out_count *= input_dims[resolved_axis[i]];
  return ReduceSumImpl(input_data, input_dims, output_dims, input_num_dims, output_num_dims,
                       resolved_axis, num_axis, temp_index, temp_sum);
}

template <typename T, typename U>
inline bool Mean(const T* input_data, const int* input_dims, const int input_num_dims,
                 T* output_data, const int* output_dims, const int output_num_dims, const int* axis,
                 const int num_axis_dimensions, bool, int* temp_index, int* resolved_axis,
                 U* temp_sum) {
  InitTensorDataForReduce(output_dims, output_num_dims, T(), output_data);
  int64_t count = 0;
  if (!SumOverAxes(input_data, input_dims, input_num_dims, output_dims, output_num_dims, axis,
                   num_axis_dimensions, temp_index, resolved_axis, temp_sum, &count)) {
    return false;
  }
  if (count == 0) return true;
  const int64_t outputs = CountElements(output_dims, output_num_dims);
  for (int64_t i = 0; i < outputs; ++i) {
    output_data[i] = static_cast<T>(temp_sum[i] / static_cast<U>(count));
  }
  return true;
}

// Stores the mean over height and width of images [batch, height, width, channels].
inline void Mean(const MeanParams& op_params, const RuntimeShape& unextended_input_shape,
                 const float* input_data, const RuntimeShape&, float* output_data) {
  TFLITE_CHECK_EQ(unextended_input_shape.DimensionsCount(), 4);
  TFLITE_CHECK_EQ(op_params.axis_count, 2);
  TFLITE_CHECK_EQ(op_params.axis[0] * op_params.axis[1], 2);
  const RuntimeShape& in = unextended_input_shape;
  const int pixels = in.Dims(1) * in.Dims(2);
  for (int batch = 0; batch < in.Dims(0); ++batch) {
    for (int channel = 0; channel < in.Dims(3); ++channel) {
      float sum = 0;
      for (int i = 0; i < pixels; ++i) {
        sum += input_data[(batch * pixels + i) * in.Dims(3) + channel];
      }
      output_data[batch * in.Dims(3) + channel] = sum / static_cast<float>(pixels);
    }
  }
}

// MEAN or SUM of quantised elements. `output_multiplier` and `output_shift` represent the input's
// scale divided by the output's; for a mean, the function divides them by the number of elements.
template <typename T, typename U>
inline bool QuantizedMeanOrSum(const T* input_data, int32_t input_zero_point, const int* input_dims,
                               const int input_num_dims, T* output_data, int32_t output_multiplier,
                               int output_shift, int32_t output_zero_point, const int* output_dims,
                               const int output_num_dims, const int* axis,
                               const int num_axis_dimensions, bool, int* temp_index,
                               int* resolved_axis, U* temp_sum, bool compute_sum) {
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  InitTensorDataForReduce(output_dims, output_num_dims, T(), output_data);
  int64_t count = 0;
  if (!SumOverAxes(input_data, input_dims, input_num_dims, output_dims, output_num_dims, axis,
                   num_axis_dimensions, temp_index, resolved_axis, temp_sum, &count)) {
    return false;
  }
  if (CountElements(input_dims, input_num_dims) == 0 || count == 0) return true;
  if (!compute_sum) {
    // The multiplier is shifted to the left before the division, so that it keeps its precision;
    // the final shift is at least -31.
    int shift = 63 - CountLeadingZeros(static_cast<uint64_t>(count));
    shift = std::min(std::min(shift, 32), 31 + output_shift);
    output_multiplier =
        static_cast<int32_t>((static_cast<int64_t>(output_multiplier) << shift) / count);
    output_shift -= shift;
  }
  const int64_t outputs = CountElements(output_dims, output_num_dims);
  for (int64_t i = 0; i < outputs; ++i) {
    const auto sum = static_cast<U>(temp_sum[i] - input_zero_point * count);
    const int32_t value =
        MultiplyByQuantizedMultiplier(sum, output_multiplier, output_shift) + output_zero_point;
    output_data[i] = static_cast<T>(std::min(std::max(value, kMin), kMax));
  }
  return true;
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REDUCE_H_
