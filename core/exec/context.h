// SPDX-License-Identifier: Apache-2.0
//
// The C callbacks of TfLiteContext, the only bridge from C to a subgraph. No exception passes it.
#ifndef DEPUTY_CORE_EXEC_CONTEXT_H_
#define DEPUTY_CORE_EXEC_CONTEXT_H_

#include "c_api/include/common.h"

namespace deputy {

class InterpreterState;
class Subgraph;

// Fills the subgraph's context, for kernel mode: the functions that only a delegate may call report
// and answer Error, the seven of the micro runtime stay null (abi.md 4.1).
void InitContext(Subgraph* subgraph);

// Swaps the six functions that only a delegate may call between their stubs and the real ones.
void SetContextFunctions(TfLiteContext* context, bool delegate_mode);

// Puts a subgraph into delegate mode for another one's delegate; every Acquire that succeeds pairs
// with a Release. Error for an index out of range.
TfLiteStatus AcquireContext(InterpreterState* interpreter, int index, TfLiteContext** out_context);
TfLiteStatus ReleaseContext(InterpreterState* interpreter, int index);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CONTEXT_H_
