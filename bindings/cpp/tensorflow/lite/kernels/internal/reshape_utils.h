// SPDX-License-Identifier: Apache-2.0
//
// The output shape of RESHAPE.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RESHAPE_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RESHAPE_UTILS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/runtime_shape.h"

namespace tflite {
namespace reshape_internal {

// Replaces a dimension of -1, of which there may be one, so that input and output have equally many
// elements. Reports and returns kTfLiteError if that is not possible.
inline TfLiteStatus ResolveOutputShape(TfLiteContext* context, const RuntimeShape& input_shape,
                                       TfLiteIntArray& output_shape) {
  size_t input_count = 0;
  TF_LITE_ENSURE_MSG(context, input_shape.CheckedFlatSize(input_count),
                     "num_input_elements overflowed");
  int open_dimension = -1;
  RuntimeShape known(output_shape.size, output_shape.data);
  for (int d = 0; d < output_shape.size; ++d) {
    if (output_shape.data[d] == -1) {
      TF_LITE_ENSURE_EQ(context, open_dimension, -1);
      open_dimension = d;
      known.SetDim(d, 1);
    }
    TF_LITE_ENSURE_MSG(context, known.Dims(d) >= 0, "output shape contains negative dimension");
  }
  size_t output_count = 0;
  TF_LITE_ENSURE_MSG(context, known.CheckedFlatSize(output_count),
                     "num_output_elements overflowed");
  if (open_dimension >= 0) {
    // If another output dimension is 0, the open dimension is the quotient of the products of all
    // other dimensions that are not 0.
    RuntimeShape input_others(input_shape);
    for (int d = 0; d < input_others.DimensionsCount(); ++d) {
      if (input_others.Dims(d) == 0) input_others.SetDim(d, 1);
    }
    const bool has_zero = output_count == 0;
    for (int d = 0; d < known.DimensionsCount(); ++d) {
      if (known.Dims(d) == 0) known.SetDim(d, 1);
    }
    size_t dividend = 0;
    size_t divisor = 0;
    TF_LITE_ENSURE_MSG(context, input_others.CheckedFlatSize(dividend),
                       "non_zero_num_input_elements overflowed");
    TF_LITE_ENSURE_MSG(context, known.CheckedFlatSize(divisor),
                       "non_zero_num_output_elements overflowed");
    const size_t inferred = input_count == 0 && !has_zero ? 0 : dividend / divisor;
    TF_LITE_ENSURE_MSG(context,
                       inferred <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
                       "inferred reshape dimension overflowed");
    output_shape.data[open_dimension] = static_cast<int>(inferred);
    TF_LITE_ENSURE_MSG(
        context, RuntimeShape(output_shape.size, output_shape.data).CheckedFlatSize(output_count),
        "num_output_elements overflowed");
  }
  TF_LITE_ENSURE_MSG(context, input_count == output_count,
                     "num_input_elements != num_output_elements (%zu != %zu)", input_count,
                     output_count);
  return kTfLiteOk;
}

}  // namespace reshape_internal
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RESHAPE_UTILS_H_
