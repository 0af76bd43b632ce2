// SPDX-License-Identifier: Apache-2.0
//
// Operator cases with an output in the memory of an input, as a planner may lay them out: with one
// custom allocation for both tensors, so that the interpreter's own plan does not matter.
#ifndef DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_
#define DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_

#include <string>

#include "tests/conformance/run.h"
#include "tests/conformance/target.h"

namespace deputy {
struct OpCase;
}

namespace deputy::conformance {

// Tensors of a case's first node, by their place in its lists.
struct Sharing {
  int input = 0;
  int output = 0;
};

struct InPlaceResult {
  // Why the two cannot share memory: other sizes, a constant, a dynamic tensor, … "" if they can.
  std::string impossible;
  Result result;
};

// Runs a case so; the result has to have the bytes of RunCase.
InPlaceResult RunCaseInPlace(const OpCase& op_case, const Target& target,
                             DeputyArithmetic arithmetic, const Sharing& sharing);

// The pairs that a TfLiteInPlaceOp mask lets share memory, for a node of `inputs` and `outputs`.
std::vector<Sharing> SharingsOf(uint64_t mask, int inputs, int outputs);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_IN_PLACE_H_
