// SPDX-License-Identifier: Apache-2.0
//
// Golden rows for which the default arithmetic differs from TensorFlow Lite by intention because it
// computes the exact result. The reference arithmetic agrees with all of them.
#ifndef DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_
#define DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_

#include <string>

#include "tests/conformance/golden_reader.h"

namespace deputy::conformance {

// Returns the reason why the default arithmetic may differ from the row; "" if it must agree.
std::string ExactReason(const golden::Row& row);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_
