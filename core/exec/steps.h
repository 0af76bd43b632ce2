// SPDX-License-Identifier: Apache-2.0
//
// Which nodes run as one step (core/kernel_api/step.h): a pure pass over the plan, before memory is
// laid out. Steps are there for the caches alone: delegates, tools and clients see the same nodes
// in the same order.
#ifndef DEPUTY_CORE_EXEC_STEPS_H_
#define DEPUTY_CORE_EXEC_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/kernel_api/runtime.h"

namespace deputy {

// A node of the plan; indices of tensors, negative where one is absent.
struct StepNode {
  std::span<const int> inputs, outputs;
  const StepOffer* offer = nullptr;  // null: it takes part in no step
};

struct StepTensor {
  int64_t elements = 0;
  // It is nobody's to move: a variable, written by several nodes, of a shape that is not known yet.
  bool fixed = false;
  // Made by a node, but once for all inferences.
  bool lasting = false;
};

// What a step costs to look through is bounded: how many follow, and how far behind the head.
inline constexpr int kMaxFollowers = 15;
inline constexpr int kMaxStepSpan = 64;

// For each node the number of its step's head: itself where it is alone, or a head.
//
// A node joins the step of the node that makes one of its matching inputs, if all its other inputs
// are made before the step begins (in an earlier inference, where they last), or made in the step
// and matching, too. Whether others read what
// a step makes does not matter: it is all made.
std::vector<int> FindSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors);

// A step: positions of the plan, the head's first, ascending.
using StepPositions = std::vector<int>;

// The tensors that nodes of a step may read while or after node number `writer` of it writes: those
// whose memory that node's output must not take over.
std::vector<int> KeptInStep(std::span<const StepNode> step, size_t writer);

// Where a tensor lies.
struct StepMemory {
  const void* data = nullptr;
  size_t bytes = 0;
};

// Whether a step can run block by block with its tensors where they are: what one node writes is
// not what another still reads. Clients may put tensors anywhere. memory(tensor) returns a
// StepMemory.
bool StepFits(std::span<const StepNode> step, const std::function<StepMemory(int tensor)>& memory);

// What was found when a step was last looked at: it holds while its tensors are where they were.
struct StepMemo {
  std::vector<int> tensors;         // all that its nodes read or write
  std::vector<const void*> places;  // of each; empty before the first look
  bool fits = false;
};

// The steps of a plan.
class PlanSteps {
 public:
  // Forgets the steps whose heads are at `position` or behind it.
  void ForgetFrom(int position);
  void Add(StepPositions step, size_t plan_size, StepMemo memo = {});

  // The step that begins there, or null.
  const StepPositions* Beginning(int position) const;
  // Of the step that begins there.
  StepMemo* MemoOf(int position) {
    return &steps_[static_cast<size_t>(places_[static_cast<size_t>(position)].step)].memo;
  }
  // The position of the head, if a node of a step is there; else -1.
  int HeadOf(int position) const;

  // What is computed already in this walk over the plan: the followers of a head that has run, from
  // the time that it runs to the time that it runs again.
  void SetDone(const StepPositions& step, bool done);
  bool IsDone(int position) const {
    return static_cast<size_t>(position) < places_.size() &&
           places_[static_cast<size_t>(position)].done;
  }

  size_t count() const { return steps_.size(); }

 private:
  struct Step {
    StepPositions positions;
    StepMemo memo;
  };
  struct Place {
    int step = -1;
    bool done = false;
  };
  std::vector<Place> places_;  // by position; empty as long as there are no steps
  std::vector<Step> steps_;    // ascending
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_STEPS_H_
