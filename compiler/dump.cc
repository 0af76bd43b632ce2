// SPDX-License-Identifier: Apache-2.0
#include "compiler/dump.h"

namespace deputy::compiler {
namespace {

std::string TypeText(const Value& value) { return TypeName(value.type) + ToText(value.shape); }

std::string ReadText(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "-";
  const Value& value = graph.value(id);
  return "%" + std::to_string(id) + (value.constant() ? "{" + TypeText(value) + "}" : "");
}

std::string ListText(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (ValueId id : values) text += (text.empty() ? "" : ", ") + ReadText(graph, id);
  return "(" + text + ")";
}

std::string NamedText(const Value& value) {
  return TypeText(value) + (value.name.empty() ? "" : " '" + value.name + "'");
}

std::string Pair(const char* name, int a, int b) {
  return std::string(" ") + name + " " + std::to_string(a) + "x" + std::to_string(b);
}

std::string WindowText(const Window& window) {
  std::string text = Pair("window", window.height, window.width) +
                     Pair("stride", window.stride_y, window.stride_x);
  if (window.dilation_y != 1 || window.dilation_x != 1) {
    text += Pair("dilation", window.dilation_y, window.dilation_x);
  }
  if (window.top != 0 || window.left != 0 || window.bottom != 0 || window.right != 0) {
    text += Pair("padding", window.top, window.left) + Pair("to", window.bottom, window.right);
  }
  return text;
}

std::string ZeroText(int zero_point) {
  return zero_point == 0 ? "" : " zero " + std::to_string(zero_point);
}

std::string AxisText(int axis) { return " axis " + std::to_string(axis); }

// Formats the parameters of an operation's kind.
struct Parameters {
  std::string operator()(const Elementwise& kind) const { return " " + ToText(kind.expression); }
  std::string operator()(const View&) const { return ""; }
  std::string operator()(const Copy& kind) const {
    return " " + std::to_string(kind.regions.size()) +
           (kind.regions.size() == 1 ? " region" : " regions");
  }
  std::string operator()(const Conv2d& kind) const {
    return WindowText(kind.window) +
           (kind.groups == 1 ? "" : " groups " + std::to_string(kind.groups)) +
           ZeroText(kind.zero_point);
  }
  std::string operator()(const DepthwiseConv2d& kind) const {
    return WindowText(kind.window) + ZeroText(kind.zero_point);
  }
  std::string operator()(const TransposedConv2d& kind) const { return WindowText(kind.window); }
  std::string operator()(const Pool2d& kind) const {
    constexpr const char* kNames[] = {" max", " average", " l2"};
    return kNames[static_cast<size_t>(kind.kind)] + WindowText(kind.window);
  }
  std::string operator()(const MatMul& kind) const {
    return std::string(kind.transpose_a ? " a transposed" : "") +
           (kind.transpose_b ? " b transposed" : "") + ZeroText(kind.zero_point);
  }
  std::string operator()(const Reduce& kind) const {
    constexpr const char* kNames[] = {" sum", " mean", " prod", " max", " min", " any", " all"};
    std::string text = std::string(kNames[static_cast<size_t>(kind.kind)]) + " axes";
    for (int axis = 0; axis < 32; ++axis) {
      if ((kind.axes >> axis & 1) != 0) text += " " + std::to_string(axis);
    }
    return text;
  }
  std::string operator()(const Softmax& kind) const { return kind.log ? " log" : ""; }
  std::string operator()(const ArgReduce& kind) const {
    return (kind.largest ? " largest" : " smallest") + AxisText(kind.axis);
  }
  std::string operator()(const CumulativeSum& kind) const {
    return AxisText(kind.axis) + (kind.exclusive ? " exclusive" : "") +
           (kind.reverse ? " reverse" : "");
  }
  std::string operator()(const TopK&) const { return ""; }
  std::string operator()(const Gather& kind) const { return AxisText(kind.axis); }
  std::string operator()(const OneHot& kind) const { return AxisText(kind.axis); }
  std::string operator()(const Resize& kind) const {
    return kind.bilinear ? " bilinear" : " nearest";
  }
};

std::string OperationText(const Graph& graph, const Operation& operation) {
  std::string text;
  for (ValueId id : operation.outputs) {
    text += (text.empty() ? "%" : ", %") + std::to_string(id);
  }
  text += std::string(" = ") + KindName(operation.kind) + ListText(graph, operation.inputs) +
          std::visit(Parameters(), operation.kind);
  if (!operation.epilogue.empty()) {
    text += " then " + ToText(operation.epilogue);
    if (!operation.epilogue_inputs.empty()) {
      text += " of " + ListText(graph, operation.epilogue_inputs);
    }
  }
  for (ValueId id : operation.outputs) text += " " + NamedText(graph.value(id));
  return text + (operation.node < 0 ? "" : "  # node " + std::to_string(operation.node));
}

}  // namespace

std::string ToText(const Graph& graph) {
  std::string text;
  for (ValueId id : graph.inputs) {
    text += "input %" + std::to_string(id) + " " + NamedText(graph.value(id)) + "\n";
  }
  for (const Operation& operation : graph.operations)
    text += OperationText(graph, operation) + "\n";
  for (ValueId id : graph.outputs) text += "output " + ReadText(graph, id) + "\n";
  return text;
}

}  // namespace deputy::compiler
