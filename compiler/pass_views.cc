// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compiler/computation.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// What a value is a view of, null if it is none.
const ValueId* SourceOf(const Rewrite& rewrite, ValueId id) {
  const Operation* producer = rewrite.Producer(id);
  const bool is_view = producer != nullptr && std::holds_alternative<View>(producer->kind);
  return is_view ? &producer->inputs[0] : nullptr;
}

// Instead of views it reads what they are views of.
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

// Adds a view, or what there is instead of it. True if something changed.
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
  if (producer != nullptr && rewrite->OnlyHere(from) && (same_shape || is_copy)) {
    rewrite->RenameOutput(from, to);
    return true;
  }
  rewrite->Add(std::move(view));
  return skipped;
}

// ---- Element-wise operations before views -------------------------------------------------------

// An element-wise operation, of which it is asked whether it may as well be applied behind a view
// that it reads: to what that is a view of.
class BehindView {
 public:
  BehindView(Operation operation, Rewrite* rewrite)
      : operation_(std::move(operation)), rewrite_(rewrite), shape_(ShapeOf(operation_.output())) {}

  // True if it was added behind, and a view in its place; else the operation itself was.
  bool Add() {
    const ValueId view = ChooseView();
    if (view == kNoValue || !FitsAll(view)) {
      rewrite_->Add(std::move(operation_));
      return false;
    }
    const Shape behind = ShapeOf(*SourceOf(*rewrite_, view));
    for (ValueId& id : operation_.inputs) id = Behind(id, behind);
    const TfLiteType type = rewrite_->value(operation_.output()).type;
    Operation result;
    result.kind = View{};
    result.node = operation_.node;
    result.outputs = operation_.outputs;
    result.inputs = {rewrite_->Add(std::move(operation_.kind), std::move(operation_.inputs), type,
                                   behind, operation_.node)};
    rewrite_->Add(std::move(result));
    return true;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return rewrite_->value(id).shape; }

  // Whether the operation could be the epilogue of what makes a value with so many readers.
  bool CouldFollow(ValueId id, int readers) const {
    const Operation* producer = rewrite_->Producer(id);
    return producer != nullptr && TakesEpilogue(*producer) && rewrite_->uses(id) == readers;
  }

  // A view of the output's shape, of something whose epilogue the operation could be if possible.
  ValueId ChooseView() {
    ValueId any = kNoValue;
    bool follows = false;
    for (ValueId id : operation_.inputs) {
      follows |= CouldFollow(id, 0);
      const ValueId* source = SourceOf(*rewrite_, id);
      if (source == nullptr || ShapeOf(id) != shape_) continue;
      const bool could_follow = rewrite_->OnlyHere(id) && CouldFollow(*source, 1);
      if (any == kNoValue || (could_follow && !is_wanted_)) any = id;
      is_wanted_ |= could_follow;
    }
    // It is where it should be already.
    is_wanted_ &= !follows;
    return any;
  }

  bool FitsAll(ValueId view) const {
    const Shape& behind = ShapeOf(*SourceOf(*rewrite_, view));
    return std::all_of(operation_.inputs.begin(), operation_.inputs.end(), [&](ValueId id) {
      const ValueId* source = SourceOf(*rewrite_, id);
      const bool is_view = source != nullptr && ShapeOf(*source) == behind;
      if (ShapeOf(id) == shape_) return is_view || is_wanted_;
      return ElementCount(ShapeOf(id)) == 1 || IsByChannel(id, behind);
    });
  }

  // One element for each place along the last axis, which the view keeps.
  bool IsByChannel(ValueId id, const Shape& behind) const {
    const Shape& shape = ShapeOf(id);
    return !shape.empty() && !behind.empty() && shape.back() == behind.back() &&
           ElementCount(shape) == shape.back();
  }

  // What takes an input's place.
  ValueId Behind(ValueId id, const Shape& behind) {
    const ValueId* source = SourceOf(*rewrite_, id);
    Shape shape = ShapeOf(id);
    if (shape == shape_) {
      if (source != nullptr) id = *source;
      shape = behind;
    } else if (shape.size() > behind.size()) {
      shape = Shape(behind.empty() ? 0 : 1, shape.back());
    }
    if (ShapeOf(id) == shape) return id;
    return rewrite_->Add(View{}, {id}, rewrite_->value(id).type, shape, operation_.node);
  }

  Operation operation_;
  Rewrite* const rewrite_;
  const Shape shape_;  // of the output
  bool is_wanted_ = false;
};

bool AddInPlaceOf(Operation operation, Rewrite* rewrite) {
  if (std::holds_alternative<View>(operation.kind)) return AddView(std::move(operation), rewrite);
  if (std::holds_alternative<Elementwise>(operation.kind) && operation.epilogue.empty()) {
    return BehindView(std::move(operation), rewrite).Add();
  }
  // A copy counts elements; axes are nothing to it.
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
    if (AddInPlaceOf(std::move(operation), &rewrite)) rewrite.CountChange();
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
