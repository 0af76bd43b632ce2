// SPDX-License-Identifier: Apache-2.0
//
// An expression together with the values that are its operands: the common representation of
// element-wise operations and epilogues, with inlining of one into another.
#ifndef DEPUTY_COMPILER_COMPUTATION_H_
#define DEPUTY_COMPILER_COMPUTATION_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Placeholder among a computation's inputs: the element that an epilogue is applied to.
inline constexpr ValueId kElement = -2;

struct Computation {
  Expression expression;
  std::vector<ValueId> inputs;  // by operand
};

// Returns the expression and inputs of an element-wise operation.
Computation ComputationOf(const Operation& elementwise);
// Returns an operation's epilogue with kElement as operand 0; the identity on `type` if there is
// none.
Computation EpilogueOf(const Operation& operation, TfLiteType type);

// Returns whether a back end can fuse an epilogue into the operation. True for convolutions, pools,
// products, reductions and softmax only.
bool SupportsEpilogue(const Operation& operation);

// Returns `outer` with `inner` substituted for the operands that are `value`. Equal inputs are
// merged, unused ones are removed, and the expression is simplified.
Computation Inlined(const Computation& outer, ValueId value, const Computation& inner);
// Merges equal inputs, removes unused ones and simplifies the expression.
Computation Canonicalized(const Computation& computation);

// Sets the operation's epilogue. `computation` must have kElement among its inputs.
void SetEpilogue(const Computation& computation, Operation* operation);

// Returns the number of nodes that compute something: all except operands and constants.
int WorkOf(const Expression& expression);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_COMPUTATION_H_
