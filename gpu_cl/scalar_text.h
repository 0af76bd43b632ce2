// SPDX-License-Identifier: Apache-2.0
//
// Elements of buffers, and expressions on them, as texts in OpenCL C.
#ifndef DEPUTY_GPU_CL_SCALAR_TEXT_H_
#define DEPUTY_GPU_CL_SCALAR_TEXT_H_

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
  // Whether it is an image of texels instead, the first one of which is `<name>_first`: only
  // vectors of four are loaded from it, at multiples of four.
  bool texels = false;
  // Whether vectors of floats lie at multiples of their size: a driver then moves them as such, and
  // not element by element.
  bool aligned = false;
};

// The type in which elements lie in buffers ("half" for float16), and in which they are computed
// with.
const char* StorageType(TfLiteType type);
const char* ComputeType(TfLiteType type);

// Whether elements of the type in memory are floats once they are loaded: float32 and float16.
bool LoadsAsFloat(TfLiteType type);
// The type of a pointer to elements that are only read.
std::string ConstPointer(TfLiteType type);

// The element at an index, as an expression of the compute type.
std::string Load(const Buffer& buffer, const std::string& index);
// The statement that stores an expression of the compute type.
std::string Store(const Buffer& buffer, const std::string& index, const std::string& value);
// A number as a literal of the compute type.
std::string Literal(TfLiteType type, compiler::Number number);

// The text of one scalar operation on arguments of a compute type.
std::string ScalarText(const compiler::Expression& expression, const compiler::ScalarNode& node,
                       const std::vector<std::string>& arguments);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_SCALAR_TEXT_H_
