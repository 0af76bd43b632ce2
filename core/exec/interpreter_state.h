// SPDX-License-Identifier: Apache-2.0
//
// State that the subgraphs of one interpreter share. Must be used by one thread at a time, except
// for Cancel.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/failure_note.h"
#include "core/base/memory.h"
#include "core/base/partition.h"
#include "core/base/resources.h"
#include "core/base/thread_pool.h"
#include "core/base/tile_observer.h"
#include "core/exec/cancellation.h"
#include "core/exec/delegate_layer.h"
#include "core/exec/interpreter_threads.h"
#include "core/exec/observer_list.h"
#include "core/exec/run_gate.h"
#include "core/exec/skippable_subgraphs.h"
#include "core/kernel_api/runtime.h"
#include "core/model/model.h"
#include "core/support/verification.h"

namespace deputy {

class InterpreterState;

struct InterpreterConfig {
  ErrorReporter reporter;
  int num_threads = -1;  // number of threads; -1: not set, same as 1
  // Pool shared between interpreters; null: the interpreter creates its own.
  std::shared_ptr<ThreadPool> pool;
  bool cancellation = false;
  Arithmetic arithmetic = Arithmetic::kDefault;
  Precision precision = Precision::kFloat32;
  // Precision of single nodes, by subgraph and node; that of all others is `precision`.
  std::map<std::pair<int, int>, Precision> node_precisions;
  Limits limits;
  // Table of the interpreter's kernels; must outlive the interpreter. Required.
  const CpuKernels* cpu = nullptr;
  // Table for nodes in float16; must outlive the interpreter. Null: `cpu`.
  const CpuKernels* cpu_float16 = nullptr;
  // Upper bound on InterpreterState::MemoryUse; the maximum value: none.
  size_t memory_budget = std::numeric_limits<size_t>::max();
  // Path of the file with the model's packed constants; "": none (docs/weight-cache.md).
  std::string weight_file;
  // Name of the table `cpu`, on which the packed constants depend.
  std::string weight_code;
  // True to form fusion groups (core/fusion/fusion_groups.h).
  bool fusion = false;
  // Number of input shapes for which each subgraph stays prepared (core/exec/plan_cache.h).
  int max_plans = 1;
  // True under the policy Hot: the CPU computes the nodes of a delegate that fails
  // (docs/design/delegate-policy.md).
  bool hot = false;
  // Under Hot: number of inferences after the current one for which a failed node backs off; -1:
  // all.
  int delegate_retry = 0;
  // Settings for the comparison of delegates' results with the CPU's.
  Verification verification;
  // Factory of the layer that applies delegates, called for each subgraph. Required.
  MakeDelegateParts make_delegate_parts = nullptr;
  // The kernel of TRANSPOSE, for delegates in NCHW; zeroed: there is none.
  TfLiteRegistration transpose{};
  // Factories of the interpreter's observers, called before the interpreter is built.
  using MakeObserver = std::function<std::unique_ptr<Observer>(InterpreterState*)>;
  std::vector<MakeObserver> make_observers;
};

class InterpreterState {
 public:
  InterpreterState(const InterpreterState&) = delete;
  InterpreterState& operator=(const InterpreterState&) = delete;

  const Model& model() const { return *model_; }
  const std::shared_ptr<const Model>& shared_model() const { return model_; }
  ErrorReporter* reporter() { return &reporter_; }
  int subgraph_count() const { return static_cast<int>(subgraphs_.size()); }
  Subgraph* subgraph(int index) const { return subgraphs_[static_cast<size_t>(index)].subgraph; }
  Subgraph& primary() const { return *subgraphs_[0].subgraph; }
  // Returns the interface by which nodes call a subgraph; null if the index is out of range.
  CallableSubgraph* callee(int index) const {
    return index >= 0 && index < subgraph_count() ? subgraphs_[static_cast<size_t>(index)].callee
                                                  : nullptr;
  }

