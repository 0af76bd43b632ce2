// SPDX-License-Identifier: Apache-2.0
#include "core/base/delegate_params.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/delegate_call.h"

namespace deputy {
namespace {

// Allocates consecutive arrays in the tail of a block.
class Carver {
 public:
  explicit Carver(char* next) : next_(next) {}

  TfLiteIntArray* Array(const std::vector<int>& values) {
    auto* array = reinterpret_cast<TfLiteIntArray*>(next_);
    array->size = static_cast<int>(values.size());
    std::copy(values.begin(), values.end(), array->data);
    next_ += TfLiteIntArrayGetSizeInBytes(array->size);
    return array;
  }

 private:
  char* next_;
};

// The parameters, followed by lists for the runtime.
template <typename Params>
struct Extended {
  Params params;
  const TfLiteIntArray *model_nodes, *cpu_nodes;
};

// Creates a TfLiteDelegateParams or a TfLiteOpaqueDelegateParams: both end with three arrays of the
// same names.
template <typename Params>
Params* Make(const NodeSubset& subset) {
  using Block = Extended<Params>;
  size_t bytes = sizeof(Block);
  for (const auto* values :
       {&subset.nodes, &subset.inputs, &subset.outputs, &subset.model_nodes, &subset.cpu_nodes}) {
    bytes += TfLiteIntArrayGetSizeInBytes(static_cast<int>(values->size()));
  }
  char* memory = static_cast<char*>(calloc(1, bytes));
  if (memory == nullptr) return nullptr;
  auto* block = reinterpret_cast<Block*>(memory);
  Carver carver(memory + sizeof(Block));
  block->params.nodes_to_replace = carver.Array(subset.nodes);
  block->params.input_tensors = carver.Array(subset.inputs);
  block->params.output_tensors = carver.Array(subset.outputs);
  const bool is_same = subset.model_nodes.empty();
  const TfLiteIntArray* const nodes = block->params.nodes_to_replace;
  block->model_nodes = is_same ? nodes : carver.Array(subset.model_nodes);
  block->cpu_nodes = is_same ? nodes : carver.Array(subset.cpu_nodes);
  return &block->params;
}

template <typename Select>
const TfLiteIntArray* Nodes(const TfLiteNode& node, const Select& select) {
  if (BuilderOf(node.delegate) == nullptr) {
    return select(*static_cast<const Extended<TfLiteDelegateParams>*>(node.builtin_data));
  }
  return select(*static_cast<const Extended<TfLiteOpaqueDelegateParams>*>(node.builtin_data));
}

}  // namespace

void* MakeDelegateParams(TfLiteDelegate* delegate, const TfLiteOpaqueDelegateBuilder* builder,
                         const NodeSubset& subset) {
  if (builder == nullptr) {
    auto* params = Make<TfLiteDelegateParams>(subset);
    if (params != nullptr) params->delegate = delegate;
    return params;
  }
  auto* params = Make<TfLiteOpaqueDelegateParams>(subset);
  if (params != nullptr) {
    params->delegate = reinterpret_cast<TfLiteOpaqueDelegate*>(delegate);
    params->delegate_data = builder->data;
  }
  return params;
}

const TfLiteIntArray* ReplacedNodes(const TfLiteNode& node) {
  return Nodes(node, [](const auto& block) { return block.model_nodes; });
}

const TfLiteIntArray* DescribedNodes(const TfLiteNode& node) {
  return Nodes(node, [](const auto& block) {
    return static_cast<const TfLiteIntArray*>(block.params.nodes_to_replace);
  });
}

const TfLiteIntArray* CpuNodes(const TfLiteNode& node) {
  return Nodes(node, [](const auto& block) { return block.cpu_nodes; });
}

bool ComputesInNchw(const TfLiteNode& node) { return ReplacedNodes(node) != DescribedNodes(node); }

}  // namespace deputy
