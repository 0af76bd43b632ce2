// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyPluginReportDelegate: reports of plug-ins of this and older releases on a delegate,
// and the use of each option.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/external_delegate.h"
#include "tests/support/plugin_support.h"

namespace deputy::plugin_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PluginReport : public QuietTest {};

void AddUse(void* uses, const DeputyOptionUse* use) {
  const char* states[] = {"default", "given", "ignored"};
  ASSERT_EQ(use->struct_size, sizeof *use);
  std::string text = std::string(use->name) + "=" + use->value + " " + states[use->state];
  if (use->text[0] != '\0') text += std::string(" ") + use->text;
  static_cast<std::vector<std::string>*>(uses)->push_back(text);
}

struct Result {
  DeputyDelegateReport report = {};
  std::vector<std::string> uses;
};

Result ReportOn(TfLiteDelegate* delegate) {
  Result result;
  result.report.struct_size = sizeof result.report;
  EXPECT_EQ(DeputyPluginReportDelegate(delegate, &result.report, &AddUse, &result.uses), kTfLiteOk)
      << DeputyLastError();
  return result;
}

TEST_F(PluginReport, facts_are_the_plugins_and_states_combine_both_sides) {
  const Handle delegate =
      External("described0", {{"fast", "true"}, {"threads", "4"}, {"ops", "0"}, {"ops", "0,18"}});
  const Result result = ReportOn(delegate.get());
  EXPECT_STREQ(result.report.device, "fingers");
  EXPECT_STREQ(result.report.precision, "fp32");
  EXPECT_EQ(result.report.compile_ns, 0);
  EXPECT_EQ(result.report.tune_ns, -1);
  EXPECT_EQ(result.report.cache_hits, 2);
  EXPECT_EQ(result.report.cache_misses, 1);
  // An option that has no effect and was not set is reported as a default.
  EXPECT_THAT(result.uses, ElementsAre("ops=0,18 given", "log= default", "groups= default",
                                       "fast=true ignored nothing is fast", "threads=2 given",
                                       "scale=1.0 default"));
}

TEST_F(PluginReport, older_plugins_leave_the_facts_unknown) {
  const Handle delegate = External("described_first_release", {{"fast", "true"}});
  const Result result = ReportOn(delegate.get());
  EXPECT_STREQ(result.report.device, "");
  EXPECT_STREQ(result.report.precision, "");
  EXPECT_EQ(result.report.compile_ns, -1);
  EXPECT_EQ(result.report.cache_hits, -1);
  ASSERT_EQ(result.uses.size(), 6u);
  EXPECT_EQ(result.uses[3], "fast=true given");
}

TEST_F(PluginReport, without_declared_options_those_that_were_given_are_listed) {
  EXPECT_THAT(ReportOn(External("elementwise").get()).uses, IsEmpty());
  const Handle delegate = External("elementwise", {{"ops", "0"}});
  EXPECT_THAT(ReportOn(delegate.get()).uses, ElementsAre("ops=0 given"));
}

TEST_F(PluginReport, structs_of_other_sizes_and_a_missing_callback_are_accepted) {
  const Handle delegate = External("described0");
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  EXPECT_EQ(DeputyPluginReportDelegate(delegate.get(), &report, nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(report.struct_size, sizeof report);
  struct {
    DeputyDelegateReport report;
    char later[16];
  } newer = {};
  std::memset(newer.later, 0x5a, sizeof newer.later);
  newer.report.struct_size = sizeof newer;
  EXPECT_EQ(DeputyPluginReportDelegate(delegate.get(), &newer.report, nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(newer.report.struct_size, sizeof newer);
  EXPECT_STREQ(newer.report.device, "fingers");
  EXPECT_EQ(newer.later[0], 0x5a);
}

TEST_F(PluginReport, errors_are_reported) {
  const Handle delegate = External("described0");
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report - 1;
  EXPECT_EQ(DeputyPluginReportDelegate(delegate.get(), &report, nullptr, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("struct_size"));
  EXPECT_EQ(DeputyPluginReportDelegate(delegate.get(), nullptr, nullptr, nullptr), kTfLiteError);
  report.struct_size = sizeof report;
  TfLiteDelegate plain = TfLiteDelegateCreate();
  for (TfLiteDelegate* foreign : {&plain, static_cast<TfLiteDelegate*>(nullptr)}) {
    EXPECT_EQ(DeputyPluginReportDelegate(foreign, &report, nullptr, nullptr), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("expected a delegate that was created by a plug-in"));
  }
}

}  // namespace
}  // namespace deputy::plugin_test
