// SPDX-License-Identifier: Apache-2.0
//
// A constant in the order in which a kernel reads it. If its source is in the model's file, or is
// computed from it, the model owns the block, and all nodes and interpreters with the same key
// share it; otherwise the node owns it.
#ifndef DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
#define DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_

#include <string>

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

  // Makes data() the block of `bytes` that fill(char* data) makes for the key, unless it is that
  // already. Contents that are `fixed` never change at that address; others are packed every time.
  // False when memory is refused.
  template <typename Fill>
  bool Ensure(const TfLiteContext* context, const PackedKey& key, bool fixed, size_t bytes,
              const Fill& fill) {
    return EnsureFor(context, key, key, fixed, bytes, nullptr, nullptr, CallOf<Fill>(), &fill);
  }

  // Overload for a block that depends on more than a constant: until Invalidate, `key` identifies
  // the block within this node; nodes with equal shared keys and equal parameters() share it.
  template <typename Parameters, typename Fill>
  bool Ensure(const TfLiteContext* context, const PackedKey& key, const PackedKey& shared_key,
              bool fixed, size_t bytes, const Parameters& parameters, const Fill& fill) {
    return EnsureFor(
        context, key, shared_key, fixed, bytes,
        [](const void* f) -> std::string { return (*static_cast<const Parameters*>(f))(); },
        &parameters, CallOf<Fill>(), &fill);
  }

  const char* data() const { return data_; }

 private:
  template <typename Fill>
  static PackedConstants::FillFunction CallOf() {
    return [](const void* f, char* data) { (*static_cast<const Fill*>(f))(data); };
  }
  bool EnsureFor(const TfLiteContext* context, const PackedKey& key, const PackedKey& shared_key,
                 bool fixed, size_t bytes, std::string (*parameters_of)(const void*),
                 const void* parameters, PackedConstants::FillFunction call, const void* fill);
  // Memory beside that of other nodes, in large pages where they have much. It is used again.
  char* Lasting(Runtime* runtime, size_t bytes);

  PackedKey key_;
  const char* data_ = nullptr;
  Block own_;                // of what is packed every time, or under a foreign context
  char* lasting_ = nullptr;  // the interpreter's
  size_t lasting_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
