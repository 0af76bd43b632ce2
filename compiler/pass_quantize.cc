// SPDX-License-Identifier: Apache-2.0
//
// Moves conversions from integers to reals next to the conversions that computed the integers, and
// merges equal ones. Where integers are computed from reals and soon converted back, values can
// then stay real in between: other passes fuse the two conversions and remove the integer.
#include <algorithm>
#include <map>
#include <utility>

#include "compiler/computation.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// Maximum number of values visited when tracing back through copies and views.
constexpr int kMaxVisits = 32;
// Maximum number of earlier operations on one value that a new one is compared with.
constexpr size_t kMaxCandidates = 8;

// Returns whether the operation is element-wise, from one integer input to one real output of the
// same shape.
bool IsDequantize(const Rewrite& rewrite, const Operation& operation) {
  if (!std::holds_alternative<Elementwise>(operation.kind) || operation.inputs.size() != 1) {
    return false;
  }
  const Value& from = rewrite.value(operation.inputs[0]);
  const Value& to = rewrite.value(operation.output());
  return !IsFloat(from.type) && IsFloat(to.type) && from.shape == to.shape;
}

bool IsMovement(const Operation& operation) {
  return std::holds_alternative<View>(operation.kind) ||
         std::holds_alternative<Copy>(operation.kind);
}

// Returns whether a value was computed by an expression that ends in a cast, as quantisation does,
// directly or before copies and views; for several inputs of a copy, whether one of them was.
// `*budget` is the number of values that may still be visited; the number of paths may be
// exponential.
bool ComesFromReal(const Rewrite& rewrite, ValueId id, int* budget) {
  const Operation* producer = rewrite.Producer(id);
  if (producer == nullptr || --*budget < 0) return false;
  if (IsMovement(*producer)) {
    return std::any_of(producer->inputs.begin(), producer->inputs.end(), [&](ValueId from) {
      return *budget > 0 && ComesFromReal(rewrite, from, budget);
    });
  }
  const auto* kind = std::get_if<Elementwise>(&producer->kind);
  const Expression& expression = kind == nullptr ? producer->epilogue : kind->expression;
  return !expression.empty() && expression.nodes().back().op == ScalarOp::kCast;
}

bool Same(const Expression& a, const Expression& b) {
  const auto left = a.nodes(), right = b.nodes();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ScalarNode& x, const ScalarNode& y) {
                      return x.op == y.op && x.type == y.type && x.operand == y.operand &&
                             std::equal(x.arguments, x.arguments + 3, y.arguments) &&
                             x.constant.real == y.constant.real &&
                             x.constant.integer == y.constant.integer;
                    });
}

class Joining {
 public:
  explicit Joining(Graph* graph) : rewrite_(graph) {}

  int Run() {
    Operation operation;
    while (rewrite_.Next(&operation)) {
      if (IsDequantize(rewrite_, operation)) {
        if (AddDequantize(&operation)) rewrite_.CountChange();
      } else {
        rewrite_.Add(std::move(operation));
      }
    }
    return rewrite_.Finish();
  }

 private:
  // Returns the result of an equal operation on the same input; kNoValue if there is none.
  ValueId FindEqual(const Operation& operation) const {
    const auto consumers = consumers_.find(operation.inputs[0]);
    if (consumers == consumers_.end()) return kNoValue;
    for (ValueId id : consumers->second) {
      if (Same(std::get<Elementwise>(rewrite_.Producer(id)->kind).expression,
               std::get<Elementwise>(operation.kind).expression)) {
        return id;
      }
    }
    return kNoValue;
  }

  void Record(const Operation& operation) {
    std::vector<ValueId>& consumers = consumers_[operation.inputs[0]];
    if (consumers.size() < kMaxCandidates) consumers.push_back(operation.output());
  }

  // Moves a conversion to reals towards the producer of its integers. Returns true if the operation
  // was replaced by another one.
  bool AddDequantize(Operation* operation) {
    const ValueId known = FindEqual(*operation);
    if (known != kNoValue && !rewrite_.IsOutput(operation->output())) {
      rewrite_.Replace(operation->output(), known);
      return true;
    }
    const ValueId from = operation->inputs[0];
    const Operation* moved = rewrite_.Producer(from);
    int budget = kMaxVisits;
    if (moved != nullptr && IsMovement(*moved) && rewrite_.HasNoOtherUse(from) &&
        ComesFromReal(rewrite_, from, &budget)) {
      AddBefore(*operation, rewrite_.RemoveProducer(from));
      return true;
    }
    Record(*operation);
    rewrite_.Add(std::move(*operation));
    return false;
  }

  // Returns the real value of `id`, computed by the expression of `operation`.
  ValueId Dequantized(const Operation& operation, ValueId id) {
    Operation alone = operation;
    alone.inputs = {id};
    const ValueId known = FindEqual(alone);
    if (known != kNoValue) return known;
    const TfLiteType type = rewrite_.value(operation.output()).type;
    alone.outputs = {rewrite_.graph().AddValue(type, rewrite_.value(id).shape)};
    Record(alone);
    const ValueId result = alone.output();
    rewrite_.Add(std::move(alone));
    return result;
  }

  // Adds the movement `moved` on reals instead of integers, with `operation` before it.
  void AddBefore(const Operation& operation, Operation moved) {
    const Expression& expression = std::get<Elementwise>(operation.kind).expression;
    if (auto* copy = std::get_if<Copy>(&moved.kind)) {
      copy->fill = Evaluate(expression, std::span<const Number>(&copy->fill, 1));
    }
    for (ValueId& id : moved.inputs) id = Dequantized(operation, id);
    moved.outputs = operation.outputs;
    moved.node = operation.node;
    rewrite_.Add(std::move(moved));
  }

  Rewrite rewrite_;
  // Outputs of the recorded operations, by the value that they read.
  std::map<ValueId, std::vector<ValueId>> consumers_;
};

}  // namespace

int JoinQuantization(Graph* graph) { return Joining(graph).Run(); }

}  // namespace deputy::compiler
