// SPDX-License-Identifier: Apache-2.0
//
// Fusion: merges chains of element-wise operations, and turns element-wise operations into
// epilogues of large operations, so that intermediate results are not stored. The order of
// evaluation is unchanged.
#include <algorithm>
#include <utility>

#include "compiler/computation.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

bool IsElementwise(const Operation* operation) {
  return operation != nullptr && std::holds_alternative<Elementwise>(operation->kind) &&
         operation->epilogue.empty();
}

// ---- Element-wise operations --------------------------------------------------------------------

// Returns whether an expression is cheap enough to be computed twice.
bool IsCheap(const Expression& expression) {
  const auto nodes = expression.nodes();
  const auto is_transcendental = [](const ScalarNode& node) {
    return (node.op >= ScalarOp::kSqrt && node.op <= ScalarOp::kErf) || node.op == ScalarOp::kDiv ||
           node.op == ScalarOp::kFloorDiv || node.op == ScalarOp::kFloorMod ||
           node.op == ScalarOp::kPow || node.op == ScalarOp::kAtan2;
  };
  return WorkOf(expression) <= 2 && std::none_of(nodes.begin(), nodes.end(), is_transcendental);
}

class ElementwiseFusion {
 public:
  explicit ElementwiseFusion(Graph* graph)
      : other_consumers_(OtherConsumers(*graph)), rewrite_(graph) {}

  int Run() {
    Operation operation;
    while (rewrite_.Next(&operation)) {
      if (IsElementwise(&operation)) {
        while (FuseOne(&operation)) rewrite_.CountChange();
      }
      rewrite_.Add(std::move(operation));
    }
    return rewrite_.Finish();
  }

 private:
  // Marks the values that are read by an operation other than an element-wise one of the same
  // shape.
  static std::vector<bool> OtherConsumers(const Graph& graph) {
    std::vector<bool> others(graph.values.size(), false);
    for (const Operation& operation : graph.operations) {
      const Shape& shape = graph.value(operation.output()).shape;
      for (ValueId id : ReadValues(operation)) {
        if (!IsElementwise(&operation) || graph.value(id).shape != shape) {
          others[static_cast<size_t>(id)] = true;
        }
      }
    }
    return others;
  }

  // Returns whether reading the producer's inputs costs no more than reading its result.
  bool ReadsNoMore(const Operation& producer) const {
    const Value& result = rewrite_.value(producer.output());
    int large = 0;
    for (ValueId id : producer.inputs) {
      const Value& value = rewrite_.value(id);
      if (value.bytes() > result.bytes()) return false;
      if (ElementCount(value.shape) == ElementCount(result.shape)) ++large;
    }
    return large <= 1;
  }

  // Returns whether the producer will become an epilogue, which is computed once for all consumers.
  bool WillBecomeEpilogue(const Operation& producer) const {
    return std::any_of(producer.inputs.begin(), producer.inputs.end(), [&](ValueId id) {
      const Operation* inner = rewrite_.Producer(id);
      return inner != nullptr && SupportsEpilogue(*inner) && rewrite_.uses(id) == 1;
    });
  }

  // Returns whether a value may be recomputed inside its consumer `consumer`.
  bool CanInline(ValueId id, const Operation& consumer) const {
    const Operation* producer = rewrite_.Producer(id);
    if (!IsElementwise(producer)) return false;
    if (rewrite_.value(id).shape != rewrite_.value(consumer.output()).shape) return false;
    if (rewrite_.HasNoOtherUse(id)) return true;
    return !rewrite_.IsOutput(id) && !other_consumers_[static_cast<size_t>(id)] &&
           IsCheap(std::get<Elementwise>(producer->kind).expression) && ReadsNoMore(*producer) &&
           !WillBecomeEpilogue(*producer);
  }

  // Inlines one producer into the operation; returns false if none qualifies.
  bool FuseOne(Operation* operation) {
    const Computation outer = ComputationOf(*operation);
    for (ValueId id : operation->inputs) {
      if (!CanInline(id, *operation)) continue;
      Computation fused = Inlined(outer, id, ComputationOf(*rewrite_.Producer(id)));
      if (WorkOf(fused.expression) > kMaxWork || fused.inputs.size() > kMaxOperands) continue;
      if (rewrite_.HasNoOtherUse(id)) rewrite_.RemoveProducer(id);
      operation->kind = Elementwise{std::move(fused.expression)};
      operation->inputs = std::move(fused.inputs);
      return true;
    }
    return false;
  }

  const std::vector<bool> other_consumers_;
  Rewrite rewrite_;
};

// ---- Epilogues ----------------------------------------------------------------------------------

// Returns an input of an element-wise operation if the operation may be fused into the epilogue of
// the input's producer; kNoValue if there is no such input. Of several, returns the one that is
// produced last, so that the others are available.
ValueId EpilogueElement(const Rewrite& rewrite, const Operation& operation) {
  ValueId element = kNoValue;
  const Operation* last = nullptr;
  for (ValueId id : operation.inputs) {
    const Operation* producer = rewrite.Producer(id);
    if (producer == nullptr || !SupportsEpilogue(*producer) || !rewrite.HasNoOtherUse(id)) continue;
    if (rewrite.value(id).shape != rewrite.value(operation.output()).shape) continue;
    // Both pointers refer to elements of Rewrite's vector of added operations, which is in
    // topological order.
    if (last != nullptr && producer < last) continue;
    element = id;
    last = producer;
  }
  return element;
}

bool FuseIntoProducer(const Operation& operation, Rewrite* rewrite) {
  if (!IsElementwise(&operation)) return false;
  const ValueId element = EpilogueElement(*rewrite, operation);
  if (element == kNoValue) return false;
  const Operation& producer = *rewrite->Producer(element);
  const TfLiteType type = rewrite->value(element).type;
  const Computation fused = Inlined(ComputationOf(operation), element, EpilogueOf(producer, type));
  const bool has_element =
      std::find(fused.inputs.begin(), fused.inputs.end(), kElement) != fused.inputs.end();
  if (!has_element || WorkOf(fused.expression) > kMaxWork ||
      fused.inputs.size() > kMaxEpilogueInputs + 1) {
    return false;
  }
  Operation moved = rewrite->RemoveProducer(element);
  SetEpilogue(fused, &moved);
  moved.outputs = operation.outputs;
  moved.node = operation.node;
  rewrite->Add(std::move(moved));
  return true;
}

}  // namespace

int FuseElementwise(Graph* graph) { return ElementwiseFusion(graph).Run(); }

int FuseEpilogues(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    if (FuseIntoProducer(operation, &rewrite)) {
      rewrite.CountChange();
    } else {
      rewrite.Add(std::move(operation));
    }
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
