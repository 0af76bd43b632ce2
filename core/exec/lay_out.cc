// SPDX-License-Identifier: Apache-2.0
//
// Memory of a subgraph's tensors: lifetimes, sharing in the arena, and memory that the client
// provides.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

bool IsArena(const TfLiteTensor& tensor) { return tensor.allocation_type == kTfLiteArenaRw; }
bool IsPersistent(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRwPersistent;
}

bool IsUnwritten(const PlannedGroup& group, int tensor) {
  return std::find(group.unwritten.begin(), group.unwritten.end(), tensor) != group.unwritten.end();
}

const char* NameOf(const TfLiteTensor& tensor) { return tensor.name == nullptr ? "" : tensor.name; }

}  // namespace

std::vector<Lifetime> Subgraph::Lifetimes(int last_prepared) const {
  std::vector<Lifetime> lifetimes(graph_.tensors().size());
  const auto begin_lifetime = [&](const TfLiteIntArray* indices, int position) {
    for (int i = 0; i < indices->size; ++i) {
      if (indices->data[i] >= 0) lifetimes[indices->data[i]].Include(position);
    }
  };
  // A read extends a lifetime but does not begin one: a tensor without a producer has no memory,
  // and Invoke rejects its consumer.
  const auto extend_lifetime = [&](const TfLiteIntArray* inputs, int position) {
    for (int i = 0; i < inputs->size; ++i) {
      const int index = inputs->data[i];
      if (index >= 0 && lifetimes[index].used()) lifetimes[index].Include(position);
    }
  };
  for (int position = 0; position < static_cast<int>(graph_.plan().size()); ++position) {
    const TfLiteNode& node = *graph_.node(graph_.plan()[position]);
    extend_lifetime(node.inputs, position);
    // Nodes that are not prepared yet write nothing.
    if (position > last_prepared) continue;
    begin_lifetime(node.outputs, position);
    begin_lifetime(node.temporaries, position);
    // A group reads its inputs and writes its outputs at its own position. No lifetime is shortened
    // for that, since the group's nodes may still run one by one.
    const PlannedGroup* const group = groups_.At(position);
    if (group == nullptr) continue;
    for (const TfLiteIntArray* tensors : {node.inputs, node.outputs}) {
      for (int index : IndicesOf(tensors)) {
        if (index < 0 || !lifetimes[index].used() || IsUnwritten(*group, index)) continue;
        lifetimes[index].Include(group->position());
      }
    }
  }
  // Memory that the caller reads or writes, and variables, are never shared.
  for (int index : graph_.inputs()) {
    if (index >= 0) lifetimes[index] = {0, kForever};
  }
  for (int index : graph_.variables()) lifetimes[index] = {0, kForever};
  for (int index : graph_.outputs()) {
    if (index >= 0 &&
        (lifetimes[index].used() || last_prepared + 1 == static_cast<int>(graph_.plan().size()))) {
      lifetimes[index] = {0, kForever};
    }
  }
  return lifetimes;
}

// Keeps owners of the previous layout, unless they have left the arena or become too small.
void Subgraph::KeepOwners(const std::vector<Lifetime>& lifetimes,
                          std::vector<Arena::Slot>* slots) const {
  const std::vector<Arena::Slot>& placed = arena_.slots();
  for (size_t i = 0; i < std::min(placed.size(), slots->size()); ++i) {
    const int owner = placed[i].owner;
    if (owner < 0 || !IsArena(graph_.tensors()[i])) continue;
    Arena::Slot* const block = &(*slots)[static_cast<size_t>(owner)];
    // The slot of a tensor that has left the arena has 0 bytes.
    const size_t owner_offset = placed[i].owner_offset, bytes = graph_.tensors()[i].bytes;
    if (owner_offset > block->bytes || bytes > block->bytes - owner_offset) continue;
    (*slots)[i].owner = owner;
    (*slots)[i].owner_offset = owner_offset;
    if (!lifetimes[i].used()) continue;
    block->lifetime.Include(lifetimes[i].first);
    block->lifetime.Include(lifetimes[i].last);
  }
}

