// SPDX-License-Identifier: Apache-2.0
//
// Interface of an observer of an interpreter: of every call of foreign code, of the context
// functions called meanwhile and their arguments, and of the lifetimes of nodes and buffer handles.
// An observer changes no status and no result. Its functions are called on the thread of the
// observed call and must not throw.
#ifndef DEPUTY_CORE_EXEC_OBSERVER_H_
#define DEPUTY_CORE_EXEC_OBSERVER_H_

#include <cstddef>

#include "core/base/foreign_call.h"

namespace deputy {

class Subgraph;

class Observer : public CallObserver {
 public:
  virtual ~Observer() = default;

  // Number of unused bytes before and after every arena tensor; see Arena::SetGuard.
  virtual size_t guard_bytes() const = 0;

  // ---- The functions of the context ------------------------------------------------------------
  // Called at the begin of every context function. Returns false if the call itself is invalid; the
  // functions below are then not called for it.
  virtual bool EnterFunction(Subgraph* subgraph, const char* function) = 0;
  virtual void ForbiddenFunction(Subgraph* subgraph, const char* function) = 0;
  virtual void BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor,
                            const TfLiteIntArray* dims) = 0;
  virtual void AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor) = 0;
  virtual void BeforeAddTensors(Subgraph* subgraph, int count) = 0;
  virtual void AfterAddTensors(Subgraph* subgraph, int first) = 0;
  virtual void CheckNodeIndex(Subgraph* subgraph, int node, const char* function) = 0;
  virtual void CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function) = 0;
  virtual void CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function) = 0;
  virtual void BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes) = 0;
  virtual void BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                             const TfLiteIntArray* nodes, TfLiteDelegate* delegate) = 0;
  virtual void AfterReplace(Subgraph* subgraph, TfLiteStatus status) = 0;

  // ---- Other events ----------------------------------------------------------------------------
  virtual void ReleasedTooOften(Subgraph* subgraph) = 0;
  // A function of the interpreter is called; an error while foreign code runs.
  virtual void EnterInterpreter(const char* function) = 0;
  // A node was removed; its kernel's free, if any, has been called.
  virtual void NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                         const void* user_data) = 0;
  // The handle's delegate has no function to free it.
  virtual void HandleNotFreed(Subgraph* subgraph, int tensor) = 0;
  // A handle is in use from now on.
  virtual void HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle) = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OBSERVER_H_
