// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_digest.h"

#include <cstddef>
#include <type_traits>

#include "core/graph/graph.h"
#include "core/graph/graph_fields.h"

namespace deputy {
namespace {

// FNV-1a over the bytes of the added values.
class Hash {
 public:
  template <typename Value>
  void Add(const Value& value) {
    static_assert(std::is_scalar_v<Value>, "expected a scalar: structs may have padding");
    if constexpr (std::is_pointer_v<Value>) {
      Add(reinterpret_cast<uintptr_t>(value));
    } else {
      AddBytes(&value, sizeof value);
    }
  }
  void Add(const TfLiteIntArray* array) {
    Add(array == nullptr ? -1 : array->size);
    if (array != nullptr && array->size > 0) AddBytes(array->data, sizeof(int) * Size(*array));
  }
  void Add(TfLiteIntArray* array) { Add(static_cast<const TfLiteIntArray*>(array)); }
  void Add(const TfLiteFloatArray* array) {
    Add(array == nullptr ? -1 : array->size);
    if (array != nullptr && array->size > 0) AddBytes(array->data, sizeof(float) * Size(*array));
  }
  void Add(const TfLitePtrUnion&) {}
  void Add(const TfLiteQuantizationParams& params) {
    Add(params.scale);
    Add(params.zero_point);
  }
  void Add(const TfLiteQuantization& quantization) {
    Add(quantization.type);
    if (quantization.type != kTfLiteAffineQuantization || quantization.params == nullptr) {
      Add(quantization.params);
      return;
    }
    const auto* affine = static_cast<const TfLiteAffineQuantization*>(quantization.params);
    Add(static_cast<const TfLiteFloatArray*>(affine->scale));
    Add(affine->zero_point);
    Add(affine->quantized_dimension);
  }
  template <typename Struct>
  void AddFields(const Struct& fields) {
    FieldsOf<Struct>::Visit([&](const char*, auto member, FieldKind kind) {
      if (kind != FieldKind::kRuntime) Add(fields.*member);
    });
  }
  uint64_t value() const { return value_; }

 private:
  template <typename Array>
  static size_t Size(const Array& array) {
    return static_cast<size_t>(array.size);
  }
  void AddBytes(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
    }
  }

  uint64_t value_ = 14695981039346656037u;
};

}  // namespace

uint64_t GraphDigest(const Graph& graph) {
  Hash hash;
  for (int node : graph.plan()) hash.Add(node);
  for (int i = 0; i < graph.node_count(); ++i) {
    hash.AddFields(*graph.node(i));
    hash.AddFields(*graph.registration(i));
  }
  for (const TfLiteTensor& tensor : graph.tensors()) hash.AddFields(tensor);
  return hash.value();
}

}  // namespace deputy
