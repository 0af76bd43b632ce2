// SPDX-License-Identifier: Apache-2.0
//
// Checks the sizes of a model's tables against limits: at load, before memory of these sizes is
// allocated, and again for an interpreter that has its own limits.
#ifndef DEPUTY_CORE_MODEL_MODEL_LIMITS_H_
#define DEPUTY_CORE_MODEL_MODEL_LIMITS_H_

#include <string>

#include "core/base/memory.h"
#include "core/model/model_desc.h"

namespace deputy {

// Returns the first limit that the counts exceed, as text; empty if there is none.
std::string FindExceededLimit(const ModelCounts& counts, const Limits& limits);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_LIMITS_H_
