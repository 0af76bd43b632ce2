// SPDX-License-Identifier: Apache-2.0
//
// RESIZE_BILINEAR of images [batch, height, width, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_BILINEAR_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_BILINEAR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Stores the position in the input, and its neighbours, of index `value` of the output.
inline void ComputeInterpolationValues(const float value, const float scale,
                                       const bool half_pixel_centers, int32_t input_size,
                                       float* scaled_value, int32_t* lower_bound,
                                       int32_t* upper_bound) {
  *scaled_value = half_pixel_centers ? (value + 0.5f) * scale - 0.5f : value * scale;
  *lower_bound = std::max(static_cast<int32_t>(std::floor(*scaled_value)), 0);
  *upper_bound = std::min(static_cast<int32_t>(std::ceil(*scaled_value)), input_size - 1);
}

// Variant in integers: `scale_10` and the position have ten fraction bits.
inline void ComputeInterpolationValuesInteger(const int32_t value, const int32_t scale_10,
                                              const bool half_pixel_centers, int32_t input_size,
                                              int32_t* scaled_value, int32_t* lower_bound,
                                              int32_t* upper_bound) {
  *scaled_value = value * scale_10 + (half_pixel_centers ? scale_10 / 2 - (1 << 9) : 0);
  *lower_bound = std::max(*scaled_value / (1 << 10), 0);
  *upper_bound = std::min((*scaled_value + (1 << 10) - 1) / (1 << 10), input_size - 1);
}

// Calls interpolate(position in the output, positions of the four corners, y, y0, x, x0) for every
// output. `locate` is one of the functions above.
template <typename Number, typename Locate, typename Interpolate>
inline void ForEachInterpolation(const RuntimeShape& unextended_input_shape,
                                 const RuntimeShape& unextended_output_shape, Number height_scale,
                                 Number width_scale, bool half_pixel_centers, const Locate& locate,
                                 const Interpolate& interpolate) {
  const RuntimeShape in = RuntimeShape::ExtendedShape(4, unextended_input_shape);
  const RuntimeShape out = RuntimeShape::ExtendedShape(4, unextended_output_shape);
  const int batches = MatchingDim(in, 0, out, 0);
  const int depth = MatchingDim(in, 3, out, 3);
  int position = 0;
  for (int b = 0; b < batches; ++b) {
    for (int out_y = 0; out_y < out.Dims(1); ++out_y) {
      Number y;
      int32_t y0, y1;
      locate(static_cast<Number>(out_y), height_scale, half_pixel_centers, in.Dims(1), &y, &y0,
             &y1);
      for (int out_x = 0; out_x < out.Dims(2); ++out_x) {
        Number x;
        int32_t x0, x1;
        locate(static_cast<Number>(out_x), width_scale, half_pixel_centers, in.Dims(2), &x, &x0,
               &x1);
        for (int c = 0; c < depth; ++c) {
          const int corners[] = {Offset(in, b, y0, x0, c), Offset(in, b, y1, x0, c),
                                 Offset(in, b, y0, x1, c), Offset(in, b, y1, x1, c)};
          interpolate(position++, corners, y, y0, x, x0);
        }
      }
    }
  }
}

// Integers are rounded by adding 1/2 and truncating.
template <typename T>
inline void ResizeBilinear(const ResizeBilinearParams& op_params,
                           const RuntimeShape& unextended_input_shape, const T* input_data,
                           const RuntimeShape&, const int32_t* output_size_data,
                           const RuntimeShape& unextended_output_shape, T* output_data) {
  TFLITE_DCHECK(!op_params.half_pixel_centers || !op_params.align_corners);
  const RuntimeShape in = RuntimeShape::ExtendedShape(4, unextended_input_shape);
  const auto scale = [&](int32_t input_size, int32_t output_size) {
    const int32_t cut = op_params.align_corners && output_size > 1 ? 1 : 0;
    return static_cast<float>(input_size - cut) / static_cast<float>(output_size - cut);
  };
  const float rounding = std::numeric_limits<T>::is_integer ? 0.5f : 0.0f;
  ForEachInterpolation<float>(
      unextended_input_shape, unextended_output_shape, scale(in.Dims(1), output_size_data[0]),
      scale(in.Dims(2), output_size_data[1]), op_params.half_pixel_centers,
      ComputeInterpolationValues,
      [&](int position, const int* corners, float y, int32_t y0, float x, int32_t x0) {
        const float down = y - static_cast<float>(y0);
        const float right = x - static_cast<float>(x0);
        const auto at = [&](int corner) { return static_cast<float>(input_data[corners[corner]]); };
        output_data[position] =
            static_cast<T>(at(0) * (1 - down) * (1 - right) + at(1) * down * (1 - right) +
                           at(2) * (1 - down) * right + at(3) * down * right + rounding);
      });
}

// Computes in integers. Results are rounded to nearest, halves away from zero; with
// TFLITE_SINGLE_ROUNDING, halves are rounded upwards.
template <typename T>
inline void ResizeBilinearInteger(const ResizeBilinearParams& op_params,
                                  const RuntimeShape& unextended_input_shape, const T* input_data,
                                  const RuntimeShape&, const int32_t* output_size_data,
                                  const RuntimeShape& unextended_output_shape, T* output_data) {
  TFLITE_DCHECK(!op_params.half_pixel_centers || !op_params.align_corners);
  const RuntimeShape in = RuntimeShape::ExtendedShape(4, unextended_input_shape);
  constexpr int32_t kOne = 1 << 10;
  const auto scale = [&](int32_t input_size, int32_t output_size) {
    const int32_t cut = op_params.align_corners && output_size > 1 ? 1 : 0;
    return (kOne * (input_size - cut) + (output_size - cut) / 2) / (output_size - cut);
  };
  ForEachInterpolation<int32_t>(
      unextended_input_shape, unextended_output_shape, scale(in.Dims(1), output_size_data[0]),
      scale(in.Dims(2), output_size_data[1]), op_params.half_pixel_centers,
      ComputeInterpolationValuesInteger,
      [&](int position, const int* corners, int32_t y, int32_t y0, int32_t x, int32_t x0) {
        const int64_t down = y - kOne * y0;
        const int64_t right = x - kOne * x0;
        const auto at = [&](int corner) {
          return static_cast<int64_t>(input_data[corners[corner]]);
        };
        const int64_t sum = at(0) * (kOne - down) * (kOne - right) + at(1) * down * (kOne - right) +
                            at(2) * (kOne - down) * right + at(3) * down * right;
#if TFLITE_SINGLE_ROUNDING
        output_data[position] = static_cast<T>((sum + (1 << 19)) >> 20);
#else
        output_data[position] =
            static_cast<T>((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
#endif
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_BILINEAR_H_
