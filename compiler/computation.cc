// SPDX-License-Identifier: Apache-2.0
#include "compiler/computation.h"

#include <algorithm>
#include <utility>

#include "compiler/simplify.h"

namespace deputy::compiler {
namespace {

// Returns the type of each operand; kTfLiteNoType for unused ones.
std::vector<TfLiteType> OperandTypes(const Computation& computation) {
  std::vector<TfLiteType> types(computation.inputs.size(), kTfLiteNoType);
  for (const ScalarNode& node : computation.expression.nodes()) {
    if (node.op == ScalarOp::kOperand) types[static_cast<size_t>(node.operand)] = node.type;
  }
  return types;
}

// Builds a computation and assigns operand numbers to its inputs.
class Builder {
 public:
  explicit Builder(std::vector<ValueId> first_inputs = {}) {
    result_.inputs = std::move(first_inputs);
  }

  // Returns the nodes for the operands of `from`; -1 for unused ones and for those equal to
  // `omitted`.
  std::vector<int> AddOperands(const Computation& from, ValueId omitted) {
    const std::vector<TfLiteType> types = OperandTypes(from);
    std::vector<int> nodes(types.size(), -1);
    for (size_t n = 0; n < types.size(); ++n) {
      if (types[n] == kTfLiteNoType || from.inputs[n] == omitted) continue;
      nodes[n] = result_.expression.Operand(NumberOf(from.inputs[n]), types[n]);
    }
    return nodes;
  }

  Expression& expression() { return result_.expression; }
  Computation Take(int result) {
    result_.expression.SetResult(result);
    return std::move(result_);
  }

 private:
  int NumberOf(ValueId id) {
    const auto found = std::find(result_.inputs.begin(), result_.inputs.end(), id);
    const auto number = static_cast<int>(found - result_.inputs.begin());
    if (found == result_.inputs.end()) result_.inputs.push_back(id);
    return number;
  }

  Computation result_;
};

Computation Compacted(const Computation& computation) {
  Builder builder;
  const std::vector<int> nodes = builder.AddOperands(computation, kNoValue);
  return builder.Take(builder.expression().Append(computation.expression, nodes));
}

}  // namespace

Computation ComputationOf(const Operation& elementwise) {
  return {std::get<Elementwise>(elementwise.kind).expression, elementwise.inputs};
}

Computation EpilogueOf(const Operation& operation, TfLiteType type) {
  Computation computation{operation.epilogue, operation.epilogue_inputs};
  computation.inputs.insert(computation.inputs.begin(), kElement);
  if (computation.expression.empty()) computation.expression.Operand(0, type);
  return computation;
}

bool SupportsEpilogue(const Operation& operation) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return std::is_same_v<Kind, Conv2d> || std::is_same_v<Kind, DepthwiseConv2d> ||
               std::is_same_v<Kind, TransposedConv2d> || std::is_same_v<Kind, Pool2d> ||
               std::is_same_v<Kind, MatMul> || std::is_same_v<Kind, Reduce> ||
               std::is_same_v<Kind, Softmax>;
      },
      operation.kind);
}

Computation Canonicalized(const Computation& computation) {
  // The operands are compacted again after simplifying, which may have removed the only use of one.
  Computation result = Compacted(computation);
  result.expression = Simplified(result.expression);
  return Compacted(result);
}

Computation Inlined(const Computation& outer, ValueId value, const Computation& inner) {
  Builder builder;
  // The inputs of `outer` keep their order; those of `inner` come where `value` was.
  const auto position = std::find(outer.inputs.begin(), outer.inputs.end(), value);
  Computation before{outer.expression, outer.inputs};
  std::fill(before.inputs.begin() + (position - outer.inputs.begin()), before.inputs.end(), value);
  builder.AddOperands(before, value);
  const std::vector<int> inner_nodes = builder.AddOperands(inner, kNoValue);
  std::vector<int> nodes = builder.AddOperands(outer, value);
  const int result = builder.expression().Append(inner.expression, inner_nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (outer.inputs[n] == value) nodes[n] = result;
  }
  return Canonicalized(builder.Take(builder.expression().Append(outer.expression, nodes)));
}

void SetEpilogue(const Computation& computation, Operation* operation) {
  Builder builder({kElement});
  const std::vector<int> nodes = builder.AddOperands(computation, kNoValue);
  Computation result = builder.Take(builder.expression().Append(computation.expression, nodes));
  operation->epilogue = std::move(result.expression);
  operation->epilogue_inputs.assign(result.inputs.begin() + 1, result.inputs.end());
}

int WorkOf(const Expression& expression) {
  const auto nodes = expression.nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](const ScalarNode& node) {
    return node.op != ScalarOp::kOperand && node.op != ScalarOp::kConstant;
  }));
}

}  // namespace deputy::compiler
