// SPDX-License-Identifier: Apache-2.0
//
// What a subgraph and its interpreter need of the layer that applies delegates. It stands above
// them (core/delegation) and is handed in when an interpreter is made.
#ifndef DEPUTY_CORE_EXEC_DELEGATE_LAYER_H_
#define DEPUTY_CORE_EXEC_DELEGATE_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

class Subgraph;

// The operators of a delegate's partition as the delegate timed them; see DeputyNodeEvent.
struct PartitionEvents {
  struct Event {
    int node = -1;
    std::string name;
    int64_t begin_ns = 0, duration_ns = 0;
  };
  std::string delegate;       // its name
  std::vector<Event> events;  // empty: the delegate reports none
};

// The delegates of one subgraph, and what they see while their Prepare runs.
class DelegateLayer {
 public:
  virtual ~DelegateLayer() = default;

  // ---- Whole delegates (abi.md 5) --------------------------------------------------------------
  // After kTfLiteDelegateError no delegate is left on this subgraph. Under the policy Hot every
  // failure leaves the subgraph as it was, and what succeeded can be taken back until Commit.
  virtual TfLiteStatus Apply(TfLiteDelegate* delegate) = 0;
  virtual void TakeBack() = 0;
  virtual void Commit() = 0;
  // Puts the original plan back and remembers the delegates. `why` is what reports say of the nodes
  // that are the CPU's again.
  virtual void Undo(const char* why) = 0;
  // Applies what was undone; nothing if nothing was. Returns the first failure; the delegates
  // behind it are forgotten. Under the policy Hot a delegate that fails is left out, the others are
  // applied, and the result is Ok.
  virtual TfLiteStatus Redo() = 0;
  // Undoes, forgets, and allocates for the CPU.
  virtual TfLiteStatus Remove(const char* why) = 0;

  virtual bool any_applied() const = 0;
  // The plan before the first delegate; empty while no delegate's node runs in others' place.
  virtual const std::vector<int>& original_plan() const = 0;
  // Prepares the original plan where an applied delegate requires propagated shapes.
  virtual TfLiteStatus PropagateShapes() = 0;

  // A node's kernel has been prepared; tensors from `first_added` on are what it added.
  virtual void NotePrepared(int node_index, size_t first_added) = 0;
  // Returns the events of the newest run of a delegate's node. Does not throw.
  virtual PartitionEvents EventsOf(int node_index) noexcept = 0;

  // ---- Delegate mode: counted, the outermost pair swaps the context's functions ---------------
  virtual void EnterDelegateMode() = 0;
  virtual void LeaveDelegateMode() = 0;

  // The context's functions in delegate mode. Arrays belong to this object until the next call of
  // the same function, previews until the mode ends.
  virtual TfLiteStatus GetExecutionPlan(TfLiteIntArray** out_plan) = 0;
  virtual TfLiteStatus GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                              TfLiteRegistration** out_registration) = 0;
  virtual TfLiteStatus Replace(const TfLiteRegistration& registration, const TfLiteIntArray* nodes,
                               TfLiteDelegate* delegate) = 0;
  virtual TfLiteStatus Preview(const TfLiteIntArray* nodes, TfLiteDelegateParams** out_params,
                               int* out_count) = 0;
};

// What computes a delegate's nodes when it fails, under the policy Hot, or to verify its results.
// Used for these only.
class NodeFallback {
 public:
  virtual ~NodeFallback() = default;

  // ---- While tensors are allocated -------------------------------------------------------------
  // Before a delegate's node is prepared: prepares the nodes it replaced and notes the shapes they
  // give to its outputs, if these can be known. Ok whether they can or not; or cancelled.
  virtual TfLiteStatus InferReplacedShapes(int node_index) = 0;
  // Checks a delegate's node by what its prepare returned and by the shapes of its outputs. Ok also
  // when it failed but its nodes can stand in for it.
  virtual TfLiteStatus CheckPrepareResult(int node_index, TfLiteStatus status) = 0;
  // Plans the memory of the replaced nodes.
  virtual TfLiteStatus Reserve() = 0;

  // ---- While the model runs --------------------------------------------------------------------
  // A run of the subgraph begins; true if it may start over, and then EndRun must follow.
  virtual bool BeginRun() = 0;
  virtual void EndRun() = 0;
  // Keeps a called subgraph's variables for the case that this run starts over.
  virtual void SaveVariablesOf(Subgraph* subgraph) = 0;
  // Runs a delegate's node, or what it replaced.
  virtual TfLiteStatus InvokeNode(int node_index) = 0;
  // To be called when a tensor could not be copied from its delegate. RestartInference then leaves
  // that delegate's nodes to the CPU for a while; false when nothing was lost, or nothing is left
  // to do without it.
  virtual void NoteLostTensor(const TfLiteDelegate* delegate) = 0;
  virtual bool RestartInference() = 0;

  // The graph has changed: what was known about its nodes no longer holds.
  virtual void Invalidate() = 0;
};

// RAII guard: one run of a subgraph that may start over.
class RestartableRun {
 public:
  explicit RestartableRun(NodeFallback* fallback)
      : fallback_(fallback->BeginRun() ? fallback : nullptr) {}
  ~RestartableRun() {
    if (fallback_ != nullptr) fallback_->EndRun();
  }
  RestartableRun(const RestartableRun&) = delete;
  RestartableRun& operator=(const RestartableRun&) = delete;

 private:
  NodeFallback* const fallback_;
};

struct DelegateParts {
  std::unique_ptr<DelegateLayer> layer;
  std::unique_ptr<NodeFallback> fallback;
};
using MakeDelegateParts = DelegateParts (*)(Subgraph* subgraph);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_DELEGATE_LAYER_H_
