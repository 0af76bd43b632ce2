// SPDX-License-Identifier: Apache-2.0
//
// Algebraic simplification of scalar expressions. Preserves every bit of the results, including
// signs of zeros and NaN: removes x * 1, nested clamps, repeated rounding, and integers that are
// converted back immediately.
#ifndef DEPUTY_COMPILER_SIMPLIFY_H_
#define DEPUTY_COMPILER_SIMPLIFY_H_

#include "compiler/expression.h"

namespace deputy::compiler {

Expression Simplified(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_SIMPLIFY_H_
