// SPDX-License-Identifier: Apache-2.0
//
// Float inputs quantised while running, for weights stored as int8 ("dynamic range"): every run of
// values (a row, or a whole picture) gets a scale of its own and, where wanted, a zero point.
// TensorFlow Lite's recipe, bit by bit: a step to the side would show in every output.
#ifndef DEPUTY_KERNELS_LINALG_HYBRID_H_
#define DEPUTY_KERNELS_LINALG_HYBRID_H_

#include "core/kernel_api/scratch.h"
#include "kernels/common/kernel.h"

namespace deputy {

// For one invoke: its memory is scratch.
class HybridRows {
 public:
  // Bytes of scratch that Quantize takes.
  static size_t ScratchBytes(int64_t rows, int64_t row_values);

  // Quantises rows x row_values floats, once. `what` is the tensor that a refusal of memory names.
  TfLiteStatus Quantize(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                        int64_t rows, int64_t row_values, bool asymmetric);

  // From now on the scales are those of `other`, of as many rows, which must live as long.
  void TakeScales(const HybridRows& other) { scales_ = other.scales_; }

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
