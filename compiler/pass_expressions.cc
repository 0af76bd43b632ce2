// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/computation.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

bool Same(const ScalarNode& a, const ScalarNode& b) {
  return a.op == b.op && a.type == b.type &&
         std::equal(a.arguments, a.arguments + 3, b.arguments) && a.operand == b.operand &&
         a.constant.integer == b.constant.integer &&
         (a.constant.real == b.constant.real ||
          (std::isnan(a.constant.real) && std::isnan(b.constant.real)));
}

bool Same(const Computation& a, const Computation& b) {
  const auto left = a.expression.nodes(), right = b.expression.nodes();
  return a.inputs == b.inputs &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ScalarNode& x, const ScalarNode& y) { return Same(x, y); });
}

// Returns whether a value can be embedded in an expression: one element, and exact as a double.
bool IsNumber(const Value& value) {
  if (!value.constant() || ElementCount(value.shape) != 1) return false;
  return IsFloat(value.type) || std::abs(static_cast<double>(value.At(0).integer)) < 0x1p53;
}

Computation Simpler(const Graph& graph, const Computation& computation) {
  Computation result = Canonicalized(computation);
  for (ValueId id : std::vector<ValueId>(result.inputs)) {
    if (id == kElement || !IsNumber(graph.value(id))) continue;
    const Value& value = graph.value(id);
    const Number number = value.At(0);
    Computation constant;
    constant.expression.Constant(
        value.type, IsFloat(value.type) ? number.real : static_cast<double>(number.integer));
    result = Inlined(result, id, constant);
  }
  return result;
}

bool IsOperand(const Expression& expression) {
  return expression.nodes().size() == 1 && expression.nodes()[0].op == ScalarOp::kOperand;
}

bool SimplifyKind(const Graph& graph, Operation* operation) {
  if (!std::holds_alternative<Elementwise>(operation->kind)) return false;
  const Computation before = ComputationOf(*operation);
  Computation after = Simpler(graph, before);
  const bool changed = !Same(before, after);
  operation->inputs = std::move(after.inputs);
  std::get<Elementwise>(operation->kind).expression = std::move(after.expression);
  if (!IsOperand(std::get<Elementwise>(operation->kind).expression)) return changed;
  const Shape& from = graph.value(operation->inputs[0]).shape;
  if (ElementCount(from) != ElementCount(graph.value(operation->output()).shape)) return changed;
  operation->kind = View{};
  return true;
}

bool SimplifyEpilogue(const Graph& graph, Operation* operation) {
  if (operation->epilogue.empty()) return false;
  const Computation before = EpilogueOf(*operation, kTfLiteNoType);
  const Computation after = Simpler(graph, before);
  // An epilogue must keep the operand for its element, because the type of the operation's own
  // result is that operand's type.
  if (std::find(after.inputs.begin(), after.inputs.end(), kElement) == after.inputs.end()) {
    return false;
  }
  SetEpilogue(after, operation);
  const bool changed = !Same(before, EpilogueOf(*operation, kTfLiteNoType));
  if (!IsOperand(operation->epilogue) || !operation->epilogue_inputs.empty()) return changed;
  operation->epilogue = {};
  return true;
}

}  // namespace

int SimplifyExpressions(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    const bool kind = SimplifyKind(*graph, &operation);
    const bool epilogue = SimplifyEpilogue(*graph, &operation);
    if (kind || epilogue) rewrite.CountChange();
    rewrite.Add(std::move(operation));
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
