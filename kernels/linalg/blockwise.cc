// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/blockwise.h"

#include "kernels/linalg/dot.h"

namespace deputy {

TfLiteStatus BlockScales::Prepare(TfLiteContext* context, const TfLiteTensor* weights) {
  if (weights->type != kTfLiteInt4) {
    return TensorError(context, weights, "blockwise quantisation: expected type INT4, found %s",
                       TfLiteTypeGetName(weights->type));
  }
  const auto& blockwise =
      *static_cast<const TfLiteBlockwiseQuantization*>(weights->quantization.params);
  const int units = Dim(weights, 0), depth = Dim(weights, 1);
  if (blockwise.blocksize < 1 || depth % blockwise.blocksize != 0) {
    return TensorError(context, weights, "expected blocks that divide a row of %d, found %d", depth,
                       blockwise.blocksize);
  }
  if (blockwise.scale < 0 || static_cast<size_t>(blockwise.scale) >= context->tensors_size) {
    return TensorError(context, weights, "tensor of scales: expected one of %zu, found %d",
                       context->tensors_size, blockwise.scale);
  }
  const TfLiteTensor* scales = &context->tensors[blockwise.scale];
  DEPUTY_TRY(CheckType(context, scales, kFloat16Bit));
  blocks_ = depth / blockwise.blocksize;
  block_size_ = blockwise.blocksize;
  if (!IsReadableConstant(scales) || scales->sparsity != nullptr) {
    return TensorError(context, scales, "expected a constant of scales, found another tensor");
  }
  DEPUTY_TRY(CheckElementCount(context, scales, int64_t{units} * blocks_));
  scales_ = Data<uint16_t>(scales);
  return kTfLiteOk;
}

float BlockScales::Product(int unit, const int8_t* weights, const int8_t* input,
                           int32_t zero_point) const {
  // The zero point times the sum of the weights is subtracted once at the end, as in TensorFlow
  // Lite.
  float sum = 0.0f, weight_sum = 0.0f;
  const uint16_t* scales = scales_ + int64_t{unit} * blocks_;
  for (int block = 0; block < blocks_; ++block) {
    int32_t sum_of_block = 0;
    for (int i = 0; i < block_size_; ++i) sum_of_block += weights[i];
    const float scale = HalfToFloat(scales[block]);
    sum += static_cast<float>(Dot(input, weights, block_size_, 0, 0)) * scale;
    weight_sum += scale * static_cast<float>(sum_of_block);
    input += block_size_;
    weights += block_size_;
  }
  return sum - static_cast<float>(zero_point) * weight_sum;
}

}  // namespace deputy
