// SPDX-License-Identifier: Apache-2.0
//
// PAD and PADV2 of at most five dimensions.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PAD_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PAD_H_

#include <array>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

constexpr int PadKernelMaxDimensionCount() { return 5; }

// Elements outside the input have the value that `pad_value_ptr` points to.
template <typename T, typename P>
inline void PadImpl(const PadParams& op_params, const RuntimeShape& input_shape,
                    const T* input_data, const P* pad_value_ptr, const RuntimeShape& output_shape,
                    T* output_data) {
  constexpr int kRank = PadKernelMaxDimensionCount();
  const RuntimeShape out = RuntimeShape::ExtendedShape(kRank, output_shape);
  TFLITE_DCHECK_LE(input_shape.DimensionsCount(), kRank);
  TFLITE_DCHECK(op_params.left_padding_count <= kRank && op_params.right_padding_count <= kRank);
  int begin[kRank] = {};
  int end[kRank];
  for (int d = 0; d < kRank; ++d) {
    const int left = d - (kRank - op_params.left_padding_count);
    const int right = d - (kRank - op_params.right_padding_count);
    if (left >= 0) begin[d] = op_params.left_padding[left];
    end[d] = out.Dims(d) - (right >= 0 ? op_params.right_padding[right] : 0);
  }
  const T pad_value = static_cast<T>(*pad_value_ptr);
  const int count = out.FlatSize();
  int index[kRank] = {};
  for (int i = 0; i < count; ++i) {
    bool is_inside = true;
    for (int d = 0; d < kRank; ++d)
      is_inside = is_inside && index[d] >= begin[d] && index[d] < end[d];
    output_data[i] = is_inside ? *input_data++ : pad_value;
    NextIndex(kRank, out.DimsData(), index);
  }
}

template <typename T, typename P>
inline void Pad(const PadParams& op_params, const RuntimeShape& input_shape, const T* input_data,
                const P* pad_value_ptr, const RuntimeShape& output_shape, T* output_data) {
  PadImpl(op_params, input_shape, input_data, pad_value_ptr, output_shape, output_data);
}

template <typename T, typename P>
inline void PadImageStyle(const PadParams& op_params, const RuntimeShape& input_shape,
                          const T* input_data, const P* pad_value_ptr,
                          const RuntimeShape& output_shape, T* output_data) {
  PadImpl(op_params, input_shape, input_data, pad_value_ptr, output_shape, output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PAD_H_
