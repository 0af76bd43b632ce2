// SPDX-License-Identifier: Apache-2.0
//
// Fusion groups. The head of a group, a layer, applies its epilogue (a clamp such as RELU, ADD,
// PRELU, HARD_SWISH) to each tile of its output while the tile is in registers or in the cache. It
// can also absorb a preceding PAD, or a preceding MUL by factors per channel. Values between the
// nodes of a group are never written to their tensors.
//
// In prepare a kernel offers the roles that its node supports (OfferFusion). The subgraph forms the
// groups (core/fusion/fusion_groups.h; of several layers: strips.h; of row-wise nodes:
// row_groups.h) and calls the head's FusionOffer::run. The result has the same bits as that of the
// nodes run one by one.
#ifndef DEPUTY_CORE_KERNEL_API_FUSION_H_
#define DEPUTY_CORE_KERNEL_API_FUSION_H_

#include "c_api/include/common.h"
#include "core/kernel_api/fusion_types.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// Type of the kernel functions that GuardedGroup wraps for FusionOffer::run: GuardedGroup<function>
// is noexcept, like Guarded.
using GroupFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*, const GroupRun&);

TfLiteStatus CallGuardedGroup(TfLiteContext* context, TfLiteNode* node, const GroupRun& group,
                              GroupFunction function) noexcept;

template <GroupFunction function>
TfLiteStatus GuardedGroup(TfLiteContext* context, TfLiteNode* node,
                          const GroupRun& group) noexcept {
  return CallGuardedGroup(context, node, group, function);
}

// Calls Runtime::OfferFusion. The state that the offered functions read must be prepared before. No
// effect under a foreign context.
inline void OfferFusion(TfLiteContext* context, const TfLiteNode* node, const FusionOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferFusion(node, offer);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_FUSION_H_
