// SPDX-License-Identifier: Apache-2.0
//
// ROUND: halves to even.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ROUND_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ROUND_H_

#include <cmath>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline float RoundToNearest(float value) { return std::nearbyint(value); }

template <typename Scalar>
inline void Round(const RuntimeShape& input_shape, const Scalar* input_data,
                  const RuntimeShape& output_shape, Scalar* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i)
    output_data[i] = static_cast<Scalar>(RoundToNearest(static_cast<float>(input_data[i])));
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ROUND_H_
