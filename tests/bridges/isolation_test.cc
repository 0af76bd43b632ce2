// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyIsolatedDelegateCreate: a delegate of a plug-in that is loaded in another process
// only.
#include "c_api/include/delegate_isolation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/isolated_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::isolation_test {
namespace {

// y = x + x
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

class Isolation : public QuietTest {
 protected:
  // Applies the delegate and runs one inference.
  static TfLiteStatus Run(TfLiteDelegate* delegate, TestInterpreter* t) {
    if (TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate) != kTfLiteOk) {
      return kTfLiteDelegateError;
    }
    EXPECT_EQ(t->Allocate(), kTfLiteOk);
    t->Set<float>(0, {1, 2});
    return t->Invoke();
  }

  const ScopedEnvironment folder_{"DEPUTY_PLUGIN_PATH", BuildPath("").c_str()};
};

TEST_F(Isolation, a_delegate_runs_in_another_process) {
  // The settings of the call replace these variables.
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "invalid");
  const ScopedEnvironment layers("DEPUTY_LAYERS", "fault=invoke:1:fail");
  const Handle delegate(CreateIsolatedDelegate(Library("faulty").c_str(), "fault", "", 5000),
                        &DeputyPluginDeleteDelegate);
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  TestInterpreter t(Model());
  ASSERT_EQ(Run(delegate.get(), &t), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{2, 4}));
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1);
  EXPECT_FALSE(IsLoaded(Library("faulty")));
}

// Returns the messages of an inference with these settings, and its status.
std::string MessagesWith(const DeputyDelegateIsolation& isolation, const char* fault,
                         const char* callback, TfLiteStatus* out_status) {
  const char* const keys[] = {"fault", "in"};
  const char* const values[] = {fault, callback};
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("faulty").c_str(), keys, values, 2, &isolation),
      &DeputyPluginDeleteDelegate);
  if (delegate == nullptr) return DeputyLastError();
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  *out_status = t.Invoke();
  return t.log();
}

TEST_F(Isolation, settings_reach_the_process) {
  DeputyDelegateIsolation isolation = {};
  isolation.struct_size = sizeof isolation;
  TfLiteStatus status = kTfLiteOk;
  isolation.invoke_ms = 150;
  std::string text = MessagesWith(isolation, "hang", "invoke", &status);
  EXPECT_EQ(status, kTfLiteError);
  EXPECT_NE(text.find("did not reply within 150 ms"), std::string::npos) << text;

  isolation.profile = "none";
  isolation.invoke_ms = 0;
  text = MessagesWith(isolation, "socket", "invoke", &status);
  EXPECT_NE(text.find("exit status 9"), std::string::npos) << text;

  isolation.profile = "tight";
  text = MessagesWith(isolation, "", "", &status);
  EXPECT_NE(text.find("option 'profile': expected none, device or strict, perhaps with "
                      "+dynamic, found 'tight'"),
            std::string::npos)
      << text;
  isolation.profile = nullptr;
  isolation.max_deaths = -2;
  text = MessagesWith(isolation, "", "", &status);
  EXPECT_NE(text.find("option 'max_deaths': expected a whole number from 1"), std::string::npos)
      << text;
}

TEST_F(Isolation, a_struct_without_profile_or_of_unknown_size_is_an_error) {
  DeputyDelegateIsolation isolation = {};
  isolation.profile = "strict";
  for (const size_t size : {size_t{0}, sizeof isolation.struct_size + 1, sizeof isolation + 8}) {
    isolation.struct_size = size;
    TfLiteStatus status = kTfLiteOk;
    const std::string text = MessagesWith(isolation, "", "", &status);
    EXPECT_NE(text.find("struct_size"), std::string::npos) << size << ": " << text;
  }
}

TEST_F(Isolation, without_settings_the_defaults_count) {
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("faulty").c_str(), nullptr, nullptr, 0, nullptr),
      &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model());
  ASSERT_EQ(Run(delegate.get(), &t), kTfLiteOk) << t.log();
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  ASSERT_EQ(DeputyPluginReportDelegate(delegate.get(), &report, nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(std::string(report.device).find("own process; profile device:"), 0u) << report.device;
}

TEST_F(Isolation, the_report_has_the_times_of_calls_and_of_the_delegate) {
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("wrong_slow").c_str(), nullptr, nullptr, 0, nullptr),
      &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model());
  ASSERT_EQ(Run(delegate.get(), &t), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  ASSERT_EQ(DeputyPluginReportDelegate(delegate.get(), &report, nullptr, nullptr), kTfLiteOk);
  const char* const times = std::strstr(report.device, "; medians of ");
  ASSERT_NE(times, nullptr) << report.device;
  int calls = 0;
  double call = 0, invoke = 0, process = 0;
  ASSERT_EQ(std::sscanf(times, "; medians of %d calls: %lf us, delegate %lf us, process %lf us",
                        &calls, &call, &invoke, &process),
            4)
      << times;
  EXPECT_EQ(calls, 2);
  EXPECT_GE(invoke, 30'000);  // the delegate sleeps for 30 ms
  EXPECT_GT(call, invoke);
  EXPECT_GT(process, 0);
}

TEST_F(Isolation, fields_beyond_the_size_of_the_struct_have_their_defaults) {
  DeputyDelegateIsolation isolation = {};
  isolation.profile = "none";
  isolation.max_deaths = -1;  // invalid, and beyond the size
  isolation.struct_size = offsetof(DeputyDelegateIsolation, max_deaths);
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("faulty").c_str(), nullptr, nullptr, 0, &isolation),
      &DeputyPluginDeleteDelegate);
  EXPECT_NE(delegate, nullptr) << DeputyLastError();
  EXPECT_EQ(DeputyIsolatedDelegateCreate(nullptr, nullptr, nullptr, 0, &isolation), nullptr);
  EXPECT_NE(std::string(DeputyLastError()).find("option 'library': expected the path"),
            std::string::npos)
      << DeputyLastError();
}

TEST_F(Isolation, options_with_separators_reach_the_delegate) {
  const char* const keys[] = {"no;such\\option"};
  const char* const values[] = {"x=y;z"};
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("elementwise").c_str(), keys, values, 1, nullptr),
      &DeputyPluginDeleteDelegate);
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  TestInterpreter t(Model());
  EXPECT_NE(Run(delegate.get(), &t), kTfLiteOk);
  EXPECT_NE(t.log().find("no;such\\option"), std::string::npos) << t.log();
}

}  // namespace
}  // namespace deputy::isolation_test