  // Calls of the client on any subgraph; Cancel can end them. Invoke counts as one inference,
  // regardless of the subgraphs that it calls.
  virtual TfLiteStatus AllocateTensors(Subgraph* subgraph) = 0;
  virtual TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) = 0;
  // Index of the newest inference that was started; 0 before the first.
  int64_t inference() const { return inference_; }

  // True if the applied delegates of a subgraph have changed since RunHooks collected them.
  bool delegates_changed() const { return delegates_changed_; }
  void set_delegates_changed(bool changed) { delegates_changed_ = changed; }

  // Sizes of memory that was released because delegates have copies of the constants; 0 after a
  // change of the applied delegates.
  struct ReleasedConstants {
    size_t packed_bytes = 0, file_bytes = 0;
  };
  const ReleasedConstants& released_constants() const { return released_constants_; }
  // Must be called after the applied delegates of a subgraph have changed.
  void NoteDelegatesChanged() {
    delegates_changed_ = has_new_delegates_ = true;
    released_constants_ = {};
  }

  // Under Hot: number of times a delegate could not be applied and was skipped.
  int64_t skipped_delegates() const { return skipped_delegates_; }
  void NoteDelegateSkipped() { ++skipped_delegates_; }

  SkippableSubgraphs& skippable() { return skippable_; }

  // Returns the control edges of a subgraph from the model's metadata; null if the model has no
  // such metadata, if it is malformed, or for a subgraph that was added in code.
  const std::vector<PartitionGraph::ControlEdge>* ControlEdges(int subgraph) const;

  // Requests that the current call ends. Thread-safe. Returns an error if cancellation was not
  // enabled.
  TfLiteStatus Cancel();
  // Returns true if the current call of the client must end; see Cancellation::Take.
  bool TakeCancellation() { return cancellation_.Take(); }
  // Returns true if the call must end, and keeps the request; see Cancellation::IsRequested.
  bool IsCancelled() { return cancellation_.IsRequested(); }
  // Returns kTfLiteCancelled after a report if TakeCancellation returns true; else Ok.
  TfLiteStatus CheckCancellation();
  // Permits Cancel.
  void EnableCancellation() { cancellation_.Enable(); }
  // Sets a function that is polled during Invoke, for example before each node or fusion group;
  // null removes it. If it returns true, Invoke returns kTfLiteError.
  void SetCancellationFunction(void* data, Cancellation::Function function) {
    cancellation_.SetFunction(data, function);
  }
  // Asynchronous runs of the interpreter in flight.
  const std::shared_ptr<RunGate>& run_gate() const { return run_gate_; }
  // Begins a call of the client, which must not be made by a kernel or a delegate: notifies the
  // observer. Fails while asynchronous runs are in flight.
  TfLiteStatus EnterCall(const char* call);
  // True while a subgraph is being prepared or run, or the init or free of a kernel runs.
  bool is_running() const { return call_depth_ > 0; }

  // Index of the current allocation pass; see AllocationPass.
  int64_t allocation_pass() const { return allocation_passes_.newest; }

  // Under Hot: called before a subgraph is called, so that runs that may restart save its
  // variables.
  void SaveVariablesOf(Subgraph* subgraph);
  // Marks the begin and end of a run that may restart; they nest.
  void BeginRestartable(NodeFallback* fallback) { restartable_.push_back(fallback); }
  void EndRestartable() { restartable_.pop_back(); }

  // Marks a nested call of a subgraph. Returns false, after a report, if the nesting exceeds the
  // limit; every true needs a LeaveSubgraph.
  bool EnterSubgraph();
  void LeaveSubgraph() { --call_depth_; }

  // Returns model metadata by name, or null. Always null while the model's kernels are initialised,
  // as upstream attaches metadata afterwards: kernels that use it in init would fail there.
  const std::span<const uint8_t>* FindMetadata(const char* name) const;

