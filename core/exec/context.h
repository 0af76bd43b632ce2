// SPDX-License-Identifier: Apache-2.0
//
// The C callbacks of TfLiteContext, by which kernels and delegates call a subgraph. They catch all
// exceptions.
#ifndef DEPUTY_CORE_EXEC_CONTEXT_H_
#define DEPUTY_CORE_EXEC_CONTEXT_H_

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy {

class InterpreterState;
class Subgraph;

// Sets the functions of the subgraph's context for kernel mode. Functions that only a delegate may
// call report an error and return it; the seven of the micro runtime stay null (abi.md 4.1).
void InitContext(Subgraph* subgraph);

// Switches the six functions that only a delegate may call between stubs and implementations.
void SetContextFunctions(TfLiteContext* context, bool delegate_mode);

// Puts a subgraph into delegate mode for the delegate of another one; every successful call needs a
// ReleaseContext. Fails for an index out of range.
TfLiteStatus AcquireContext(InterpreterState* interpreter, int index, TfLiteContext** out_context);
TfLiteStatus ReleaseContext(InterpreterState* interpreter, int index);

// Returns true if the interpreter's call in progress was cancelled. Nodes of delegates call it on
// the thread of their invoke.
bool IsCancelled(TfLiteContext* context);

// Function that set_memory_provider passes to plug-ins (deputy_plugin.h).
TfLiteStatus ProvideMemory(TfLiteContext* context, int32_t tensor, const DeputyInputMemory* memory);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CONTEXT_H_
