// SPDX-License-Identifier: Apache-2.0
//
// Begin and end events of operators, with their durations.
#ifndef DEPUTY_CORE_EXEC_OP_LISTENER_H_
#define DEPUTY_CORE_EXEC_OP_LISTENER_H_

#include <cstdint>
#include <span>

#include "core/base/foreign_call.h"
#include "core/base/tile_observer.h"
#include "core/exec/delegate_layer.h"

namespace deputy {

// An executed operator. Pointers are valid during the call.
struct OpEvent {
  int subgraph = 0;
  int node = 0;
  const char* op_name = "";
  int64_t begin_ns = 0, end_ns = 0;  // steady clock
  TfLiteStatus status = kTfLiteOk;
  // The partition's operators, if the delegate reported any.
  const PartitionEvents* parts = nullptr;
};

// Called on the invoking thread. Operators nest: those in the body of a control flow operator begin
// and end within it. The functions must not throw or use the interpreter.
class OpListener {
 public:
  virtual void BeginOp(int subgraph, int node, const char* op_name) = 0;
  virtual void EndOp(const OpEvent& event) = 0;
  // Returns true if nodes must run one by one, without fusion.
  virtual bool needs_each_node() const { return false; }
  // Returns true if TilesDone shall be called for every job of the thread pool, before the EndOp of
  // its operator.
  virtual bool needs_tiles() const { return false; }
  virtual void TilesDone(int subgraph, int node, std::span<const TileWork> work);

 protected:
  ~OpListener() = default;
};

// Times operators and their tiles for a listener, and adds the times to the costs of the nodes.
class OpTimer final : public CallObserver, public TileObserver {
 public:
  ~OpTimer() = default;

  // Null removes the listener. The listener must outlive the interpreter or be removed before.
  void SetListener(OpListener* listener) { listener_ = listener; }
  bool has_listener() const { return listener_ != nullptr; }
  bool needs_each_node() const { return listener_ != nullptr && listener_->needs_each_node(); }
  bool needs_tiles() const { return listener_ != nullptr && listener_->needs_tiles(); }

  void Begin(const ForeignCall& call) override;
  void End(const ForeignCall& call, const CallResult& result) override;
  void TilesDone(std::span<const TileWork> work) override;

 private:
  OpListener* listener_ = nullptr;
  const ForeignCall* running_ = nullptr;  // innermost call that is timed
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OP_LISTENER_H_
