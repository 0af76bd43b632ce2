// SPDX-License-Identifier: Apache-2.0
//
// Which nodes run as one step (core/kernel_api/step.h): a pure pass over the plan, before memory is
// laid out. Delegates, tools and clients see the same nodes in the same order.
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
  int channels = 0;  // the last dimension
  // How many read it: inputs of nodes, outputs of the graph, a client whose memory it is in.
  int readers = 0;
  // No step reads or makes it: a variable, written by several nodes, of a shape that is not known.
  bool fixed = false;
  // Made by a node, but once for all inferences.
  bool lasting = false;
  std::span<const int> dims = {};
};

// What a step costs to look through is bounded: how far its nodes may be apart.
inline constexpr int kMaxStepSpan = 64;

struct Step {
  int head = -1;
  // It runs so many nodes behind its head, in the turn of one of its own: what an ADD adds may be
  // made after what the head reads.
  int wait = 0;
  std::vector<int> nodes;  // ascending, with the head
  StepRun run;

  int turn() const { return head + wait; }
};

// By tensor, of which there are so many: the last node that makes it, or -1.
std::vector<int> MakersOf(std::span<const StepNode> nodes, size_t tensors);

// The steps of a plan, by ascending heads; nodes by their place in it.
//
// A node follows a head, or another follower, if it alone reads what that one makes, and if all
// else that it reads is complete before the step runs (in an earlier inference, where it lasts).
// A head that would have no followers otherwise waits for the summand of an ADD.
// A PAD joins the step of its only reader: the head, or an ADD whose other summand gets channels.
std::vector<Step> FindSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors);

// What a step reads while it writes its output. `in_place`: element n is read before element n of
// the output is written, and not again.
struct StepRead {
  int tensor;
  bool in_place;
};
std::vector<StepRead> ReadsOf(const StepRun& run, const StepNode& head,
                              std::span<const StepTensor> tensors);

// Where a tensor lies.
struct StepMemory {
  const void* data = nullptr;
  size_t bytes = 0;
};

// Whether the output does not lie where the step still reads. Clients may put tensors anywhere.
// memory(tensor) returns a StepMemory.
bool StepFits(std::span<const StepRead> reads, int output,
              const std::function<StepMemory(int tensor)>& memory);

// A step in a plan, whose nodes are positions of it.
struct PlannedStep : Step {
  std::vector<StepRead> reads;
  // What its nodes make and it does not write, in steps with layers (core/exec/strips.h).
  std::vector<int> unwritten;
  // The same in steps by rows. Their memory lasts as if nodes ran one by one.
  std::vector<int> passing;
  // A constant that it reads is unpacked behind its turn, by a node that runs in the first
  // inference: then nodes run one by one.
  bool reads_ahead = false;
  // What was found when it was last looked at: it holds while its tensors are where they were.
  std::vector<const void*> places;  // of the output and of what is read; empty: not yet
  bool fits = false;
};

// The steps of a plan.
class PlanSteps {
 public:
  // Forgets the steps that have a node at `position` or behind it.
  void ForgetFrom(int position);
  void Add(PlannedStep step, size_t plan_size);

  // The step whose turn is there, or null.
  PlannedStep* WithTurn(int position);
  const PlannedStep* WithTurn(int position) const {
    const PlannedStep* const step = At(position);
    return step != nullptr && step->turn() == position ? step : nullptr;
  }
  // The step of which a node is there, or null.
  const PlannedStep* At(int position) const;

  // In a walk over the plan: nodes before its turn wait for it, those behind it are done with it.
  enum class State : uint8_t { kOpen, kWaiting, kDone };
  State StateOf(int position) const {
    return static_cast<size_t>(position) < places_.size()
               ? places_[static_cast<size_t>(position)].state
               : State::kOpen;
  }
  void SetState(int position, State state) { places_[static_cast<size_t>(position)].state = state; }

 private:
  struct Place {
    int step = -1;
    State state = State::kOpen;
  };
  void MarkPlaces(size_t number);

  std::vector<Place> places_;  // by position; empty as long as there are no steps
  std::vector<PlannedStep> steps_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_STEPS_H_
