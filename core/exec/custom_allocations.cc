// SPDX-License-Identifier: Apache-2.0
#include "core/exec/custom_allocations.h"

#include <algorithm>
#include <cstdint>

#include "core/base/memory.h"

namespace deputy {
bool CustomAllocations::Has(int tensor_index) const {
  return std::any_of(allocations_.begin(), allocations_.end(),
                     [tensor_index](const auto& entry) { return entry.first == tensor_index; });
}

TfLiteStatus CustomAllocations::Set(int tensor_index, const TfLiteCustomAllocation& allocation,
                                    int64_t flags) {
  TfLiteTensor* const target = graph_->tensor(tensor_index);
  if (target == nullptr) {
    return Fail(reporter_, kTfLiteError,
                "subgraph %d: custom allocation for tensor %d: expected an index below %d",
                subgraph_index_, tensor_index, graph_->tensor_count());
  }
  switch (target->allocation_type) {
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteCustom:
    case kTfLiteNonCpu:
      break;
    default:
      return Fail(reporter_, kTfLiteError,
                  "subgraph %d: tensor %d '%s': expected an arena tensor for a custom allocation, "
                  "found allocation type %d",
                  subgraph_index_, tensor_index, NameOf(*target), target->allocation_type);
  }
  const bool check_alignment = (flags & kTfLiteCustomAllocationFlagsSkipAlignCheck) == 0;
  if (allocation.data == nullptr ||
      (check_alignment && reinterpret_cast<uintptr_t>(allocation.data) % kTensorAlignment != 0)) {
    return Fail(reporter_, kTfLiteError,
                "subgraph %d: tensor %d '%s': expected custom memory aligned to %zu, found %p",
                subgraph_index_, tensor_index, NameOf(*target), kTensorAlignment, allocation.data);
  }
  std::erase_if(allocations_, [&](const auto& entry) { return entry.first == tensor_index; });
  allocations_.emplace_back(tensor_index, allocation);
  if (allocation.bytes < target->bytes) may_be_too_small_ = true;
  target->allocation_type = kTfLiteCustom;
  target->data.data = allocation.data;
  return kTfLiteOk;
}

void CustomAllocations::FollowSize(int tensor_index) {
  const auto entry = std::find_if(allocations_.begin(), allocations_.end(),
                                  [=](const auto& at) { return at.first == tensor_index; });
  if (entry == allocations_.end()) return;
  TfLiteTensor* const tensor = graph_->tensor(tensor_index);
  tensor->data.data = entry->second.bytes < tensor->bytes ? nullptr : entry->second.data;
}

void CustomAllocations::Clear() {
  for (const auto& [index, allocation] : allocations_) {
    TfLiteTensor& tensor = graph_->tensors()[static_cast<size_t>(index)];
    if (tensor.allocation_type != kTfLiteCustom) continue;
    tensor.allocation_type = tensor.is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
    tensor.data.raw = nullptr;
  }
  allocations_.clear();
}

TfLiteStatus CustomAllocations::Verify(std::span<const int> unprepared_nodes) {
  if (allocations_.empty()) return kTfLiteOk;
  std::vector<bool> is_unknown(graph_->tensors().size());
  for (const int node : unprepared_nodes) {
    const TfLiteIntArray* const outputs = graph_->node(node)->outputs;
    for (int i = 0; i < outputs->size; ++i) {
      if (outputs->data[i] >= 0) is_unknown[static_cast<size_t>(outputs->data[i])] = true;
    }
  }
  for (const auto& [index, allocation] : allocations_) {
    if (is_unknown[static_cast<size_t>(index)]) continue;
    const TfLiteTensor& target = graph_->tensors()[static_cast<size_t>(index)];
    if (target.allocation_type == kTfLiteCustom && allocation.bytes < target.bytes) {
      return Fail(reporter_, kTfLiteError,
                  "Custom allocation is too small for tensor idx: %d; subgraph %d: tensor '%s': "
                  "expected %zu bytes, found %zu",
                  index, subgraph_index_, NameOf(target), target.bytes, allocation.bytes);
    }
  }
  may_be_too_small_ = false;
  return kTfLiteOk;
}

}  // namespace deputy
