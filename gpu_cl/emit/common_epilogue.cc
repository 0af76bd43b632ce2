// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/common_epilogue.h"

#include <span>

#include "gpu_cl/emit/scalar_text.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Operation;
using compiler::ScalarNode;
using compiler::ScalarOp;
using compiler::Value;

namespace {

// Matches the nodes of an expression against x + added, max(low, x) and min(high, x), in their
// order.
class Matcher {
 public:
  Matcher(const Graph& graph, const Operation& operation)
      : graph_(graph), operation_(operation), nodes_(operation.epilogue.nodes()) {}

  std::optional<CommonEpilogue> Match() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const ScalarNode& node = nodes_[i];
      if (node.type != kTfLiteFloat32) return std::nullopt;
      if (node.op == ScalarOp::kConstant) continue;
      if (node.op == ScalarOp::kOperand) {
        if (node.operand == 0) x_ = static_cast<int>(i);
        continue;
      }
      if (!Apply(node)) return std::nullopt;
      x_ = static_cast<int>(i);
    }
    // The last node must be the result.
    if (!nodes_.empty() && x_ + 1 != static_cast<int>(nodes_.size())) return std::nullopt;
    return found_;
  }

 private:
  const ScalarNode& Node(int index) const { return nodes_[static_cast<size_t>(index)]; }

  bool Apply(const ScalarNode& node) {
    const int a = node.arguments[0], b = node.arguments[1];
    if (node.op == ScalarOp::kAdd) return (a == x_ && Adds(b)) || (b == x_ && Adds(a));
    // The bound must be the first argument, which makes max and min preserve NaN.
    if (b != x_ || Node(a).op != ScalarOp::kConstant) return false;
    const auto bound = static_cast<float>(Node(a).constant.real);
    is_bounded_ = true;
    if (node.op == ScalarOp::kMax && bound <= found_.high) {
      found_.low = bound > found_.low ? bound : found_.low;
      return true;
    }
    if (node.op == ScalarOp::kMin && bound >= found_.low) {
      found_.high = bound < found_.high ? bound : found_.high;
      return true;
    }
    return false;
  }

  bool Adds(int index) {
    const ScalarNode& node = Node(index);
    if (is_bounded_ || found_.added != compiler::kNoValue || node.op != ScalarOp::kOperand ||
        node.operand == 0) {
      return false;
    }
    const compiler::ValueId id = operation_.epilogue_inputs[static_cast<size_t>(node.operand) - 1];
    const Value& value = graph_.value(id);
    if (value.shape != graph_.value(operation_.output()).shape) return false;
    if (!LoadsAsFloat(value.type)) return false;
    found_.added = id;
    return true;
  }

  const Graph& graph_;
  const Operation& operation_;
  const std::span<const ScalarNode> nodes_;
  int x_ = -1;
  bool is_bounded_ = false;
  CommonEpilogue found_;
};

}  // namespace

std::optional<CommonEpilogue> FindCommonEpilogue(const Graph& graph, const Operation& operation) {
  if (!LoadsAsFloat(graph.value(operation.output()).type)) return std::nullopt;
  return Matcher(graph, operation).Match();
}

}  // namespace deputy::gpu_cl
