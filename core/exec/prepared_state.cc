// SPDX-License-Identifier: Apache-2.0
#include "core/exec/prepared_state.h"

#include <new>
#include <utility>

#include "core/base/kernel_call.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph_parts.h"

namespace deputy {
namespace {

bool IsModelConstant(const TfLiteTensor& tensor) { return tensor.allocation_type == kTfLiteMmapRo; }

}  // namespace

// Creates the state. The arrays belong to this object only after all allocations, since the
// destructor does not run if one fails.
PreparedState::PreparedState(SubgraphParts* parts, int model_tensors)
    : parts_(parts),
      tensors_(parts->graph.tensors().size()),
      nodes_(static_cast<size_t>(parts->graph.node_count())) {
  std::vector<IntArray> owned;
  for (size_t i = 0; i < tensors_.size() && i < static_cast<size_t>(model_tensors); ++i) {
    const TfLiteTensor& from = parts->graph.tensors()[i];
    if (IsModelConstant(from)) continue;
    Tensor& to = tensors_[i];
    to.type = from.type;
    // A constant that a kernel of the other preparation has computed is computed again.
    to.allocation_type =
        from.allocation_type == kTfLitePersistentRo ? kTfLiteArenaRw : from.allocation_type;
    to.bytes = from.bytes;
    to.dims = owned.emplace_back(MakeArray(IndicesOf(from.dims))).get();
  }
  for (Node& node : nodes_) node.temporaries = owned.emplace_back(MakeArray({})).get();
  for (IntArray& array : owned) static_cast<void>(array.release());
}

PreparedState::~PreparedState() {
  for (Tensor& tensor : tensors_) {
    TfLiteIntArrayFree(tensor.dims);
    TfLiteTensor holder{};
    holder.allocation_type = tensor.allocation_type;
    holder.data = tensor.data;
    holder.allocation = tensor.allocation;
    TfLiteTensorDataFree(&holder);
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    TfLiteIntArrayFree(nodes_[i].temporaries);
    if (nodes_[i].user_data == nullptr) continue;
    const int node = static_cast<int>(i);
    CallFree(parts_->interpreter->call_observer(), CallOf(parts_, Callback::kFree, node),
             *parts_->graph.registration(node), nodes_[i].user_data);
  }
}

void PreparedState::SetShape(int tensor, TfLiteIntArray* dims, size_t bytes) noexcept {
  Tensor& changed = tensors_[static_cast<size_t>(tensor)];
  TfLiteIntArrayFree(changed.dims);
  changed.dims = dims;
  changed.bytes = bytes;
}

void PreparedState::Swap() {
  tensors_.resize(parts_->graph.tensors().size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    TfLiteTensor& now = parts_->graph.tensors()[i];
    if (IsModelConstant(now)) continue;
    std::swap(now.type, tensors_[i].type);
    std::swap(now.allocation_type, tensors_[i].allocation_type);
    std::swap(now.dims, tensors_[i].dims);
    std::swap(now.data, tensors_[i].data);
    std::swap(now.bytes, tensors_[i].bytes);
    std::swap(now.allocation, tensors_[i].allocation);
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    TfLiteNode& now = *parts_->graph.node(static_cast<int>(i));
    std::swap(now.user_data, nodes_[i].user_data);
    std::swap(now.temporaries, nodes_[i].temporaries);
  }
}

}  // namespace deputy
