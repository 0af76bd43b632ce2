// SPDX-License-Identifier: Apache-2.0
//
// The options of one operator in the model file: a verified FlatBuffer table whose fields are read
// by number. Option parsers use this instead of the generated schema. Field numbers are those of
// core/model/schema.fbs, counted from 0. Absent options, options of another union member and absent
// fields yield the given default, as with the schema's own defaults.
#ifndef DEPUTY_CORE_BASE_OP_OPTIONS_H_
#define DEPUTY_CORE_BASE_OP_OPTIONS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/common.h"

namespace deputy {

// Type of an operator's options table: the first union (`builtin_options`) or the second
// (`builtin_options_2`), and the member's number in it, as in the schema.
struct OptionsKind {
  uint8_t set = 0;     // number of the union: 1 or 2; 0: the operator has no options
  uint8_t member = 0;  // discriminator: which member of the union
  friend bool operator==(const OptionsKind&, const OptionsKind&) = default;
};

class OpOptions {
 public:
  OpOptions() = default;  // absent options: every field reads as its default
  // Refers to `table`, a flatbuffers::Table that the verifier has accepted as the member `kind`.
  OpOptions(OptionsKind kind, const void* table) : kind_(kind), table_(table) {}

  OptionsKind kind() const { return kind_; }
  bool present() const { return table_ != nullptr; }
  // Returns these options if they are of `kind`, else absent ones.
  OpOptions As(OptionsKind kind) const { return kind == kind_ ? *this : OpOptions(); }

  bool Bool(int field, bool default_value = false) const;
  int8_t Byte(int field, int8_t default_value = 0) const;
  int32_t Int(int field, int32_t default_value = 0) const;
  int64_t Long(int field, int64_t default_value = 0) const;
  float Float(int field, float default_value = 0.0f) const;
  // String, Ints, Floats and Bytes return a text or an array inside the model, null or empty if
  // absent. Valid as long as the model exists.
  const char* String(int field) const;
  std::span<const int32_t> Ints(int field) const;
  // Returns a copy, since files need not align 8-byte elements.
  std::vector<int64_t> Longs(int field) const;
  std::span<const float> Floats(int field) const;
  std::span<const uint8_t> Bytes(int field) const;

  // Padding and Activation convert enumerations of the schema to those of the C structs. Unknown
  // values become the C enum's "unknown" or "none", as in TensorFlow Lite.
  TfLitePadding Padding(int field) const;
  TfLiteFusedActivation Activation(int field) const;
  // Reads a TensorType; kTfLiteNoType if no TfLiteType corresponds to it.
  TfLiteType Type(int field, TfLiteType default_value = kTfLiteFloat32) const;

 private:
  OptionsKind kind_;
  const void* table_ = nullptr;
};

// Returns the TfLiteType of a schema TensorType; kTfLiteNoType if there is none.
TfLiteType TypeFromSchema(int8_t tensor_type);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_OP_OPTIONS_H_
