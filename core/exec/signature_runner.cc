// SPDX-License-Identifier: Apache-2.0
#include "core/exec/signature_runner.h"

#include <algorithm>
#include <cstring>

#include "core/exec/interpreter_state.h"

namespace deputy {
namespace {

const char* NameAt(const std::vector<SignatureTensorDesc>& names, int index) {
  return index >= 0 && static_cast<size_t>(index) < names.size() ? names[index].name : nullptr;
}

}  // namespace

SignatureRunner::SignatureRunner(Subgraph* subgraph, const SignatureDesc& signature)
    : subgraph_(subgraph),
      key_(signature.key),
      inputs_(signature.inputs),
      outputs_(signature.outputs) {
  Sort(&inputs_);
  Sort(&outputs_);
}

SignatureRunner::SignatureRunner(Subgraph* subgraph)
    : subgraph_(subgraph),
      key_(""),
      inputs_(TensorNames(subgraph->graph().inputs(), "input")),
      outputs_(TensorNames(subgraph->graph().outputs(), "output")) {
  Sort(&inputs_);
  Sort(&outputs_);
}

SignatureRunner::Names SignatureRunner::TensorNames(const std::vector<int>& indices,
                                                    const char* fallback) {
  Names names;
  for (size_t i = 0; i < indices.size(); ++i) {
    const TfLiteTensor* tensor = subgraph_->graph().tensor(indices[i]);
    if (tensor == nullptr) continue;
    const bool unnamed = tensor->name == nullptr || *tensor->name == '\0';
    if (unnamed) made_up_names_.push_back(fallback + std::to_string(i));
    names.push_back({unnamed ? made_up_names_.back().c_str() : tensor->name, indices[i]});
  }
  return names;
}

// Sorts bytewise; equal names by their tensors. Several names may be one string in the file.
void SignatureRunner::Sort(Names* names) {
  std::sort(names->begin(), names->end(),
            [](const SignatureTensorDesc& a, const SignatureTensorDesc& b) {
              const int order = a.name == b.name ? 0 : strcmp(a.name, b.name);
              return order != 0 ? order < 0 : a.tensor_index < b.tensor_index;
            });
}

const char* SignatureRunner::InputName(int index) const { return NameAt(inputs_, index); }
const char* SignatureRunner::OutputName(int index) const { return NameAt(outputs_, index); }

const int* SignatureRunner::Find(const Names& names, const char* name) {
  if (name == nullptr) return nullptr;
  for (const SignatureTensorDesc& entry : names) {
    if (strcmp(entry.name, name) == 0) return &entry.tensor_index;
  }
  return nullptr;
}

TfLiteTensor* SignatureRunner::InputTensor(const char* name) {
  const int* index = Find(inputs_, name);
  if (index == nullptr) {
    Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
         "Signature '%s' has no input named '%s'", key_, name == nullptr ? "" : name);
    return nullptr;
  }
  return subgraph_->graph().tensor(*index);
}

const TfLiteTensor* SignatureRunner::OutputTensor(const char* name) {
  const int* index = Find(outputs_, name);
  if (index == nullptr) {
    Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
         "Signature '%s' has no output named '%s'", key_, name == nullptr ? "" : name);
    return nullptr;
  }
  return subgraph_->graph().tensor(*index);
}

TfLiteStatus SignatureRunner::ResizeInputTensor(const char* name, std::span<const int> dims,
                                                bool strict) {
  const int* index = Find(inputs_, name);
  if (index == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "Signature '%s' has no input named '%s'", key_, name == nullptr ? "" : name);
  }
  TF_LITE_ENSURE_STATUS(subgraph_->interpreter()->EnterCall("ResizeInputTensor of a signature"));
  TF_LITE_ENSURE_STATUS(subgraph_->CheckNotRunning("ResizeInputTensor"));
  return strict ? subgraph_->ResizeInputTensorStrict(*index, dims)
                : subgraph_->ResizeInputTensor(*index, dims);
}

TfLiteStatus SignatureRunner::AllocateTensors() {
  return subgraph_->interpreter()->AllocateTensors(subgraph_);
}

TfLiteStatus SignatureRunner::Invoke() {
  TF_LITE_ENSURE_STATUS(subgraph_->interpreter()->EnterCall("Invoke of a signature"));
  return subgraph_->interpreter()->Invoke(subgraph_, false);
}

}  // namespace deputy
