// SPDX-License-Identifier: Apache-2.0
//
// A model at work: its subgraphs and what they share (threads, reporter, cancellation, external
// contexts, signatures). One thread at a time may use it, except for Cancel.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/failure_note.h"
#include "core/base/memory.h"
#include "core/base/partition.h"
#include "core/base/thread_pool.h"
#include "core/exec/call_observers.h"
#include "core/exec/signature_runner.h"
#include "core/exec/subgraph.h"
#include "core/kernel_api/op_resolver.h"
#include "core/model/model.h"

namespace deputy {

class Interpreter;

struct InterpreterConfig {
  ErrorReporter reporter;
  int num_threads = -1;              // -1: not set, works like 1
  std::shared_ptr<ThreadPool> pool;  // shared between interpreters; null: one of our own
  bool cancellation = false;
  Arithmetic arithmetic = Arithmetic::kDefault;
  Limits limits;
  // What happens when a delegate fails (architecture.md, delegate policy).
  bool hot = false;
  // Under Hot: for how many inferences a node that failed rests; -1: for good.
  int delegate_retry = 0;
  // Makes the layer that applies delegates, for each subgraph. Required.
  MakeDelegateParts make_delegate_parts = nullptr;
  // Makes what watches the interpreter at work; empty: nothing does. Called before it is built.
  std::function<std::unique_ptr<Observer>(Interpreter*)> make_observer;
};

class Interpreter {
 public:
  // Null after one report: limits, schema version, unknown builtin, init failure, memory. Kernels'
  // init runs here. The model is shared; the resolver is used only during the call.
  static std::unique_ptr<Interpreter> Create(std::shared_ptr<const Model> model,
                                             const InterpreterConfig& config, OpResolver* resolver);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  const Model& model() const { return *model_; }
  ErrorReporter* reporter() { return &reporter_; }
  int subgraph_count() const { return static_cast<int>(subgraphs_.size()); }
  Subgraph* subgraph(int index) { return subgraphs_[index].get(); }
  Subgraph& primary() { return *subgraphs_[0]; }
  // The subgraph that a tensor is in, null when it is none of this interpreter's; any pointer may
  // be asked about.
  Subgraph* FindOwner(const TfLiteTensor* tensor) const;

  // Subgraph 0, as the C API's interpreter calls.
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke(bool allow_stale_outputs);
  // The client's calls on any subgraph, which Cancel can end. Invoke is one inference, whatever
  // subgraphs it calls and however often.
  TfLiteStatus AllocateTensors(Subgraph* subgraph);
  TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs);
  // The number of the newest inference that was not refused; 0 before the first.
  int64_t inference() const { return inference_; }
  TfLiteStatus ResetVariableTensors();  // of all subgraphs

  // Applies a delegate to every subgraph (abi.md 5.2). After kTfLiteDelegateError no delegate is
  // left anywhere; under Hot any failure leaves everything as it was.
  TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
  // `why` is what reports say of their nodes.
  TfLiteStatus RemoveAllDelegates(const char* why);
  // Under Hot: how often a delegate could not be applied and was left out.
  int64_t delegates_left_out() const { return delegates_left_out_; }
  void NoteDelegateLeftOut() { ++delegates_left_out_; }
  bool HasDelegates() const;
  // After a failed Invoke of subgraph 0: removes every delegate and runs on the CPU from the same
  // inputs. Success is kTfLiteDelegateError, since the result is right but not what was asked for.
  TfLiteStatus FallBackToCpu();

  // Subgraphs that a delegate has absorbed with their caller: no delegate is asked about them. The
  // marks are kept in the order in which they were made, so that the newest can be taken back.
  void MarkSkippable(int subgraph);
  bool skippable(int subgraph) const;
  size_t skippable_count() const { return skippable_.size(); }
  // Takes back all marks but the first `count`.
  void KeepSkippable(size_t count);