// Excluded are inputs and outputs of delegates, which may keep their addresses and compute them
// again, and tensors with several producers.
std::vector<bool> Subgraph::UnsharedTensors() const {
  std::vector<bool> unshared(graph_.tensors().size()), written(graph_.tensors().size());
  for (int node_index : graph_.plan()) {
    const TfLiteNode& node = *graph_.node(node_index);
    for (int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      const auto tensor = static_cast<size_t>(index);
      if (written[tensor] || node.delegate != nullptr) unshared[tensor] = true;
      written[tensor] = true;
    }
    if (node.delegate == nullptr) continue;
    for (int index : IndicesOf(node.inputs)) {
      if (index >= 0) unshared[static_cast<size_t>(index)] = true;
    }
  }
  return unshared;
}

std::vector<InPlaceNode> Subgraph::InPlaceNodes(int first_new, int last_prepared) const {
  std::vector<InPlaceNode> nodes;
  // Under validation every tensor has its own guard bytes, so memory is not shared.
  if (arena_.guard_bytes() > 0) return nodes;
  for (int position = first_new; position <= last_prepared; ++position) {
    const int node_index = graph_.plan()[static_cast<size_t>(position)];
    const TfLiteNode& node = *graph_.node(node_index);
    const uint64_t mask = graph_.registration(node_index)->inplace_operator;
    const ViewOffer views = ViewsOf(node_index);
    if (node.delegate != nullptr) continue;
    if (mask == kTfLiteInplaceOpNone && views.kind == ViewOffer::Kind::kNone) continue;
    if (views.kind == ViewOffer::Kind::kRefused) continue;
    InPlaceNode added = {position, IndicesOf(node.inputs), IndicesOf(node.outputs), mask, views};
    if (const PlannedGroup* const group = groups_.At(position)) {
      added.first = std::min(position, group->position());
      added.kept = KeptForGroup(*group, position);
    }
    nodes.push_back(std::move(added));
  }
  return nodes;
}

std::vector<Arena::Slot> Subgraph::ArenaSlots(int first_new, int last_prepared,
                                              const std::vector<Lifetime>& lifetimes) const {
  std::vector<Arena::Slot> slots(graph_.tensors().size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const TfLiteTensor& tensor = graph_.tensors()[i];
    if (IsArena(tensor)) slots[i] = {kNoOffset, tensor.bytes, lifetimes[i], -1};
  }
  KeepOwners(lifetimes, &slots);
  const std::vector<InPlaceNode> nodes = InPlaceNodes(first_new, last_prepared);
  if (!nodes.empty()) ShareInPlace(nodes, UnsharedTensors(), first_new, &slots);
  MarkIdle(first_new, last_prepared, &slots);
  return slots;
}

// Tensors that groups do not write are touched only if their nodes run one by one.
void Subgraph::MarkIdle(int first_new, int last_prepared, std::vector<Arena::Slot>* slots) const {
  for (int position = first_new; position <= last_prepared; ++position) {
    const PlannedGroup* const group = groups_.RunningAt(position);
    if (group == nullptr) continue;
    for (int tensor : group->unwritten) (*slots)[static_cast<size_t>(tensor)].idle = true;
    for (int tensor : group->intermediates) (*slots)[static_cast<size_t>(tensor)].idle = true;
  }
  for (size_t i = 0; i < slots->size(); ++i) {
    const Arena::Slot& slot = (*slots)[i];
    if (slot.owner >= 0 && !slot.idle) (*slots)[static_cast<size_t>(slot.owner)].idle = false;
  }
}

TfLiteStatus Subgraph::LayOut(int first_new, int last_prepared) {
  const std::vector<Lifetime> lifetimes = Lifetimes(last_prepared);
  std::vector<Arena::Slot> shared = ArenaSlots(first_new, last_prepared, lifetimes);
  std::vector<Arena::Slot> persistent;
  for (size_t i = 0; i < graph_.tensors().size(); ++i) {
    if (!IsPersistent(graph_.tensors()[i]) || !lifetimes[i].used()) continue;
    persistent.resize(graph_.tensors().size());
    persistent[i] = {kNoOffset, graph_.tensors()[i].bytes, {0, kForever}};
  }
  if (!arena_.Plan(std::move(shared), limits(), &pool()) ||
      !persistent_.Plan(std::move(persistent), limits(), &pool())) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: no memory for the tensor arena: expected at most %zu bytes", index_,
                limits().max_block_bytes);
  }
  PointTensorsIntoArenas();
  return kTfLiteOk;
}

