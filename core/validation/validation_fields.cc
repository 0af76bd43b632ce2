// SPDX-License-Identifier: Apache-2.0
#include "core/validation/validation_fields.h"

#include <algorithm>

#include "core/graph/graph.h"

namespace deputy {

void SavedFields::Refresh() {
  context_ = *now_;
  tensors_.clear();
  RefreshAddedTensors();
  nodes_.clear();
  nodes_.reserve(static_cast<size_t>(graph_->node_count()));
  for (int i = 0; i < graph_->node_count(); ++i) {
    nodes_.emplace_back(*graph_->node(i), *graph_->registration(i));
  }
}

void SavedFields::RefreshTensor(int index) {
  if (index < 0 || static_cast<size_t>(index) >= tensors_.size()) return;
  const TfLiteTensor before = tensors_[static_cast<size_t>(index)].fields();
  TfLiteTensor now = *graph_->tensor(index);
  // The runtime's resize leaves these fields, so a difference is a change by the delegate.
  now.delegate = before.delegate;
  now.buffer_handle = before.buffer_handle;
  now.data_is_stale = before.data_is_stale;
  tensors_[static_cast<size_t>(index)] = StructCopy<TfLiteTensor>(now);
}

void SavedFields::RefreshAddedTensors() {
  context_.tensors = now_->tensors;
  context_.tensors_size = now_->tensors_size;
  tensors_.reserve(graph_->tensors().size());
  for (size_t i = tensors_.size(); i < graph_->tensors().size(); ++i) {
    tensors_.emplace_back(graph_->tensors()[i]);
  }
}

void SavedFields::Compare(const Found& found) const {
  CompareContext(found);
  const size_t tensors = std::min(tensors_.size(), graph_->tensors().size());
  for (size_t i = 0; i < tensors; ++i) {
    tensors_[i].Compare(graph_->tensors()[i], [&](const char* name) {
      found({StructOf::kTensor, static_cast<int>(i), name});
    });
  }
  const int nodes = std::min(static_cast<int>(nodes_.size()), graph_->node_count());
  for (int i = 0; i < nodes; ++i) CompareNode(i, found);
}

// Ignores the functions that the runtime leaves null, and the six that are switched between the
// modes: the runtime switches them when other subgraphs are acquired and released.
void SavedFields::CompareContext(const Found& found) const {
  const TfLiteContext& now = *now_;
  const auto check = [&](bool same, const char* name) {
    if (!same) found({StructOf::kContext, -1, name});
  };
  check(now.tensors_size == context_.tensors_size, "tensors_size");
  check(now.tensors == context_.tensors, "tensors");
  check(now.impl_ == context_.impl_, "impl_");
  check(now.recommended_num_threads == context_.recommended_num_threads, "recommended_num_threads");
  check(now.allow_fp32_relax_to_fp16 == context_.allow_fp32_relax_to_fp16,
        "allow_fp32_relax_to_fp16");
  check(now.profiler == context_.profiler, "profiler");
  check(now.ResizeTensor == context_.ResizeTensor && now.AddTensors == context_.AddTensors &&
            now.ReportError == context_.ReportError &&
            now.GetExternalContext == context_.GetExternalContext &&
            now.SetExternalContext == context_.SetExternalContext &&
            now.GetModelMetadata == context_.GetModelMetadata,
        "a function pointer");
}

void SavedFields::CompareNode(int index, const Found& found) const {
  const Node& before = nodes_[static_cast<size_t>(index)];
  before.node.Compare(*graph_->node(index), [&](const char* name) {
    found({StructOf::kNode, index, name});
  });
  bool same = true;
  before.registration.Compare(*graph_->registration(index), [&](const char*) { same = false; });
  if (!same) found({StructOf::kNode, index, "registration"});
}

}  // namespace deputy
