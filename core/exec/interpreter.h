// SPDX-License-Identifier: Apache-2.0
//
// A model ready to run: its subgraphs, delegates over all of them, and signatures. Must be used by
// one thread at a time, except for Cancel.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_H_

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/background_plans.h"
#include "core/exec/builder.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/op_listener.h"
#include "core/exec/run_hooks.h"
#include "core/exec/shared_states.h"
#include "core/exec/signature_runner.h"
#include "core/exec/signatures.h"
#include "core/exec/subgraph.h"
#include "core/exec/subgraph_callee.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

class Interpreter final : public InterpreterState {
 public:
  // Creates an interpreter; calls the init of all kernels. Returns null after a report if a limit,
  // the model (its schema version, an unknown builtin, invalid options and so on) or an init
  // failure prevents it; throws bad_alloc if out of memory. The model is shared; the resolver is
  // used only during the call.
  static std::unique_ptr<Interpreter> Create(std::shared_ptr<const Model> model,
                                             const InterpreterConfig& config, OpResolver* resolver);
  // Likewise, with the kernels that another interpreter of the model has resolved; the resolver
  // only provides parsers of options.
  static std::unique_ptr<Interpreter> Create(std::shared_ptr<const Model> model,
                                             const InterpreterConfig& config,
                                             std::vector<ResolvedOperator> operators,
                                             OpResolver* resolver);
  // Creates an interpreter without a model, with one empty subgraph. Returns null after a report if
  // the limits permit no subgraph; throws bad_alloc if out of memory.
  static std::unique_ptr<Interpreter> CreateEmpty(const InterpreterConfig& config);
  ~Interpreter();

  // Adds empty subgraphs, which the client builds with a GraphBuilder. Fails for a negative count
  // and beyond the limits. `out_first_index` may be null.
  TfLiteStatus AddSubgraphs(int count, int* out_first_index);

  // Returns the subgraph that contains the tensor, null if it belongs to another interpreter.
  // Accepts any pointer.
  Subgraph* FindOwner(const TfLiteTensor* tensor) const;

