// SPDX-License-Identifier: Apache-2.0
//
// Names of operators for reports: a delegate gets their numbers alone.
#ifndef DEPUTY_COMPILER_OPERATOR_NAME_H_
#define DEPUTY_COMPILER_OPERATOR_NAME_H_

#include <string>

namespace deputy::compiler {

// "CONV_2D"; the number itself where there is no such operator.
std::string OperatorName(int builtin_code);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_OPERATOR_NAME_H_
