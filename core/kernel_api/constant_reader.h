// SPDX-License-Identifier: Apache-2.0
//
// Reads constants that are packed once. Packing straight from a mapped file would take a page fault
// for a few pages each, so that either many pages are mapped at once or parts are copied to memory
// that stays in the cache.
#ifndef DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_
#define DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_

#include "core/kernel_api/scratch.h"

namespace deputy {

// Holds scratch memory until it is destroyed.
class ConstantReader {
 public:
  // Reads parts of the constant at `data`, of at most `part_bytes` each, on as many workers as the
  // context has.
  ConstantReader(const TfLiteContext* context, const void* data, size_t part_bytes);

  // Returns the `bytes` at `from`, which must lie inside the constant: either a copy that is valid
  // until the worker's next call, or `from` itself.
  const void* Read(const void* from, size_t bytes, int worker) const;

 private:
  Runtime* runtime_ = nullptr;  // null: constants are read in place, without a copy
  Scratch copies_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_
