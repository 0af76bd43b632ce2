// SPDX-License-Identifier: Apache-2.0
//
// Nodes that run as one step. Its head, a layer, computes what follows it (RELU, ADD, PRELU,
// HARD_SWISH) on each value before it stores it, and reads around a PAD before it, or multiplies
// what it reads as a MUL before it does: what lies between the nodes of a step is never written.
//
// In prepare a kernel offers what its node can be (OfferStep); the subgraph decides
// (core/exec/steps.h). In invoke the head's kernel looks what it has to compute (StepOf). That is
// what the nodes compute alone, so that results are the same bits.
#ifndef DEPUTY_CORE_KERNEL_API_STEP_H_
#define DEPUTY_CORE_KERNEL_API_STEP_H_

#include "c_api/include/common.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// For prepare, as its last act: see Runtime::OfferStep. Nothing under a foreign context.
inline void OfferStep(TfLiteContext* context, const TfLiteNode* node, const StepOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferStep(node, offer);
}

// For the invoke of a kernel that has offered to be a head: its step, or null.
inline const StepRun* StepOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? nullptr : runtime->step();
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STEP_H_
