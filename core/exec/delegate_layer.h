// SPDX-License-Identifier: Apache-2.0
//
// Interface of the layer that applies delegates, as subgraph and interpreter use it. The
// implementation is in core/delegation, which may use subgraphs, and is injected when an
// interpreter is created.
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
struct RunHook;

// Events of a partition's operators, measured by the delegate; see DeputyNodeEvent.
struct PartitionEvents {
  struct Event {
    int node = -1;
    std::string name;
    int64_t begin_ns = 0, duration_ns = 0;
  };
  std::string delegate;       // name of the delegate
  std::vector<Event> events;  // empty: the delegate reports none
};

// The delegates of one subgraph, and the functions that they may call during their Prepare.
class DelegateLayer {
 public:
  virtual ~DelegateLayer() = default;

  // ---- Whole delegates (abi.md 5) --------------------------------------------------------------
  // Applies a delegate. Except under the policy Hot, this subgraph has no delegates after
  // kTfLiteDelegateError, unless `delegate` is null. Under Hot every failure leaves the subgraph
  // unchanged, and a successful Apply can be rolled back until Commit.
  virtual TfLiteStatus Apply(TfLiteDelegate* delegate) = 0;
  virtual void Rollback() = 0;
  virtual void Commit() = 0;
  // Restores the original plan and remembers the delegates. `why` is the reason that reports give
  // for the nodes that run on the CPU again.
  virtual void Undo(const char* why) = 0;
  // Applies the delegates that were undone, if any. Returns the first failure; the delegates after
  // it are forgotten. Under the policy Hot a delegate that fails is skipped, the others are
  // applied, and the result is Ok.
  virtual TfLiteStatus Redo() = 0;
  // Undoes and forgets all delegates, and allocates tensors for the CPU.
  virtual TfLiteStatus Remove(const char* why) = 0;

  virtual bool any_applied() const = 0;
  // Returns the applied delegates in the order of their application.
  virtual std::vector<TfLiteDelegate*> applied() const = 0;
  // Returns the plan before the first delegate; empty unless a delegate is applied or being
  // applied.
  virtual const std::vector<int>& original_plan() const = 0;
  // Prepares the original plan, up to a node without a kernel or with a dynamic output, if an
  // applied delegate requires propagated shapes.
  virtual TfLiteStatus PropagateShapes() = 0;

  // Called after a node's kernel was prepared. The tensors with index `first_added` and higher were
  // added by the kernel.
  virtual void NotePrepared(int node_index, size_t first_added) = 0;
  // Appends the applied delegates that have functions to call around runs, unless `hooks` contains
  // them.
  virtual void AddRunHooks(std::vector<RunHook>* hooks) const = 0;
  // Returns true if a delegate node never reads constants after its init
  // (kDeputyPluginCopiesConstants).
  virtual bool CopiesConstants(int node_index) const = 0;

  // Buffers that delegates and the client share; see BufferExchange.
  virtual void NegotiateBuffers() = 0;
  virtual void ReleaseBuffers() = 0;
  virtual TfLiteStatus BeginRun() = 0;
  virtual TfLiteStatus EndRun() = 0;
  virtual bool IsBound(int tensor) const = 0;
  virtual bool ImportInput(int node_index, int tensor) = 0;
  virtual void SwapHandles(int node_index) = 0;

  // Returns the events of the newest run of a delegate node. Does not throw.
  virtual PartitionEvents EventsOf(int node_index) noexcept = 0;

  // ---- Delegate mode: nested; the outermost pair switches the context's functions --------------
  virtual void EnterDelegateMode() = 0;
  virtual void LeaveDelegateMode() = 0;

  // Implementations of the context's functions in delegate mode. Arrays belong to this object until
  // the next call of the same function, previews also at most until the mode ends.
  virtual TfLiteStatus GetExecutionPlan(TfLiteIntArray** out_plan) = 0;
  virtual TfLiteStatus GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                              TfLiteRegistration** out_registration) = 0;
  virtual TfLiteStatus Replace(const TfLiteRegistration& registration, const TfLiteIntArray* nodes,
                               TfLiteDelegate* delegate) = 0;
  virtual TfLiteStatus Preview(const TfLiteIntArray* nodes, TfLiteDelegateParams** out_params,
                               int* out_count) = 0;
};

// Interface to compute a delegate's nodes on the CPU: when the delegate fails under the policy Hot,
// or to verify its results. Under all policies it infers shapes that the replaced nodes compute.
class NodeFallback {
 public:
  virtual ~NodeFallback() = default;

  // ---- While tensors are allocated -------------------------------------------------------------
  // Called before a delegate node is prepared. Prepares the nodes that it replaced and records the
  // shapes of their outputs, if these can be inferred. Returns Ok in both cases, or cancelled;
  // fails for a delegate in NCHW if a shape inside the partition depends on values.
  virtual TfLiteStatus InferReplacedShapes(int node_index) = 0;
  // Called with the result of a delegate node's prepare, which it returns except under Hot. Under
  // Hot the shapes of the outputs are validated, too, and a failure counts as Ok, since the
  // replaced nodes can run on the CPU, unless a delegate is being applied.
  virtual TfLiteStatus CheckPrepareResult(int node_index, TfLiteStatus status) = 0;
  // Plans the memory of the replaced nodes.
  virtual TfLiteStatus Reserve() = 0;

  // ---- While the model runs --------------------------------------------------------------------
  // Begins a run of the subgraph. Returns true if it may restart; EndRun must then follow.
  virtual bool BeginRun() = 0;
  virtual void EndRun() = 0;
  // Saves a called subgraph's variables in case this run restarts.
  virtual void SaveVariablesOf(Subgraph* subgraph) = 0;
  // Runs a delegate node, or the nodes that it replaced.
  virtual TfLiteStatus InvokeNode(int node_index) = 0;
  // Called when a tensor could not be copied from its delegate. RestartInference then restores the
  // state at the begin of the run and makes that delegate's nodes run on the CPU in this inference
  // and in the next InterpreterConfig::delegate_retry ones; it returns false if no tensor was lost,
  // if no nodes of the delegate are left to replace, or if inputs or state cannot be restored.
  virtual void NoteLostTensor(const TfLiteDelegate* delegate) = 0;
  virtual bool RestartInference() = 0;
  // Makes the delegate's nodes run on the CPU in this inference and in the next
  // InterpreterConfig::delegate_retry ones.
  virtual void BackOff(const TfLiteDelegate* delegate) = 0;

  // Called when the graph has changed: discards cached facts about its nodes.
  virtual void Invalidate() = 0;
};

// RAII guard: one run of a subgraph that may restart.
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
