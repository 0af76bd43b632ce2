// SPDX-License-Identifier: Apache-2.0
#include "core/signature_runner.h"

#include <algorithm>

#include "core/interpreter.h"

namespace deputy {
namespace {

const char* NameAt(const std::vector<std::pair<std::string, int>>& names, int index) {
  return index >= 0 && static_cast<size_t>(index) < names.size() ? names[index].first.c_str()
                                                                 : nullptr;
}

std::vector<std::pair<std::string, int>> TensorNames(Subgraph* subgraph,
                                                     const std::vector<int>& indices,
                                                     const char* fallback) {
  std::vector<std::pair<std::string, int>> names;
  for (size_t i = 0; i < indices.size(); ++i) {
    const TfLiteTensor* tensor = subgraph->tensor(indices[i]);
    if (tensor == nullptr) continue;
    const bool unnamed = tensor->name == nullptr || *tensor->name == '\0';
    names.emplace_back(unnamed ? fallback + std::to_string(i) : tensor->name, indices[i]);
  }
  return names;
}

}  // namespace

SignatureRunner::SignatureRunner(Subgraph* subgraph, const SignatureDesc& signature)
    : subgraph_(subgraph), key_(signature.key) {
  for (const auto& input : signature.inputs) inputs_.emplace_back(input.name, input.tensor_index);
  for (const auto& output : signature.outputs) {
    outputs_.emplace_back(output.name, output.tensor_index);
  }
  std::sort(inputs_.begin(), inputs_.end());
  std::sort(outputs_.begin(), outputs_.end());
}

SignatureRunner::SignatureRunner(Subgraph* subgraph)
    : subgraph_(subgraph),
      inputs_(TensorNames(subgraph, subgraph->inputs(), "input")),
      outputs_(TensorNames(subgraph, subgraph->outputs(), "output")) {
  std::sort(inputs_.begin(), inputs_.end());
  std::sort(outputs_.begin(), outputs_.end());
}

const char* SignatureRunner::InputName(int index) const { return NameAt(inputs_, index); }
const char* SignatureRunner::OutputName(int index) const { return NameAt(outputs_, index); }

const int* SignatureRunner::Find(const Names& names, const char* name) {
  if (name == nullptr) return nullptr;
  for (const auto& entry : names) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

TfLiteTensor* SignatureRunner::InputTensor(const char* name) {
  const int* index = Find(inputs_, name);
  if (index == nullptr) {
    Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
         "Signature '%s' has no input named '%s'", key_.c_str(), name == nullptr ? "" : name);
    return nullptr;
  }
  return subgraph_->tensor(*index);
}

const TfLiteTensor* SignatureRunner::OutputTensor(const char* name) {
  const int* index = Find(outputs_, name);
  if (index == nullptr) {
    Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
         "Signature '%s' has no output named '%s'", key_.c_str(), name == nullptr ? "" : name);
    return nullptr;
  }
  return subgraph_->tensor(*index);
}

TfLiteStatus SignatureRunner::ResizeInputTensor(const char* name, std::span<const int> dims) {
  const int* index = Find(inputs_, name);
  if (index == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "Signature '%s' has no input named '%s'", key_.c_str(),
                name == nullptr ? "" : name);
  }
  Validation* const validation = subgraph_->interpreter()->validation();
  if (validation != nullptr) validation->EnterInterpreter("ResizeInputTensor of a signature");
  return subgraph_->ResizeInputTensorStrict(*index, dims);
}

TfLiteStatus SignatureRunner::AllocateTensors() {
  return subgraph_->interpreter()->AllocateTensors(subgraph_);
}

TfLiteStatus SignatureRunner::Invoke() {
  Validation* const validation = subgraph_->interpreter()->validation();
  if (validation != nullptr) validation->EnterInterpreter("Invoke of a signature");
  return subgraph_->interpreter()->Invoke(subgraph_, false);
}

}  // namespace deputy