void Subgraph::PointTensorsIntoArenas() {
  for (int i = 0; i < tensor_count(); ++i) PointIntoArena(i);
}

void Subgraph::PointIntoArena(int tensor_index) {
  TfLiteTensor& tensor = graph_.tensors()[tensor_index];
  if (IsArena(tensor)) tensor.data.raw = arena_.Address(tensor_index);
  if (IsPersistent(tensor)) tensor.data.raw = persistent_.Address(tensor_index);
}

TensorMemory Subgraph::placed_tensor(size_t entry) const {
  const bool persistent = entry >= arena_.placed().size();
  const Arena& arena = persistent ? persistent_ : arena_;
  const int tensor = arena.placed()[persistent ? entry - arena_.placed().size() : entry];
  const Arena::Slot& slot = arena.slots()[static_cast<size_t>(tensor)];
  const int owner = slot.owner < 0 ? tensor : slot.owner;
  return {tensor, persistent, slot.offset, slot.bytes, slot.lifetime, owner};
}

// Groups always write the graph's outputs.
bool Subgraph::IsInside(int tensor_index) const {
  const auto has = [tensor_index](const std::vector<int>& indices) {
    return std::find(indices.begin(), indices.end(), tensor_index) != indices.end();
  };
  return !has(graph_.inputs()) && !has(graph_.outputs());
}

TfLiteStatus Subgraph::SetCustomAllocation(int tensor_index,
                                           const TfLiteCustomAllocation& allocation,
                                           int64_t flags) {
  ErrorReporter* reporter = interpreter_->reporter();
  TfLiteTensor* target = tensor(tensor_index);
  if (target == nullptr) {
    return Fail(reporter, kTfLiteError,
                "subgraph %d: custom allocation for tensor %d: expected an index below %d", index_,
                tensor_index, tensor_count());
  }
  switch (target->allocation_type) {
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteCustom:
    case kTfLiteNonCpu:
      break;
    default:
      return Fail(reporter, kTfLiteError,
                  "subgraph %d: tensor %d '%s': expected an arena tensor for a custom allocation, "
                  "found allocation type %d",
                  index_, tensor_index, NameOf(*target), target->allocation_type);
  }
  const bool check_alignment = (flags & kTfLiteCustomAllocationFlagsSkipAlignCheck) == 0;
  if (allocation.data == nullptr ||
      (check_alignment && reinterpret_cast<uintptr_t>(allocation.data) % kTensorAlignment != 0)) {
    return Fail(reporter, kTfLiteError,
                "subgraph %d: tensor %d '%s': expected custom memory aligned to %zu, found %p",
                index_, tensor_index, NameOf(*target), kTensorAlignment, allocation.data);
  }
  bool known = false;
  for (auto& entry : custom_allocations_) {
    if (entry.first == tensor_index) {
      entry.second = allocation;
      known = true;
    }
  }
  if (!known) {
    custom_allocations_.emplace_back(tensor_index, allocation);
    client_reads_intermediates_ = client_reads_intermediates_ || IsInside(tensor_index);
  }
  target->allocation_type = kTfLiteCustom;
  target->data.data = allocation.data;
  return kTfLiteOk;
}

TfLiteStatus Subgraph::VerifyCustomAllocations() {
  for (const auto& [index, allocation] : custom_allocations_) {
    const TfLiteTensor& target = graph_.tensors()[index];
    if (target.allocation_type == kTfLiteCustom && allocation.bytes < target.bytes) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Custom allocation is too small for tensor idx: %d; subgraph %d: tensor '%s': "
                  "expected %zu bytes, found %zu",
                  index, index_, NameOf(target), target.bytes, allocation.bytes);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::ResetVariableTensors() {
  for (int index : graph_.variables()) {
    TfLiteTensor& variable = graph_.tensors()[index];
    if (variable.allocation_type == kTfLiteCustom || variable.bytes == 0) continue;
    if (!IsPersistent(variable) || variable.data.raw == nullptr) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "subgraph %d: variable tensor %d '%s': expected allocated arena memory", index_,
                  index, NameOf(variable));
    }
    const int fill = variable.type == kTfLiteInt8 ? variable.params.zero_point : 0;
    memset(variable.data.raw, fill, variable.bytes);
  }
  return kTfLiteOk;
}

}  // namespace deputy
