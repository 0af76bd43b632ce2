// SPDX-License-Identifier: Apache-2.0
#include "core/validation/validation_fields.h"

#include <algorithm>

#include "core/exec/subgraph.h"

namespace deputy {
namespace {

std::vector<int> Values(const TfLiteIntArray* array) {
  if (array == nullptr || array->size < 0) return {};
  return {array->data, array->data + array->size};
}

bool Same(const std::vector<int>& before, const TfLiteIntArray* now) {
  if (now == nullptr) return before.empty();
  return TfLiteIntArrayEqualsArray(now, static_cast<int>(before.size()), before.data()) != 0;
}

}  // namespace

void GraphFields::Refresh() {
  context_ = *subgraph_->context();
  tensors_.clear();
  RefreshAddedTensors();
  nodes_.resize(static_cast<size_t>(subgraph_->node_count()));
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const TfLiteNode& node = *subgraph_->node(static_cast<int>(i));
    nodes_[i] = {node,
                 subgraph_->registration(static_cast<int>(i)),
                 Values(node.inputs),
                 Values(node.outputs),
                 Values(node.intermediates),
                 Values(node.temporaries)};
  }
}

void GraphFields::RefreshTensor(int index) {
  if (index < 0 || static_cast<size_t>(index) >= tensors_.size()) return;
  const TfLiteTensor& now = *subgraph_->tensor(index);
  tensors_[static_cast<size_t>(index)] = {now, Values(now.dims), Values(now.dims_signature)};
}

void GraphFields::RefreshAddedTensors() {
  context_.tensors = subgraph_->context()->tensors;
  context_.tensors_size = subgraph_->context()->tensors_size;
  const size_t known = tensors_.size();
  tensors_.resize(static_cast<size_t>(subgraph_->tensor_count()));
  for (size_t i = known; i < tensors_.size(); ++i) RefreshTensor(static_cast<int>(i));
}

void GraphFields::Compare(const Found& found) const {
  CompareContext(found);
  const int tensors = std::min(tensor_count(), subgraph_->tensor_count());
  for (int i = 0; i < tensors; ++i) CompareTensor(i, found);
  const int nodes = std::min(static_cast<int>(nodes_.size()), subgraph_->node_count());
  for (int i = 0; i < nodes; ++i) CompareNode(i, found);
}

// The six functions that are swapped between the modes are not looked at: the runtime swaps them
// while other subgraphs are acquired and released.
void GraphFields::CompareContext(const Found& found) const {
  const TfLiteContext& now = *subgraph_->context();
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

void GraphFields::CompareTensor(int index, const Found& found) const {
  const TfLiteTensor& now = *subgraph_->tensor(index);
  const auto& [before, dims, signature] = tensors_[static_cast<size_t>(index)];
  const auto check = [&](bool same, const char* name) {
    if (!same) found({StructOf::kTensor, index, name});
  };
  check(now.type == before.type, "type");
  check(now.data.raw == before.data.raw, "data");
  check(Same(dims, now.dims), "dims");
  check(now.bytes == before.bytes, "bytes");
  check(now.allocation_type == before.allocation_type, "allocation_type");
  check(now.allocation == before.allocation, "allocation");
  check(now.name == before.name, "name");
  check(now.delegate == before.delegate, "delegate");
  check(now.buffer_handle == before.buffer_handle, "buffer_handle");
  check(now.data_is_stale == before.data_is_stale, "data_is_stale");
  check(now.is_variable == before.is_variable, "is_variable");
  check(
      now.params.scale == before.params.scale && now.params.zero_point == before.params.zero_point,
      "params");
  check(now.quantization.type == before.quantization.type &&
            now.quantization.params == before.quantization.params,
        "quantization");
  check(now.sparsity == before.sparsity, "sparsity");
  check(Same(signature, now.dims_signature), "dims_signature");
}

void GraphFields::CompareNode(int index, const Found& found) const {
  const TfLiteNode& now = *subgraph_->node(index);
  const TfLiteRegistration& registration = subgraph_->registration(index);
  const Node& before = nodes_[static_cast<size_t>(index)];
  const auto check = [&](bool same, const char* name) {
    if (!same) found({StructOf::kNode, index, name});
  };
  check(Same(before.inputs, now.inputs), "inputs");
  check(Same(before.outputs, now.outputs), "outputs");
  check(Same(before.intermediates, now.intermediates), "intermediates");
  check(Same(before.temporaries, now.temporaries), "temporaries");
  check(now.user_data == before.fields.user_data, "user_data");
  check(now.builtin_data == before.fields.builtin_data, "builtin_data");
  check(now.custom_initial_data == before.fields.custom_initial_data &&
            now.custom_initial_data_size == before.fields.custom_initial_data_size,
        "custom_initial_data");
  check(now.delegate == before.fields.delegate, "delegate");
  check(now.might_have_side_effect == before.fields.might_have_side_effect,
        "might_have_side_effect");
  check(registration.init == before.registration.init &&
            registration.free == before.registration.free &&
            registration.prepare == before.registration.prepare &&
            registration.invoke == before.registration.invoke &&
            registration.builtin_code == before.registration.builtin_code &&
            registration.custom_name == before.registration.custom_name &&
            registration.version == before.registration.version,
        "registration");
}

}  // namespace deputy
