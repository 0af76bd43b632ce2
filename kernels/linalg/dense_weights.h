// SPDX-License-Identifier: Apache-2.0
//
// Weights in the form in which the loops over them read them: one value after the other, int8 for
// those of 4 and 2 bits. Others are brought into that form, constants once.
#ifndef DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_
#define DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_

#include "core/kernel_api/packed_constant.h"
#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"

namespace deputy {

// Types of weights that stand for int8.
inline constexpr uint32_t kPackedWeightBits = TypeBit(kTfLiteInt4) | TypeBit(kTfLiteInt2);

// What a node keeps of it.
class DenseWeights {
 public:
  static bool IsNeededFor(const TfLiteTensor* weights) {
    return weights->sparsity != nullptr || PackedBits(weights->type) != 0;
  }

  // For prepare, which has checked the type.
  void Invalidate() { values_.Invalidate(); }

  // Works them out, where that is needed. A constant is worked out once.
  TfLiteStatus Ensure(TfLiteContext* context, const TfLiteTensor* weights);

  // The weights that the loops read: those given, or a tensor like them that Ensure has filled.
  const TfLiteTensor* Of(const TfLiteTensor* weights) {
    if (!IsNeededFor(weights)) return weights;
    dense_ = *weights;
    if (PackedBits(weights->type) != 0) dense_.type = kTfLiteInt8;
    dense_.sparsity = nullptr;
    dense_.data.data = const_cast<char*>(values_.data());  // NOLINT: a tensor's is not const
    return &dense_;
  }

 private:
  PackedConstant values_;
  TfLiteTensor dense_ = {};
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_DENSE_WEIGHTS_H_
