// SPDX-License-Identifier: Apache-2.0
//
// A model that runs: its subgraphs, delegates over all of them, and signatures. One thread at a
// time may use it, except for Cancel.
#ifndef DEPUTY_CORE_EXEC_INTERPRETER_H_
#define DEPUTY_CORE_EXEC_INTERPRETER_H_

#include <map>
#include <memory>
#include <vector>

#include "core/exec/call_observers.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/signature_runner.h"
#include "core/exec/subgraph.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

class Interpreter final : public InterpreterState {
 public:
  // Null after one report: limits, schema version, unknown builtin, init failure, memory. Kernels'
  // init runs here. The model is shared; the resolver is used only during the call.
  static std::unique_ptr<Interpreter> Create(std::shared_ptr<const Model> model,
                                             const InterpreterConfig& config, OpResolver* resolver);
  ~Interpreter();

  // The subgraph that a tensor is in, null when it is none of this interpreter's; any pointer may
  // be asked about.
  Subgraph* FindOwner(const TfLiteTensor* tensor) const;

  // Subgraph 0, as the C API's interpreter calls.
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke(bool allow_stale_outputs);
  TfLiteStatus AllocateTensors(Subgraph* subgraph) override;
  TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) override;
  TfLiteStatus ResetVariableTensors();  // of all subgraphs

  // Applies a delegate to every subgraph (abi.md 5.2). After kTfLiteDelegateError no delegate is
  // left anywhere; under Hot any failure leaves everything as it was.
  TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
  // `why` is what reports say of their nodes.
  TfLiteStatus RemoveAllDelegates(const char* why);
  bool HasDelegates() const;
  // After a failed Invoke of subgraph 0: removes every delegate and runs on the CPU from the same
  // inputs. Success is kTfLiteDelegateError, since the result is right but not what was requested.
  TfLiteStatus FallBackToCpu();

  // Null for an unknown key. A null key means the signature over subgraph 0, or a placeholder
  // with tensor names when the model has no signatures. Owned by the interpreter, one per key.
  SignatureRunner* GetSignatureRunner(const char* key);

  // Null ends it. The listener must outlive the interpreter or its own end.
  void SetOpListener(OpListener* listener) { call_observers_.timer()->SetListener(listener); }
  CallObserver* call_observer() override { return call_observers_.active(); }
  TileObserver* tile_observer() override { return call_observers_.tile_observer(); }
  bool wants_each_node() const override { return call_observers_.wants_each_node(); }

 private:
  Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config);
  TfLiteStatus Build(const InterpreterConfig& config, OpResolver* resolver);
  void SetNumThreads(int num_threads);
  TfLiteStatus ApplyEverywhere(TfLiteDelegate* delegate);
  const SignatureDesc* FindSignature(const char* key);

  CallObservers call_observers_;
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  std::vector<const SignatureDesc*> signatures_by_key_;  // sorted; empty until one is looked for
  // By their signature, null for the placeholder.
  std::map<const SignatureDesc*, std::unique_ptr<SignatureRunner>> signature_runners_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INTERPRETER_H_
