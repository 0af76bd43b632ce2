// SPDX-License-Identifier: Apache-2.0
//
// Reads verified FlatBuffer tables by field number. The verifier guarantees that 8-byte scalars of
// a table are aligned, but not the elements of 8-byte vectors.
#include "core/base/flatbuffers_access.h"
// flatbuffers_access.h is included before all other headers: it disables FlatBuffers' asserts.
#include <cstring>

#include "core/base/op_options.h"

namespace deputy {
namespace {

const flatbuffers::Table* AsTable(const void* table) {
  return static_cast<const flatbuffers::Table*>(table);
}

// Returns the offset of a field's entry in the vtable: two 16-bit words of header, then one word
// per field.
flatbuffers::voffset_t Slot(int field) {
  return static_cast<flatbuffers::voffset_t>(2 * sizeof(flatbuffers::voffset_t) +
                                             static_cast<size_t>(field) *
                                                 sizeof(flatbuffers::voffset_t));
}

template <typename T>
T Scalar(const void* table, int field, T default_value) {
  return table == nullptr ? default_value : AsTable(table)->GetField<T>(Slot(field), default_value);
}

template <typename T>
const flatbuffers::Vector<T>* VectorAt(const void* table, int field) {
  return table == nullptr ? nullptr
                          : AsTable(table)->GetPointer<const flatbuffers::Vector<T>*>(Slot(field));
}

template <typename T>
std::span<const T> Span(const void* table, int field) {
  const auto* vector = VectorAt<T>(table, field);
  if (vector == nullptr || vector->size() == 0) return {};
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

}  // namespace

bool OpOptions::Bool(int field, bool default_value) const {
  return Scalar<uint8_t>(table_, field, default_value ? 1 : 0) != 0;
}

int8_t OpOptions::Byte(int field, int8_t default_value) const {
  return Scalar<int8_t>(table_, field, default_value);
}

int32_t OpOptions::Int(int field, int32_t default_value) const {
  return Scalar<int32_t>(table_, field, default_value);
}

int64_t OpOptions::Long(int field, int64_t default_value) const {
  return Scalar<int64_t>(table_, field, default_value);
}

float OpOptions::Float(int field, float default_value) const {
  return Scalar<float>(table_, field, default_value);
}

const char* OpOptions::String(int field) const {
  const auto* vector = VectorAt<uint8_t>(table_, field);
  return vector == nullptr ? nullptr : reinterpret_cast<const char*>(vector->Data());
}

std::span<const int32_t> OpOptions::Ints(int field) const { return Span<int32_t>(table_, field); }

std::vector<int64_t> OpOptions::Longs(int field) const {
  const auto* vector = VectorAt<int64_t>(table_, field);
  if (vector == nullptr || vector->size() == 0) return {};
  std::vector<int64_t> values(vector->size());
  std::memcpy(values.data(), vector->Data(), values.size() * sizeof(int64_t));
  return values;
}

std::span<const float> OpOptions::Floats(int field) const { return Span<float>(table_, field); }

std::span<const uint8_t> OpOptions::Bytes(int field) const { return Span<uint8_t>(table_, field); }

TfLitePadding OpOptions::Padding(int field) const {
  switch (Byte(field)) {
    case 0:
      return kTfLitePaddingSame;
    case 1:
      return kTfLitePaddingValid;
    default:
      return kTfLitePaddingUnknown;
  }
}

TfLiteFusedActivation OpOptions::Activation(int field) const {
  // The schema's values equal those of the C enum, which has one more (sigmoid).
  const int8_t value = Byte(field);
  return value >= 0 && value <= kTfLiteActSignBit ? static_cast<TfLiteFusedActivation>(value)
                                                  : kTfLiteActNone;
}

TfLiteType OpOptions::Type(int field, TfLiteType default_value) const {
  if (table_ == nullptr || !AsTable(table_)->CheckField(Slot(field))) return default_value;
  return TypeFromSchema(Byte(field));
}

TfLiteType TypeFromSchema(int8_t tensor_type) {
  // The TfLiteType of each TensorType of the schema.
  static constexpr TfLiteType kTypes[] = {
      kTfLiteFloat32, kTfLiteFloat16,      kTfLiteInt32,      kTfLiteUInt8,     kTfLiteInt64,
      kTfLiteString,  kTfLiteBool,         kTfLiteInt16,      kTfLiteComplex64, kTfLiteInt8,
      kTfLiteFloat64, kTfLiteComplex128,   kTfLiteUInt64,     kTfLiteResource,  kTfLiteVariant,
      kTfLiteUInt32,  kTfLiteUInt16,       kTfLiteInt4,       kTfLiteBFloat16,  kTfLiteInt2,
      kTfLiteUInt4,   kTfLiteFloat8E4M3FN, kTfLiteFloat8E5M2,
  };
  constexpr int kCount = sizeof(kTypes) / sizeof(kTypes[0]);
  return tensor_type >= 0 && tensor_type < kCount ? kTypes[tensor_type] : kTfLiteNoType;
}

}  // namespace deputy
