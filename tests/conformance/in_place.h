// SPDX-License-Identifier: Apache-2.0
//
// Runs operator cases with an output in the memory of an input, as a memory planner may place them.
// Both tensors use one custom allocation, so that the result does not depend on the interpreter's
// plan.
#ifndef DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_
#define DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_

#include <string>

#include "tests/conformance/run.h"
#include "tests/conformance/target.h"

namespace deputy {
struct OpCase;
}

namespace deputy::conformance {

// Tensors of the case's first node, as indices into its lists of inputs and outputs.
struct Sharing {
  int input = 0;
  int output = 0;
};

struct InPlaceResult {
  // Reason why input and output cannot share memory (a larger output, a constant, a dynamic tensor,
  // …); "" if they can.
  std::string impossible;
  Result result;
};

// Runs a case with shared memory; the result must have the same bytes as that of RunCase.
InPlaceResult RunCaseInPlace(const OpCase& op_case, const Target& target,
                             DeputyArithmetic arithmetic, const Sharing& sharing);

// Returns the pairs of input and output that may share memory according to a TfLiteInPlaceOp mask,
// for a node with this number of inputs and outputs.
std::vector<Sharing> SharingsOf(uint64_t mask, int inputs, int outputs);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_
