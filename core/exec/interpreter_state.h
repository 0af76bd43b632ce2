// SPDX-License-Identifier: Apache-2.0
//
// What the subgraphs of one interpreter share: the model, settings, reporter, threads,
// cancellation, external contexts, and what is under way. One thread at a time may use it, except
// for Cancel.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/base/failure_note.h"
#include "core/base/help_trial.h"
#include "core/base/memory.h"
#include "core/base/partition.h"
#include "core/base/resources.h"
#include "core/base/thread_pool.h"
#include "core/base/tile_observer.h"
#include "core/base/verification.h"
#include "core/exec/delegate_layer.h"
#include "core/exec/observer.h"
#include "core/kernel_api/runtime.h"
#include "core/model/model.h"

namespace deputy {

class InterpreterState;

struct InterpreterConfig {
  ErrorReporter reporter;
  int num_threads = -1;              // -1: not set, works like 1
  std::shared_ptr<ThreadPool> pool;  // shared between interpreters; null: one of our own
  bool cancellation = false;
  Arithmetic arithmetic = Arithmetic::kDefault;
  Precision precision = Precision::kFloat32;
  Limits limits;
  // Whether nodes may run as steps (core/exec/steps.h).
  bool steps = false;
  // True under the policy Hot: the CPU computes for a delegate that fails
  // (docs/design/delegate-policy.md).
  bool hot = false;
  // Under Hot: for how many inferences a node that failed backs off; -1: for good.
  int delegate_retry = 0;
  // Whether delegates' results are compared with the CPU's.
  Verification verification;
  // Makes the layer that applies delegates, for each subgraph. Required.
  MakeDelegateParts make_delegate_parts = nullptr;
  // Makes the observer of the interpreter; empty: there is none. Called before it is built.
  std::function<std::unique_ptr<Observer>(InterpreterState*)> make_observer;
};

class InterpreterState {
 public:
  InterpreterState(const InterpreterState&) = delete;
  InterpreterState& operator=(const InterpreterState&) = delete;

  const Model& model() const { return *model_; }
  ErrorReporter* reporter() { return &reporter_; }
  int subgraph_count() const { return static_cast<int>(subgraphs_.size()); }
  Subgraph* subgraph(int index) const { return subgraphs_[static_cast<size_t>(index)]; }
  Subgraph& primary() const { return *subgraphs_[0]; }

  // The client's calls on any subgraph, which Cancel can end. Invoke is one inference, whatever
  // subgraphs it calls and however often.
  virtual TfLiteStatus AllocateTensors(Subgraph* subgraph) = 0;
  virtual TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) = 0;
  // The number of the newest inference that was not refused; 0 before the first.
  int64_t inference() const { return inference_; }

  // Under Hot: how often a delegate could not be applied and was left out.
  int64_t delegates_left_out() const { return delegates_left_out_; }
  void NoteDelegateLeftOut() { ++delegates_left_out_; }

  // Subgraphs that a delegate has absorbed with their caller: no delegate is offered them. The
  // marks are kept in the order in which they were made, so that the newest can be taken back.
  void MarkSkippable(int subgraph);
  bool skippable(int subgraph) const;
  size_t skippable_count() const { return skippable_.size(); }
  // Takes back all marks but the first `count`.
  void KeepSkippable(size_t count);

  // The edges of a subgraph in the model's metadata; null when there are none, or malformed ones.
  const std::vector<PartitionGraph::ControlEdge>* ControlEdges(int subgraph) const;

  // May be called from another thread. Error when cancellation was not enabled.
  TfLiteStatus Cancel();
  // True once per request, while the client waits for a call that can be cancelled.
  bool TakeCancellation() {
    return cancellation_ && cancellable_call_ != nullptr &&
           cancel_requested_.exchange(false, std::memory_order_acq_rel);
  }
  // kTfLiteCancelled, after a report, once per request.
  TfLiteStatus CheckCancellation();

  // The number of the walk that prepares nodes now; see AllocationPass.
  int64_t allocation_pass() const { return allocation_pass_; }

  // Under Hot: a subgraph is about to be called, so that inferences under way that may start over
  // have to keep its variables.
  void SaveVariablesOf(Subgraph* subgraph);
  // A run that may start over begins, and ends; they nest.
  void BeginRestartable(NodeFallback* fallback) { restartable_.push_back(fallback); }
  void EndRestartable() { restartable_.pop_back(); }

  // One subgraph's work inside another's. False, after a report, when the calls go deeper than the
  // limits allow; every true is paired with LeaveSubgraph.
  bool EnterSubgraph();
  void LeaveSubgraph() { --call_depth_; }

  // Model metadata by name, null when there is none. Null also while the model's kernels are
  // initialised: upstream attaches metadata afterwards, and no kernel should rely on more.
  const std::span<const uint8_t>* FindMetadata(const char* name) const;

  // While nodes are prepared that of all threads; while they run one without workers, where these
  // cost more than they save.
  ThreadPool& pool();
  // For the kernels of all subgraphs.
  ScratchArena& scratch() { return scratch_; }
  Resources& resources() { return resources_; }
  // Shared by the interpreters of the model.
  PackedConstants& packed_constants() const { return *packed_constants_; }
  // What nodes pack for themselves.
  PackedConstants& node_constants() { return node_constants_; }
  Arithmetic arithmetic() const { return arithmetic_; }
  // That of the config; full where results are held against others: in reference arithmetic and
  // where every call is observed.
  Precision precision() const {
    const bool exact = arithmetic_ == Arithmetic::kReference || observer_ != nullptr;
    return exact ? Precision::kFloat32 : precision_;
  }
  bool hot() const { return hot_; }
  const Verification& verification() const { return verification_; }
  // The nodes that delegates replaced stay ready to run.
  bool keeps_replaced_nodes() const { return hot_ || verification_.enabled(); }
  // Whether nodes may run as steps: not in reference arithmetic, nor where every call is observed.
  bool steps() const {
    return steps_ && arithmetic_ == Arithmetic::kDefault && observer_ == nullptr;
  }
  int delegate_retry() const { return delegate_retry_; }
  const Limits& limits() const { return limits_; }
  TfLiteExternalContext* external_context(TfLiteExternalContextType type) const;
  void set_external_context(TfLiteExternalContextType type, TfLiteExternalContext* context);

