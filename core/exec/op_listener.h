// SPDX-License-Identifier: Apache-2.0
//
// Begin and end events of operators, and what each took.
#ifndef DEPUTY_CORE_EXEC_OP_LISTENER_H_
#define DEPUTY_CORE_EXEC_OP_LISTENER_H_

#include <cstdint>

#include "core/base/foreign_call.h"

namespace deputy {

// An operator that has run. Pointers are valid during the call.
struct OpEvent {
  int subgraph = 0;
  int node = 0;
  const char* op_name = "";
  int64_t begin_ns = 0, end_ns = 0;  // steady clock
  TfLiteStatus status = kTfLiteOk;
};

// Called on the invoking thread. Operators nest: what runs in the body of a control flow operator
// begins and ends before that one does. Neither function may throw or use the interpreter.
class OpListener {
 public:
  virtual void BeginOp(int subgraph, int node, const char* op_name) = 0;
  virtual void EndOp(const OpEvent& event) = 0;
  // True: nodes shall run one by one, not in steps.
  virtual bool wants_each_node() const { return false; }

 protected:
  ~OpListener() = default;
};

// Times the operators for a listener and adds their times to the costs of their nodes.
class OpTimer final : public CallObserver {
 public:
  ~OpTimer() = default;

  // Null ends it. The listener must outlive the interpreter or its own end.
  void SetListener(OpListener* listener) { listener_ = listener; }
  bool has_listener() const { return listener_ != nullptr; }
  bool wants_each_node() const { return listener_ != nullptr && listener_->wants_each_node(); }

  void Begin(const ForeignCall& call) override;
  void End(const ForeignCall& call, const CallResult& result) override;

 private:
  OpListener* listener_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OP_LISTENER_H_