  // Returns the pool that nodes use now; see InterpreterThreads::pool.
  ThreadPool& pool() { return threads_.pool(allocation_passes_.depth > 0); }
  // Scratch memory and resources for the kernels of all subgraphs.
  ScratchArena& scratch() { return scratch_; }
  Resources& resources() { return resources_; }
  // Packed constants that all interpreters of the model share.
  PackedConstants& packed_constants() const { return *packed_constants_; }
  // Begins or ends the use of packed constants. After the end, nodes must be prepared again before
  // they run.
  void UsePackedConstants();
  void ReleasePackedConstants();
  // Open and write the file of packed constants, if one is configured, and report failures. Values
  // of a compiled model are used without a file.
  void OpenWeightFile();
  void SaveWeightFile();
  // Packed constants that nodes of this interpreter do not share with other interpreters.
  PackedConstants& node_constants() { return node_constants_; }
  Arithmetic arithmetic() const { return config_.arithmetic; }
  // Returns the configured precision of a node, but float32 if results must be exact: in reference
  // arithmetic, and if an observer needs that.
  Precision NodePrecision(int subgraph, int node) const;
  bool hot() const { return config_.hot; }
  const Verification& verification() const { return config_.verification; }
  // True if the nodes that delegates replaced must stay ready to run.
  bool keeps_replaced_nodes() const { return config_.hot || config_.verification.enabled(); }
  // True if nodes may be fused: never in reference arithmetic, or if an observer needs exact
  // tensors.
  bool fuses_nodes() const {
    return config_.fusion && config_.arithmetic == Arithmetic::kDefault && !needs_exact_tensors();
  }
  int delegate_retry() const { return config_.delegate_retry; }
  int max_plans() const { return config_.max_plans; }
  const Limits& limits() const { return config_.limits; }
  // Size of the memory that the budget limits, in bytes: arenas, persistent blocks and plans for
  // other shapes of all subgraphs, scratch memory, and packed constants, shared ones included.
  virtual size_t MemoryUse() const { return 0; }
  size_t memory_budget() const { return config_.memory_budget; }
  bool exceeds_budget() const { return has_budget() && MemoryUse() > memory_budget(); }
  // Returns the limits for a new block that replaces blocks of `replaced` bytes: those of the
  // configuration, and the remaining part of the budget.
  Limits LimitsFor(size_t replaced) const;
  bool has_budget() const { return memory_budget() != std::numeric_limits<size_t>::max(); }
  const CpuKernels& cpu() const { return *config_.cpu; }
  const CpuKernels& CpuFor(Precision precision) const {
    const bool is_float16 = precision == Precision::kFloat16 && config_.cpu_float16 != nullptr;
    return is_float16 ? *config_.cpu_float16 : *config_.cpu;
  }
  const TfLiteRegistration& transpose() const { return config_.transpose; }
  TfLiteExternalContext* external_context(TfLiteExternalContextType type) const;
  void set_external_context(TfLiteExternalContextType type, TfLiteExternalContext* context);

  // Receives the reason for a kernel's failure, for the report about its node.
  FailureNote& failure_note() { return failure_note_; }

  // Observers of calls, contexts and threads. One that needs exact tensors must be added before
  // tensors are allocated.
  ObserverList& observers() { return observers_; }
  // Returns one observer that forwards to all observers; null if there are none.
  Observer* observer() { return observers_.active(); }
  CallObserver* call_observer() { return observers_.active(); }
  // Observer for the pool's tiles; null if there is none.
  TileObserver* tile_observer() { return observers_.tile_observer(); }
  // Returns true if an observer needs every node to run by itself: fusion groups then run node by
  // node.
  bool needs_each_node() const { return (observers_.needs() & kNeedsEveryNode) != 0; }
  bool needs_exact_tensors() const { return (observers_.needs() & kNeedsExactTensors) != 0; }
  // Returns packed_constants() if `data` is part of the model's file or of packed_constants(); else
  // null.
  virtual PackedConstants* PackedConstantsOf(const void* data);

 protected:
  InterpreterState(std::shared_ptr<const Model> model, const InterpreterConfig& config);
  ~InterpreterState();

