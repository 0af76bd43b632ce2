// SPDX-License-Identifier: Apache-2.0
//
// Digest of nodes and of the constants that they read; node_options.h adds their options. The
// delegate and its process compute it from their own graphs; equal digests show that both have the
// same nodes.
#ifndef DEPUTY_BRIDGES_SANDBOX_DIGEST_H_
#define DEPUTY_BRIDGES_SANDBOX_DIGEST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {

class Digest {
 public:
  static constexpr size_t kAllBytes = ~size_t{0};

  // Adds at most the first `constant_bytes` of each constant.
  explicit Digest(size_t constant_bytes = kAllBytes) : constant_bytes_(constant_bytes) {}

  void AddInt(int64_t value) { Mix(static_cast<uint64_t>(value)); }

  void AddBytes(const void* data, size_t size) {
    AddInt(static_cast<int64_t>(size));
    const auto* bytes = static_cast<const char*>(data);
    if (size >= kBlockBytes) {
      // One chain of multiplications would take several times as long as four.
      uint64_t lanes[kLanes] = {state_, ~state_, state_ + 1, ~state_ - 1};
      for (; size >= kBlockBytes; bytes += kBlockBytes, size -= kBlockBytes) {
        uint64_t words[kLanes];
        std::memcpy(words, bytes, sizeof words);
        for (int i = 0; i < kLanes; ++i) lanes[i] = Mixed(lanes[i], words[i]);
      }
      for (const uint64_t lane : lanes) Mix(lane);
    }
    for (; size >= sizeof(uint64_t); bytes += sizeof(uint64_t), size -= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes, sizeof word);
      Mix(word);
    }
    uint64_t rest = 0;
    if (size > 0) std::memcpy(&rest, bytes, size);
    Mix(rest);
  }

  // Adds name and type of the tensor.
  void AddIdentity(const TfLiteTensor& tensor) {
    AddInt(tensor.type);
    const std::string_view name = tensor.name == nullptr ? "" : tensor.name;
    AddBytes(name.data(), name.size());
  }

  // Adds type, name and quantisation of the tensor, and the contents of a constant. Dimensions are
  // left out, since those of an output depend on which nodes are prepared.
  void AddTensor(const TfLiteTensor& tensor) {
    AddIdentity(tensor);
    AddInt(tensor.params.zero_point);
    AddBytes(&tensor.params.scale, sizeof tensor.params.scale);
    const bool is_constant = tensor.allocation_type == kTfLiteMmapRo;
    AddInt(is_constant ? 1 : 0);
    if (is_constant && tensor.data.raw != nullptr) {
      AddBytes(tensor.data.raw, std::min(tensor.bytes, constant_bytes_));
    }
  }

  // Adds the operator and the tensor indices of a node, and its tensors, which `tensor(index)`
  // returns, null for an invalid index. `custom_name` counts for custom operators.
  template <typename TensorOf>
  void AddNode(int builtin_code, std::string_view custom_name, std::span<const int> inputs,
               std::span<const int> outputs, const TensorOf& tensor) {
    AddInt(builtin_code);
    if (builtin_code == kCustomCode) AddBytes(custom_name.data(), custom_name.size());
    for (const std::span<const int> indices : {inputs, outputs}) {
      AddInt(static_cast<int64_t>(indices.size()));
      for (const int index : indices) {
        AddInt(index);
        const TfLiteTensor* const found = tensor(index);
        if (found != nullptr) AddTensor(*found);
      }
    }
  }

  uint64_t value() const { return state_; }

 private:
  static constexpr int kCustomCode = 32;  // kTfLiteBuiltinCustom

  static constexpr int kLanes = 4;
  static constexpr size_t kBlockBytes = kLanes * sizeof(uint64_t);

  // Inlined even when the compiler optimises for size.
  [[gnu::always_inline]] static uint64_t Mixed(uint64_t state, uint64_t word) {
    const uint64_t product = (state ^ word) * 0x9E3779B97F4A7C15u;
    return product ^ product >> 32;
  }

  void Mix(uint64_t word) { state_ = Mixed(state_, word); }

  const size_t constant_bytes_;
  uint64_t state_ = 0x243F6A8885A308D3u;
};

// Returns the digest of name and type.
inline uint64_t IdentityOf(const TfLiteTensor& tensor) {
  Digest digest;
  digest.AddIdentity(tensor);
  return digest.value();
}

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_DIGEST_H_
