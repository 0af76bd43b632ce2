// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator whose row allows an output in an input's memory (OpDef::inplace) with shared
// memory, for every operator case with sufficient sizes: the bytes must equal those computed in
// separate memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "core/kernel_api/op_def.h"
#include "kernels/registry.h"
#include "tests/cases/case.h"
#include "tests/conformance/check.h"
#include "tests/conformance/cpu_target.h"
#include "tests/conformance/in_place.h"
#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::conformance::in_place_test {
namespace {

// Returns the masks of the kernels' tables, by the name of the operator.
std::map<std::string, uint64_t> Masks() {
  std::map<std::string, uint64_t> masks;
  for (const auto family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.invoke != nullptr && op.inplace != kTfLiteInplaceOpNone) masks[op.name] = op.inplace;
    }
  }
  return masks;
}

std::string OperatorOf(const OpCase& op_case) {
  return op_case.name.substr(0, op_case.name.find(' '));
}

class InPlace : public testing::TestWithParam<const char*> {};

TEST_P(InPlace, has_the_bytes_of_separate_memory) {
  if (!HasCpuTable(GetParam())) GTEST_SKIP() << "this machine cannot run " << GetParam();
  const Target target = CpuTarget(GetParam(), 1);
  const std::map<std::string, uint64_t> masks = Masks();
  std::set<std::string> shown;
  int runs = 0;
  for (const OpCase& op_case : AllCases()) {
    const auto mask = masks.find(OperatorOf(op_case));
    if (mask == masks.end() || !op_case.refusal.empty()) continue;
    const Result expected = RunCase(op_case, target, kDeputyArithmeticDefault);
    for (const Sharing& sharing : SharingsOf(mask->second, 3, 1)) {
      const InPlaceResult found =
          RunCaseInPlace(op_case, target, kDeputyArithmeticDefault, sharing);
      if (!found.impossible.empty()) continue;
      EXPECT_EQ(CompareBytes(expected, found.result), "")
          << op_case.name << " in place of input " << sharing.input << ": " << found.result.log;
      shown.insert(mask->first);
      ++runs;
    }
  }
  std::printf("%d cases of %zu operators ran in place\n", runs, shown.size());
  for (const auto& [name, mask] : masks) EXPECT_TRUE(shown.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(On, InPlace, testing::ValuesIn(CpuSetNames()),
                         [](const auto& parameter) { return parameter.param; });

// Checks that a mask that allows too much would be detected.
TEST(InPlaceCases, detect_an_operator_that_overwrites_unread_input) {
  const Target target = CpuTarget("reference", 1);
  int different = 0;
  for (const OpCase& op_case : AllCases()) {
    if (OperatorOf(op_case) != "TRANSPOSE" || !op_case.refusal.empty()) continue;
    const InPlaceResult found = RunCaseInPlace(op_case, target, kDeputyArithmeticDefault, {0, 0});
    const Result expected = RunCase(op_case, target, kDeputyArithmeticDefault);
    if (found.impossible.empty() && !CompareBytes(expected, found.result).empty()) ++different;
  }
  EXPECT_GT(different, 0);
}

}  // namespace
}  // namespace deputy::conformance::in_place_test
