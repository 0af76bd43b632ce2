// SPDX-License-Identifier: Apache-2.0
//
// Interface of plans that another thread prepares, in interpreters of their own, while an
// interpreter runs its own plan. The implementation is in core/delegation, which may apply
// delegates. All functions are called on the client's thread.
#ifndef DEPUTY_CORE_EXEC_BACKGROUND_PLANS_H_
#define DEPUTY_CORE_EXEC_BACKGROUND_PLANS_H_

namespace deputy {

class Interpreter;
class OpListener;
class Subgraph;

class BackgroundPlans {
 public:
  virtual ~BackgroundPlans() = default;

  // Called between inferences when tensors were allocated: selects the plan for the present shapes
  // or begins to prepare it. Does not throw.
  virtual void Update() noexcept = 0;
  // Called at the begin of an inference of `subgraph`, which is ready. Returns the interpreter
  // whose subgraph of the same index must run instead, with the memory of this one's inputs,
  // outputs and variables; null: the subgraph itself must run.
  virtual Interpreter* Select(const Subgraph& subgraph) = 0;
  // Returns the interpreter that Select would return without a new preparation; null: none.
  virtual Interpreter* current() const = 0;
  // Discards all plans and prepares them again: the pool of threads has changed.
  virtual void PrepareAgain() noexcept = 0;

  // Called when a listener is added to the interpreter or removed from it.
  virtual void AddOpListener(OpListener* listener) = 0;
  virtual void RemoveOpListener(OpListener* listener) noexcept = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_BACKGROUND_PLANS_H_
