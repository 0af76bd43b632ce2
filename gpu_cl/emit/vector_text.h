// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C text of vector expressions, which process as many elements at once as the device has
// lanes. A bool is a mask there: an int with all bits set or clear in each lane.
#ifndef DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_
#define DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_

#include <string>
#include <vector>

#include "compiler/expression.h"
#include "gpu_cl/emit/scalar_text.h"

namespace deputy::gpu_cl {

// Returns whether every operation of the expression has a vector form. Integer division and shifts
// have none, and neither has double.
bool HasVectorForm(const compiler::Expression& expression);

// "float16"; for bool "int16".
std::string VectorType(TfLiteType type, int width);

// Loads `width` elements (4, 8 or 16) from an index on, with the macros of Prelude; broadcasts one
// element to all lanes; broadcasts a scalar of the compute type to all lanes.
std::string LoadVector(const Buffer& buffer, const std::string& index, int width);
std::string LoadSplat(const Buffer& buffer, const std::string& index, int width);
std::string Splat(TfLiteType type, const std::string& scalar, int width);
// The statement that stores a vector.
std::string StoreVector(const Buffer& buffer, const std::string& index, const std::string& value,
                        int width);

// Same as ScalarText, for nodes other than operands and constants.
std::string VectorText(const compiler::Expression& expression, const compiler::ScalarNode& node,
                       const std::vector<std::string>& arguments, int width);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_VECTOR_TEXT_H_
