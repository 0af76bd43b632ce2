// SPDX-License-Identifier: Apache-2.0
//
// Float inputs quantised while running, for weights stored as int8 ("dynamic range"): every run of
// values (a row, or a whole picture) gets a scale of its own and, where wanted, a zero point.
// TensorFlow Lite's recipe, bit by bit: a step to the side would show in every output.
#ifndef DEPUTY_KERNELS_LINALG_HYBRID_H_
#define DEPUTY_KERNELS_LINALG_HYBRID_H_

#include "core/base/memory.h"
#include "kernels/common/kernel.h"

namespace deputy {

class HybridRows {
 public:
  // Quantises rows x row_values floats. `what` is the tensor that a refusal of memory names.
  TfLiteStatus Quantize(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                        int64_t rows, int64_t row_values, bool asymmetric);

  // Of the last Quantize; valid until the next.
  const int8_t* values() const { return reinterpret_cast<const int8_t*>(values_.data()); }
  const float* scales() const { return reinterpret_cast<const float*>(scales_.data()); }
  const int32_t* zero_points() const {
    return reinterpret_cast<const int32_t*>(zero_points_.data());
  }

 private:
  Block values_, scales_, zero_points_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_HYBRID_H_
