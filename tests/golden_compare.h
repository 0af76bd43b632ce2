// SPDX-License-Identifier: Apache-2.0
//
// architecture.md's "Agreement" rule, and the runner that puts a golden row through the C API.
// Shared by the golden tests and by any test that holds an answer against TensorFlow Lite's.
#ifndef DEPUTY_TESTS_GOLDEN_COMPARE_H_
#define DEPUTY_TESTS_GOLDEN_COMPARE_H_

#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/golden_reader.h"

namespace deputy::golden {

struct Tensor {
  TfLiteType type;
  std::vector<int> dims;
  std::vector<uint8_t> data;
};

// What our library made of a row.
struct Result {
  Outcome outcome = Outcome::kAnswered;
  std::string error;  // our own text where it refused
  std::vector<Tensor> outputs;
};

Result RunRow(const Row& row, DeputyArithmetic arithmetic, int threads);

// Empty when `ours` agrees with either of TensorFlow Lite's answers, element by element; else what
// differs. In reference mode quantised outputs must equal the reference resolver's answer.
std::string Compare(const Row& row, const Output& golden, const Tensor& ours,
                    DeputyArithmetic arithmetic);

// Judges a whole row: refusals as well as answers. Empty when all is well.
std::string Judge(const Row& row, const Result& ours, DeputyArithmetic arithmetic);

// "float32[1,2,3]".
std::string Describe(TfLiteType type, const std::vector<int>& dims);
const char* Name(Outcome outcome);

}  // namespace deputy::golden

#endif  // DEPUTY_TESTS_GOLDEN_COMPARE_H_
