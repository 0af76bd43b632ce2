// SPDX-License-Identifier: Apache-2.0
//
// Memory that delegates provide for arena tensors.
#ifndef DEPUTY_CORE_EXEC_PROVIDED_MEMORY_H_
#define DEPUTY_CORE_EXEC_PROVIDED_MEMORY_H_

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy {

class ProvidedMemory {
 public:
  // Uses the memory for the tensor, and replaces memory that was provided before. Fails if it does
  // not have exactly the tensor's size, if it is misaligned, or if the tensor is not in the arena.
  TfLiteStatus Provide(const TfLiteTensor& tensor, int index, const DeputyInputMemory& memory);
  // Returns the memory of a tensor, null if there is none of this size.
  char* Find(int index, size_t bytes) const;
  // Removes all memory. It stays valid until ReleaseUnused.
  void Clear();
  // Releases memory that was replaced or removed. No tensor may point to it.
  void ReleaseUnused() { unused_.clear(); }

 private:
  using Block = std::unique_ptr<const DeputyInputMemory, void (*)(const DeputyInputMemory*)>;

  std::map<int, Block> blocks_;  // by tensor
  std::vector<Block> unused_;    // replaced or removed; released by ReleaseUnused
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_PROVIDED_MEMORY_H_
