// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/step.h"

#include "core/base/guard.h"

namespace deputy {

TfLiteStatus CallGuardedStep(TfLiteContext* context, TfLiteNode* node, const StepRun& step,
                             StepFunction function) noexcept {
  return Guard([&] { return KernelError(context, "out of memory"); },
               [&] { return function(context, node, step); });
}

}  // namespace deputy
