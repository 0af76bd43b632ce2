// SPDX-License-Identifier: Apache-2.0
//
// Hearing about operators from before they run until after. Interpreter::SetProfiler tells about
// what has run only; this takes its place where the beginning counts, too.
#ifndef DEPUTY_CORE_EXEC_OP_LISTENER_H_
#define DEPUTY_CORE_EXEC_OP_LISTENER_H_

#include "core/exec/interpreter.h"

namespace deputy {

// Called on the invoking thread. Operators nest: what runs in the body of a control flow operator
// begins and ends before that one does. Neither function may throw or use the interpreter.
class OpListener {
 public:
  virtual void BeginOp(int subgraph, int node, const char* op_name) = 0;
  virtual void EndOp(const OpEvent& event) = 0;

 protected:
  ~OpListener() = default;
};

// Null ends it. The listener must outlive the interpreter or its own end.
void SetOpListener(Interpreter* interpreter, OpListener* listener);

// A kernel's invoke is about to be called.
void NoteBeginOfOp(const TfLiteContext* context, const TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OP_LISTENER_H_
