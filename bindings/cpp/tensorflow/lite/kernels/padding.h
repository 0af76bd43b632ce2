// SPDX-License-Identifier: Apache-2.0
//
// Padding and output sizes of convolutions and pooling. The functions with "Checked" return
// kTfLiteError, with possibly some results set, for an unknown padding, for negative image or
// output sizes, for filter sizes, strides and dilation rates below 1, and for results outside of
// int; the functions without "Checked" then return 0 for the results that are not set.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_PADDING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_PADDING_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Stores the value; kTfLiteError if it is outside of int.
inline TfLiteStatus CheckedNarrowPaddingValue(std::int64_t value, int* result) {
  if (result == nullptr || value < std::numeric_limits<int>::min() ||
      value > std::numeric_limits<int>::max()) {
    return kTfLiteError;
  }
  *result = static_cast<int>(value);
  return kTfLiteOk;
}

// Size of a filter with the gaps of its dilation, in elements.
inline std::int64_t ComputeEffectiveFilterSize(int filter_size, int dilation_rate) {
  return (static_cast<std::int64_t>(filter_size) - 1) * dilation_rate + 1;
}

inline TfLiteStatus ValidatePaddingArguments(TfLitePadding padding, int image_size, int filter_size,
                                             int stride, int dilation_rate) {
  const bool is_valid = (padding == kTfLitePaddingSame || padding == kTfLitePaddingValid) &&
                        image_size >= 0 && filter_size > 0 && stride > 0 && dilation_rate > 0;
  return is_valid ? kTfLiteOk : kTfLiteError;
}

// Stores the padding before the input, and as `offset` the number of elements (0 or 1) by which the
// padding after it is larger.
inline TfLiteStatus ComputePaddingWithOffsetChecked(int stride, int dilation_rate, int in_size,
                                                    int filter_size, int out_size, int* offset,
                                                    int* padding) {
  if (offset == nullptr || padding == nullptr || out_size < 0 ||
      ValidatePaddingArguments(kTfLitePaddingSame, in_size, filter_size, stride, dilation_rate) !=
          kTfLiteOk) {
    return kTfLiteError;
  }
  const std::int64_t span = (static_cast<std::int64_t>(out_size) - 1) * stride +
                            ComputeEffectiveFilterSize(filter_size, dilation_rate);
  const std::int64_t total = std::max<std::int64_t>(span - in_size, 0);
  *offset = static_cast<int>(total % 2);
  return CheckedNarrowPaddingValue(total / 2, padding);
}
inline int ComputePaddingWithOffset(int stride, int dilation_rate, int in_size, int filter_size,
                                    int out_size, int* offset) {
  int padding = 0;
  if (ComputePaddingWithOffsetChecked(stride, dilation_rate, in_size, filter_size, out_size, offset,
                                      &padding) == kTfLiteOk) {
    return padding;
  }
  if (offset != nullptr) *offset = 0;
  return 0;
}
inline int ComputePadding(int stride, int dilation_rate, int in_size, int filter_size,
                          int out_size) {
  int offset = 0;
  return ComputePaddingWithOffset(stride, dilation_rate, in_size, filter_size, out_size, &offset);
}

// Number of positions of a filter on an image.
inline TfLiteStatus ComputeOutSizeChecked(TfLitePadding padding, int image_size, int filter_size,
                                          int stride, int dilation_rate, int* out_size) {
  if (out_size == nullptr || ValidatePaddingArguments(padding, image_size, filter_size, stride,
                                                      dilation_rate) != kTfLiteOk) {
    return kTfLiteError;
  }
  const std::int64_t lost =
      padding == kTfLitePaddingSame ? 1 : ComputeEffectiveFilterSize(filter_size, dilation_rate);
  const std::int64_t size = (static_cast<std::int64_t>(image_size) + stride - lost) / stride;
  if (size < 0) return kTfLiteError;
  return CheckedNarrowPaddingValue(size, out_size);
}
inline int ComputeOutSize(TfLitePadding padding, int image_size, int filter_size, int stride,
                          int dilation_rate = 1) {
  int out_size = 0;
  return ComputeOutSizeChecked(padding, image_size, filter_size, stride, dilation_rate,
                               &out_size) == kTfLiteOk
             ? out_size
             : 0;
}

inline TfLiteStatus ComputePaddingHeightWidthChecked(
    int stride_height, int stride_width, int dilation_rate_height, int dilation_rate_width,
    int in_height, int in_width, int filter_height, int filter_width, TfLitePadding padding,
    int* out_height, int* out_width, TfLitePaddingValues* padding_values) {
  if (out_height == nullptr || out_width == nullptr || padding_values == nullptr) {
    return kTfLiteError;
  }
  TF_LITE_ENSURE_STATUS(ComputeOutSizeChecked(padding, in_width, filter_width, stride_width,
                                              dilation_rate_width, out_width));
  TF_LITE_ENSURE_STATUS(ComputeOutSizeChecked(padding, in_height, filter_height, stride_height,
                                              dilation_rate_height, out_height));
  TF_LITE_ENSURE_STATUS(ComputePaddingWithOffsetChecked(
      stride_height, dilation_rate_height, in_height, filter_height, *out_height,
      &padding_values->height_offset, &padding_values->height));
  return ComputePaddingWithOffsetChecked(stride_width, dilation_rate_width, in_width, filter_width,
                                         *out_width, &padding_values->width_offset,
                                         &padding_values->width);
}
inline TfLitePaddingValues ComputePaddingHeightWidth(int stride_height, int stride_width,
                                                     int dilation_rate_height,
                                                     int dilation_rate_width, int in_height,
                                                     int in_width, int filter_height,
                                                     int filter_width, TfLitePadding padding,
                                                     int* out_height, int* out_width) {
  TfLitePaddingValues values{};
  if (out_height != nullptr) *out_height = 0;
  if (out_width != nullptr) *out_width = 0;
  ComputePaddingHeightWidthChecked(stride_height, stride_width, dilation_rate_height,
                                   dilation_rate_width, in_height, in_width, filter_height,
                                   filter_width, padding, out_height, out_width, &values);
  return values;
}

inline Padding3DValues ComputePadding3DValues(int stride_height, int stride_width, int stride_depth,
                                              int dilation_rate_height, int dilation_rate_width,
                                              int dilation_rate_depth, int in_height, int in_width,
                                              int in_depth, int filter_height, int filter_width,
                                              int filter_depth, TfLitePadding padding,
                                              int* out_height, int* out_width, int* out_depth) {
  *out_width = ComputeOutSize(padding, in_width, filter_width, stride_width, dilation_rate_width);
  *out_height =
      ComputeOutSize(padding, in_height, filter_height, stride_height, dilation_rate_height);
  *out_depth = ComputeOutSize(padding, in_depth, filter_depth, stride_depth, dilation_rate_depth);
  Padding3DValues values{};
  int offset = 0;
  values.depth = static_cast<std::int16_t>(ComputePaddingWithOffset(
      stride_depth, dilation_rate_depth, in_depth, filter_depth, *out_depth, &offset));
  values.depth_offset = static_cast<std::int16_t>(offset);
  values.height = static_cast<std::int16_t>(ComputePaddingWithOffset(
      stride_height, dilation_rate_height, in_height, filter_height, *out_height, &offset));
  values.height_offset = static_cast<std::int16_t>(offset);
  values.width = static_cast<std::int16_t>(ComputePaddingWithOffset(
      stride_width, dilation_rate_width, in_width, filter_width, *out_width, &offset));
  values.width_offset = static_cast<std::int16_t>(offset);
  return values;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_PADDING_H_
