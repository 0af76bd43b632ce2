// SPDX-License-Identifier: Apache-2.0
//
// Weights in the form that kernels read: dense and unpacked, with int8 for 4-bit and 2-bit weights.
// Weights in any other form are converted, constants only once.
#ifndef DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_
#define DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_

#include "core/kernel_api/packed_constant.h"
#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"

namespace deputy {

// Types of weights that are unpacked to int8.
inline constexpr uint32_t kPackedWeightBits = TypeBit(kTfLiteInt4) | TypeBit(kTfLiteInt2);

// The converted weights of a node.
class DenseWeights {
 public:
  static bool IsNeededFor(const TfLiteTensor* weights) {
    return weights->sparsity != nullptr || PackedBits(weights->type) != 0;
  }

  // Discards the converted weights; called by prepare, after it has checked the type.
  void Invalidate() { values_.Invalidate(); }

  // Converts the weights if necessary. A constant is converted once.
  TfLiteStatus Ensure(TfLiteContext* context, const TfLiteTensor* weights);

  // Returns the weights that kernels read: the argument itself, or a dense copy of the tensor with
  // the data that Ensure has converted.
  const TfLiteTensor* Of(const TfLiteTensor* weights) {
    if (!IsNeededFor(weights)) return weights;
    dense_ = *weights;
    if (PackedBits(weights->type) != 0) dense_.type = kTfLiteInt8;
    dense_.sparsity = nullptr;
    dense_.data.data = const_cast<char*>(values_.data());  // TfLiteTensor's data is not const
    return &dense_;
  }

 private:
  PackedConstant values_;
  TfLiteTensor dense_ = {};
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_
