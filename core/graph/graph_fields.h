// SPDX-License-Identifier: Apache-2.0
//
// Lists the fields of a graph's structs once, to copy, compare, restore and hash them. A new field
// of a struct needs a row here.
#ifndef DEPUTY_CORE_GRAPH_GRAPH_FIELDS_H_
#define DEPUTY_CORE_GRAPH_GRAPH_FIELDS_H_

#include <new>
#include <type_traits>
#include <utility>

#include "c_api/include/common.h"

namespace deputy {

// Handling of a field that has changed. Arrays of the C ABI are copied, compared by contents and
// restored, whatever their kind.
enum class FieldKind {
  kValue,    // a number, or a pointer to memory that the struct does not own: can be restored
  kMemory,   // describes a tensor's memory: restored together with the other fields of this kind
  kOwned,    // a block that is freed with the field: the former block may no longer exist
  kRuntime,  // the runtime itself changes it at any time: ignored
};

// Visit(visit) calls visit(name, pointer to member, kind) for each field.
template <typename Struct>
struct FieldsOf;

template <>
struct FieldsOf<TfLiteTensor> {
  template <typename Visitor>
  static constexpr void Visit(Visitor&& visit) {
    visit("type", &TfLiteTensor::type, FieldKind::kValue);
    visit("data", &TfLiteTensor::data, FieldKind::kMemory);
    visit("dims", &TfLiteTensor::dims, FieldKind::kValue);
    visit("params", &TfLiteTensor::params, FieldKind::kValue);
    visit("allocation_type", &TfLiteTensor::allocation_type, FieldKind::kMemory);
    visit("bytes", &TfLiteTensor::bytes, FieldKind::kMemory);
    visit("allocation", &TfLiteTensor::allocation, FieldKind::kMemory);
    visit("name", &TfLiteTensor::name, FieldKind::kValue);
    visit("delegate", &TfLiteTensor::delegate, FieldKind::kValue);
    visit("buffer_handle", &TfLiteTensor::buffer_handle, FieldKind::kValue);
    visit("data_is_stale", &TfLiteTensor::data_is_stale, FieldKind::kValue);
    visit("is_variable", &TfLiteTensor::is_variable, FieldKind::kValue);
    visit("quantization", &TfLiteTensor::quantization, FieldKind::kOwned);
    visit("sparsity", &TfLiteTensor::sparsity, FieldKind::kOwned);
    visit("dims_signature", &TfLiteTensor::dims_signature, FieldKind::kValue);
  }
};
static_assert(sizeof(TfLiteTensor) == (sizeof(void*) == 8 ? 112 : 64),
              "add a row above for each new field");

template <>
struct FieldsOf<TfLiteNode> {
  template <typename Visitor>
  static constexpr void Visit(Visitor&& visit) {
    visit("inputs", &TfLiteNode::inputs, FieldKind::kValue);
    visit("outputs", &TfLiteNode::outputs, FieldKind::kValue);
    visit("intermediates", &TfLiteNode::intermediates, FieldKind::kValue);
    visit("temporaries", &TfLiteNode::temporaries, FieldKind::kValue);
    visit("user_data", &TfLiteNode::user_data, FieldKind::kOwned);
    visit("builtin_data", &TfLiteNode::builtin_data, FieldKind::kOwned);
    visit("custom_initial_data", &TfLiteNode::custom_initial_data, FieldKind::kValue);
    visit("custom_initial_data_size", &TfLiteNode::custom_initial_data_size, FieldKind::kValue);
    visit("delegate", &TfLiteNode::delegate, FieldKind::kValue);
    visit("might_have_side_effect", &TfLiteNode::might_have_side_effect, FieldKind::kValue);
  }
};
static_assert(sizeof(TfLiteNode) == (sizeof(void*) == 8 ? 80 : 40),
              "add a row above for each new field");

template <>
struct FieldsOf<TfLiteRegistration> {
  template <typename Visitor>
  static constexpr void Visit(Visitor&& visit) {
    visit("init", &TfLiteRegistration::init, FieldKind::kValue);
    visit("free", &TfLiteRegistration::free, FieldKind::kValue);
    visit("prepare", &TfLiteRegistration::prepare, FieldKind::kValue);
    visit("invoke", &TfLiteRegistration::invoke, FieldKind::kValue);
    visit("profiling_string", &TfLiteRegistration::profiling_string, FieldKind::kValue);
    visit("builtin_code", &TfLiteRegistration::builtin_code, FieldKind::kValue);
    visit("custom_name", &TfLiteRegistration::custom_name, FieldKind::kValue);
    visit("version", &TfLiteRegistration::version, FieldKind::kValue);
    // The runtime sets this field when a delegate inspects the node.
    visit("registration_external", &TfLiteRegistration::registration_external, FieldKind::kRuntime);
    visit("async_kernel", &TfLiteRegistration::async_kernel, FieldKind::kValue);
    visit("inplace_operator", &TfLiteRegistration::inplace_operator, FieldKind::kValue);
  }
};
static_assert(sizeof(TfLiteRegistration) == (sizeof(void*) == 8 ? 88 : 48),
              "add a row above for each new field");

// ---- One field ----------------------------------------------------------------------------------

template <typename Value>
inline constexpr bool kIsArray =
    std::is_same_v<Value, TfLiteIntArray*> || std::is_same_v<Value, const TfLiteIntArray*>;

template <typename Value>
bool SameField(const Value& a, const Value& b) {
  if constexpr (kIsArray<Value>) {
    return TfLiteIntArrayEqual(a, b) != 0;
  } else {
    return a == b;
  }
}
inline bool SameField(const TfLitePtrUnion& a, const TfLitePtrUnion& b) { return a.raw == b.raw; }
inline bool SameField(const TfLiteQuantizationParams& a, const TfLiteQuantizationParams& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}
inline bool SameField(const TfLiteQuantization& a, const TfLiteQuantization& b) {
  return a.type == b.type && a.params == b.params;
}

// ---- Copies -------------------------------------------------------------------------------------

// Snapshot of a struct, with copies of its arrays. Other pointers in it may be compared but not
// followed.
template <typename Struct>
class StructCopy {
 public:
  // Copies the struct with its arrays. Throws if out of memory.
  explicit StructCopy(const Struct& now) : StructCopy() {
    FieldsOf<Struct>::Visit([&](const char*, auto member, FieldKind) {
      if constexpr (IsArray<decltype(member)>()) {
        fields_.*member = Copy(now.*member);
      } else {
        fields_.*member = now.*member;
      }
    });
  }
  ~StructCopy() {
    ForEachArray([](auto& array) { TfLiteIntArrayFree(const_cast<TfLiteIntArray*>(array)); });
  }
  StructCopy(StructCopy&& other) noexcept : fields_(other.fields_) {
    other.ForEachArray([](auto& array) { array = nullptr; });
  }
  StructCopy& operator=(StructCopy&& other) noexcept {
    std::swap(fields_, other.fields_);
    return *this;
  }
  StructCopy(const StructCopy&) = delete;
  StructCopy& operator=(const StructCopy&) = delete;

