// SPDX-License-Identifier: Apache-2.0
//
// Begin and end events of operators, with their durations.
#ifndef DEPUTY_CORE_EXEC_OP_LISTENER_H_
#define DEPUTY_CORE_EXEC_OP_LISTENER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/delegate_layer.h"
#include "core/exec/observer.h"

namespace deputy {

// An executed operator. Pointers are valid during the call.
struct OpEvent {
  int subgraph = 0;
  int node = 0;
  const char* op_name = "";
  int64_t begin_ns = 0, end_ns = 0;  // times of the steady clock
  TfLiteStatus status = kTfLiteOk;
  // Events of the partition's operators; null if the delegate reported none.
  const PartitionEvents* parts = nullptr;
};

// Called on the invoking thread. Operators nest: those in the body of a control flow operator begin
// and end within it. The functions must not throw or use the interpreter, except that they may
// remove and add listeners.
class OpListener {
 public:
  virtual void BeginOp(int subgraph, int node, const char* op_name) = 0;
  virtual void EndOp(const OpEvent& event) = 0;
  // Returns a combination of ObserverNeeds (Observer::needs). TilesDone precedes the EndOp of the
  // job's operator.
  virtual uint32_t needs() const { return kNeedsNothing; }
  virtual void TilesDone(int subgraph, int node, std::span<const TileWork> work);

 protected:
  ~OpListener() = default;
};

// Measures operators, reports them and the times of tiles to listeners, and adds the times to the
// costs of the nodes.
class OpTimer final : public Observer {
 public:
  // Adds a listener, which must outlive this object or be removed before. Strong exception
  // guarantee.
  void Add(OpListener* listener);
  void Remove(OpListener* listener) noexcept;
  bool has_listeners() const;
  // Returns all listeners; null entries are removed ones.
  const std::vector<OpListener*>& listeners() const { return listeners_; }

  uint32_t needs() const override;
  void Begin(const ForeignCall& call) override;
  void End(const ForeignCall& call, const CallResult& result) override;
  void TilesDone(std::span<const TileWork> work) override;

 private:
  template <typename Function>
  void ForEach(const Function& function) const;

  std::vector<OpListener*> listeners_;    // null: the listener was removed
  const ForeignCall* running_ = nullptr;  // innermost call whose time is being measured
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_OP_LISTENER_H_
