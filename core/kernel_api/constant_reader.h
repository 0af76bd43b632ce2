// SPDX-License-Identifier: Apache-2.0
//
// Constants that are read once, to be packed. Where they lie in a mapped file, their pages would be
// mapped for that, one by one, and unmapped again, which takes several times as long as a copy of
// them into memory that stays in the cache.
#ifndef DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_
#define DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_

#include "core/kernel_api/scratch.h"

namespace deputy {

// Uses scratch until it is destroyed.
class ConstantReader {
 public:
  // For parts of the constant at `data` of at most `part_bytes`, read by as many workers as the
  // context has.
  ConstantReader(const TfLiteContext* context, const void* data, size_t part_bytes);

  // `bytes` from `from` on, which is a part of the constant: a copy that holds until the worker's
  // next call, or where they lie.
  const void* Read(const void* from, size_t bytes, int worker) const;

 private:
  Runtime* runtime_ = nullptr;  // null: constants are read where they lie
  Scratch copies_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_CONSTANT_READER_H_
