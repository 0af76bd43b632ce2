// SPDX-License-Identifier: Apache-2.0
//
// Parts that need not be copied: a kernel offers in prepare that parts and their whole may lie in
// one memory (ViewOffer), and leaves alone in invoke what lies there already.
#ifndef DEPUTY_KERNELS_COMMON_VIEWS_H_
#define DEPUTY_KERNELS_COMMON_VIEWS_H_

#include "kernels/common/kernel.h"

namespace deputy {

// For prepare, once shapes are known. Nothing under a foreign context.
inline void OfferViews(TfLiteContext* context, const TfLiteNode* node, const ViewOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferViews(node, offer);
}

// Whether elements of that type are whole bytes of a tensor's memory.
inline bool HasBytes(const TfLiteTensor* tensor) {
  return tensor->type != kTfLiteString && tensor->type != kTfLiteInt4;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_VIEWS_H_
