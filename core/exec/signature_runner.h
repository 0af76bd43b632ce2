// SPDX-License-Identifier: Apache-2.0
//
// A subgraph whose tensors are addressed by the names of a signature. Names are strings of the
// model or of Signatures, which live as long as the interpreter; they are not copied, since a
// malicious file can refer to one long name many times.
#ifndef DEPUTY_CORE_EXEC_SIGNATURE_RUNNER_H_
#define DEPUTY_CORE_EXEC_SIGNATURE_RUNNER_H_

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/exec/subgraph.h"

namespace deputy {

class SignatureRunner {
 public:
  // Creates the runner of a signature. Names are sorted bytewise, the order in which clients
  // enumerate them.
  SignatureRunner(Subgraph* subgraph, const SignatureDesc& signature);
  // Creates the placeholder for a model without signatures: subgraph 0 with its tensors' names, or
  // input0, output0, ... for unnamed ones. Its key is empty.
  explicit SignatureRunner(Subgraph* subgraph);

  const char* key() const { return key_; }
  Subgraph* subgraph() const { return subgraph_; }

  size_t input_count() const { return subgraph_->graph().inputs().size(); }
  size_t output_count() const { return subgraph_->graph().outputs().size(); }
  // InputName and OutputName return null if the index is out of range.
  const char* InputName(int index) const;
  const char* OutputName(int index) const;
  // FindInput and FindOutput return the index of a tensor; null for an unknown or null name.
  const int* FindInput(const char* name) const { return Find(inputs_, name); }
  const int* FindOutput(const char* name) const { return Find(outputs_, name); }
  // InputTensor and OutputTensor return null after a report for an unknown name.
  TfLiteTensor* InputTensor(const char* name);
  const TfLiteTensor* OutputTensor(const char* name);

  // Changes the shape of an input. `strict`: only dimensions that the model declares as unknown may
  // change.
  TfLiteStatus ResizeInputTensor(const char* name, std::span<const int> dims, bool strict);
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke();

 private:
  using Names = std::vector<SignatureTensorDesc>;  // sorted by name

  static void Sort(Names* names);
  // Returns the index of the tensor with this name; null for an unknown or null name.
  static const int* Find(const Names& names, const char* name);
  Names TensorNames(const std::vector<int>& indices, const char* fallback);

  Subgraph* subgraph_;
  const char* key_;
  std::deque<std::string> made_up_names_;  // names for unnamed tensors; elements must not move
  Names inputs_, outputs_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SIGNATURE_RUNNER_H_
