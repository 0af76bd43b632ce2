// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrite.h"

#include <algorithm>
#include <utility>

namespace deputy::compiler {

Rewrite::Rewrite(Graph* graph) : graph_(graph), uses_(UseCounts(*graph)) {
  originals_.swap(graph->operations);
  Grow();
  for (ValueId id : graph->outputs) is_output_[static_cast<size_t>(id)] = true;
}

bool Rewrite::Next(Operation* out_operation) {
  if (next_ == originals_.size()) return false;
  *out_operation = std::move(originals_[next_++]);
  Resolve(&out_operation->inputs);
  Resolve(&out_operation->epilogue_inputs);
  Count(*out_operation, -1);
  return true;
}

void Rewrite::Add(Operation operation) {
  Grow();
  Count(operation, 1);
  for (ValueId id : operation.outputs) {
    producers_[static_cast<size_t>(id)] = static_cast<int>(added_.size());
  }
  added_.push_back(std::move(operation));
}

ValueId Rewrite::Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type, Shape shape,
                     int node) {
  Operation operation;
  operation.kind = std::move(kind);
  operation.inputs = std::move(inputs);
  operation.outputs = {graph_->AddValue(type, std::move(shape))};
  operation.node = node;
  const ValueId id = operation.output();
  Add(std::move(operation));
  return id;
}

void Rewrite::Replace(ValueId id, ValueId by) {
  Grow();
  uses_[static_cast<size_t>(by)] += uses_[static_cast<size_t>(id)];
  uses_[static_cast<size_t>(id)] = 0;
  replaced_by_[static_cast<size_t>(id)] = by;
}

void Rewrite::RenameOutput(ValueId from, ValueId to) {
  Grow();
  const int producer = std::exchange(producers_[static_cast<size_t>(from)], -1);
  producers_[static_cast<size_t>(to)] = producer;
  std::vector<ValueId>& outputs = added_[static_cast<size_t>(producer)].outputs;
  std::replace(outputs.begin(), outputs.end(), from, to);
}

Operation Rewrite::RemoveProducer(ValueId id) {
  Operation& slot = added_[static_cast<size_t>(producers_[static_cast<size_t>(id)])];
  Operation operation;
  std::swap(operation, slot);
  for (ValueId output : operation.outputs) producers_[static_cast<size_t>(output)] = -1;
  Count(operation, -1);
  return operation;
}

const Operation* Rewrite::Producer(ValueId id) const {
  if (id == kNoValue || static_cast<size_t>(id) >= producers_.size()) return nullptr;
  const int producer = producers_[static_cast<size_t>(id)];
  return producer < 0 ? nullptr : &added_[static_cast<size_t>(producer)];
}

int Rewrite::Finish() {
  for (size_t i = added_.size(); i-- > 0;) {
    const bool needed = std::any_of(added_[i].outputs.begin(), added_[i].outputs.end(),
                                    [&](ValueId id) { return uses(id) > 0; });
    if (needed) continue;
    Count(added_[i], -1);
    added_[i] = {};
  }
  std::erase_if(added_, [](const Operation& operation) { return operation.outputs.empty(); });
  graph_->operations.swap(added_);
  return changes_;
}

void Rewrite::Grow() {
  const size_t size = graph_->values.size();
  producers_.resize(size, -1);
  uses_.resize(size, 0);
  is_output_.resize(size, false);
  replaced_by_.resize(size, kNoValue);
}

void Rewrite::Resolve(std::vector<ValueId>* ids) const {
  for (ValueId& id : *ids) {
    while (id != kNoValue && replaced_by_[static_cast<size_t>(id)] != kNoValue) {
      id = replaced_by_[static_cast<size_t>(id)];
    }
  }
}

void Rewrite::Count(const Operation& operation, int by) {
  for (ValueId id : ReadValues(operation)) uses_[static_cast<size_t>(id)] += by;
}

}  // namespace deputy::compiler
