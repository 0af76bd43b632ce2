// SPDX-License-Identifier: Apache-2.0
#include "compiler/fold.h"

#include <algorithm>
#include <string>

#include "compiler/reference.h"

namespace deputy::compiler {
namespace {

constexpr size_t kFreeBytes = size_t{1} << 20;
constexpr size_t kFreeBytesInAll = size_t{256} << 20;
constexpr int64_t kMaxSteps = 100'000'000;
constexpr int64_t kFreeStepsInAll = 1'000'000'000;

// Number of input elements that a window or a matrix product combines into one output element; 1
// for other kinds, whose inputs StepsOf counts once.
struct StepsPerElement {
  const Graph& graph;
  const Operation& operation;

  const Shape& input(size_t n) const { return graph.value(operation.inputs[n]).shape; }
  int64_t OfFilter() const {
    const Shape& filter = input(1);
    return ElementCount({filter[1], filter[2], filter[3]});
  }

  template <typename Kind>
  int64_t operator()(const Kind&) const {
    return 1;
  }
  int64_t operator()(const Conv2d&) const { return OfFilter(); }
  int64_t operator()(const TransposedConv2d&) const { return OfFilter(); }
  int64_t operator()(const DepthwiseConv2d& kind) const {
    return int64_t{kind.window.height} * kind.window.width;
  }
  int64_t operator()(const Pool2d& kind) const {
    return int64_t{kind.window.height} * kind.window.width;
  }
  int64_t operator()(const MatMul& kind) const {
    const Shape& a = input(0);
    return kind.transpose_a ? a[a.size() - 2] : a.back();
  }
};

// Returns the total bytes of a list of values.
size_t BytesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  size_t bytes = 0;
  for (ValueId id : ids) bytes += graph.value(id).bytes();
  return bytes;
}

bool IsCheap(const Graph& graph, const Operation& operation, int64_t steps) {
  const size_t read = BytesOf(graph, ReadValues(operation));
  const size_t written = BytesOf(graph, operation.outputs);
  const int64_t allowed = kFreeStepsInAll + 16 * static_cast<int64_t>(graph.model_bytes);
  return written <= std::max(kFreeBytes, 4 * read) && steps <= kMaxSteps &&
         graph.fold_steps + steps <= allowed && CanKeep(graph, written);
}

}  // namespace

bool CanKeep(const Graph& graph, size_t bytes) {
  return graph.kept_bytes + bytes <= kFreeBytesInAll + 16 * graph.model_bytes;
}

int64_t StepsOf(const Graph& graph, const Operation& operation) {
  int64_t read = 0, written = 0, steps;
  for (ValueId id : ReadValues(operation)) read += ElementCount(graph.value(id).shape);
  for (ValueId id : operation.outputs) written += ElementCount(graph.value(id).shape);
  const int64_t each = std::visit(StepsPerElement{graph, operation}, operation.kind);
  if (__builtin_mul_overflow(written, each, &steps)) return INT64_MAX;
  return __builtin_add_overflow(steps, read, &steps) ? INT64_MAX : steps;
}

bool Fold(Graph* graph, const Operation& operation,
          std::vector<std::vector<std::byte>>* out_contents) {
  const std::vector<ValueId> read = ReadValues(operation);
  const bool constant = std::all_of(read.begin(), read.end(),
                                    [&](ValueId id) { return graph->value(id).constant(); });
  if (!constant) return false;
  const int64_t steps = StepsOf(*graph, operation);
  if (!IsCheap(*graph, operation, steps)) return false;
  graph->fold_steps += steps;
  std::string error;
  return ComputeConstant(*graph, operation, out_contents, &error);
}

}  // namespace deputy::compiler
