// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/constant_reader.h"

namespace deputy {

ConstantReader::ConstantReader(const TfLiteContext* context, const void* data, size_t part_bytes) {
  Runtime* const runtime = RuntimeOf(context);
  // If there is no memory for copies, constants are read in place, which is slower.
  if (runtime != nullptr && runtime->ReadConstant(data, 0, &copies_) != nullptr &&
      copies_.AcquireForWorkers(context, part_bytes, ThreadCount(context))) {
    runtime_ = runtime;
  }
}

const void* ConstantReader::Read(const void* from, size_t bytes, int worker) const {
  if (runtime_ == nullptr) return from;
  const void* const read = runtime_->ReadConstant(from, bytes, copies_.worker(worker));
  return read != nullptr ? read : from;
}

}  // namespace deputy
