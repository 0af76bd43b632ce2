// SPDX-License-Identifier: Apache-2.0
//
// Nodes that run as one step. Its head, a layer, computes what follows it (RELU, ADD, PRELU,
// HARD_SWISH) on each value before it stores it, and reads around a PAD before it, or multiplies
// what it reads as a MUL before it does: what lies between the nodes of a step is never written.
//
// In prepare a kernel offers what its node can be (OfferStep); the subgraph decides
// (core/exec/steps.h) and calls the head's StepOffer::run with the step. It computes the same bits
// as the nodes one by one.
#ifndef DEPUTY_CORE_KERNEL_API_STEP_H_
#define DEPUTY_CORE_KERNEL_API_STEP_H_

#include "c_api/include/common.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// Value of StepOffer::run: a noexcept trampoline as Guarded.
using StepFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*, const StepRun&);

TfLiteStatus CallGuardedStep(TfLiteContext* context, TfLiteNode* node, const StepRun& step,
                             StepFunction function) noexcept;

template <StepFunction function>
TfLiteStatus GuardedStep(TfLiteContext* context, TfLiteNode* node, const StepRun& step) noexcept {
  return CallGuardedStep(context, node, step, function);
}

// For prepare, as its last act: see Runtime::OfferStep. Nothing under a foreign context.
inline void OfferStep(TfLiteContext* context, const TfLiteNode* node, const StepOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferStep(node, offer);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STEP_H_
