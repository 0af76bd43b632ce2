// SPDX-License-Identifier: Apache-2.0
//
// Views: in prepare a kernel offers that parts of a tensor alias the whole (ViewOffer); in invoke
// it skips copying parts that do.
#ifndef DEPUTY_KERNELS_COMMON_VIEWS_H_
#define DEPUTY_KERNELS_COMMON_VIEWS_H_

#include "core/kernel_api/fusion_types.h"
#include "kernels/common/kernel.h"

namespace deputy {

// Offers views, in prepare when shapes are known. Has no effect under a foreign context.
inline void OfferViews(TfLiteContext* context, const TfLiteNode* node, const ViewOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferViews(node, offer);
}

// Returns false for strings and int4, whose elements are not whole bytes of the tensor's memory.
// Other packed types are not recognised; only TRANSPOSE of a whole tensor passes one, uint4.
inline bool HasBytes(const TfLiteTensor* tensor) {
  return tensor->type != kTfLiteString && tensor->type != kTfLiteInt4;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_VIEWS_H_
