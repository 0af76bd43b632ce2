// SPDX-License-Identifier: Apache-2.0
//
// Names of operators for reports: a delegate receives only their builtin codes.
#ifndef DEPUTY_COMPILER_OPERATOR_NAME_H_
#define DEPUTY_COMPILER_OPERATOR_NAME_H_

#include <string>

namespace deputy::compiler {

// Returns the name of an operator, such as "CONV_2D"; the code as text if there is no such
// operator.
std::string OperatorName(int builtin_code);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_OPERATOR_NAME_H_
