// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/constant_reader.h"

namespace deputy {

ConstantReader::ConstantReader(const TfLiteContext* context, const void* data, size_t part_bytes) {
  Runtime* const runtime = RuntimeOf(context);
  // If there is no memory for copies, constants are read in place, which is slower.
  if (runtime != nullptr && runtime->CopyConstant(data, 0, nullptr) &&
      copies_.AcquireForWorkers(context, part_bytes, ThreadCount(context))) {
    runtime_ = runtime;
  }
}

const void* ConstantReader::Read(const void* from, size_t bytes, int worker) const {
  if (runtime_ == nullptr) return from;
  char* const copy = copies_.worker(worker);
  return runtime_->CopyConstant(from, bytes, copy) ? copy : from;
}

}  // namespace deputy
