// SPDX-License-Identifier: Apache-2.0
//
// Float inputs quantised at run time, for int8 weights ("dynamic range"): each run of values (a
// row, or a whole batch element) gets its own scale and, optionally, a zero point. Bit-identical to
// TensorFlow Lite's quantisation: a difference of one would affect every output.
#ifndef DEPUTY_KERNELS_LINALG_HYBRID_H_
#define DEPUTY_KERNELS_LINALG_HYBRID_H_

#include "core/kernel_api/scratch.h"
#include "kernels/common/kernel.h"

namespace deputy {

// Quantised rows of one invoke; their memory is scratch.
class HybridRows {
 public:
  // Returns the bytes of scratch memory that Quantize uses.
  static size_t ScratchBytes(int64_t rows, int64_t row_values);

  // Quantises rows x row_values floats; called once per object. `what` is the tensor named in an
  // error message.
  TfLiteStatus Quantize(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                        int64_t rows, int64_t row_values, bool asymmetric);

  // Uses the scales of `other` from now on. It must have the same number of rows and outlive this
  // object.
  void UseScales(const HybridRows& other) { scales_ = other.scales_; }

  const int8_t* values() const { return values_; }
  const float* scales() const { return scales_; }
  const int32_t* zero_points() const { return zero_points_; }

 private:
  Scratch scratch_;
  int8_t* values_ = nullptr;
  float* scales_ = nullptr;
  int32_t* zero_points_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_HYBRID_H_