  // Puts the subgraph into delegate mode for another one's delegate; pairs with Release.
  TfLiteStatus AcquireSubgraphContext(int index, TfLiteContext** out_context);
  TfLiteStatus ReleaseSubgraphContext(int index);

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

  // Null for an unknown key. A null key means the signature over subgraph 0, or a placeholder
  // with tensor names when the model has no signatures. Owned by the interpreter, one per key.
  SignatureRunner* GetSignatureRunner(const char* key);

  // Model metadata by name, null when there is none. Null also while the model's kernels are
  // initialised: upstream attaches metadata afterwards, and no kernel should rely on more.
  const std::span<const uint8_t>* FindMetadata(const char* name) const;

  ThreadPool& pool();
  Arithmetic arithmetic() const { return arithmetic_; }
  bool hot() const { return hot_; }
  int delegate_retry() const { return delegate_retry_; }
  const Limits& limits() const { return limits_; }
  TfLiteExternalContext* external_context(TfLiteExternalContextType type) const;
  void set_external_context(TfLiteExternalContextType type, TfLiteExternalContext* context);

  // Null ends it. The listener must outlive the interpreter or its own end.
  void SetOpListener(OpListener* listener) { call_observers_.timer()->SetListener(listener); }

  // What the builtin kernel that runs now says about its failure.
  FailureNote& failure_note() { return failure_note_; }

  // What the config has made, null where it made nothing.
  Observer* observer() const { return observer_.get(); }
  // For calls of foreign code; null while nobody observes them.
  CallObserver* call_observer() { return call_observers_.active(); }

 private:
  Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config);
  void SetNumThreads(int num_threads);
  TfLiteStatus ApplyEverywhere(TfLiteDelegate* delegate);
  const SignatureDesc* FindSignature(const char* key);
  // A request made before a call is forgotten.
  void ArmCancellation() { cancel_requested_.store(false, std::memory_order_relaxed); }

  friend class CancelScope;
  friend class AllocationPass;

  std::shared_ptr<const Model> model_;
  ErrorReporter reporter_;
  const bool cancellation_;
  const Arithmetic arithmetic_;
  const bool hot_;
  const int delegate_retry_;
  const Limits limits_;
  int num_threads_ = 1;
  std::shared_ptr<ThreadPool> pool_;
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
  CallObservers call_observers_;
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  std::vector<const SignatureDesc*> signatures_by_key_;  // sorted; empty until one is looked for
  // By their signature, null for the placeholder.
  std::map<const SignatureDesc*, std::unique_ptr<SignatureRunner>> signature_runners_;
};

// A subgraph at work, for as long as this lives.
class CallDepth {
 public:
  explicit CallDepth(Interpreter* interpreter)
      : interpreter_(interpreter), allowed_(interpreter->EnterSubgraph()) {}
  ~CallDepth() {
    if (allowed_) interpreter_->LeaveSubgraph();
  }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;

  bool allowed() const { return allowed_; }

 private:
  Interpreter* const interpreter_;
  const bool allowed_;
};

// A call that Cancel can end, for as long as this lives. With null for its name, requests wait
// until this is gone.
class CancelScope {
 public:
  CancelScope(Interpreter* interpreter, const char* call)
      : interpreter_(interpreter), outer_(interpreter->cancellable_call_) {
    interpreter->cancellable_call_ = call;
  }
  ~CancelScope() { interpreter_->cancellable_call_ = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  Interpreter* const interpreter_;
  const char* const outer_;
};

// A walk that prepares nodes, for as long as this lives, with all walks over called subgraphs that
// it contains: together they are one pass, in which no shape is inferred twice.
class AllocationPass {
 public:
  explicit AllocationPass(Interpreter* interpreter) : interpreter_(interpreter) {
    if (interpreter->allocation_depth_++ == 0) ++interpreter->allocation_pass_;
  }
  ~AllocationPass() { --interpreter_->allocation_depth_; }
  AllocationPass(const AllocationPass&) = delete;
  AllocationPass& operator=(const AllocationPass&) = delete;

 private:
  Interpreter* const interpreter_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_H_
