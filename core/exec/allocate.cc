// SPDX-License-Identifier: Apache-2.0
//
// Prepare and memory. Nodes are prepared in plan order up to the first one whose output shape is
// known only after it has run; everything prepared so far is then laid out, and the rest follows
// during Invoke, behind that node.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

bool IsArena(const TfLiteTensor& tensor) { return tensor.allocation_type == kTfLiteArenaRw; }
bool IsPersistent(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRwPersistent;
}

// Part of the model, or made once by a node.
bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo || tensor.allocation_type == kTfLitePersistentRo;
}

bool IsUnwritten(const PlannedStep& step, int tensor) {
  return std::find(step.unwritten.begin(), step.unwritten.end(), tensor) != step.unwritten.end();
}

const char* NameOf(const TfLiteTensor& tensor) { return tensor.name == nullptr ? "" : tensor.name; }

}  // namespace

TfLiteStatus Subgraph::CheckConsistent() {
  if (consistent_) return kTfLiteOk;
  return Fail(interpreter_->reporter(), kTfLiteError,
              "AllocateTensors() called on inconsistent model.; %s", desc_->inconsistency.c_str());
}

TfLiteStatus Subgraph::AllocateTensors() {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  {
    // Cancelled in the middle, delegates would be lost.
    const CancelScope uninterrupted(interpreter_, nullptr);
    if (const TfLiteStatus status = delegation().Redo(); status != kTfLiteOk) return status;
  }
  bool dynamic_input = false;
  for (int index : graph_.inputs()) {
    if (index >= 0 && graph_.tensors()[index].allocation_type == kTfLiteDynamic)
      dynamic_input = true;
  }
  if (state_ != State::kUninvokable && !dynamic_input) return VerifyCustomAllocations();

  const bool immutable = state_ == State::kInvokableAndImmutable;
  const TfLiteStatus status = Reallocate();
  if (status == kTfLiteOk && immutable) state_ = State::kInvokableAndImmutable;
  return status;
}

