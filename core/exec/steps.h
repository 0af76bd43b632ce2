// SPDX-License-Identifier: Apache-2.0
//
// Forms fusion groups (core/kernel_api/step.h): a pure pass over the plan, before memory is
// planned. Delegates, tools and clients still see the individual nodes in the original order.
#ifndef DEPUTY_CORE_EXEC_STEPS_H_
#define DEPUTY_CORE_EXEC_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/kernel_api/runtime.h"

namespace deputy {

// A node of the plan; tensor indices, negative if absent.
struct StepNode {
  std::span<const int> inputs, outputs;
  const StepOffer* offer = nullptr;  // null: cannot be fused
};

struct StepTensor {
  int64_t elements = 0;
  int channels = 0;  // the last dimension
  // Number of uses: inputs of nodes, outputs of the graph, and the client whose memory it uses.
  int readers = 0;
  // Must not be read or written by a group: a variable, a tensor with several producers, or one
  // whose shape is unknown.
  bool fixed = false;
  // Computed by a node, but once for all inferences.
  bool lasting = false;
  std::span<const int> dims = {};
};

// Upper bound on the distance, in plan positions, between the first and last node of a group; keeps
// the search linear.
inline constexpr int kMaxStepSpan = 64;

struct Step {
  int head = -1;
  // Number of plan positions by which the group runs after its head, so that a later operand of ADD
  // is already computed. The position head + wait is that of one of its nodes.
  int wait = 0;
  std::vector<int> nodes;  // ascending plan positions, including the head
  StepRun run;

  int turn() const { return head + wait; }
};

// Returns the last node that writes each of `tensors` tensors, or -1.
std::vector<int> MakersOf(std::span<const StepNode> nodes, size_t tensors);

// Returns the fusion groups of a plan, sorted by head; nodes are plan positions.
//
// A node joins a group if it is the only consumer of the group's output, and if its other inputs
// are computed before the group runs (for constants computed by nodes: in an earlier inference). A
// group that would otherwise consist of its head may be delayed for the second operand of an ADD. A
// PAD joins the group of its only consumer: the head, or an ADD whose other operand gets padded
// channels.
std::vector<Step> FindSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors);

// A tensor that a group reads while it writes its output. `in_place`: element n is read before
// element n of the output is written, and not again.
struct StepRead {
  int tensor;
  bool in_place;
};
std::vector<StepRead> ReadsOf(const StepRun& run, const StepNode& head,
                              std::span<const StepTensor> tensors);

// Address and size of a tensor.
struct StepMemory {
  const void* data = nullptr;
  size_t bytes = 0;
};

// Returns true if the output does not overlap tensors that the group still reads when it writes.
// Clients may place tensors anywhere. memory(tensor) returns a StepMemory.
bool StepFits(std::span<const StepRead> reads, int output,
              const std::function<StepMemory(int tensor)>& memory);

// A group in a plan; its nodes are plan positions.
struct PlannedStep : Step {
  std::vector<StepRead> reads;
  // Intermediate tensors that are not written, for groups with layers (core/exec/strips.h).
  std::vector<int> unwritten;
  // Intermediate tensors of row-wise groups. Their memory has the lifetime that it has without
  // fusion.
  std::vector<int> passing;
  // Reads a constant that is computed by a later node during the first inference; until then the
  // nodes run unfused.
  bool reads_ahead = false;
  // Cached result of the aliasing check; valid while the tensors' addresses are unchanged.
  std::vector<const void*> places;  // addresses of the output and the inputs; empty: not checked
  bool fits = false;
};

// The fusion groups of a plan.
class PlanSteps {
 public:
  // Removes the groups that have a node at `position` or later.
  void ForgetFrom(int position);
  void Add(PlannedStep step, size_t plan_size);

  // Returns the group that runs at the position, or null.
  PlannedStep* WithTurn(int position);
  const PlannedStep* WithTurn(int position) const {
    const PlannedStep* const step = At(position);
    return step != nullptr && step->turn() == position ? step : nullptr;
  }
  // Returns the group of the node at the position, or null.
  const PlannedStep* At(int position) const;

  // State of a node while the plan is executed. kWaiting: before the group's position, deferred
  // until the group runs. kDone: after it, already computed by the group.
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

  std::vector<Place> places_;  // by position; empty if there are no groups
  std::vector<PlannedStep> steps_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_STEPS_H_
