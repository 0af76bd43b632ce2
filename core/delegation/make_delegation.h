// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_DELEGATION_MAKE_DELEGATION_H_
#define DEPUTY_CORE_DELEGATION_MAKE_DELEGATION_H_

#include "core/exec/delegate_layer.h"

namespace deputy {

// Creates the parts of core/delegation for one subgraph; a value for
// InterpreterConfig::make_delegate_parts.
DelegateParts MakeDelegation(Subgraph* subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_MAKE_DELEGATION_H_
