// SPDX-License-Identifier: Apache-2.0
//
// Compares results with expected ones within the tolerances that docs/design/agreement.md defines.
// Cases, golden rows and the golden scripts (through agreement_c.cc) all use these functions.
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

// The rule by which an output is compared. The numbers are also used in the golden files.
enum class Rule : uint8_t {
  kEqual,    // equality: data movement, min, max, indices, strings, reference arithmetic
  kElement,  // floats within 1e-5 of each value, plus 1e-6
  kSum,      // floats of operators that sum: within 1e-5 of the greatest magnitude, plus 1e-6
  kSteps,    // quantised values within a number of quantisation steps
  kHalf,     // float16 within 1e-3 of each value, plus 1e-3 of the greatest magnitude
};

struct Agreement {
  Rule rule = Rule::kEqual;
  double factor = 1;  // factor on the tolerances of floats
  double steps = 0;   // tolerance of kSteps in quantisation steps
};

// Type, shape and contents of a tensor.
struct TensorValue {
  TfLiteType type = kTfLiteNoType;
  std::vector<int> dims;
  std::vector<uint8_t> data;
};

// The first element that exceeds its tolerance.
struct Difference {
  size_t index = 0;
  double expected = 0, found = 0, tolerance = 0;  // 0 if type, shape or strings differ
  std::string text;  // "is int8[2], expected int8[3]", "element 7 is 3, expected 1 (within 1); …"
};

// Returns nothing if `found` has the type and shape of the expected values and each element is
// within the tolerance of the element of at least one of them. NaN and infinities must be at the
// same positions; strings, and integers under a rule for floats, must be equal. `expected` has one
// or more entries of the same type and shape; an entry without data is skipped if the tensor has
// elements.
std::optional<Difference> Compare(std::span<const TensorValue> expected, const TensorValue& found,
                                  const Agreement& agreement);

// Formats a type and shape as "float32[1,2,3]".
std::string Describe(TfLiteType type, const std::vector<int>& dims);

size_t ElementCount(const std::vector<int>& dims);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_AGREEMENT_H_
