// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C text of buffer elements and scalar expressions.
#ifndef DEPUTY_GPU_CL_EMIT_SCALAR_TEXT_H_
#define DEPUTY_GPU_CL_EMIT_SCALAR_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/expression.h"
#include "compiler/number.h"

namespace deputy::gpu_cl {

inline std::string Decimal(int64_t number) { return std::to_string(number); }

// A value's buffer inside a kernel.
struct Buffer {
  std::string name;
  TfLiteType type = kTfLiteNoType;
  // True if the value is an image of texels, the first of which is `<name>_first`. Only vectors of
  // four are loaded from it, at multiples of four.
  bool texels = false;
  // True if vectors of floats are aligned to their size, so that a driver can move them as vectors
  // and not element by element.
  bool aligned = false;
};

// Return the type of elements in buffers ("half" for float16), and the type used in arithmetic.
const char* StorageType(TfLiteType type);
const char* ComputeType(TfLiteType type);

// Returns true if elements of the type become floats when loaded: float32 and float16.
bool LoadsAsFloat(TfLiteType type);
// Returns the type of a pointer to read-only elements.
std::string ConstPointer(TfLiteType type);

// Returns the element at an index, as an expression of the compute type.
std::string Load(const Buffer& buffer, const std::string& index);
// Returns the statement that stores an expression of the compute type.
std::string Store(const Buffer& buffer, const std::string& index, const std::string& value);
// Returns a number as a literal of the compute type.
std::string Literal(TfLiteType type, compiler::Number number);

// Returns whether the conversion of a real to an integer type of at most 32 bits needs no clamping:
// the node's argument is known to be within the type's range, and not NaN.
bool IsPlainCast(const compiler::Expression& expression, const compiler::ScalarNode& node);

// Returns the text of one scalar operation on arguments of a compute type.
std::string ScalarText(const compiler::Expression& expression, const compiler::ScalarNode& node,
                       const std::vector<std::string>& arguments);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_SCALAR_TEXT_H_
