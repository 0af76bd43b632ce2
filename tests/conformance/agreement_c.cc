// SPDX-License-Identifier: Apache-2.0
//
// C entry point of the comparison of results, for other languages. tests/golden loads it as a
// library (libagreement.so), so that newly generated cases follow the same rules as stored ones.
#include <cstdint>
#include <cstdio>
#include <span>

#include "tests/conformance/agreement.h"

using deputy::conformance::Agreement;
using deputy::conformance::Compare;
using deputy::conformance::Rule;
using deputy::conformance::TensorValue;

// Compares the contents of tensors of one type and shape. The found contents must match one of the
// `expected_count` expected contents, each of `expected_bytes` bytes. Returns 1 if they agree;
// otherwise returns 0 and writes the difference to a text buffer of `text_size` bytes, including
// the terminating zero.
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
