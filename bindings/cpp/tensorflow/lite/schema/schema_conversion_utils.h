// SPDX-License-Identifier: Apache-2.0
//
// Writes entries of a model's operator table, which store the operator in two fields: 8 bits for
// old readers, 32 bits for new ones.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_CONVERSION_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_CONVERSION_UTILS_H_

#include <cstdint>

#include "flatbuffers/flatbuffers.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

// Returns the value of the 8-bit field: the operator, or a placeholder if it does not fit.
inline int8_t ConvertBuiltinCodeToDeprecatedBuiltinCode(BuiltinOperator builtin_code) {
  return static_cast<int8_t>(builtin_code < BuiltinOperator_PLACEHOLDER_FOR_GREATER_OP_CODES
                                 ? builtin_code
                                 : BuiltinOperator_PLACEHOLDER_FOR_GREATER_OP_CODES);
}

// Overloads of the functions that flatc generates; they set both fields.
inline flatbuffers::Offset<OperatorCode> CreateOperatorCode(
    flatbuffers::FlatBufferBuilder& builder, BuiltinOperator builtin_code = BuiltinOperator_ADD,
    flatbuffers::Offset<flatbuffers::String> custom_code = 0, int32_t version = 1) {
  return CreateOperatorCode(builder, ConvertBuiltinCodeToDeprecatedBuiltinCode(builtin_code),
                            custom_code, version, builtin_code);
}

inline flatbuffers::Offset<OperatorCode> CreateOperatorCodeDirect(
    flatbuffers::FlatBufferBuilder& builder, BuiltinOperator builtin_code = BuiltinOperator_ADD,
    const char* custom_code = nullptr, int32_t version = 1) {
  return CreateOperatorCodeDirect(builder, ConvertBuiltinCodeToDeprecatedBuiltinCode(builtin_code),
                                  custom_code, version, builtin_code);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_CONVERSION_UTILS_H_
