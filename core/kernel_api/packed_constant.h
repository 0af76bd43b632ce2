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

  // Whether data() is what Ensure would make it.
  bool Holds(const PackedKey& key, bool fixed) const {
    return fixed && data_ != nullptr && key_ == key;
  }

  // Makes data() the block of `bytes` that `fill` makes for the key, unless it is that already.
  // Contents that are `fixed` never change at that address; others are packed every time. False
  // when memory is refused.
  template <typename Fill>
  bool Ensure(const TfLiteContext* context, const PackedKey& key, bool fixed, size_t bytes,
              const Fill& fill) {
    if (Holds(key, fixed)) return true;
    Invalidate();
    key_ = key;
    Runtime* const runtime = RuntimeOf(context);
    const Limits limits = runtime == nullptr ? Limits() : runtime->limits();
    PackedConstants* const shared =
        runtime == nullptr || !fixed ? nullptr : runtime->PackedConstantsOf(key.constant);
    if (shared != nullptr) {
      data_ = shared->FindOrMake(key, bytes, limits, &runtime->pool(), fill);
      return data_ != nullptr;
    }
    char* const own =
        fixed && runtime != nullptr ? Lasting(runtime, bytes) : Passing(bytes, limits);
    if (own == nullptr) return false;
    fill(own);
    data_ = own;
    return true;
  }

  const char* data() const { return data_; }

 private:
  // Memory beside that of other nodes, in large pages where they have much. It is used again.
  char* Lasting(Runtime* runtime, size_t bytes) {
    if (lasting_ == nullptr || lasting_bytes_ < bytes) {
      lasting_ = runtime->node_constants().Reserve(bytes, runtime->limits(), &runtime->pool());
      lasting_bytes_ = bytes;
    }
    return lasting_;
  }
  char* Passing(size_t bytes, const Limits& limits) {
    return own_.Reserve(bytes, 0, limits) ? own_.data() : nullptr;
  }

  PackedKey key_;
  const char* data_ = nullptr;
  Block own_;                // of what is packed every time, or under a foreign context
  char* lasting_ = nullptr;  // the interpreter's
  size_t lasting_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