  // What the builtin kernel that runs now says about its failure.
  FailureNote& failure_note() { return failure_note_; }

  // What the config has made, null where it made nothing.
  Observer* observer() const { return observer_.get(); }
  // packed_constants(), if `data` is part of the model's file or lies in them; else null.
  virtual PackedConstants* PackedConstantsOf(const void* data);

  // For calls of foreign code; null while there is no observer.
  virtual CallObserver* call_observer() = 0;
  // For what the pool's threads do; null while there is no observer.
  virtual TileObserver* tile_observer() = 0;
  // Somebody follows the nodes one by one: none may run in a step now.
  virtual bool wants_each_node() const = 0;

 protected:
  InterpreterState(std::shared_ptr<const Model> model, const InterpreterConfig& config);
  ~InterpreterState();

  // A request made before a call is forgotten.
  void ArmCancellation() { cancel_requested_.store(false, std::memory_order_relaxed); }
  void CountInference() { ++inference_; }
  void AddSubgraph(Subgraph* subgraph) { subgraphs_.push_back(subgraph); }
  // Nothing for one that was not added.
  void ForgetSubgraph(int index) {
    if (index < subgraph_count()) subgraphs_[static_cast<size_t>(index)] = nullptr;
  }
  // The model's kernels are initialised: its metadata can be read, control edges count.
  void AttachMetadata();
  void SetPoolThreads(int num_threads) { num_threads_ = num_threads; }

  // RAII guard: an inference, whose time says whether the pool's workers are worth having.
  class TimedInference {
   public:
    explicit TimedInference(InterpreterState* interpreter);
    ~TimedInference();
    TimedInference(const TimedInference&) = delete;
    TimedInference& operator=(const TimedInference&) = delete;

   private:
    InterpreterState* interpreter_;  // null: it is not timed
    HelpTrial::Time began_{0};
  };

 private:
  friend class CancelScope;
  friend class AllocationPass;

  std::shared_ptr<const Model> model_;
  ErrorReporter reporter_;
  const bool cancellation_;
  const Arithmetic arithmetic_;
  const Precision precision_;
  const bool steps_;
  const bool hot_;
  const int delegate_retry_;
  const Verification verification_;
  const Limits limits_;
  int num_threads_ = 1;
  std::shared_ptr<ThreadPool> pool_;
  // Used in inferences that run without workers; made with the pool.
  std::unique_ptr<ThreadPool> caller_alone_;
  HelpTrial help_trial_;
  bool timed_ = false, runs_alone_ = false;  // the inference under way
  ScratchArena scratch_;
  Resources resources_;
  const std::shared_ptr<PackedConstants> packed_constants_;
  PackedConstants node_constants_;
  std::atomic<bool> cancel_requested_{false};
  const char* cancellable_call_ = nullptr;  // its name; null while nothing can be cancelled
  int call_depth_ = 0;
  int64_t inference_ = 0;
  int64_t allocation_pass_ = 0;
  int allocation_depth_ = 0;
  std::vector<NodeFallback*> restartable_;  // running now; the innermost last
  int64_t delegates_left_out_ = 0;
  TfLiteExternalContext* external_contexts_[kTfLiteMaxExternalContexts] = {};
  FailureNote failure_note_;
  std::vector<int> skippable_;          // in the order of their marks
  std::vector<bool> marked_skippable_;  // the same by subgraph; empty as long as none was
  bool metadata_attached_ = false;
  std::vector<std::vector<PartitionGraph::ControlEdge>> control_edges_;
  std::unique_ptr<Observer> observer_;
  std::vector<Subgraph*> subgraphs_;
};

// RAII guard: counts one nested call of a subgraph; not allowed() past Limits::max_call_depth.
class CallDepth {
 public:
  explicit CallDepth(InterpreterState* interpreter)
      : interpreter_(interpreter), allowed_(interpreter->EnterSubgraph()) {}
  ~CallDepth() {
    if (allowed_) interpreter_->LeaveSubgraph();
  }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;

  bool allowed() const { return allowed_; }

 private:
  InterpreterState* const interpreter_;
  const bool allowed_;
};

// RAII guard: a call that Cancel can end. With null for its name, requests wait until it is gone.
class CancelScope {
 public:
  CancelScope(InterpreterState* interpreter, const char* call)
      : interpreter_(interpreter), outer_(interpreter->cancellable_call_) {
    interpreter->cancellable_call_ = call;
  }
  ~CancelScope() { interpreter_->cancellable_call_ = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  InterpreterState* const interpreter_;
  const char* const outer_;
};

// RAII guard: a walk that prepares nodes, with all walks over called subgraphs that it contains.
// Together they are one pass, in which no shape is inferred twice.
class AllocationPass {
 public:
  explicit AllocationPass(InterpreterState* interpreter) : interpreter_(interpreter) {
    if (interpreter->allocation_depth_++ == 0) ++interpreter->allocation_pass_;
  }
  ~AllocationPass() { --interpreter_->allocation_depth_; }
  AllocationPass(const AllocationPass&) = delete;
  AllocationPass& operator=(const AllocationPass&) = delete;

 private:
  InterpreterState* const interpreter_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_