TfLiteStatus Subgraph::Reallocate() {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  const CallDepth depth(interpreter_);
  if (!depth.allowed()) return kTfLiteError;
  const AllocationPass pass(interpreter_);
  state_ = State::kUninvokable;
  next_to_prepare_ = 0;
  arena_.Reset();
  persistent_.Reset();
  has_contents_.clear();
  NoteReaders();
  if (delegation().requires_propagated_shapes()) {
    bool ignored = false;
    const TfLiteStatus status = PrepareAll(delegation().original_plan(), &ignored);
    if (status != kTfLiteOk) return status;
  }
  shared_shapes_.BeginPlan(graph_, graph_.plan());
  const TfLiteStatus status = PrepareAndAllocate();
  if (status != kTfLiteOk) return status;
  if (interpreter_->keeps_replaced_nodes() && fallback().Reserve() != kTfLiteOk)
    return kTfLiteError;
  DropIdleTemporaries();
  if (ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  state_ = State::kInvokable;
  return kTfLiteOk;
}

TfLiteStatus Subgraph::PrepareAll(const std::vector<int>& plan, bool* out_dynamic) {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  next_to_prepare_ = 0;
  const AllocationPass pass(interpreter_);
  shared_shapes_.BeginPlan(graph_, plan);
  for (int node_index : plan) {
    const TfLiteStatus status = PrepareNode(node_index, out_dynamic);
    if (status != kTfLiteOk || *out_dynamic) return status;
  }
  return kTfLiteOk;
}

// Nodes that a delegate has taken keep their temporaries in the table, but not their memory.
void Subgraph::DropIdleTemporaries() {
  if (!delegation().any_applied() && delegation().original_plan().empty()) return;
  std::vector<bool> planned(static_cast<size_t>(graph_.node_count()), false);
  for (int node_index : graph_.plan()) planned[node_index] = true;
  for (size_t i = 0; i < static_cast<size_t>(graph_.node_count()); ++i) {
    if (planned[i]) continue;
    const TfLiteIntArray* temporaries = graph_.node(i)->temporaries;
    for (int k = 0; k < temporaries->size; ++k) {
      if (TfLiteTensor* idle = tensor(temporaries->data[k])) idle->bytes = 0;
    }
  }
}

TfLiteStatus Subgraph::PrepareAndAllocate() {
  const AllocationPass pass(interpreter_);
  int last_prepared = next_to_prepare_ - 1;
  pack_requests_.clear();
  const TfLiteStatus status = PrepareFrom(next_to_prepare_, &last_prepared);
  if (status != kTfLiteOk) return status;
  FormSteps(next_to_prepare_, last_prepared);
  if (LayOut(next_to_prepare_, last_prepared) != kTfLiteOk) return kTfLiteError;
  if (VerifyCustomAllocations() != kTfLiteOk) return kTfLiteError;
  next_to_prepare_ = last_prepared + 1;
  AnnounceSteps();
  // Where memory is short, the kernel that needs it will say so.
  interpreter_->scratch().Grow(limits());
  return PackConstants();
}

TfLiteStatus Subgraph::PrepareFrom(int position, int* out_last_prepared) {
  for (; position < static_cast<int>(graph_.plan().size()); ++position) {
    bool dynamic = false;
    const size_t requests = pack_requests_.size();
    const TfLiteStatus status = PrepareNode(graph_.plan()[position], &dynamic);
    if (status != kTfLiteOk) return status;
    // Under Hot, nodes that a delegate has taken are prepared, too; they need not run.
    if (graph_.node(graph_.plan()[position])->delegate != nullptr) pack_requests_.resize(requests);
    *out_last_prepared = position;
    if (dynamic) break;
  }
  return kTfLiteOk;
}

template <typename Visit>
void Subgraph::ForEachConstantToPack(const std::vector<PackRequest>& requests,
                                     const Visit& visit) const {
  for (const PackRequest& request : requests) {
    for (int index : IndicesOf(graph_.node(request.node_index)->inputs)) {
      if (index < 0) continue;
      const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
      if (IsConstant(tensor)) visit(tensor);
    }
  }
}

TfLiteStatus Subgraph::PackConstants() {
  const Model& model = interpreter_->model();
  const std::vector<PackRequest> requests = std::exchange(pack_requests_, {});
  size_t bytes = 0, own_bytes = 0;
  ForEachConstantToPack(requests, [&](const TfLiteTensor& tensor) {
    (tensor.allocation_type == kTfLiteMmapRo ? bytes : own_bytes) += tensor.bytes;
  });
  PackedConstants& own = interpreter_->node_constants();
  // Columns are padded. Nodes may share a constant, of which there are no more than the file has,
  // in float16 twice as large.
  model.packed_constants().Expect(std::min(bytes, model.bytes().size()) / 8 * 9);
  own.Expect(std::min(own_bytes, 2 * model.bytes().size()) / 8 * 9);
  const size_t own_before = own.bytes();
  const size_t packed_before = model.packed_constants().bytes();
  for (const PackRequest& request : requests) {
    interpreter_->failure_note().Clear();
    const TfLiteStatus status = request.pack(&context_, graph_.node(request.node_index));
    if (status != kTfLiteOk) {
      return ReportNodeFailure(request.node_index, status, "failed to prepare.");
    }
  }
  if (own.bytes() != own_before) own.ReleaseUnused();
  if (model.packed_constants().bytes() != packed_before) {
    model.packed_constants().ReleaseUnused();
    // What is small, as a bias, lies beside what inferences read.
    constexpr size_t kLarge = 64 << 10;
    ForEachConstantToPack(requests, [&](const TfLiteTensor& tensor) {
      if (tensor.bytes >= kLarge) model.ReleasePages(tensor.data.data, tensor.bytes);
    });
  }
  NoteReadsAhead();
  return kTfLiteOk;
}

TfLiteStatus Subgraph::PrepareNode(int node_index, bool* out_dynamic) {
  TfLiteStatus status = interpreter_->CheckCancellation();
  if (status != kTfLiteOk) return status;
  graph_.EnsureTensorCapacity();
  const bool kept =
      interpreter_->keeps_replaced_nodes() && graph_.node(node_index)->delegate != nullptr;
  const std::vector<SharedShape> shared = shared_shapes_.Of(graph_, node_index);
  if (kept) status = fallback().InferReplacedShapes(node_index);
  const bool cancelled = status != kTfLiteOk;
  interpreter_->failure_note().Clear();
  if (!cancelled) status = RunPrepare(node_index);
  if (!KeepShapes(shared)) status = kTfLiteError;
  if (kept && !cancelled && status != kTfLiteOutputShapeNotKnown) {
    status = fallback().CheckPrepareResult(node_index, status);
  }
  if (status != kTfLiteOk && status != kTfLiteOutputShapeNotKnown) {
    return ReportNodeFailure(node_index, status, "failed to prepare.");
  }
  *out_dynamic = status == kTfLiteOutputShapeNotKnown ||
                 graph_.HasDynamicTensor(IndicesOf(graph_.node(node_index)->outputs));
  return kTfLiteOk;
}

bool Subgraph::KeepShapes(const std::vector<SharedShape>& shared) {
  bool kept = true;
  for (const SharedShape& before : shared) {
    TfLiteTensor& now = graph_.tensors()[before.tensor];
    if (before.Holds(now)) continue;
    if (kept) {
      char text[256];
      snprintf(text, sizeof text, "tensor %d '%.64s': %s", before.tensor, NameOf(now),
               before.Difference(now).c_str());
      NoteFailure(text);
    }
    kept = false;
    // Back to what it was, or the graph could never be prepared again.
    if (now.allocation_type != before.allocation_type) TfLiteTensorDataFree(&now);
    now.allocation_type = before.allocation_type;
    now.type = before.type;
    TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(before.dims.size()));
    if (dims == nullptr) throw std::bad_alloc();
    std::copy(before.dims.begin(), before.dims.end(), dims->data);
    ResizeTensor(&now, dims);
  }
  return kept;
}

