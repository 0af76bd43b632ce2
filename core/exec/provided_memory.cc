// SPDX-License-Identifier: Apache-2.0
#include "core/exec/provided_memory.h"

#include <cstdint>
#include <utility>

#include "core/base/memory.h"

namespace deputy {

TfLiteStatus ProvidedMemory::Provide(const TfLiteTensor& tensor, int index,
                                     const DeputyInputMemory& memory) {
  if (tensor.allocation_type != kTfLiteArenaRw || memory.data == nullptr ||
      memory.release == nullptr || memory.bytes != tensor.bytes ||
      reinterpret_cast<uintptr_t>(memory.data) % kTensorAlignment != 0) {
    return kTfLiteError;
  }
  unused_.reserve(unused_.size() + 1);
  const auto release = [](const DeputyInputMemory* block) {
    block->release(block->owner);
    delete block;
  };
  auto copy = std::make_unique<DeputyInputMemory>(memory);
  const auto [at, is_new] = blocks_.try_emplace(index, nullptr, release);
  if (!is_new) unused_.push_back(std::move(at->second));
  at->second.reset(copy.release());
  return kTfLiteOk;
}

char* ProvidedMemory::Find(int index, size_t bytes) const {
  const auto found = blocks_.find(index);
  if (found == blocks_.end() || found->second->bytes != bytes) return nullptr;
  return static_cast<char*>(found->second->data);
}

void ProvidedMemory::Clear() {
  for (auto& [index, block] : blocks_) unused_.push_back(std::move(block));
  blocks_.clear();
}

}  // namespace deputy
