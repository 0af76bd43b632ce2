// SPDX-License-Identifier: Apache-2.0
//
// Reads fields of a model that have several encodings.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_UTILS_H_

#include <algorithm>
#include <cstddef>

#include "flatbuffers/flatbuffers.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

// Returns the operator of an entry of the model's operator table, which must not be null. A file
// has it in a field of 8 bits, in one of 32 bits, or in both; the missing or saturated field has
// the smaller value.
inline BuiltinOperator GetBuiltinCode(const OperatorCode* op_code) {
  return std::max(op_code->builtin_code(),
                  static_cast<BuiltinOperator>(op_code->deprecated_builtin_code()));
}

inline BuiltinOperator GetBuiltinCode(const OperatorCodeT* op_code) {
  return std::max(op_code->builtin_code,
                  static_cast<BuiltinOperator>(op_code->deprecated_builtin_code));
}

// Returns the size in bytes of an element, or 0 for types without a fixed size, for types of less
// than a byte, for 8-bit floats and for bfloat16.
inline size_t TensorTypeGetSize(TensorType data_type) {
  switch (data_type) {
    case TensorType_BOOL:
    case TensorType_INT8:
    case TensorType_UINT8:
      return 1;
    case TensorType_FLOAT16:
    case TensorType_INT16:
    case TensorType_UINT16:
      return 2;
    case TensorType_FLOAT32:
    case TensorType_INT32:
    case TensorType_UINT32:
      return 4;
    case TensorType_FLOAT64:
    case TensorType_INT64:
    case TensorType_UINT64:
    case TensorType_COMPLEX64:
      return 8;
    case TensorType_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SCHEMA_SCHEMA_UTILS_H_
