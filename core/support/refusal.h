// SPDX-License-Identifier: Apache-2.0
//
// Reason why a delegate leaves a node to others.
#ifndef DEPUTY_CORE_SUPPORT_REFUSAL_H_
#define DEPUTY_CORE_SUPPORT_REFUSAL_H_

#include <string>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

struct Refusal {
  // Reason for reports; kDeputyReasonNone: the node is supported.
  DeputyReason reason = kDeputyReasonNone;
  std::string text;  // explanation, e.g. "ADD: tensor 3 'x': expected FLOAT32, found STRING"

  explicit operator bool() const { return reason != kDeputyReasonNone; }
};

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_REFUSAL_H_
