// SPDX-License-Identifier: Apache-2.0
//
// Memory of a plan's tensors: lifetimes, sharing in the arena, and the block that persists between
// inferences.
#ifndef DEPUTY_CORE_EXEC_MEMORY_LAYOUT_H_
#define DEPUTY_CORE_EXEC_MEMORY_LAYOUT_H_

#include <span>
#include <vector>

#include "core/base/arena.h"
#include "core/exec/batch_segments.h"
#include "core/exec/provided_memory.h"
#include "core/fusion/fusion_groups.h"
#include "core/fusion/in_place.h"
#include "core/fusion/prepared_nodes.h"
#include "core/graph/graph.h"

namespace deputy {

// Memory of one tensor, for tools.
struct TensorMemory {
  int tensor = 0;
  bool persistent = false;  // true: the tensor is in the block that persists between inferences
  size_t offset = 0;
  size_t bytes = 0;
  Lifetime lifetime;
  // Index of the tensor whose memory this one uses; its own index if it has memory of its own.
  int owner = 0;
};

class MemoryLayout {
 public:
  // The nodes whose memory is planned, and what was decided about them before.
  struct Nodes {
    int first_new = 0;  // memory of nodes at positions before this one is kept
    int last_prepared = -1;
    const PlanGroups* groups = nullptr;
    const PreparedNodes* prepared = nullptr;
    bool fuses = false;  // false: ViewOffers that do not refuse sharing are ignored
    std::span<const BatchSegment> segments;  // in plan order
  };

  // Creates an empty layout. The arguments must outlive this object. Tensors with memory in
  // `provided` use it instead of the arena.
  MemoryLayout(Graph* graph, ProvidedMemory* provided) : graph_(graph), provided_(provided) {}

  // Reserves guard bytes around each tensor; see Arena::SetGuard. No memory is shared then.
  void SetGuard(size_t bytes);
  // Discards all offsets and the provided memory; keeps the blocks.
  void Reset();
  // Frees the arena and takes its memory from the tensors; keeps the block that persists.
  void Release();
  // Releases pages of the arena; see Arena::DiscardPages.
  void DiscardPages() { arena_.DiscardPages(); }
  // Exchanges the blocks of two layouts of the same graph.
  void Swap(MemoryLayout* other);
  // Discards the arena offsets of tensors first used at or after `position`, except for those with
  // unlimited lifetimes.
  void ForgetFrom(int position) { arena_.ForgetFrom(position); }

  // Assigns memory to the tensors of the prepared nodes and sets their data pointers. Returns
  // false if a limit is exceeded or memory is exhausted.
  bool Plan(const Nodes& nodes, const Limits& limits, ThreadPool* pool);
  // PointTensor sets the data pointer of one arena tensor, PointTensors those of all; null for a
  // tensor without memory.
  void PointTensor(int tensor);
  void PointTensors();

  // Returns the address of a tensor in either block, null if it has none.
  char* Address(int tensor) const;
  // placed_count() is the number of tensors with memory, placed() describes one of them. Tensors of
  // the arena come first, then those of the persistent block, each sorted by tensor index.
  size_t placed_count() const { return arena_.placed().size() + persistent_.placed().size(); }
  TensorMemory placed(size_t entry) const;
  const Arena& arena() const { return arena_; }
  const Arena& persistent() const { return persistent_; }

 private:
  std::vector<Lifetime> Lifetimes(const Nodes& nodes) const;
  std::vector<Arena::Slot> ArenaSlots(const Nodes& nodes,
                                      const std::vector<Lifetime>& lifetimes) const;
  char* ArenaAddress(int tensor) const;
  void MarkIdle(const Nodes& nodes, std::vector<Arena::Slot>* slots) const;
  void KeepOwners(const std::vector<Lifetime>& lifetimes, std::vector<Arena::Slot>* slots) const;
  // Returns the tensors whose memory the in-place pass must not share.
  std::vector<bool> UnsharedTensors() const;
  std::vector<InPlaceNode> InPlaceNodes(const Nodes& nodes) const;
  // Returns the tensors whose memory the output of the node at `position` must not reuse: it may be
  // written when the head of its group runs.
  std::vector<int> KeptForGroup(const Nodes& nodes, const PlannedGroup& group, int position) const;

  Graph* const graph_;
  ProvidedMemory* const provided_;
  Arena arena_, persistent_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_MEMORY_LAYOUT_H_
