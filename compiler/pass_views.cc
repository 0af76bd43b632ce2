// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compiler/computation.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// Returns the source of a view; null if the value is not a view.
const ValueId* SourceOf(const Rewrite& rewrite, ValueId id) {
  const Operation* producer = rewrite.Producer(id);
  const bool is_view = producer != nullptr && std::holds_alternative<View>(producer->kind);
  return is_view ? &producer->inputs[0] : nullptr;
}

// Makes the operation read the sources of views instead of the views.
bool ReadSources(const Rewrite& rewrite, Operation* operation) {
  bool changed = false;
  for (ValueId& id : operation->inputs) {
    const ValueId* source = SourceOf(rewrite, id);
    if (source == nullptr) continue;
    id = *source;
    changed = true;
  }
  return changed;
}

// Adds a view, or its replacement. Returns true if something changed.
bool AddView(Operation view, Rewrite* rewrite) {
  const bool skipped = ReadSources(*rewrite, &view);
  const ValueId from = view.inputs[0], to = view.output();
  const Operation* producer = rewrite->Producer(from);
  const bool same_shape = rewrite->value(from).shape == rewrite->value(to).shape;
  const bool is_copy = producer != nullptr && std::holds_alternative<Copy>(producer->kind);
  if (same_shape && !rewrite->IsOutput(to)) {
    rewrite->Replace(to, from);
    return true;
  }
  if (producer != nullptr && rewrite->HasNoOtherUse(from) && (same_shape || is_copy)) {
    rewrite->RenameOutput(from, to);
    return true;
  }
  rewrite->Add(std::move(view));
  return skipped;
}

// ---- Element-wise operations before views -------------------------------------------------------

// Moves an element-wise operation before a view that it reads: the operation is applied to the
// source of the view, and a view of its result takes its place.
class ViewMove {
 public:
  ViewMove(Operation operation, Rewrite* rewrite)
      : operation_(std::move(operation)), rewrite_(rewrite), shape_(ShapeOf(operation_.output())) {}

  // Adds the moved operation and a view, and returns true; or adds the operation unchanged.
  bool Add() {
    const ValueId view = ChooseView();
    if (view == kNoValue || !FitsAll(view)) {
      rewrite_->Add(std::move(operation_));
      return false;
    }
    const Shape source_shape = ShapeOf(*SourceOf(*rewrite_, view));
    for (ValueId& id : operation_.inputs) id = InputBeforeView(id, source_shape);
    const TfLiteType type = rewrite_->value(operation_.output()).type;
    Operation result;
    result.kind = View{};
    result.node = operation_.node;
    result.outputs = operation_.outputs;
    result.inputs = {rewrite_->Add(std::move(operation_.kind), std::move(operation_.inputs), type,
                                   source_shape, operation_.node)};
    rewrite_->Add(std::move(result));
    return true;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return rewrite_->value(id).shape; }

  // Returns whether the operation could be the epilogue of the producer of `id`, a value with
  // `uses` uses.
  bool CouldBeEpilogue(ValueId id, int uses) const {
    const Operation* producer = rewrite_->Producer(id);
    return producer != nullptr && SupportsEpilogue(*producer) && rewrite_->uses(id) == uses;
  }

  // Returns an input that is a view of the output's shape, preferably one whose source's producer
  // could take the operation as its epilogue.
  ValueId ChooseView() {
    ValueId any = kNoValue;
    bool is_epilogue = false;
    for (ValueId id : operation_.inputs) {
      is_epilogue |= CouldBeEpilogue(id, 0);
      const ValueId* source = SourceOf(*rewrite_, id);
      if (source == nullptr || ShapeOf(id) != shape_) continue;
      const bool could_be_epilogue = rewrite_->HasNoOtherUse(id) && CouldBeEpilogue(*source, 1);
      if (any == kNoValue || (could_be_epilogue && !enables_epilogue_)) any = id;
      enables_epilogue_ |= could_be_epilogue;
    }
    // No move is needed if the operation can already be an epilogue.
    enables_epilogue_ &= !is_epilogue;
    return any;
  }

  bool FitsAll(ValueId view) const {
    const Shape& source_shape = ShapeOf(*SourceOf(*rewrite_, view));
    return std::all_of(operation_.inputs.begin(), operation_.inputs.end(), [&](ValueId id) {
      const ValueId* source = SourceOf(*rewrite_, id);
      const bool is_view = source != nullptr && ShapeOf(*source) == source_shape;
      if (ShapeOf(id) == shape_) return is_view || enables_epilogue_;
      return ElementCount(ShapeOf(id)) == 1 || IsByChannel(id, source_shape);
    });
  }

  // Returns whether a value has one element per channel along the last axis, and the view keeps
  // this axis.
  bool IsByChannel(ValueId id, const Shape& source_shape) const {
    const Shape& shape = ShapeOf(id);
    return !shape.empty() && !source_shape.empty() && shape.back() == source_shape.back() &&
           ElementCount(shape) == shape.back();
  }

  // Returns the input of the moved operation that corresponds to `id`.
  ValueId InputBeforeView(ValueId id, const Shape& source_shape) {
    const ValueId* source = SourceOf(*rewrite_, id);
    Shape shape = ShapeOf(id);
    if (shape == shape_) {
      if (source != nullptr) id = *source;
      shape = source_shape;
    } else if (shape.size() > source_shape.size()) {
      shape = Shape(source_shape.empty() ? 0 : 1, shape.back());
    }
    if (ShapeOf(id) == shape) return id;
    return rewrite_->Add(View{}, {id}, rewrite_->value(id).type, shape, operation_.node);
  }

  Operation operation_;
  Rewrite* const rewrite_;
  const Shape shape_;  // shape of the output
  bool enables_epilogue_ = false;
};

bool AddReplacement(Operation operation, Rewrite* rewrite) {
  if (std::holds_alternative<View>(operation.kind)) return AddView(std::move(operation), rewrite);
  if (std::holds_alternative<Elementwise>(operation.kind) && operation.epilogue.empty()) {
    return ViewMove(std::move(operation), rewrite).Add();
  }
  // A copy addresses elements by linear index, so the shape of its input is irrelevant.
  const bool changed =
      std::holds_alternative<Copy>(operation.kind) && ReadSources(*rewrite, &operation);
  rewrite->Add(std::move(operation));
  return changed;
}

}  // namespace

int MergeViews(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    if (AddReplacement(std::move(operation), &rewrite)) rewrite.CountChange();
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
