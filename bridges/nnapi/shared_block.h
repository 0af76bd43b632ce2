// SPDX-License-Identifier: Apache-2.0
//
// Memory that is shared with a driver's process: an anonymous file, mapped here and registered with
// NNAPI.
#ifndef DEPUTY_BRIDGES_NNAPI_SHARED_BLOCK_H_
#define DEPUTY_BRIDGES_NNAPI_SHARED_BLOCK_H_

#include <cstddef>
#include <string>

#include "bridges/nnapi/nnapi.h"

namespace deputy::nnapi {

class SharedBlock {
 public:
  SharedBlock() = default;
  ~SharedBlock();
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  // Allocates a block and frees the previous one. `functions` must outlive the object. Returns ""
  // or an error message.
  std::string Create(const Functions& functions, size_t bytes);
  void Free();

  // Returns the block's memory; null if there is no block.
  char* data() const { return data_; }
  const ANeuralNetworksMemory* memory() const { return memory_; }

 private:
  const Functions* functions_ = nullptr;
  int file_ = -1;
  char* data_ = nullptr;
  size_t bytes_ = 0;
  ANeuralNetworksMemory* memory_ = nullptr;
};

// Rounds `offset` up to the alignment of tensors.
inline size_t AlignedOffset(size_t offset) { return (offset + 63) & ~static_cast<size_t>(63); }

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_SHARED_BLOCK_H_
