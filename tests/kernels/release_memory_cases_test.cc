// SPDX-License-Identifier: Apache-2.0
//
// Releases the memory of an interpreter between its inferences, for every operator case and table
// of kernels: the bytes of all outputs must equal those without a release.
#include <gtest/gtest.h>

#include "c_api/include/deputy_graph.h"
#include "core/base/packed_constants.h"
#include "tests/cases/case.h"
#include "tests/conformance/check.h"
#include "tests/conformance/cpu_target.h"
#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::conformance::release_memory_cases_test {
namespace {

class ReleaseMemoryCases : public testing::TestWithParam<const char*> {};

TEST_P(ReleaseMemoryCases, have_the_bytes_of_a_run_without_a_release) {
  if (!HasCpuTable(GetParam())) GTEST_SKIP() << "this machine cannot run " << GetParam();
  const Target target = CpuTarget(GetParam(), 1);
  PackedConstants::OverwriteDiscarded(true);
  int releases = 0;
  Job job;
  job.feed = [&](TfLiteInterpreter* interpreter, int pass) {
    ++releases;
    return pass == 0 ? kTfLiteOk : DeputyInterpreterReleaseMemory(interpreter);
  };
  for (const OpCase& op_case : AllCases()) {
    if (!op_case.refusal.empty()) continue;
    const Result expected = RunCase(op_case, target, kDeputyArithmeticDefault);
    const Result found = RunCase(op_case, target, kDeputyArithmeticDefault, &job);
    EXPECT_EQ(CompareBytes(expected, found), "") << op_case.name << ": " << found.log;
  }
  PackedConstants::OverwriteDiscarded(false);
  EXPECT_GT(releases, 1000);
}

INSTANTIATE_TEST_SUITE_P(On, ReleaseMemoryCases, testing::ValuesIn(CpuSetNames()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace deputy::conformance::release_memory_cases_test
