// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/make_delegation.h"

#include "core/delegation/delegation.h"
#include "core/delegation/hot_fallback.h"

namespace deputy {

DelegateParts MakeDelegation(Subgraph* subgraph) {
  return {std::make_unique<Delegation>(subgraph), std::make_unique<HotFallback>(subgraph)};
}

}  // namespace deputy
