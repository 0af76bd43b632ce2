// SPDX-License-Identifier: Apache-2.0
//
// Expressions on vectors of OpenCL C: as many elements at once as the device has lanes. A bool is a
// mask there, an int of all ones or of none in each lane.
#ifndef DEPUTY_GPU_CL_VECTOR_TEXT_H_
#define DEPUTY_GPU_CL_VECTOR_TEXT_H_

#include <string>
#include <vector>

#include "compiler/expression.h"
#include "gpu_cl/scalar_text.h"

namespace deputy::gpu_cl {

// Whether every operation of the expression has a form for vectors: whole numbers are not divided
// or shifted there, and there are no vectors of double.
bool HasVectorForm(const compiler::Expression& expression);

// "float16"; for bool "int16".
std::string VectorType(TfLiteType type, int width);

// `width` elements, 4, 8 or 16, from an index on, by the macros of Prelude; one element in all
// lanes; a scalar of the compute type in all lanes.
std::string LoadVector(const Buffer& buffer, const std::string& index, int width);
std::string LoadSplat(const Buffer& buffer, const std::string& index, int width);
std::string Splat(TfLiteType type, const std::string& scalar, int width);
// The statement that stores them.
std::string StoreVector(const Buffer& buffer, const std::string& index, const std::string& value,
                        int width);

// As ScalarText, for nodes other than operands and constants.
std::string VectorText(const compiler::Expression& expression, const compiler::ScalarNode& node,
                       const std::vector<std::string>& arguments, int width);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_VECTOR_TEXT_H_
