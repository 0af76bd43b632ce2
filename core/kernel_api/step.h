// SPDX-License-Identifier: Apache-2.0
//
// Fusion groups. The head of a group, a layer, applies its epilogue (RELU, ADD, PRELU, HARD_SWISH)
// to each value before it stores it. It can also absorb a preceding PAD, or a preceding MUL by
// factors per channel. Values between the nodes of a group are never written to memory.
//
// In prepare a kernel offers the roles that its node supports (OfferStep). The subgraph forms the
// groups (core/exec/steps.h) and calls the head's StepOffer::run. The result has the same bits as
// that of the nodes run one by one.
#ifndef DEPUTY_CORE_KERNEL_API_STEP_H_
#define DEPUTY_CORE_KERNEL_API_STEP_H_

#include "c_api/include/common.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// Value of StepOffer::run: a noexcept trampoline like Guarded.
using StepFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*, const StepRun&);

TfLiteStatus CallGuardedStep(TfLiteContext* context, TfLiteNode* node, const StepRun& step,
                             StepFunction function) noexcept;

template <StepFunction function>
TfLiteStatus GuardedStep(TfLiteContext* context, TfLiteNode* node, const StepRun& step) noexcept {
  return CallGuardedStep(context, node, step, function);
}

// For prepare, as its last call: see Runtime::OfferStep. No effect under a foreign context.
inline void OfferStep(TfLiteContext* context, const TfLiteNode* node, const StepOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferStep(node, offer);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STEP_H_
