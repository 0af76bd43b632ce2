// SPDX-License-Identifier: Apache-2.0
//
// A constant in the layout in which a kernel reads it. If its source is in the model's file, or is
// computed from such a constant, the model owns the block, and all nodes and interpreters with the
// same key share it; otherwise only the node uses it.
#ifndef DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
#define DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_

#include <string>

#include "core/base/packed_constants.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// A node's reference to its packed constant.
class PackedConstant {
 public:
  // For prepare: forces the next Ensure to look up or pack the block again.
  void Invalidate() { data_ = nullptr; }

  // Makes data() point to memory that the caller owns; its contents are valid for this invoke only.
  void Borrow(const char* data) {
    key_ = {};
    data_ = data;
  }

  // Returns true if Ensure with the same arguments would leave data() unchanged.
  bool Holds(const PackedKey& key, bool fixed) const {
    return fixed && data_ != nullptr && key_ == key;
  }

  // Makes data() point to a block of `bytes`, filled by fill(char* data), unless it already holds
  // the block of this key. `fixed` contents never change at the key's address; others are packed at
  // every call. Returns false if a limit is exceeded or memory is exhausted.
  template <typename Fill>
  bool Ensure(const TfLiteContext* context, const PackedKey& key, bool fixed, size_t bytes,
              const Fill& fill) {
    return EnsureFor(context, key, key, fixed, bytes, nullptr, nullptr, CallOf<Fill>(), &fill);
  }

  // Makes data() point to a block that depends on more than a constant: until Invalidate, `key`
  // identifies the block within this node; nodes with equal shared keys and equal parameters()
  // share it.
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
  // Returns memory from the interpreter's store, next to the blocks of other nodes and in large
  // pages if the total is large. The block is reused if it is large enough.
  char* Persistent(Runtime* runtime, size_t bytes);

  PackedKey key_;
  const char* data_ = nullptr;
  Block own_;  // block of contents packed at every invoke, or under a foreign context
  char* persistent_ = nullptr;  // block that the interpreter owns
  size_t persistent_bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_PACKED_CONSTANT_H_
