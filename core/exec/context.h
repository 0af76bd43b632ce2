// SPDX-License-Identifier: Apache-2.0
//
// The C callbacks of TfLiteContext, the only bridge from C to a subgraph. No exception passes it.
#ifndef DEPUTY_CORE_EXEC_CONTEXT_H_
#define DEPUTY_CORE_EXEC_CONTEXT_H_

#include "core/exec/subgraph.h"

namespace deputy {

// Fills the struct, for kernel mode: the functions that only a delegate may call report and answer
// Error, the seven of the micro runtime stay null (abi.md 4.1).
void InitContext(Subgraph* subgraph, TfLiteContext* context);

// Swaps the six functions that only a delegate may call between their stubs and the real ones.
void SetContextFunctions(TfLiteContext* context, bool delegate_mode);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CONTEXT_H_
