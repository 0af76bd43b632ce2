// SPDX-License-Identifier: Apache-2.0
//
// A constant in the order in which a kernel reads it. One of the model's file belongs to the model,
// and all nodes and interpreters with the same key share it; any other belongs to the node.
#ifndef DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
#define DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_

#include "core/base/packed_constants.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// What a node keeps of it.
class PackedConstant {
 public:
  // For prepare: what was packed counts no longer.
  void Invalidate() { data_ = nullptr; }

  // Makes data() memory of the caller's, which holds what it holds for this invoke only.
  void Borrow(const char* data) {
    key_ = {};
    data_ = data;
  }

  // Makes data() the block of `bytes` that `fill` makes for the key, unless it is that already.
  // Contents that are `fixed` never change at that address; others are packed every time. False
  // when memory is refused.
  template <typename Fill>
  bool Ensure(const TfLiteContext* context, const PackedKey& key, bool fixed, size_t bytes,
              const Fill& fill) {
    if (fixed && data_ != nullptr && key_ == key) return true;
    Invalidate();
    key_ = key;
    Runtime* const runtime = RuntimeOf(context);
    const Limits limits = runtime == nullptr ? Limits() : runtime->limits();
    PackedConstants* const shared =
        runtime == nullptr || !fixed ? nullptr : runtime->PackedConstantsOf(key.constant);
    if (shared != nullptr) {
      data_ = shared->FindOrMake(key, bytes, limits, fill);
      return data_ != nullptr;
    }
    if (!own_.Reserve(bytes, 0, limits)) return false;
    fill(own_.data());
    data_ = own_.data();
    return true;
  }

  const char* data() const { return data_; }

 private:
  PackedKey key_;
  const char* data_ = nullptr;
  Block own_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
