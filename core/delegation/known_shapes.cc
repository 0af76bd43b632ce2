// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/known_shapes.h"

#include "core/graph/graph.h"

namespace deputy {

void KnownShapes::Note(std::span<const int> tensors) {
  for (const int index : tensors) {
    if (index < 0) continue;
    const TfLiteIntArray* dims = graph_->tensor(index)->dims;
    shapes_[index].assign(dims->data, dims->data + dims->size);
  }
}

void KnownShapes::Forget(std::span<const int> tensors) {
  for (const int index : tensors) shapes_.erase(index);
}

const std::vector<int>* KnownShapes::Find(int tensor) const {
  const auto known = shapes_.find(tensor);
  return known == shapes_.end() ? nullptr : &known->second;
}

int KnownShapes::FindChanged(std::span<const int> tensors) const {
  for (const int index : tensors) {
    const std::vector<int>* known = Find(index);
    if (known == nullptr) continue;
    const TfLiteIntArray* dims = graph_->tensor(index)->dims;
    const int rank = static_cast<int>(known->size());
    const bool same = dims != nullptr && TfLiteIntArrayEqualsArray(dims, rank, known->data()) != 0;
    if (!same) return index;
  }
  return -1;
}

void KnownShapes::MakeOthersDynamic(std::span<const int> tensors) {
  for (const int index : tensors) {
    if (index < 0 || Find(index) != nullptr) continue;
    TfLiteTensor& tensor = *graph_->tensor(index);
    if (tensor.allocation_type != kTfLiteArenaRw) continue;
    tensor.allocation_type = kTfLiteDynamic;
    tensor.data.raw = nullptr;
  }
}

}  // namespace deputy