  // Discards a cancellation request made before the call.
  void ArmCancellation() { cancellation_.Arm(); }
  TfLiteStatus ClientStatus(TfLiteStatus status) const {
    return cancellation_.ClientStatus(status);
  }
  const InterpreterConfig& config() const { return config_; }
  void CountInference() { ++inference_; }
  // Returns true if NoteDelegatesChanged was called since the last call.
  bool TakeNewDelegates() { return std::exchange(has_new_delegates_, false); }
  void set_released_constants(const ReleasedConstants& released) { released_constants_ = released; }
  // Adds a subgraph. `callee` is the interface by which nodes call it; null: no node calls it.
  void AddSubgraph(Subgraph* subgraph, CallableSubgraph* callee) {
    subgraphs_.push_back({subgraph, callee});
  }
  // Removes a subgraph; has no effect if it was not added.
  void ForgetSubgraph(int index) {
    if (index < subgraph_count()) subgraphs_[static_cast<size_t>(index)] = {};
  }
  // Called after the init of the model's kernels: makes metadata and control edges available.
  void AttachMetadata();
  InterpreterThreads& threads() { return threads_; }

 private:
  friend class CancelScope;
  friend class AllocationPass;

  std::shared_ptr<const Model> model_;
  ErrorReporter reporter_;
  const InterpreterConfig config_;
  InterpreterThreads threads_;
  ScratchArena scratch_;
  Resources resources_;
  const std::shared_ptr<PackedConstants> packed_constants_;
  PackedConstants node_constants_;
  bool uses_packed_constants_ = false;  // true: counted as a user of both
  Cancellation cancellation_;
  const std::shared_ptr<RunGate> run_gate_ = std::make_shared<RunGate>();
  int call_depth_ = 0;
  int64_t inference_ = 0;
  struct AllocationPasses {
    int64_t newest = 0;
    int depth = 0;  // number of nested AllocationPass objects
  };
  AllocationPasses allocation_passes_;
  std::vector<NodeFallback*> restartable_;  // fallbacks of the runs in progress, the innermost last
  int64_t skipped_delegates_ = 0;
  TfLiteExternalContext* external_contexts_[kTfLiteMaxExternalContexts] = {};
  FailureNote failure_note_;
  SkippableSubgraphs skippable_;
  bool delegates_changed_ = false, has_new_delegates_ = false;
  ReleasedConstants released_constants_;
  // Control edges by subgraph, empty for a subgraph without any; no value before metadata are
  // attached.
  std::optional<std::vector<std::vector<PartitionGraph::ControlEdge>>> control_edges_;
  ObserverList observers_;
  struct SubgraphEntry {
    Subgraph* subgraph = nullptr;
    CallableSubgraph* callee = nullptr;
  };
  std::vector<SubgraphEntry> subgraphs_;
};

// RAII guard: counts one nested call of a subgraph; allowed() is false beyond
// Limits::max_call_depth.
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

// RAII guard: a call that Cancel can end. If `call` is null, requests are deferred until the
// guard's end.
class CancelScope {
 public:
  CancelScope(InterpreterState* interpreter, const char* call)
      : cancellation_(&interpreter->cancellation_), outer_(cancellation_->call()) {
    cancellation_->set_call(call);
  }
  ~CancelScope() { cancellation_->set_call(outer_); }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  Cancellation* const cancellation_;
  const char* const outer_;
};

// RAII guard: nodes are being prepared, including those of called subgraphs. All nested guards form
// one pass, in which each shape is inferred once.
class AllocationPass {
 public:
  explicit AllocationPass(InterpreterState* interpreter) : interpreter_(interpreter) {
    if (interpreter->allocation_passes_.depth++ == 0) ++interpreter->allocation_passes_.newest;
    interpreter->UsePackedConstants();
  }
  ~AllocationPass() { --interpreter_->allocation_passes_.depth; }
  AllocationPass(const AllocationPass&) = delete;
  AllocationPass& operator=(const AllocationPass&) = delete;

 private:
  InterpreterState* const interpreter_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_STATE_H_
