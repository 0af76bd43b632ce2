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

// Creates a TfLiteDelegateParams or a TfLiteOpaqueDelegateParams: both end with three arrays of the
// same names.
template <typename Params>
Params* Make(const NodeSubset& subset) {
  size_t bytes = sizeof(Params);
  for (const auto* values : {&subset.nodes, &subset.inputs, &subset.outputs}) {
    bytes += TfLiteIntArrayGetSizeInBytes(static_cast<int>(values->size()));
  }
  char* block = static_cast<char*>(calloc(1, bytes));
  if (block == nullptr) return nullptr;
  auto* params = reinterpret_cast<Params*>(block);
  Carver carver(block + sizeof(Params));
  params->nodes_to_replace = carver.Array(subset.nodes);
  params->input_tensors = carver.Array(subset.inputs);
  params->output_tensors = carver.Array(subset.outputs);
  return params;
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
  if (BuilderOf(node.delegate) == nullptr) {
    return static_cast<const TfLiteDelegateParams*>(node.builtin_data)->nodes_to_replace;
  }
  return static_cast<const TfLiteOpaqueDelegateParams*>(node.builtin_data)->nodes_to_replace;
}

}  // namespace deputy
