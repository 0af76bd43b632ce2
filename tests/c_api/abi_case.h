// SPDX-License-Identifier: Apache-2.0
//
// Support for the tests of TensorFlow Lite's C ABI (tests/c_api/abi_*_test.cc), which are tables of
// small cases, one behaviour each. A table ends with three lines:
//
//     using AbiSignatures = AbiContract;
//     TEST_P(AbiSignatures, holds) { GetParam().check(); }
//     INSTANTIATE_TEST_SUITE_P(Contract, AbiSignatures, testing::ValuesIn(kCases), AbiCaseName);
//
// Each row is a separate test, Contract/AbiSignatures.holds/3_4c_each_call_creates_a_new_runner.
#ifndef DEPUTY_TESTS_C_API_ABI_CASE_H_
#define DEPUTY_TESTS_C_API_ABI_CASE_H_

#include <gtest/gtest.h>

#include <cctype>
#include <ostream>
#include <string>

namespace deputy {

struct AbiCase {
  const char* id;         // section of docs/abi_contract.md, with a letter if it has several cases
  const char* behaviour;  // a sentence, used as the test's name
  void (*check)();
};

class AbiContract : public testing::TestWithParam<AbiCase> {};

inline void PrintTo(const AbiCase& row, std::ostream* out) {
  *out << row.id << ": " << row.behaviour;
}

inline std::string AbiCaseName(const testing::TestParamInfo<AbiCase>& info) {
  std::string name = std::string(info.param.id) + " " + info.param.behaviour;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_C_API_ABI_CASE_H_
