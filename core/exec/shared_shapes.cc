// SPDX-License-Identifier: Apache-2.0
#include "core/exec/shared_shapes.h"

#include <span>

namespace deputy {
namespace {

constexpr int kNone = -1;

std::span<const int> Dims(const TfLiteTensor& tensor) {
  if (tensor.dims == nullptr) return {};
  return {tensor.dims->data, static_cast<size_t>(tensor.dims->size)};
}

std::string Text(TfLiteType type, std::span<const int> dims) {
  std::string text = std::string(TfLiteTypeGetName(type)) + " [";
  for (const int dim : dims) text += (text.back() == '[' ? "" : ", ") + std::to_string(dim);
  return text + "]";
}

}  // namespace

bool SharedShape::Holds(const TfLiteTensor& now) const {
  return now.type == type && now.allocation_type == allocation_type &&
         TfLiteIntArrayEqualsArray(now.dims, static_cast<int>(dims.size()), dims.data()) != 0;
}

std::string SharedShape::Difference(const TfLiteTensor& now) const {
  return "expected " + Text(type, dims) + ", for which earlier nodes were prepared, found " +
         (now.allocation_type == allocation_type ? Text(now.type, Dims(now))
                                                 : std::string("another allocation type"));
}

void SharedShapes::BeginPlan(const Graph& graph, const std::vector<int>& plan) {
  first_user_.assign(graph.tensors().size(), kNone);
  for (const int node_index : plan) {
    const TfLiteNode& node = *graph.node(node_index);
    for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
      for (int i = 0; i < indices->size; ++i) {
        if (indices->data[i] < 0) continue;
        int& first = first_user_[static_cast<size_t>(indices->data[i])];
        if (first == kNone) first = node_index;
      }
    }
  }
}

bool SharedShapes::UsedBefore(int tensor, int node_index) const {
  // Tensors that kernels have added since are used by one node only.
  if (tensor < 0 || static_cast<size_t>(tensor) >= first_user_.size()) return false;
  const int first = first_user_[static_cast<size_t>(tensor)];
  return first != kNone && first != node_index;
}

std::vector<SharedShape> SharedShapes::Of(const Graph& graph, int node_index) const {
  const TfLiteNode& node = *graph.node(node_index);
  std::vector<SharedShape> shared;
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const int index = indices->data[i];
      if (!UsedBefore(index, node_index) || static_cast<size_t>(index) >= graph.tensors().size())
        continue;
      const TfLiteTensor& tensor = graph.tensors()[static_cast<size_t>(index)];
      // The shape of an ordinary input is set by its producer, and Deputy's kernels never change
      // it.
      if (indices == node.inputs && !tensor.is_variable) continue;
      const std::span<const int> dims = Dims(tensor);
      shared.push_back({index, tensor.type, tensor.allocation_type, {dims.begin(), dims.end()}});
    }
  }
  return shared;
}

}  // namespace deputy
