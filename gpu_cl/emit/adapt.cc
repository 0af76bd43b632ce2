// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/adapt.h"

#include <numeric>
#include <utility>
#include <vector>

#include "compiler/copy.h"

namespace deputy::gpu_cl {

using compiler::Copy;
using compiler::Graph;
using compiler::Operation;
using compiler::Shape;
using compiler::ValueId;
using compiler::Window;

namespace {

// Returns a copy of `box` of `source` to a new value of shape `to`, which `consumer` will read.
Operation CopyFor(const Operation& consumer, Graph* graph, ValueId source, const Shape& to,
                  const compiler::Box& box) {
  Operation copy;
  copy.kind = Copy{{RegionOf(box, graph->value(source).shape, to)}, {}};
  copy.inputs = {source};
  copy.outputs = {graph->AddValue(graph->value(source).type, to, graph->value(source).name)};
  copy.node = consumer.node;
  return copy;
}

// Returns a copy that exchanges the last two axes.
Operation Transposed(const Operation& consumer, Graph* graph, ValueId source) {
  const Shape from = graph->value(source).shape;
  const size_t rank = from.size();
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  Shape to = from;
  std::swap(to[rank - 1], to[rank - 2]);
  const std::vector<int> start(rank, 0);
  return CopyFor(consumer, graph, source, to, {0, to, start, start, {}, axes});
}

Operation Padded(const Operation& consumer, Graph* graph, ValueId source, const Window& window) {
  const Shape from = graph->value(source).shape;
  const Shape to = {from[0], from[1] + window.top + window.bottom,
                    from[2] + window.left + window.right, from[3]};
  Operation copy = CopyFor(consumer, graph, source, to,
                           {0, from, {0, 0, 0, 0}, {0, window.top, window.left, 0}, {}, {}});
  std::get<Copy>(copy.kind).fill.integer = compiler::ZeroPointOf(consumer.kind);
  return copy;
}

bool NeedsTransposedRight(const Graph& graph, const Operation& operation) {
  const auto* product = std::get_if<compiler::MatMul>(&operation.kind);
  return product != nullptr && product->transpose_b && !graph.value(operation.inputs[1]).constant();
}

bool NeedsPadding(const Graph& graph, const Operation& operation) {
  constexpr int kFewChannels = 8;
  const auto* conv = std::get_if<compiler::Conv2d>(&operation.kind);
  if (conv == nullptr || conv->groups != 1 || conv->window.dilation_x != 1) return false;
  const Window& window = conv->window;
  const bool padded =
      window.top != 0 || window.left != 0 || window.bottom != 0 || window.right != 0;
  return padded && graph.value(operation.inputs[0]).shape[3] < kFewChannels;
}

}  // namespace

Graph AdaptGraph(Graph graph, const PlanOptions& options) {
  if (options.vector_width == 0) return graph;
  std::vector<Operation> operations;
  for (Operation& operation : graph.operations) {
    if (NeedsTransposedRight(graph, operation)) {
      operations.push_back(Transposed(operation, &graph, operation.inputs[1]));
      operation.inputs[1] = operations.back().output();
      std::get<compiler::MatMul>(operation.kind).transpose_b = false;
    } else if (options.ranges && NeedsPadding(graph, operation)) {
      Window& window = std::get<compiler::Conv2d>(operation.kind).window;
      operations.push_back(Padded(operation, &graph, operation.inputs[0], window));
      operation.inputs[0] = operations.back().output();
      window.top = window.left = window.bottom = window.right = 0;
    }
    operations.push_back(std::move(operation));
  }
  graph.operations = std::move(operations);
  return graph;
}

}  // namespace deputy::gpu_cl
