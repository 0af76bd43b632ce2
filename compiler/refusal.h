// SPDX-License-Identifier: Apache-2.0
//
// The reason why something cannot be compiled.
#ifndef DEPUTY_COMPILER_REFUSAL_H_
#define DEPUTY_COMPILER_REFUSAL_H_

#include <string>

#include "deputy/deputy_plugin.h"

namespace deputy::compiler {

struct Refusal {
  DeputyReason reason = kDeputyReasonOther;
  std::string text;  // for example "ADD: tensor 3 'x': expected FLOAT32, found STRING"
};

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_REFUSAL_H_
