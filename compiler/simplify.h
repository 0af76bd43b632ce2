// SPDX-License-Identifier: Apache-2.0
//
// Algebra of scalar expressions that changes no bit of any result, signs of zeros and what becomes
// of NaN included: x * 1, clamps within clamps, a number that is rounded and then again, an integer
// that is made and turned back at once.
#ifndef DEPUTY_COMPILER_SIMPLIFY_H_
#define DEPUTY_COMPILER_SIMPLIFY_H_

#include "compiler/expression.h"

namespace deputy::compiler {

Expression Simplified(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_SIMPLIFY_H_
