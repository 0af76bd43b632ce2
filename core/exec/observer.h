// SPDX-License-Identifier: Apache-2.0
//
// Interface of an observer of an interpreter: of every call of foreign code, of the context
// functions called meanwhile and their arguments, of the lifetimes of nodes and buffer handles, and
// of the work of threads. An observer changes no status and no result. Its functions are called on
// the thread of the observed call and must not throw. A function that an observer does not override
// does nothing.
#ifndef DEPUTY_CORE_EXEC_OBSERVER_H_
#define DEPUTY_CORE_EXEC_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/foreign_call.h"
#include "core/base/tile_observer.h"

namespace deputy {

class Subgraph;

// Requirements of an observer. Without kNeedsEveryNode, kNeedsExactTensors and guard bytes it does
// not change how an interpreter plans and runs.
enum ObserverNeeds : uint32_t {
  kNeedsNothing = 0,
  // Every node runs by itself: fusion groups run node by node.
  kNeedsEveryNode = 1,
  // Every tensor has contents without fusion or reduced precision, and the requested number of
  // threads computes it. (With guard_bytes() it also has memory of its own during its lifetime.)
  kNeedsExactTensors = 2,
  // TilesDone is called for every job that a kernel runs on the thread pool.
  kNeedsTiles = 4,
};

class Observer : public CallObserver {
 public:
  virtual ~Observer() = default;

  // Returns a combination of ObserverNeeds. Whether it contains kNeedsExactTensors must not change.
  virtual uint32_t needs() const { return kNeedsNothing; }
  // Number of unused bytes before and after every tensor with planned memory; see Arena::SetGuard.
  virtual size_t guard_bytes() const { return 0; }

  void Begin(const ForeignCall&) override {}
  void End(const ForeignCall&, const CallResult&) override {}
  virtual void TilesDone(std::span<const TileWork>) {}

  // ---- The functions of the context ------------------------------------------------------------
  // Called at the begin of every context function that may be called in the current mode;
  // ForbiddenFunction is called for the others. Returns false if the call itself is invalid; the
  // functions below are then not called for it.
  virtual bool EnterFunction(Subgraph*, const char* /*function*/) { return true; }
  virtual void ForbiddenFunction(Subgraph*, const char* /*function*/) {}
  virtual void BeforeResize(Subgraph*, const TfLiteTensor*, const TfLiteIntArray* /*dims*/) {}
  virtual void AfterResize(Subgraph*, const TfLiteTensor*) {}
  virtual void BeforeAddTensors(Subgraph*, int /*count*/) {}
  virtual void AfterAddTensors(Subgraph*, int /*first*/) {}
  virtual void CheckNodeIndex(Subgraph*, int /*node*/, const char* /*function*/) {}
  virtual void CheckTensorIndex(Subgraph*, int /*tensor*/, const char* /*function*/) {}
  virtual void CheckSubgraphIndex(Subgraph*, int /*index*/, const char* /*function*/) {}
  virtual void BeforePreview(Subgraph*, const TfLiteIntArray* /*nodes*/) {}
  virtual void BeforeReplace(Subgraph*, const TfLiteRegistration&, const TfLiteIntArray* /*nodes*/,
                             TfLiteDelegate*) {}
  virtual void AfterReplace(Subgraph*, TfLiteStatus) {}

  // ---- Other events ----------------------------------------------------------------------------
  virtual void ReleasedTooOften(Subgraph*) {}
  // Called by functions of the interpreter that must not be called while foreign code runs.
  virtual void EnterInterpreter(const char* /*function*/) {}
  // Called when a node was removed, after its kernel's free, if any.
  virtual void NodeFreed(Subgraph*, int /*node*/, const TfLiteRegistration&,
                         const void* /*user_data*/) {}
  // Called when a handle cannot be freed, because its delegate has no function for that.
  virtual void HandleNotFreed(Subgraph*, int /*tensor*/) {}
  // Called when the C API sets a tensor's handle.
  virtual void HandleSet(const TfLiteDelegate*, TfLiteBufferHandle) {}
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OBSERVER_H_
