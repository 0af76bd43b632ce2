// SPDX-License-Identifier: Apache-2.0
//
// Golden rows that the default arithmetic computes otherwise than TensorFlow Lite by intention: the
// exact result wins. The reference arithmetic agrees with all of them.
#ifndef DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_
#define DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_

#include <string>

#include "tests/conformance/golden_reader.h"

namespace deputy::conformance {

// Why the default arithmetic may differ from the row; "" where it may not.
std::string WhyExact(const golden::Row& row);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_EXACT_ROWS_H_
