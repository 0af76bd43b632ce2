// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C text of vector expressions, which process PlanOptions::vector_width elements at once. A
// vector of bool is a mask there: a vector of ints, each with all bits set or clear.
#ifndef DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_
#define DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_

#include <string>
#include <vector>

#include "compiler/expression.h"
#include "gpu_cl/emit/scalar_text.h"

namespace deputy::gpu_cl {

// Returns true if every operation of the expression has a vector form. For example, integer
// division, shifts and double have none.
bool HasVectorForm(const compiler::Expression& expression);

// Returns the name of a vector type, such as "float16" for 16 floats. Vectors of bool are ints
// ("int16").
std::string VectorType(TfLiteType type, int width);

// Return the text of a vector: LoadVector loads `width` elements (4, 8 or 16) from an index on,
// with the macros of Prelude; LoadSplat broadcasts one element of a buffer to all lanes; Splat
// broadcasts a scalar of the compute type.
std::string LoadVector(const Buffer& buffer, const std::string& index, int width);
std::string LoadSplat(const Buffer& buffer, const std::string& index, int width);
std::string Splat(TfLiteType type, const std::string& scalar, int width);
// Returns the statement that stores a vector.
std::string StoreVector(const Buffer& buffer, const std::string& index, const std::string& value,
                        int width);

// Returns the text of one operation on vectors, for nodes other than operands and constants.
std::string VectorText(const compiler::Expression& expression, const compiler::ScalarNode& node,
                       const std::vector<std::string>& arguments, int width);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_
