// SPDX-License-Identifier: Apache-2.0
#include "compiler/fold.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/reference.h"

namespace deputy::compiler {
namespace {

constexpr size_t kFreeBytes = size_t{1} << 20;
constexpr size_t kFreeBytesInAll = size_t{256} << 20;
constexpr int64_t kMaxSteps = 100'000'000;
constexpr int64_t kFreeStepsInAll = 1'000'000'000;

// How many elements of the inputs meet in one of the output.
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

struct Price {
  size_t bytes = 0;
  int64_t steps = 0;
};

// Nothing: too high.
std::optional<Price> PriceOf(const Graph& graph, const Operation& operation) {
  Price price;
  size_t bytes_read = 0;
  int64_t elements = 0;
  for (ValueId id : ReadValues(operation)) {
    bytes_read += graph.value(id).bytes();
    price.steps += ElementCount(graph.value(id).shape);
  }
  for (ValueId id : operation.outputs) {
    price.bytes += graph.value(id).bytes();
    elements += ElementCount(graph.value(id).shape);
  }
  const int64_t each = std::visit(StepsPerElement{graph, operation}, operation.kind);
  if (elements > kMaxSteps / std::max<int64_t>(each, 1)) return std::nullopt;
  price.steps += elements * each;
  const int64_t allowed = kFreeStepsInAll + 16 * static_cast<int64_t>(graph.model_bytes);
  const bool cheap = price.bytes <= std::max(kFreeBytes, 4 * bytes_read) &&
                     price.steps <= kMaxSteps && graph.fold_steps + price.steps <= allowed &&
                     MayKeep(graph, price.bytes);
  return cheap ? std::optional<Price>(price) : std::nullopt;
}

}  // namespace

bool MayKeep(const Graph& graph, size_t bytes) {
  return graph.kept_bytes + bytes <= kFreeBytesInAll + 16 * graph.model_bytes;
}

bool Fold(Graph* graph, const Operation& operation,
          std::vector<std::vector<std::byte>>* out_contents) {
  const std::vector<ValueId> read = ReadValues(operation);
  const bool constant = std::all_of(read.begin(), read.end(),
                                    [&](ValueId id) { return graph->value(id).constant(); });
  const std::optional<Price> price = constant ? PriceOf(*graph, operation) : std::nullopt;
  if (!price) return false;
  graph->fold_steps += price->steps;
  std::string error;
  return ComputeConstant(*graph, operation, out_contents, &error);
}

}  // namespace deputy::compiler
