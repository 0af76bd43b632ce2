// SPDX-License-Identifier: Apache-2.0
#include "compiler/work.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace deputy::compiler {
namespace {

constexpr double kTranscendental = 10;

double CountOf(const Graph& graph, ValueId id) {
  return static_cast<double>(ElementCount(graph.value(id).shape));
}

double BytesOf(const Graph& graph, ValueId id) {
  return CountOf(graph, id) * static_cast<double>(ElementBytes(graph.value(id).type));
}

double StepsOf(const ScalarNode& node) {
  switch (node.op) {
    case ScalarOp::kOperand:
    case ScalarOp::kConstant:
      return 0;
    case ScalarOp::kExp:
    case ScalarOp::kExpm1:
    case ScalarOp::kLog:
    case ScalarOp::kSin:
    case ScalarOp::kCos:
    case ScalarOp::kTanh:
    case ScalarOp::kLogistic:
    case ScalarOp::kErf:
    case ScalarOp::kPow:
    case ScalarOp::kAtan2:
      return kTranscendental;
    default:
      return 1;
  }
}

double StepsOf(const Expression& expression) {
  double steps = 0;
  for (const ScalarNode& node : expression.nodes()) steps += StepsOf(node);
  return steps;
}

// Computes the multiply-adds and steps of a kind of operation, without an epilogue.
struct Arithmetic {
  const Graph& graph;
  const Operation& operation;

  const Shape& input(size_t n) const { return graph.value(operation.inputs[n]).shape; }
  double input_count() const { return CountOf(graph, operation.inputs[0]); }
  double output_count() const { return CountOf(graph, operation.output()); }
  static Work Macs(double macs) { return {.macs = macs}; }
  static Work Steps(double steps) { return {.steps = steps}; }
  // Returns the elements of a filter [out channels, height, width, channels] per output channel.
  double filter() const {
    const Shape& shape = input(1);
    return static_cast<double>(ElementCount({shape[1], shape[2], shape[3]}));
  }
  static double Pixels(const Window& window) {
    return static_cast<double>(window.height) * window.width;
  }

  Work operator()(const Elementwise& kind) const {
    return Steps(output_count() * StepsOf(kind.expression));
  }
  Work operator()(const Conv2d&) const { return Macs(output_count() * filter()); }
  Work operator()(const DepthwiseConv2d& kind) const {
    return Macs(output_count() * Pixels(kind.window));
  }
  // Computes the work of a transposed convolution: every pixel of the image is added to a window of
  // every output channel.
  Work operator()(const TransposedConv2d&) const {
    const Shape& shape = input(1);
    return Macs(input_count() * static_cast<double>(ElementCount({shape[0], shape[1], shape[2]})));
  }
  Work operator()(const MatMul& kind) const {
    const Shape& a = input(0);
    return Macs(output_count() * (kind.transpose_a ? a[a.size() - 2] : a.back()));
  }
  Work operator()(const Pool2d& kind) const { return Steps(output_count() * Pixels(kind.window)); }
  Work operator()(const Reduce&) const { return Steps(input_count()); }
  Work operator()(const Softmax&) const { return Steps(input_count() * (kTranscendental + 3)); }
  Work operator()(const ArgReduce&) const { return Steps(input_count()); }
  Work operator()(const CumulativeSum&) const { return Steps(input_count()); }
  Work operator()(const TopK&) const { return Steps(input_count()); }
  Work operator()(const Resize& kind) const {
    return Steps(output_count() * (kind.bilinear ? 8 : 1));
  }
  // Computes the work of operations that only move elements: View, Copy, Gather, OneHot.
  template <typename Kind>
  Work operator()(const Kind&) const {
    return {};
  }
};

bool IsView(const Operation& operation) { return std::holds_alternative<View>(operation.kind); }

// Returns whether the operation reads at most as many bytes of an input as it writes.
bool ReadsOnlyOutputSize(const Operation& operation) {
  return std::holds_alternative<Gather>(operation.kind) ||
         std::holds_alternative<Copy>(operation.kind);
}

Work ArithmeticOf(const Graph& graph, const Operation& operation) {
  Work work = std::visit(Arithmetic{graph, operation}, operation.kind);
  work.steps += CountOf(graph, operation.output()) * StepsOf(operation.epilogue);
  work.operations = 1;
  return work;
}

}  // namespace

Work WorkOf(const Graph& graph, const Operation& operation) {
  if (IsView(operation)) return {};
  Work work = ArithmeticOf(graph, operation);
  double written = 0;
  for (ValueId id : operation.outputs) written += BytesOf(graph, id);
  work.bytes = written;
  const std::vector<ValueId> read = ReadValues(operation);
  for (ValueId id : std::set<ValueId>(read.begin(), read.end())) {
    const double bytes = BytesOf(graph, id);
    work.bytes += ReadsOnlyOutputSize(operation) ? std::min(bytes, written) : bytes;
  }
  return work;
}

std::vector<Work> WorkOfOperations(const Graph& graph) {
  std::vector<Work> works;
  for (const Operation& operation : graph.operations) {
    if (!IsView(operation)) works.push_back(WorkOf(graph, operation));
  }
  return works;
}

std::vector<Work> WorkOfNodes(const Graph& graph) {
  std::vector<Work> works;
  std::map<int, size_t> index_of_node;
  std::vector<int> producer(graph.values.size(), -1);  // node that produces the value, by value
  std::set<std::pair<int, ValueId>> entered;           // values counted as read by a node
  std::vector<bool> left(graph.values.size(), false);
  const auto leave = [&](ValueId id) {
    const int node = producer[static_cast<size_t>(id)];
    if (node < 0 || left[static_cast<size_t>(id)]) return;
    left[static_cast<size_t>(id)] = true;
    works[index_of_node[node]].bytes += BytesOf(graph, id);
  };
  for (const Operation& operation : graph.operations) {
    const int node = operation.node;
    const auto [found, added] = index_of_node.emplace(node, works.size());
    if (added) works.emplace_back();
    const size_t index = found->second;
    for (ValueId id : ReadValues(operation)) {
      if (producer[static_cast<size_t>(id)] == node && node >= 0) continue;
      leave(id);
      if (entered.emplace(node, id).second) works[index].bytes += BytesOf(graph, id);
      const TfLiteType type = graph.value(id).type;
      if (type == kTfLiteInt8 || type == kTfLiteUInt8) works[index].bytewise = true;
    }
    for (ValueId id : operation.outputs) producer[static_cast<size_t>(id)] = node;
    if (IsView(operation)) continue;
    const Work more = ArithmeticOf(graph, operation);
    works[index].macs += more.macs;
    works[index].steps += more.steps;
    works[index].operations = 1;
  }
  for (ValueId id : graph.outputs) leave(id);
  for (Work& work : works) {
    if (work.operations == 0) work = {};
  }
  return works;
}

double BorderBytes(const Graph& graph) {
  double bytes = 0;
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (ValueId id : *ids) bytes += BytesOf(graph, id);
  }
  return bytes;
}

}  // namespace deputy::compiler
