// SPDX-License-Identifier: Apache-2.0
//
// What is known of a scalar node's result whatever the operands are.
#ifndef DEPUTY_COMPILER_FACTS_H_
#define DEPUTY_COMPILER_FACTS_H_

#include <span>
#include <vector>

#include "compiler/expression.h"

namespace deputy::compiler {

struct Facts {
  double least = 0, most = 0;  // a bound that is nearly right for whole numbers beyond 2^53
  bool may_be_nan = false;
  bool may_be_negative_zero = false;
  bool whole = false;  // no fraction
};

// Of anything that has the type.
Facts FactsOfType(TfLiteType type);
// Of a node, given those of the nodes before it.
Facts FactsOf(const ScalarNode& node, std::span<const Facts> earlier);
// Of the result.
Facts FactsOf(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_FACTS_H_
