// SPDX-License-Identifier: Apache-2.0
//
// Tolerances of results against expected ones, as docs/design/agreement.md defines them. Cases,
// golden rows and the golden scripts (through agreement_c.h) all use them.
#ifndef DEPUTY_TESTS_CONFORMANCE_AGREEMENT_H_
#define DEPUTY_TESTS_CONFORMANCE_AGREEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/common.h"

namespace deputy::conformance {

// How an output is compared. The numbers are those of the golden files.
enum class Rule : uint8_t {
  kEqual,    // data movement, minimum and maximum, indices, strings, reference arithmetic
  kElement,  // floats: 1e-5 of each value, and 1e-6
  kSum,      // floats of operators that sum: 1e-5 of the greatest magnitude, and 1e-6
  kSteps,    // quantised: a number of steps
  kHalf,     // float16: 1e-3 of each value, and of the greatest magnitude
};

struct Agreement {
  Rule rule = Rule::kEqual;
  double factor = 1;  // of the bounds for floats
  double steps = 0;   // of kSteps
};

// A tensor's contents, wherever they were.
struct TensorValue {
  TfLiteType type = kTfLiteNoType;
  std::vector<int> dims;
  std::vector<uint8_t> data;
};

// The first element that is out of bounds.
struct Difference {
  size_t index = 0;
  double expected = 0, found = 0, tolerance = 0;  // all 0 where type, shape or strings differ
  std::string text;  // "is int8[2], expected int8[3]", "element 7 is 3, expected 1 (within 1); …"
};

// Nothing if `found` has type and shape of the expected values and each element is close enough to
// that of one of them. NaN and infinities stand in the same places; integers of a float's rule, and
// strings, are equal. `expected` has one entry or more, alike in type and shape; an entry without
// data, where the tensor has elements, is passed over.
std::optional<Difference> Compare(std::span<const TensorValue> expected, const TensorValue& found,
                                  const Agreement& agreement);

// "float32[1,2,3]".
std::string Describe(TfLiteType type, const std::vector<int>& dims);

size_t ElementCount(const std::vector<int>& dims);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_AGREEMENT_H_
