// SPDX-License-Identifier: Apache-2.0
//
// Properties of a scalar node's result that hold for all operands: bounds, possible NaN and
// negative zero, and whether it is an integer.
#ifndef DEPUTY_COMPILER_FACTS_H_
#define DEPUTY_COMPILER_FACTS_H_

#include <span>
#include <vector>

#include "compiler/expression.h"

namespace deputy::compiler {

struct Facts {
  double min = 0, max = 0;  // inclusive bounds; approximate for integers beyond 2^53
  bool may_be_nan = false;
  bool may_be_negative_zero = false;
  bool is_integer = false;  // has no fractional part
};

// Returns facts that hold for every value of the type.
Facts FactsOfType(TfLiteType type);
// Returns the facts of a node, derived from those of the nodes before it.
Facts FactsOf(const ScalarNode& node, std::span<const Facts> earlier);
// Returns the facts of the expression's result.
Facts FactsOf(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_FACTS_H_