  // Calls of the client, on subgraph 0 unless they name a subgraph.
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke(bool allow_stale_outputs);
  TfLiteStatus AllocateTensors(Subgraph* subgraph) override;
  TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) override;
  // Invoke in two steps, for runs that other threads may cancel: a request to cancel that is made
  // after Arm returns ends InvokeArmed.
  void Arm() { ArmCancellation(); }
  TfLiteStatus InvokeArmed(Subgraph* subgraph, bool allow_stale_outputs);
  // Runs one node of a delegate; can be cancelled like Invoke.
  TfLiteStatus InvokeDelegateNode(Subgraph* subgraph, int node_index);
  TfLiteStatus ResetVariableTensors();  // resets the variables of all subgraphs

  // Applies a delegate to every subgraph that is offered to delegates (abi.md 5.2). After
  // kTfLiteDelegateError no subgraph has delegates; under Hot any failure leaves everything
  // unchanged.
  TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
  // Applies a delegate only to those listed subgraphs that are offered to delegates.
  // kTfLiteApplicationError, as upstream, for an empty list and for an index out of range.
  TfLiteStatus ModifySubgraphsWithDelegate(TfLiteDelegate* delegate,
                                           std::span<const int> subgraphs);
  // Removes all delegates. `why` is the reason that reports give for their nodes.
  TfLiteStatus RemoveAllDelegates(const char* why);
  // Removes all delegates from the subgraphs that have any.
  TfLiteStatus RemoveAppliedDelegates(const char* why);
  // Replaces an applied delegate in all subgraphs. If the new one cannot be applied, the former
  // delegates are applied again and the failure is returned. Inputs and variables keep their
  // contents.
  TfLiteStatus ReplaceDelegate(TfLiteDelegate* old_delegate, TfLiteDelegate* new_delegate);
  bool HasDelegates() const;
  // Called after a failed Invoke of subgraph 0: removes every delegate and runs on the CPU with the
  // same inputs, unless that is cancelled. Returns kTfLiteDelegateError on success, because the
  // result is right but was not computed as requested.
  TfLiteStatus FallBackToCpu();

  // ---- Plans that another thread prepares ------------------------------------------------------
  // Sets the plans that replace this interpreter's own one when they are ready; null removes them.
  void SetBackgroundPlans(std::unique_ptr<BackgroundPlans> plans) {
    background_plans_ = std::move(plans);
  }
  BackgroundPlans* background_plans() const { return background_plans_.get(); }
  // Returns the interpreter whose plan is run for this one: itself, or one of the background plans.
  Interpreter* running() const;
  // Returns the kernels of the model's operators.
  const std::vector<ResolvedOperator>& operators() const { return operators_; }
  // Returns a configuration for an interpreter that another thread prepares: the same settings and
  // thread pool, without observers and with the default reporter.
  InterpreterConfig ConfigForBackground();
  // Registers this interpreter's listeners with another interpreter.
  void ShareOpListeners(Interpreter* with) const;

  // Returns the runner of the signature `key`, one per key, which the interpreter owns; null after
  // a report for an unknown key. A null key selects the signature over subgraph 0 (null after a
  // report if there are signatures, but none over it), or a placeholder with tensor names if there
  // are no signatures.
  SignatureRunner* GetSignatureRunner(const char* key);

  Signatures& signatures() { return signatures_; }
  SharedStates& shared_states() { return shared_states_; }

  // Sets the number of threads; 0 is 1, -1 is the default, and less is an error. Subgraphs that are
  // ready stay ready.
  TfLiteStatus SetNumThreads(int num_threads);
  size_t MemoryUse() const override;
  // Releases memory that the next run provides again with the same addresses: pages of the arenas,
  // except those of inputs and outputs, scratch memory, plans for other shapes, and packed
  // constants, unless the run of a node could reveal that its subgraph was prepared again.
  void ReleaseIdleMemory();
  // Frees the memory that AllocateTensors plans, except that of tensors which persist between
  // inferences, in all subgraphs.
  void ReleaseMemory();

  // Registers a listener, once even if it is added twice. It must outlive the interpreter or be
  // removed before.
  void AddOpListener(OpListener* listener);
  void RemoveOpListener(OpListener* listener) noexcept;

 private:
  Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config);
  TfLiteStatus Build(const InterpreterConfig& config, OpResolver* resolver);
  TfLiteStatus RunSubgraph(Subgraph* subgraph, bool allow_stale_outputs, bool outermost);
  TfLiteStatus RunInstead(Subgraph* subgraph, Interpreter* other);
  TfLiteStatus PrepareReleased();
  void ReleaseConstantsOfDelegates();
  void AddSubgraph(const SubgraphDesc* desc);
  TfLiteStatus ApplyTo(const std::vector<bool>& subgraphs, TfLiteDelegate* delegate);
  // The applied delegates of each subgraph.
  using AppliedLists = std::vector<std::vector<TfLiteDelegate*>>;
  TfLiteStatus ApplyLists(const AppliedLists& lists);
  TfLiteStatus ApplyOrUndo(const std::vector<bool>& subgraphs, TfLiteDelegate* delegate);
  bool IsOutermostCall() const { return !is_running(); }

  OpTimer timer_;
  bool must_prepare_ = false;    // true: packed constants were released
  bool observes_timer_ = false;  // true: timer_ is in the list of observers
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  std::deque<SubgraphCallee> callees_;  // interface of each subgraph for callers, by index
  const SubgraphDesc empty_desc_;       // description of subgraphs that were added in code
  Signatures signatures_;
  // Runners by signature; the placeholder's key is null.
  std::map<const SignatureDesc*, std::unique_ptr<SignatureRunner>> signature_runners_;
  std::vector<ResolvedOperator> operators_;  // kernels of the model's operator codes
  std::unique_ptr<BackgroundPlans> background_plans_;
  RunHooks run_hooks_{this};
  SharedStates shared_states_{this};
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_H_
