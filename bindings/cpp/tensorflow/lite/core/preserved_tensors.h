// SPDX-License-Identifier: Apache-2.0
//
// Memory for InterpreterOptions::SetPreserveAllTensors. Part of Interpreter.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_PRESERVED_TENSORS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_PRESERVED_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite {

// Memory that the program has assigned to tensors, and flags, by the tensor's index.
using MemoryOfProgram = std::map<int, std::pair<TfLiteCustomAllocation, int64_t>>;

// Assigns a separate block to each arena tensor of subgraph 0 that is not empty and for which the
// program has not assigned memory, so that no other tensor overwrites its contents.
class PreservedTensors {
 public:
  // Allocates tensors. Blocks that are large enough are reused and keep their contents. Memory of
  // the program has priority over blocks.
  TfLiteStatus Allocate(TfLiteInterpreter* interpreter, const TfLiteContext* context,
                        const MemoryOfProgram& of_program) {
    // The sizes of the tensors are not known until they have been allocated without blocks.
    TF_LITE_ENSURE_STATUS(DeputyInterpreterClearCustomAllocations(interpreter, 0));
    for (const auto& entry : of_program) {
      TF_LITE_ENSURE_STATUS(DeputyInterpreterSetCustomAllocation(
          interpreter, 0, entry.first, &entry.second.first, entry.second.second));
    }
    TF_LITE_ENSURE_STATUS(TfLiteInterpreterAllocateTensors(interpreter));
    for (size_t i = 0; i < context->tensors_size; ++i) {
      const TfLiteTensor& tensor = context->tensors[i];
      const int index = static_cast<int>(i);
      if (tensor.allocation_type != kTfLiteArenaRw || tensor.bytes == 0 ||
          of_program.count(index) != 0) {
        continue;
      }
      const TfLiteCustomAllocation block = BlockOf(index, tensor.bytes);
      TF_LITE_ENSURE_STATUS(DeputyInterpreterSetCustomAllocation(interpreter, 0, index, &block,
                                                                 kTfLiteCustomAllocationFlagsNone));
    }
    return TfLiteInterpreterAllocateTensors(interpreter);
  }

 private:
  static constexpr size_t kAlignment = 64;

  struct Block {
    std::unique_ptr<char[]> memory;
    size_t bytes = 0;
  };

  TfLiteCustomAllocation BlockOf(int tensor, size_t bytes) {
    Block& block = blocks_[tensor];
    if (block.bytes < bytes) block = {std::make_unique<char[]>(bytes + 2 * kAlignment), bytes};
    const size_t excess = reinterpret_cast<uintptr_t>(block.memory.get()) % kAlignment;
    return {block.memory.get() + (kAlignment - excess), block.bytes};
  }

  std::map<int, Block> blocks_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_PRESERVED_TENSORS_H_
