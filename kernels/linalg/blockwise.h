// SPDX-License-Identifier: Apache-2.0
//
// Weights of 4 bits with a float16 scale for each block of a row ("blockwise" quantisation).
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

  // Reads what the weights [units][depth] say of their blocks. The scales are a tensor of their
  // own, [units][blocks of a row], which has to be a constant of the model.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights);

  // The product of a row of weights, as int8, and a row of input with its zero point taken off, in
  // steps of the input.
  float Product(int unit, const int8_t* weights, const int8_t* input, int32_t zero_point) const;

 private:
  const uint16_t* scales_ = nullptr;
  int blocks_ = 0, block_size_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_BLOCKWISE_H_