  const Struct& fields() const { return fields_; }

  // Calls changed(name) for each field that has changed, except for kRuntime.
  template <typename Changed>
  void Compare(const Struct& now, Changed&& changed) const {
    FieldsOf<Struct>::Visit([&](const char* name, auto member, FieldKind kind) {
      if (kind == FieldKind::kRuntime) return;
      if (!SameField(fields_.*member, now.*member)) changed(name);
    });
  }

  // Updates one array of the snapshot. Throws if out of memory.
  template <typename Array>
  void RefreshArray(const Struct& now, Array* Struct::*member) {
    if (SameField(fields_.*member, now.*member)) return;
    TfLiteIntArray* const copy = Copy(now.*member);
    TfLiteIntArrayFree(const_cast<TfLiteIntArray*>(fields_.*member));
    fields_.*member = copy;
  }

  // Restores arrays and fields of kind kValue. Arrays with equal contents keep their addresses,
  // since kernels may keep pointers to them; other arrays are moved out of the snapshot.
  void Restore(Struct* now) noexcept {
    FieldsOf<Struct>::Visit([&](const char*, auto member, FieldKind kind) {
      if constexpr (IsArray<decltype(member)>()) {
        if (!SameField(fields_.*member, now->*member)) std::swap(fields_.*member, now->*member);
      } else if (kind == FieldKind::kValue) {
        now->*member = fields_.*member;
      }
    });
  }

 private:
  StructCopy() = default;

  template <typename Member>
  static constexpr bool IsArray() {
    return kIsArray<std::decay_t<decltype(std::declval<Struct&>().*std::declval<Member>())>>;
  }

  // Copies an array. Foreign code may have written an invalid size; the copy is then empty.
  static TfLiteIntArray* Copy(const TfLiteIntArray* array) {
    if (array == nullptr) return nullptr;
    TfLiteIntArray* copy = array->size < 0 ? TfLiteIntArrayCreate(0) : TfLiteIntArrayCopy(array);
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
  }
  template <typename Visit>
  void ForEachArray(Visit&& visit) {
    FieldsOf<Struct>::Visit([&](const char*, auto member, FieldKind) {
      if constexpr (IsArray<decltype(member)>()) visit(fields_.*member);
    });
  }

  Struct fields_{};
};

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_FIELDS_H_
