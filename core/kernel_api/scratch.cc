// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/scratch.h"

namespace deputy {

void AnnounceScratch(const TfLiteContext* context, size_t bytes) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->scratch().Announce(bytes);
}

bool ScratchForWorkers(size_t bytes_each, int workers, size_t* out_each, size_t* out_total) {
  size_t rounded;
  if (!AddSizes(bytes_each, kTensorAlignment - 1, &rounded)) return false;
  *out_each = rounded - rounded % kTensorAlignment;
  return MultiplySizes(*out_each, static_cast<size_t>(workers), out_total);
}

Scratch::~Scratch() {
  if (arena_ != nullptr) arena_->Release();
}

bool Scratch::Acquire(const TfLiteContext* context, size_t bytes) {
  Runtime* const runtime = RuntimeOf(context);
  if (runtime == nullptr) {
    if (!own_.Reserve(bytes, 0, Limits())) return false;
    data_ = own_.data();
    return true;
  }
  data_ = runtime->scratch().Acquire(bytes, runtime->limits());
  if (data_ != nullptr) arena_ = &runtime->scratch();
  return data_ != nullptr;
}

bool Scratch::AcquireForWorkers(const TfLiteContext* context, size_t bytes_each, int workers) {
  size_t total;
  return ScratchForWorkers(bytes_each, workers, &bytes_each_, &total) && Acquire(context, total);
}

}  // namespace deputy