TfLiteStatus Subgraph::RunPrepare(int node_index) {
  TfLiteNode& node = *graph_.node(node_index);
  const TfLiteRegistration& registration = *graph_.registration(node_index);
  const size_t tensors_before = graph_.tensors().size();
  if (static_cast<size_t>(node_index) < offers_.size()) offers_[node_index] = {};
  if (static_cast<size_t>(node_index) < view_offers_.size()) view_offers_[node_index] = {};
  if (static_cast<size_t>(node_index) < implementations_.size()) {
    implementations_[node_index] = nullptr;
  }
  const int outer_node = std::exchange(preparing_node_, node_index);
  const CallResult result = CallPrepare(
      interpreter_->call_observer(), CallOf(Callback::kPrepare, node_index), registration, &node);
  preparing_node_ = outer_node;
  if (result.exception != nullptr) NoteFailure(result.exception);
  const TfLiteStatus checked = CheckNodeIndices(node_index);
  delegation().NotePrepared(node_index, tensors_before);
  return checked == kTfLiteOk ? result.status : kTfLiteError;
}

TfLiteStatus Subgraph::ReportNodeFailure(int node_index, TfLiteStatus status, const char* step) {
  const TfLiteRegistration& failed = *graph_.registration(node_index);
  const char* name = OperatorName(failed);
  const std::string reason = interpreter_->failure_note().Take();
  ErrorReporter* reporter = interpreter_->reporter();
  if (IsUnresolvedCustomOp(failed)) {
    const char* hint = strncmp(name, "Flex", 4) == 0
                           ? "Select TensorFlow op(s), included in the given model, is(are) not "
                             "supported by this interpreter."
                           : "Register it, or apply a delegate that takes it.";
    return Fail(reporter, status, "Encountered unresolved custom op: %s.\n%s; subgraph %d node %d",
                name, hint, index_, node_index);
  }
  return Fail(reporter, status, "Node number %d (%s) %s%s%s", node_index, name, step,
              reason.empty() ? ""
                             : ("; subgraph " + std::to_string(index_) + " node " +
                                std::to_string(node_index) + " " + name + ": ")
                                   .c_str(),
              reason.c_str());
}

void Subgraph::NoteReaders() {
  // Nodes that a delegate has taken may have to run after all.
  const bool any = interpreter_->keeps_replaced_nodes() && !delegation().original_plan().empty();
  read_.assign(graph_.tensors().size(), any);
  for (int index : graph_.outputs()) {
    if (index >= 0) read_[index] = true;
  }
  for (int node_index : graph_.plan()) {
    const TfLiteIntArray* inputs = graph_.node(node_index)->inputs;
    for (int i = 0; i < inputs->size; ++i) {
      if (inputs->data[i] >= 0) read_[inputs->data[i]] = true;
    }
  }
}

// ---- Memory -------------------------------------------------------------------------------------

