// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/perturbed_inputs.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace deputy {
namespace {

bool IsPerturbed(const TfLiteTensor& tensor) {
  return tensor.type == kTfLiteFloat32 && !tensor.is_variable &&
         (tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteDynamic);
}

// Changes the last bit of each float32 value; infinities and NaN are unchanged.
void ChangeLastBits(char* data, size_t bytes) {
  constexpr uint32_t kExponent = 0x7f800000;
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, data + at, sizeof bits);
    if ((bits & kExponent) == kExponent) continue;
    bits ^= 1U;
    std::memcpy(data + at, &bits, sizeof bits);
  }
}

}  // namespace

PerturbedInputs::PerturbedInputs(std::span<TfLiteTensor> tensors, std::span<const int> inputs)
    : tensors_(tensors) {
  for (const int index : inputs) {
    if (index < 0 || !before_.Find(index).empty()) continue;
    TfLiteTensor& tensor = tensors_[static_cast<size_t>(index)];
    if (!IsPerturbed(tensor) || tensor.data.raw == nullptr) continue;
    before_.Save(index, tensor);
    ChangeLastBits(tensor.data.raw, tensor.bytes);
  }
}

}  // namespace deputy
