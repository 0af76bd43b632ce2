// SPDX-License-Identifier: Apache-2.0
//
// A model's tables held against limits: when it is loaded, before anything of their size is
// allocated, and when an interpreter with limits of its own is made of it.
#ifndef DEPUTY_CORE_MODEL_MODEL_LIMITS_H_
#define DEPUTY_CORE_MODEL_MODEL_LIMITS_H_

#include <string>

#include "core/base/memory.h"
#include "core/model/model_desc.h"

namespace deputy {

// The first limit that the counts exceed, as text; empty when they are within all.
std::string FindExceededLimit(const ModelCounts& counts, const Limits& limits);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_LIMITS_H_
