// SPDX-License-Identifier: Apache-2.0
//
// Forms fusion groups (core/kernel_api/fusion.h): a pure pass over the plan, before memory is
// planned. Delegates, tools and clients still see the individual nodes in the original order.
#ifndef DEPUTY_CORE_FUSION_FUSION_GROUPS_H_
#define DEPUTY_CORE_FUSION_FUSION_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "core/kernel_api/fusion_types.h"

namespace deputy {

// A node of the plan; tensor indices, negative if absent.
struct GroupNode {
  std::span<const int> inputs, outputs;
  const FusionOffer* offer = nullptr;  // null: the node cannot be fused

  // Returns the node's role if it is a `Role`, else null.
  template <typename Role>
  const Role* role() const {
    return offer == nullptr ? nullptr : std::get_if<Role>(&offer->role);
  }
};

struct PlanTensor {
  int64_t elements = 0;
  int channels = 0;  // size of the last dimension
  // Number of uses of the tensor: inputs of nodes, outputs of the graph, and the client whose
  // memory it uses.
  int use_count = 0;
  // True if a group must not write the tensor, nor read it except as an input of its head: it is a
  // variable, has several producers, or an unknown shape. A head that reads one is not delayed.
  bool fixed = false;
  // True if a node computes the tensor once for all inferences.
  bool computed_once = false;
  std::span<const int> dims = {};
};

// Upper bound on the distance, in plan positions, over which a node of a group is searched from
// another one; keeps the search linear.
inline constexpr int kMaxGroupSpan = 64;

struct FusionGroup {
  int head = -1;
  // Number of plan positions by which the group runs after its head, so that a later operand of ADD
  // is already computed. The position head + delay is that of one of its nodes.
  int delay = 0;
  std::vector<int> nodes;  // ascending plan positions, including the head
  GroupRun run;

  // Returns the run of a group that is a layer with its epilogue.
  LayerRun& layer() { return std::get<LayerRun>(run); }
  const LayerRun& layer() const { return std::get<LayerRun>(run); }

  int position() const { return head + delay; }
};

// Returns the last node that writes each of `tensors` tensors, or -1.
std::vector<int> ProducersOf(std::span<const GroupNode> nodes, size_t tensors);

// Returns the fusion groups of a plan, sorted by head; nodes are plan positions.
//
// A node joins a group if it is the only consumer of the group's output, and if its other inputs
// are computed before the group runs (for constants computed by nodes: in an earlier inference). A
// group that would otherwise consist of its head may be delayed for the second operand of an ADD. A
// PAD joins the group of its only consumer if that is the head and the PAD adds no channels, or if
// it is an ADD and the PAD adds only channels. A MUL by a factor per channel joins the group of a
// head that is its only consumer.
std::vector<FusionGroup> FindFusionGroups(std::span<const GroupNode> nodes,
                                          std::span<const PlanTensor> tensors);

// A tensor that a group reads while it writes its output. `in_place`: element n is read before
// element n of the output is written, and not again.
struct GroupRead {
  int tensor;
  bool in_place;
};
std::vector<GroupRead> ReadsOf(const LayerRun& run, const GroupNode& head,
                               std::span<const PlanTensor> tensors);

// Address and size of a tensor.
struct MemoryRange {
  const void* data = nullptr;
  size_t bytes = 0;
};

// Returns true if the output does not overlap tensors that the group still reads when it writes.
// Clients may place tensors anywhere. memory(tensor) returns a MemoryRange.
bool IsAliasFree(std::span<const GroupRead> reads, int output,
                 const std::function<MemoryRange(int tensor)>& memory);

// A group in a plan; its nodes are plan positions.
struct PlannedGroup : FusionGroup {
  std::vector<GroupRead> reads;
  // Intermediate tensors that a group with layers (core/fusion/strips.h) does not write.
  std::vector<int> unwritten;
  // Intermediate tensors of row-wise groups. Their lifetimes are the same as without fusion.
  std::vector<int> intermediates;
  // True if the group reads a constant that a later node computes during the first inference; until
  // then the nodes run unfused.
  bool reads_late_constant = false;
  // Cached result of the aliasing check; valid while the tensors' addresses are unchanged.
  std::vector<const void*> addresses;  // addresses of output and inputs; empty: not checked
  bool alias_free = false;
};

// The fusion groups of a plan.
class PlanGroups {
 public:
  // Removes the groups that have a node at `position` or later.
  void ForgetFrom(int position);
  void Add(PlannedGroup group, size_t plan_size);

  // Returns the group that runs at the position, or null.
  PlannedGroup* RunningAt(int position);
  const PlannedGroup* RunningAt(int position) const {
    const PlannedGroup* const group = At(position);
    return group != nullptr && group->position() == position ? group : nullptr;
  }
  // Returns the group of the node at the position, or null.
  const PlannedGroup* At(int position) const;

  // State of a node while the plan is executed. kWaiting: before the group's position, deferred
  // until the group runs. kDone: after it, already computed by the group.
  enum class State : uint8_t { kOpen, kWaiting, kDone };
  State StateOf(int position) const {
    return static_cast<size_t>(position) < entries_.size()
               ? entries_[static_cast<size_t>(position)].state
               : State::kOpen;
  }
  void SetState(int position, State state) {
    entries_[static_cast<size_t>(position)].state = state;
  }

 private:
  struct Entry {
    int group = -1;
    State state = State::kOpen;
  };
  void MarkEntries(size_t number);

  // Group and state of each plan position; empty until the first group is added.
  std::vector<Entry> entries_;
  std::vector<PlannedGroup> groups_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_FUSION_GROUPS_H_
