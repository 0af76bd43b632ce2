// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_CORE_DELEGATION_PERTURBED_INPUTS_H_
#define DEPUTY_CORE_DELEGATION_PERTURBED_INPUTS_H_

#include <span>

#include "c_api/include/common.h"
#include "core/base/saved_contents.h"

namespace deputy {

// RAII guard: changes the last bit of each finite element of a partition's float32 inputs.
// Constants, variables and memory of the client are unchanged.
class PerturbedInputs {
 public:
  PerturbedInputs(std::span<TfLiteTensor> tensors, std::span<const int> inputs);
  ~PerturbedInputs() { before_.Restore(tensors_); }
  PerturbedInputs(const PerturbedInputs&) = delete;
  PerturbedInputs& operator=(const PerturbedInputs&) = delete;

  bool empty() const { return before_.empty(); }

 private:
  const std::span<TfLiteTensor> tensors_;
  SavedContents before_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PERTURBED_INPUTS_H_
