// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include "compiler/compose.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// Maximum number of loops of a composed region.
constexpr size_t kMaxLoops = 8;

int64_t CountOf(const Rewrite& rewrite, ValueId id) {
  return ElementCount(rewrite.value(id).shape);
}

// If the region's input is produced by a copy and the two compose, makes the region read the copy's
// input directly and returns true.
bool ReadThrough(const Rewrite& rewrite, CopyRegion* region, std::vector<ValueId>* inputs) {
  const ValueId from = (*inputs)[static_cast<size_t>(region->input)];
  const Operation* producer = rewrite.Producer(from);
  const Copy* inner = producer == nullptr ? nullptr : std::get_if<Copy>(&producer->kind);
  if (inner == nullptr || inner->regions.size() != 1) return false;
  std::optional<CopyRegion> composed = Composed(*region, inner->regions[0], CountOf(rewrite, from));
  if (!composed || composed->loops.size() > kMaxLoops) return false;
  *region = std::move(*composed);
  region->input = static_cast<int>(inputs->size());
  inputs->push_back(producer->inputs[0]);
  return true;
}

// Removes inputs that no region reads, and merges equal ones.
void CanonicalizeInputs(Operation* operation) {
  std::vector<ValueId> inputs;
  std::unordered_map<ValueId, int> numbers;
  for (CopyRegion& region : std::get<Copy>(operation->kind).regions) {
    const ValueId id = operation->inputs[static_cast<size_t>(region.input)];
    const auto [entry, is_new] = numbers.try_emplace(id, static_cast<int>(inputs.size()));
    if (is_new) inputs.push_back(id);
    region.input = entry->second;
  }
  operation->inputs.swap(inputs);
}

bool Compose(const Rewrite& rewrite, Operation* operation) {
  bool changed = false;
  for (CopyRegion& region : std::get<Copy>(operation->kind).regions) {
    changed |= ReadThrough(rewrite, &region, &operation->inputs);
  }
  if (changed) CanonicalizeInputs(operation);
  return changed;
}

bool IsIdentity(const Rewrite& rewrite, const Operation& operation) {
  const auto& regions = std::get<Copy>(operation.kind).regions;
  if (regions.size() != 1) return false;
  const int64_t count = CountOf(rewrite, operation.output());
  const ValueId from = operation.inputs[static_cast<size_t>(regions[0].input)];
  return CountOf(rewrite, from) == count && KeepsOrder(regions[0], count);
}

// Returns whether an element-wise operation can be applied before the copy that it reads, because
// the copy only permutes elements. This lets it fuse with the producer of the copy's input, and the
// copy with its own consumers.
bool CanMoveBeforeCopy(const Rewrite& rewrite, const Operation& operation) {
  if (!std::holds_alternative<Elementwise>(operation.kind) || operation.inputs.size() != 1) {
    return false;
  }
  const ValueId id = operation.inputs[0];
  const Operation* producer = rewrite.Producer(id);
  const Copy* copy = producer == nullptr ? nullptr : std::get_if<Copy>(&producer->kind);
  if (copy == nullptr || copy->regions.size() != 1 || !rewrite.HasNoOtherUse(id)) return false;
  const Value &from = rewrite.value(id), &to = rewrite.value(operation.output());
  // An operation that widens the elements is better applied after the copy.
  return from.shape == to.shape && ElementBytes(to.type) <= ElementBytes(from.type) &&
         CountOf(rewrite, producer->inputs[0]) == CountOf(rewrite, id) &&
         WritesAll(copy->regions[0], CountOf(rewrite, id));
}

void AddBefore(Operation operation, Rewrite* rewrite) {
  Operation copy = rewrite->RemoveProducer(operation.inputs[0]);
  const TfLiteType type = rewrite->value(operation.output()).type;
  const Shape shape = rewrite->value(copy.inputs[0]).shape;
  copy.outputs = operation.outputs;
  copy.inputs = {rewrite->Add(std::move(operation.kind), copy.inputs, type, shape, operation.node)};
  rewrite->Add(std::move(copy));
}

// Merges a copy with the copies that produce its inputs, and turns it into a view if it changes
// nothing. Returns true if something changed.
bool Merge(const Rewrite& rewrite, Operation* operation) {
  const bool changed = Compose(rewrite, operation);
  if (!IsIdentity(rewrite, *operation)) return changed;
  const auto input = static_cast<size_t>(std::get<Copy>(operation->kind).regions[0].input);
  operation->inputs = {operation->inputs[input]};
  operation->kind = View{};
  return true;
}

}  // namespace

int MergeCopies(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    if (CanMoveBeforeCopy(rewrite, operation)) {
      AddBefore(std::move(operation), &rewrite);
      rewrite.CountChange();
      continue;
    }
    if (std::holds_alternative<Copy>(operation.kind) && Merge(rewrite, &operation)) {
      rewrite.CountChange();
    }
    rewrite.Add(std::move(operation));
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
