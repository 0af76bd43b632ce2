// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/packed_constant.h"

namespace deputy {

char* PackedConstant::Persistent(Runtime* runtime, size_t bytes) {
  if (persistent_ == nullptr || persistent_bytes_ < bytes) {
    persistent_ = runtime->node_constants().Reserve(bytes, runtime->limits(), &runtime->pool());
    persistent_bytes_ = bytes;
  }
  return persistent_;
}

bool PackedConstant::EnsureFor(const TfLiteContext* context, const PackedKey& key,
                               const PackedKey& shared_key, bool fixed, size_t bytes,
                               std::string (*parameters_of)(const void*), const void* parameters,
                               PackedConstants::FillFunction call, const void* fill) {
  if (Holds(key, fixed)) return true;
  Invalidate();
  key_ = key;
  Runtime* const runtime = RuntimeOf(context);
  const Limits limits = runtime == nullptr ? Limits() : runtime->limits();
  PackedConstants* const shared =
      runtime == nullptr || !fixed ? nullptr : runtime->PackedConstantsOf(shared_key.constant);
  if (shared != nullptr) {
    std::string values = parameters_of == nullptr ? std::string() : parameters_of(parameters);
    data_ = shared->FindOrMake(shared_key, std::move(values), bytes, limits, &runtime->pool(), call,
                               fill);
    return data_ != nullptr;
  }
  char* own = nullptr;
  if (fixed && runtime != nullptr) {
    own = Persistent(runtime, bytes);
  } else if (own_.Reserve(bytes, 0, limits)) {
    own = own_.data();
  }
  if (own == nullptr) return false;
  call(fill, own);
  data_ = own;
  return true;
}

}  // namespace deputy