std::vector<Lifetime> Subgraph::Lifetimes(int last_prepared) const {
  std::vector<Lifetime> lifetimes(graph_.tensors().size());
  const auto bring_to_life = [&](const TfLiteIntArray* indices, int position) {
    for (int i = 0; i < indices->size; ++i) {
      if (indices->data[i] >= 0) lifetimes[indices->data[i]].Include(position);
    }
  };
  // Reading keeps a tensor alive, but does not bring it to life: what has no producer has no
  // memory, and invoke refuses its reader.
  const auto keep_alive = [&](const TfLiteIntArray* inputs, int position) {
    for (int i = 0; i < inputs->size; ++i) {
      const int index = inputs->data[i];
      if (index >= 0 && lifetimes[index].used()) lifetimes[index].Include(position);
    }
  };
  for (int position = 0; position < static_cast<int>(graph_.plan().size()); ++position) {
    const TfLiteNode& node = *graph_.node(graph_.plan()[position]);
    keep_alive(node.inputs, position);
    // Nodes that wait for a shape make nothing yet.
    if (position > last_prepared) continue;
    bring_to_life(node.outputs, position);
    bring_to_life(node.temporaries, position);
    // In a step inputs are read and outputs written in its turn. Nothing dies earlier for
    // that: a step can still run node by node.
    const PlannedStep* const step = steps_.At(position);
    if (step == nullptr) continue;
    for (const TfLiteIntArray* tensors : {node.inputs, node.outputs}) {
      for (int index : IndicesOf(tensors)) {
        if (index < 0 || !lifetimes[index].used() || IsUnwritten(*step, index)) continue;
        lifetimes[index].Include(step->turn());
      }
    }
  }
  // What the caller writes or reads, and what survives an inference, never shares memory.
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

// Owners of an earlier layout stay, unless they have left the arena or become too small.
void Subgraph::KeepOwners(const std::vector<Lifetime>& lifetimes,
                          std::vector<Arena::Slot>* slots) const {
  const std::vector<Arena::Slot>& placed = arena_.slots();
  for (size_t i = 0; i < std::min(placed.size(), slots->size()); ++i) {
    const int owner = placed[i].owner;
    if (owner < 0 || !IsArena(graph_.tensors()[i])) continue;
    Arena::Slot* const block = &(*slots)[static_cast<size_t>(owner)];
    // None for one that has left the arena.
    const size_t place = placed[i].place, bytes = graph_.tensors()[i].bytes;
    if (place > block->bytes || bytes > block->bytes - place) continue;
    (*slots)[i].owner = owner;
    (*slots)[i].place = place;
    if (!lifetimes[i].used()) continue;
    block->lifetime.Include(lifetimes[i].first);
    block->lifetime.Include(lifetimes[i].last);
  }
}

// A delegate may keep the address of what it reads or writes, and compute it again; what several
// nodes write is no node's last word.
std::vector<bool> Subgraph::UnsharedTensors() const {
  std::vector<bool> unshared(graph_.tensors().size()), made(graph_.tensors().size());
  for (int node_index : graph_.plan()) {
    const TfLiteNode& node = *graph_.node(node_index);
    for (int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      const auto tensor = static_cast<size_t>(index);
      if (made[tensor] || node.delegate != nullptr) unshared[tensor] = true;
      made[tensor] = true;
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
  // Under validation every tensor stands between guards of its own.
  if (arena_.guard_bytes() > 0) return nodes;
  for (int position = first_new; position <= last_prepared; ++position) {
    const int node_index = graph_.plan()[static_cast<size_t>(position)];
    const TfLiteNode& node = *graph_.node(node_index);
    const uint64_t mask = graph_.registration(node_index)->inplace_operator;
    const ViewOffer views = ViewsOf(node_index);
    if (node.delegate != nullptr) continue;
    if (mask == kTfLiteInplaceOpNone && views.kind == ViewOffer::Kind::kNone) continue;
    InPlaceNode added = {position, IndicesOf(node.inputs), IndicesOf(node.outputs), mask, views};
    if (const PlannedStep* const step = steps_.At(position)) {
      added.first = std::min(position, step->turn());
      added.kept = KeptForStep(*step, position);
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

// What steps do not write is touched only where their nodes run one by one.
void Subgraph::MarkIdle(int first_new, int last_prepared, std::vector<Arena::Slot>* slots) const {
  for (int position = first_new; position <= last_prepared; ++position) {
    const PlannedStep* const step = steps_.WithTurn(position);
    if (step == nullptr) continue;
    for (int tensor : step->unwritten) (*slots)[static_cast<size_t>(tensor)].idle = true;
    for (int tensor : step->passing) (*slots)[static_cast<size_t>(tensor)].idle = true;
  }
  for (size_t i = 0; i < slots->size(); ++i) {
    const Arena::Slot& slot = (*slots)[i];
    if (slot.owner >= 0 && !slot.idle) (*slots)[static_cast<size_t>(slot.owner)].idle = false;
  }
}

TfLiteStatus Subgraph::LayOut(int first_new, int last_prepared) {
  const std::vector<Lifetime> lifetimes = Lifetimes(last_prepared);
  std::vector<Arena::Slot> shared = ArenaSlots(first_new, last_prepared, lifetimes);
  std::vector<Arena::Slot> lasting;
  for (size_t i = 0; i < graph_.tensors().size(); ++i) {
    if (!IsPersistent(graph_.tensors()[i]) || !lifetimes[i].used()) continue;
    lasting.resize(graph_.tensors().size());
    lasting[i] = {kNoOffset, graph_.tensors()[i].bytes, {0, kForever}};
  }
  if (!arena_.Plan(std::move(shared), limits()) ||
      !persistent_.Plan(std::move(lasting), limits())) {
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
  const bool lasting = entry >= arena_.placed().size();
  const Arena& arena = lasting ? persistent_ : arena_;
  const int tensor = arena.placed()[lasting ? entry - arena_.placed().size() : entry];
  const Arena::Slot& slot = arena.slots()[static_cast<size_t>(tensor)];
  const int owner = slot.owner < 0 ? tensor : slot.owner;
  return {tensor, lasting, slot.offset, slot.bytes, slot.lifetime, owner};
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
  if (!known) custom_allocations_.emplace_back(tensor_index, allocation);
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
