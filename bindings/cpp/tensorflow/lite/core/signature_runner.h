// SPDX-License-Identifier: Apache-2.0
//
// Runs a subgraph by the names that a signature gives its inputs and outputs. The interpreter owns
// the runner.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SIGNATURE_RUNNER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SIGNATURE_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/subgraph.h"
#include "tensorflow/lite/internal/signature_def.h"

namespace tflite {

class SignatureRunnerHelper;
class SignatureRunnerJNIHelper;
class TensorHandle;

namespace impl {

class Interpreter;

class SignatureRunner {
 public:
  const std::string& signature_key() { return signature_def_->signature_key; }

  // Numbers of inputs and outputs of the subgraph.
  size_t input_size() const { return subgraph_->inputs().size(); }
  size_t output_size() const { return subgraph_->outputs().size(); }

  // Names of inputs and outputs in alphabetical order, and in the order of the subgraph. A tensor
  // that the signature does not name is null in the latter.
  const std::vector<const char*>& input_names() { return input_names_; }
  const std::vector<const char*>& output_names() { return output_names_; }
  const std::vector<const char*>& subgraph_input_names() { return subgraph_input_names_; }
  const std::vector<const char*>& subgraph_output_names() { return subgraph_output_names_; }

  // Null, after a report, for an unknown name. Valid until AllocateTensors or Invoke.
  TfLiteTensor* input_tensor(const char* input_name) {
    const int index = FindInput(input_name);
    return index < 0 ? nullptr : subgraph_->tensor(index);
  }
  const TfLiteTensor* output_tensor(const char* output_name) const {
    const int index = FindOutput(output_name);
    return index < 0 ? nullptr : subgraph_->tensor(index);
  }

  // Change the shape of an input; with Strict only dimensions that the model leaves open.
  // AllocateTensors must follow.
  TfLiteStatus ResizeInputTensor(const char* input_name, const std::vector<int>& new_size) {
    const int index = FindInput(input_name);
    return index < 0 ? kTfLiteError : subgraph_->ResizeInputTensor(index, new_size);
  }
  TfLiteStatus ResizeInputTensorStrict(const char* input_name, const std::vector<int>& new_size) {
    const int index = FindInput(input_name);
    return index < 0 ? kTfLiteError : subgraph_->ResizeInputTensorStrict(index, new_size);
  }

  TfLiteStatus AllocateTensors() { return subgraph_->AllocateTensors(); }

  // Computes the outputs, and copies them to host memory unless SetAllowBufferHandleOutput(true)
  // was called.
  TfLiteStatus Invoke() {
    TF_LITE_ENSURE_STATUS(subgraph_->Invoke());
    if (allow_buffer_handle_output_) return kTfLiteOk;
    for (const int index : subgraph_->outputs()) {
      TF_LITE_ENSURE_STATUS(subgraph_->EnsureTensorDataIsReadable(index));
    }
    return kTfLiteOk;
  }

  // Stops a running Invoke of the interpreter. kTfLiteError unless cancellation is enabled. Any
  // thread.
  TfLiteStatus Cancel() { return TfLiteInterpreterCancel(subgraph_->c_interpreter()); }

  // Assign memory of the program to a tensor; see Interpreter::SetCustomAllocationForTensor.
  TfLiteStatus SetCustomAllocationForInputTensor(const char* input_name,
                                                 const TfLiteCustomAllocation& allocation,
                                                 int64_t flags = kTfLiteCustomAllocationFlagsNone) {
    const int index = FindInput(input_name);
    return index < 0 ? kTfLiteError
                     : subgraph_->SetCustomAllocationForTensor(index, allocation, flags);
  }
  TfLiteStatus SetCustomAllocationForOutputTensor(
      const char* output_name, const TfLiteCustomAllocation& allocation,
      int64_t flags = kTfLiteCustomAllocationFlagsNone) {
    const int index = FindOutput(output_name);
    return index < 0 ? kTfLiteError
                     : subgraph_->SetCustomAllocationForTensor(index, allocation, flags);
  }

  // Removes all memory of the program; AllocateTensors must follow.
  TfLiteStatus ClearCustomAllocations() { return subgraph_->ClearCustomAllocations(); }

  // Permits that outputs stay in buffers of delegates.
  void SetAllowBufferHandleOutput(bool allow_buffer_handle_output) {
    allow_buffer_handle_output_ = allow_buffer_handle_output;
  }

  // Attach a delegate's buffer to a tensor. The previous buffer is released if
  // `release_existing_buffer_handle` is true.
  TfLiteStatus SetInputBufferHandle(const char* input_name, TfLiteBufferHandle buffer_handle,
                                    TfLiteDelegate* delegate,
                                    bool release_existing_buffer_handle = true) {
    const int index = FindInput(input_name);
    if (index < 0) return kTfLiteError;
    return subgraph_->SetBufferHandle(subgraph_->tensor(index), buffer_handle, delegate,
                                      release_existing_buffer_handle);
  }
  TfLiteStatus SetOutputBufferHandle(const char* output_name, TfLiteBufferHandle buffer_handle,
                                     TfLiteDelegate* delegate,
                                     bool release_existing_buffer_handle = true) {
    const int index = FindOutput(output_name);
    if (index < 0) return kTfLiteError;
    return subgraph_->SetBufferHandle(subgraph_->tensor(index), buffer_handle, delegate,
                                      release_existing_buffer_handle);
  }

 private:
  friend class ::tflite::impl::Interpreter;
  friend class ::tflite::SignatureRunnerHelper;
  friend class ::tflite::SignatureRunnerJNIHelper;
  friend class ::tflite::TensorHandle;

  SignatureRunner(const internal::SignatureDef* signature_def, Subgraph* subgraph)
      : signature_def_(signature_def), subgraph_(subgraph) {
    ListNames(signature_def->inputs, subgraph->inputs(), &input_names_, &subgraph_input_names_);
    ListNames(signature_def->outputs, subgraph->outputs(), &output_names_, &subgraph_output_names_);
  }

  static void ListNames(const std::map<std::string, uint32_t>& names,
                        const std::vector<int>& tensors, std::vector<const char*>* out_sorted,
                        std::vector<const char*>* out_in_subgraph_order) {
    std::map<int, const char*> name_of;
    for (const auto& entry : names) {
      out_sorted->push_back(entry.first.c_str());
      name_of[static_cast<int>(entry.second)] = entry.first.c_str();
    }
    for (const int tensor : tensors) out_in_subgraph_order->push_back(name_of[tensor]);
  }

  int FindInput(const char* name) const { return Find(signature_def_->inputs, "Input", name); }
  int FindOutput(const char* name) const { return Find(signature_def_->outputs, "Output", name); }

  int Find(const std::map<std::string, uint32_t>& names, const char* what, const char* name) const {
    const auto found = name == nullptr ? names.end() : names.find(name);
    if (found != names.end()) return static_cast<int>(found->second);
    subgraph_->ReportError("%s name %s was not found", what, name == nullptr ? "null" : name);
    return -1;
  }

  // Both belong to the interpreter.
  const internal::SignatureDef* signature_def_;
  Subgraph* subgraph_;
  std::vector<const char*> input_names_;
  std::vector<const char*> output_names_;
  std::vector<const char*> subgraph_input_names_;
  std::vector<const char*> subgraph_output_names_;
  bool allow_buffer_handle_output_ = false;
};

}  // namespace impl

using SignatureRunner = impl::SignatureRunner;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SIGNATURE_RUNNER_H_
