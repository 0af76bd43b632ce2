// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/fusion.h"

#include "core/base/guard.h"

namespace deputy {

TfLiteStatus CallGuardedGroup(TfLiteContext* context, TfLiteNode* node, const GroupRun& group,
                              GroupFunction function) noexcept {
  return Guard([&] { return KernelError(context, "out of memory"); },
               [&] { return function(context, node, group); });
}

}  // namespace deputy
