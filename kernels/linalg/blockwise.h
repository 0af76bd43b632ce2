// SPDX-License-Identifier: Apache-2.0
//
// 4-bit weights with a float16 scale for each block of a row (blockwise quantisation).
#ifndef DEPUTY_KERNELS_LINALG_BLOCKWISE_H_
#define DEPUTY_KERNELS_LINALG_BLOCKWISE_H_

#include "kernels/common/half.h"
#include "kernels/common/kernel.h"

namespace deputy {

class BlockScales {
 public:
  static bool Has(const TfLiteTensor* weights) {
    return weights->quantization.type == kTfLiteBlockwiseQuantization;
  }

  // Reads the quantisation of the weights [units][depth]. The scales are a separate tensor,
  // [units][blocks of a row], which must be a constant of the model.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights);

  // Returns the dot product of a row of weights, as int8, and a row of input less its zero point.
  // The result is not yet multiplied by the input's scale.
  float Product(int unit, const int8_t* weights, const int8_t* input, int32_t zero_point) const;

 private:
  const uint16_t* scales_ = nullptr;
  int blocks_ = 0, block_size_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_BLOCKWISE_H_
