// SPDX-License-Identifier: Apache-2.0
#include "core/exec/memory_layout.h"

#include <algorithm>
#include <utility>

namespace deputy {
namespace {

bool IsArena(const TfLiteTensor& tensor) { return tensor.allocation_type == kTfLiteArenaRw; }
bool IsPersistent(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRwPersistent;
}

bool IsUnwritten(const PlannedGroup& group, int tensor) {
  return std::find(group.unwritten.begin(), group.unwritten.end(), tensor) != group.unwritten.end();
}

}  // namespace

std::vector<Lifetime> MemoryLayout::Lifetimes(const Nodes& nodes) const {
  const int last_prepared = nodes.last_prepared;
  std::vector<Lifetime> lifetimes(graph_->tensors().size());
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
  for (int position = 0; position < static_cast<int>(graph_->plan().size()); ++position) {
    const TfLiteNode& node = *graph_->node(graph_->plan()[position]);
    extend_lifetime(node.inputs, position);
    // Nodes that are not prepared yet write nothing.
    if (position > last_prepared) continue;
    begin_lifetime(node.outputs, position);
    begin_lifetime(node.temporaries, position);
    // A group reads its inputs and writes its outputs at its own position. No lifetime is shortened
    // for that, since the group's nodes may still run one by one.
    const PlannedGroup* const group = nodes.groups->At(position);
    if (group == nullptr) continue;
    for (const TfLiteIntArray* tensors : {node.inputs, node.outputs}) {
      for (int index : IndicesOf(tensors)) {
        if (index < 0 || !lifetimes[index].used() || IsUnwritten(*group, index)) continue;
        lifetimes[index].Include(group->position());
      }
    }
  }
  for (const BatchSegment& segment : nodes.segments) {
    for (int index : segment.external()) {
      lifetimes[index].Include(segment.range().first);
      lifetimes[index].Include(segment.range().last);
    }
  }
  // Tensors that the caller reads or writes, and variables, are alive at all positions, so that no
  // other tensor reuses their memory.
  for (int index : graph_->inputs()) {
    if (index >= 0) lifetimes[index] = {0, kForever};
  }
  for (int index : graph_->variables()) lifetimes[index] = {0, kForever};
  for (int index : graph_->outputs()) {
    if (index >= 0 &&
        (lifetimes[index].used() || last_prepared + 1 == static_cast<int>(graph_->plan().size()))) {
      lifetimes[index] = {0, kForever};
    }
  }
  return lifetimes;
}

// Keeps owners of the previous layout, unless they have left the arena or become too small.
void MemoryLayout::KeepOwners(const std::vector<Lifetime>& lifetimes,
                              std::vector<Arena::Slot>* slots) const {
  const std::vector<Arena::Slot>& placed = arena_.slots();
  for (size_t i = 0; i < std::min(placed.size(), slots->size()); ++i) {
    const int owner = placed[i].owner;
    if (owner < 0 || !IsArena(graph_->tensors()[i])) continue;
    Arena::Slot* const block = &(*slots)[static_cast<size_t>(owner)];
    // The slot of a tensor that has left the arena has 0 bytes.
    const size_t owner_offset = placed[i].owner_offset, bytes = graph_->tensors()[i].bytes;
    if (owner_offset > block->bytes || bytes > block->bytes - owner_offset) continue;
    (*slots)[i].owner = owner;
    (*slots)[i].owner_offset = owner_offset;
    if (!lifetimes[i].used()) continue;
    block->lifetime.Include(lifetimes[i].first);
    block->lifetime.Include(lifetimes[i].last);
  }
}

// Returns which tensors must not share memory: inputs and outputs of delegates, which may keep
// their addresses and compute them again, and tensors with several producers.
std::vector<bool> MemoryLayout::UnsharedTensors() const {
  std::vector<bool> unshared(graph_->tensors().size()), written(graph_->tensors().size());
  for (int node_index : graph_->plan()) {
    const TfLiteNode& node = *graph_->node(node_index);
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

std::vector<int> MemoryLayout::KeptForGroup(const Nodes& nodes, const PlannedGroup& group,
                                            int position) const {
  std::vector<int> kept;
  for (const GroupRead& read : group.reads) {
    if (!read.in_place) kept.push_back(read.tensor);
  }
  // The lifetimes of tensors that the group does not write are not extended to its position.
  kept.insert(kept.end(), group.unwritten.begin(), group.unwritten.end());
  for (int between = group.position() + 1; between < position; ++between) {
    const PlannedGroup* const in = nodes.groups->At(between);
    if (in == &group) continue;
    // Nodes of another group before its position have read these tensors already.
    if (in != nullptr && in->position() == between) {
      for (const GroupRead& read : in->reads) kept.push_back(read.tensor);
    }
    const TfLiteNode& other = *graph_->node(graph_->plan()[static_cast<size_t>(between)]);
    const std::span<const int> inputs = IndicesOf(other.inputs);
    kept.insert(kept.end(), inputs.begin(), inputs.end());
  }
  return kept;
}

std::vector<InPlaceNode> MemoryLayout::InPlaceNodes(const Nodes& nodes) const {
  std::vector<InPlaceNode> found;
  // Under validation every tensor has its own guard bytes, so memory is not shared.
  if (arena_.guard_bytes() > 0) return found;
  auto segment = nodes.segments.begin();
  for (int position = nodes.first_new; position <= nodes.last_prepared; ++position) {
    const int node_index = graph_->plan()[static_cast<size_t>(position)];
    const TfLiteNode& node = *graph_->node(node_index);
    const uint64_t mask = graph_->registration(node_index)->inplace_operator;
    ViewOffer views = nodes.prepared->Of(node_index).views;
    if (node.delegate != nullptr || views.kind == ViewOffer::Kind::kRefused) continue;
    // Views were chosen for a micro-batch; in the batch its parts are not adjacent.
    while (segment != nodes.segments.end() && segment->range().last < position) ++segment;
    const bool in_segment = segment != nodes.segments.end() && segment->range().first <= position;
    if (!nodes.fuses || in_segment) views = {};
    if (mask == kTfLiteInplaceOpNone && views.kind == ViewOffer::Kind::kNone) continue;
    InPlaceNode added = {position, IndicesOf(node.inputs), IndicesOf(node.outputs), mask, views};
    if (const PlannedGroup* const group = nodes.groups->At(position)) {
      added.first = std::min(position, group->position());
      added.kept = KeptForGroup(nodes, *group, position);
    }
    found.push_back(std::move(added));
  }
  return found;
}

std::vector<Arena::Slot> MemoryLayout::ArenaSlots(const Nodes& nodes,
                                                  const std::vector<Lifetime>& lifetimes) const {
  std::vector<Arena::Slot> slots(graph_->tensors().size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const TfLiteTensor& tensor = graph_->tensors()[i];
    if (IsArena(tensor)) slots[i] = {kNoOffset, tensor.bytes, lifetimes[i], -1};
  }
  KeepOwners(lifetimes, &slots);
  const std::vector<InPlaceNode> in_place = InPlaceNodes(nodes);
  if (!in_place.empty()) ShareInPlace(in_place, UnsharedTensors(), nodes.first_new, &slots);
  MarkIdle(nodes, &slots);
  return slots;
}

// Marks tensors that groups do not write: they are touched only if the nodes run one by one.
void MemoryLayout::MarkIdle(const Nodes& nodes, std::vector<Arena::Slot>* slots) const {
  for (int position = nodes.first_new; position <= nodes.last_prepared; ++position) {
    const PlannedGroup* const group = nodes.groups->RunningAt(position);
    if (group == nullptr) continue;
    for (int tensor : group->unwritten) (*slots)[static_cast<size_t>(tensor)].idle = true;
    for (int tensor : group->intermediates) (*slots)[static_cast<size_t>(tensor)].idle = true;
  }
  for (size_t i = 0; i < slots->size(); ++i) {
    const Arena::Slot& slot = (*slots)[i];
    if (slot.owner >= 0 && !slot.idle) (*slots)[static_cast<size_t>(slot.owner)].idle = false;
  }
}

void MemoryLayout::SetGuard(size_t bytes) {
  arena_.SetGuard(bytes);
  persistent_.SetGuard(bytes);
}

void MemoryLayout::Reset() {
  arena_.Reset();
  persistent_.Reset();
  provided_->Clear();
}

void MemoryLayout::Release() {
  arena_.Release();
  PointTensors();
}

void MemoryLayout::Swap(MemoryLayout* other) {
  std::swap(arena_, other->arena_);
  std::swap(persistent_, other->persistent_);
}

bool MemoryLayout::Plan(const Nodes& nodes, const Limits& limits, ThreadPool* pool) {
  const std::vector<Lifetime> lifetimes = Lifetimes(nodes);
  std::vector<Arena::Slot> shared = ArenaSlots(nodes, lifetimes);
  std::vector<Arena::Slot> persistent;
  for (size_t i = 0; i < graph_->tensors().size(); ++i) {
    if (!IsPersistent(graph_->tensors()[i]) || !lifetimes[i].used()) continue;
    persistent.resize(graph_->tensors().size());
    persistent[i] = {kNoOffset, graph_->tensors()[i].bytes, {0, kForever}};
  }
  if (!arena_.Plan(std::move(shared), limits, pool) ||
      !persistent_.Plan(std::move(persistent), limits, pool)) {
    return false;
  }
  PointTensors();
  return true;
}

void MemoryLayout::PointTensors() {
  for (int i = 0; i < graph_->tensor_count(); ++i) PointTensor(i);
  provided_->ReleaseUnused();
}

void MemoryLayout::PointTensor(int tensor_index) {
  TfLiteTensor& tensor = *graph_->tensor(tensor_index);
  if (IsArena(tensor)) tensor.data.raw = ArenaAddress(tensor_index);
  if (IsPersistent(tensor)) tensor.data.raw = persistent_.Address(tensor_index);
}

// Under validation tensors stay in the arena, between its guard bytes.
char* MemoryLayout::ArenaAddress(int tensor) const {
  char* const address = arena_.Address(tensor);
  if (address == nullptr || arena_.guard_bytes() > 0) return address;
  char* const provided = provided_->Find(tensor, graph_->tensor(tensor)->bytes);
  return provided == nullptr ? address : provided;
}

char* MemoryLayout::Address(int tensor) const {
  char* const address = ArenaAddress(tensor);
  return address != nullptr ? address : persistent_.Address(tensor);
}

TensorMemory MemoryLayout::placed(size_t entry) const {
  const bool persistent = entry >= arena_.placed().size();
  const Arena& arena = persistent ? persistent_ : arena_;
  const int tensor = arena.placed()[persistent ? entry - arena_.placed().size() : entry];
  const Arena::Slot& slot = arena.slots()[static_cast<size_t>(tensor)];
  const int owner = slot.owner < 0 ? tensor : slot.owner;
  return {tensor, persistent, slot.offset, slot.bytes, slot.lifetime, owner};
}

}  // namespace deputy
