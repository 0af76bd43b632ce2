// SPDX-License-Identifier: Apache-2.0
//
// An expression together with the values that are its operands: what element-wise operations and
// epilogues have in common, and how one is put into another.
#ifndef DEPUTY_COMPILER_COMPUTATION_H_
#define DEPUTY_COMPILER_COMPUTATION_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Stands among the inputs for the element that an epilogue is applied to.
inline constexpr ValueId kElement = -2;

struct Computation {
  Expression expression;
  std::vector<ValueId> inputs;  // by operand
};

// What an element-wise operation computes.
Computation ComputationOf(const Operation& elementwise);
// An operation's epilogue, whose operand 0 is kElement; of type `type` if there is none.
Computation EpilogueOf(const Operation& operation, TfLiteType type);

// Whether a back end can compute an epilogue of what the operation makes: only large ones.
bool TakesEpilogue(const Operation& operation);

// The outer one with the inner one in place of the operands that are `value`. Equal inputs become
// one, those that are not used go, and the expression is simplified.
Computation Inlined(const Computation& outer, ValueId value, const Computation& inner);
// The same without another one in it.
Computation Tidied(const Computation& computation);

// Makes it the operation's epilogue. kElement is among the inputs.
void SetEpilogue(const Computation& computation, Operation* operation);

// How many nodes compute something: all but operands and constants.
int WorkOf(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COMPUTATION_H_
