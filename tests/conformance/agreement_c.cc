// SPDX-License-Identifier: Apache-2.0
//
// The comparison for programs in other languages: tests/golden loads it as a library
// (libagreement.so), so that freshly drawn cases are held to the same rule as stored ones.
#include <cstdint>
#include <cstdio>
#include <span>

#include "tests/conformance/agreement.h"

using deputy::conformance::Agreement;
using deputy::conformance::Compare;
using deputy::conformance::Rule;
using deputy::conformance::TensorValue;

// Contents of tensors of one type and shape: `expected_count` expected ones of which either counts,
// of `expected_bytes` each, and the found one. Returns 1 if they agree; else 0, with the difference
// as text of at most `text_size` bytes, the final zero among them.
extern "C" TFL_CAPI_EXPORT int ConformanceAgree(int rule, double factor, double steps, int type,
                                                const int* dims, int rank,
                                                const uint8_t* const* expected,
                                                const size_t* expected_bytes, int expected_count,
                                                const uint8_t* found, size_t found_bytes,
                                                char* text, size_t text_size);

int ConformanceAgree(int rule, double factor, double steps, int type, const int* dims, int rank,
                     const uint8_t* const* expected, const size_t* expected_bytes,
                     int expected_count, const uint8_t* found, size_t found_bytes, char* text,
                     size_t text_size) {
  const auto value_of = [=](const uint8_t* data, size_t bytes) {
    return TensorValue{static_cast<TfLiteType>(type), {dims, dims + rank}, {data, data + bytes}};
  };
  std::vector<TensorValue> values;
  values.reserve(static_cast<size_t>(expected_count));
  for (int i = 0; i < expected_count; ++i) {
    values.push_back(value_of(expected[i], expected_bytes[i]));
  }
  const auto difference = Compare(values, value_of(found, found_bytes),
                                  Agreement{static_cast<Rule>(rule), factor, steps});
  if (difference) std::snprintf(text, text_size, "%s", difference->text.c_str());
  return difference ? 0 : 1;
}
