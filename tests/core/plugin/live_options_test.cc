// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyPluginSetDelegateOptions and DeputyPluginGetDelegateOption: an applied delegate uses
// new values in its next run, in the same process, in a process of its own and through layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/delegate_isolation.h"
#include "c_api/include/deputy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::live_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LiveOptions : public QuietTest {
  const ScopedEnvironment folder_{"DEPUTY_PLUGIN_PATH", BuildPath("").c_str()};
};

// y = x + x.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TfLiteStatus Set(TfLiteDelegate* delegate, const Options& options) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return DeputyPluginSetDelegateOptions(delegate, keys.data(), values.data(), keys.size());
}

// Returns the value and state of an option; "" on failure.
std::string ValueOf(TfLiteDelegate* delegate, const char* key) {
  std::string text;
  const auto note = [](void* data, const DeputyOptionUse* use) {
    *static_cast<std::string*>(data) =
        std::string(use->value) + (use->state == kDeputyOptionGiven ? " given" : " default");
  };
  (void)DeputyPluginGetDelegateOption(delegate, key, note, &text);
  return text;
}

// An interpreter to which the delegate is applied.
class Applied {
 public:
  explicit Applied(TfLiteDelegate* delegate) : t_(Model()) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_.get(), delegate), kTfLiteOk) << t_.log();
    EXPECT_EQ(t_.Allocate(), kTfLiteOk) << t_.log();
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t_.get(), 0), 1);
  }
  std::vector<float> Run() {
    t_.Set<float>(0, {1, 5});
    EXPECT_EQ(t_.Invoke(), kTfLiteOk) << t_.log();
    return t_.Get<float>(0);
  }

 private:
  TestInterpreter t_;
};

// Changes the factor of the delegate `hooks` from 3 to 4 while it is applied, and tries options
// that are refused. If `layers_check`, the plug-in `layers` checks the options, of which it knows
// only the keys.
void ChangeFactor(TfLiteDelegate* delegate, bool layers_check = false) {
  Applied applied(delegate);
  EXPECT_THAT(applied.Run(), ElementsAre(3, 15));
  ASSERT_EQ(Set(delegate, {{"factor", "4"}}), kTfLiteOk) << DeputyLastError();
  EXPECT_THAT(applied.Run(), ElementsAre(4, 20));
  EXPECT_EQ(ValueOf(delegate, "factor"), "4 given");

  if (layers_check) {
    EXPECT_EQ(Set(delegate, {{"factor", "7"}, {"colour", "red"}}), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("option 'colour': expected one of 'factor', 'fault'"));
    EXPECT_THAT(applied.Run(), ElementsAre(4, 20));
    return;
  }
  EXPECT_EQ(Set(delegate, {{"factor", "7"}, {"colour", "red"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(),
              HasSubstr("unknown option 'colour': expected one of 'node', 'name', 'log', 'factor', "
                        "'fault'"));
  EXPECT_EQ(Set(delegate, {{"factor", "many"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("option 'factor': expected a decimal number, found "
                                           "'many'"));
  EXPECT_EQ(Set(delegate, {{"node", "1"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("option 'node' is fixed when the delegate is created; "
                                           "options that can change: 'factor', 'fault'"));
  EXPECT_EQ(Set(delegate, {{"factor", "-1"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("option 'factor': expected a number above 0"));
  EXPECT_EQ(ValueOf(delegate, "factor"), "4 given");
  EXPECT_THAT(applied.Run(), ElementsAre(4, 20));
}

TEST_F(LiveOptions, the_next_run_of_an_applied_delegate_uses_the_new_value) {
  const Handle delegate = External("hooks", {{"factor", "3"}});
  EXPECT_EQ(ValueOf(delegate.get(), "factor"), "3 given");
  EXPECT_EQ(ValueOf(delegate.get(), "node"), "0 default");
  ChangeFactor(delegate.get());
}

TEST_F(LiveOptions, a_value_set_before_the_application_counts) {
  const Handle delegate = External("hooks");
  ASSERT_EQ(Set(delegate.get(), {{"factor", "8"}, {"factor", "9"}}), kTfLiteOk);
  EXPECT_THAT(Applied(delegate.get()).Run(), ElementsAre(9, 45));
  EXPECT_EQ(ValueOf(delegate.get(), "factor"), "9 given");
}

TEST_F(LiveOptions, options_reach_the_delegate_through_environment_wrappers) {
  for (const auto& [variable, value] : {std::pair("DEPUTY_ISOLATE", "none"),
                                        {"DEPUTY_LAYERS", "deadline=60s"},
                                        {"DEPUTY_LAYERS", "deadline=60s;isolate=none"},
                                        {"DEPUTY_LAYERS", "isolate=none;deadline=60s"}}) {
    SCOPED_TRACE(value);
    const ScopedEnvironment wrapper(variable, value);
    const Handle delegate = External("hooks", {{"factor", "3"}});
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    ChangeFactor(delegate.get(), std::string_view(value).starts_with("isolate"));
  }
}

TEST_F(LiveOptions, plugins_that_wrap_take_a_list) {
  const char* const keys[] = {"factor", "name"};
  const char* const values[] = {"3", "A;"};
  const Handle isolated(
      DeputyIsolatedDelegateCreate(Library("hooks").c_str(), keys, values, 2, nullptr),
      &DeputyPluginDeleteDelegate);
  const Handle layered(
      CreateExternal(BuildPath("libdeputy_layers.so"), {{"library", Library("hooks")},
                                                        {"options", "factor=3;name=A\\;"},
                                                        {"layers", "deadline=60s"}}),
      &TfLiteExternalDelegateDelete);
  for (TfLiteDelegate* delegate : {isolated.get(), layered.get()}) {
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    Applied applied(delegate);
    EXPECT_THAT(applied.Run(), ElementsAre(3, 15));
    ASSERT_EQ(Set(delegate, {{"options", "factor=4;fault="}}), kTfLiteOk) << DeputyLastError();
    EXPECT_THAT(applied.Run(), ElementsAre(4, 20));
    EXPECT_EQ(ValueOf(delegate, "options"), "name=A\\;;factor=4;fault= given");
    EXPECT_EQ(Set(delegate, {{"options", "colour=red"}}), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("'colour'"));
    EXPECT_EQ(Set(delegate, {{"library", "x"}}), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("option 'library' is fixed when the delegate is "
                                             "created; options that can change: 'options'"));
    EXPECT_EQ(ValueOf(delegate, "options"), "name=A\\;;factor=4;fault= given");
  }
}

TEST_F(LiveOptions, all_processes_get_the_new_values) {
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("hooks").c_str(), nullptr, nullptr, 0, nullptr),
      &DeputyPluginDeleteDelegate);
  EXPECT_EQ(Set(delegate.get(), {{"options", "factor=3"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a delegate that is applied"));
  {
    Applied first(delegate.get()), second(delegate.get());
    ASSERT_EQ(Set(delegate.get(), {{"options", "factor=5"}}), kTfLiteOk) << DeputyLastError();
    EXPECT_THAT(first.Run(), ElementsAre(5, 25));
    EXPECT_THAT(second.Run(), ElementsAre(5, 25));
  }
  EXPECT_THAT(Applied(delegate.get()).Run(), ElementsAre(5, 25));
}

TEST_F(LiveOptions, a_process_that_replaces_a_dead_one_has_the_new_values) {
  const std::string log = ScratchFile("crash");
  std::filesystem::remove(log);
  const char* const key = "log";
  const char* const value = log.c_str();
  DeputyDelegateIsolation isolation = {};
  isolation.struct_size = sizeof isolation;
  isolation.profile = "none";
  const Handle delegate(
      DeputyIsolatedDelegateCreate(Library("hooks").c_str(), &key, &value, 1, &isolation),
      &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 5});
  ASSERT_EQ(Set(delegate.get(), {{"options", "factor=5;fault=crash"}}), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("the process ended"));
  EXPECT_EQ(Set(delegate.get(), {{"options", "factor=6"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("a new process is being started"));
  for (int i = 0; i < 1000 && t.Invoke() != kTfLiteOk; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(t.Get<float>(0), ElementsAre(5, 25));
}

TEST_F(LiveOptions, a_plugin_that_fails_keeps_its_options) {
  const Handle delegate = External("hooks", {{"fault", "set_options"}});
  EXPECT_EQ(Set(delegate.get(), {{"factor", "3"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("cannot change options of its delegates: the plug-in "
                                           "gave no reason"));
  EXPECT_EQ(ValueOf(delegate.get(), "factor"), "2 default");
  const Handle throwing = External("hooks", {{"fault", "!set_options"}});
  EXPECT_EQ(Set(throwing.get(), {{"factor", "3"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("the plug-in threw an exception"));
}

TEST_F(LiveOptions, plugins_without_the_function_and_other_delegates_are_refused) {
  // A plug-in that does not declare its options, one of an older release, one without a
  // description.
  const Handle waiting = External("waiting"), older = External("described_first_release"),
               undescribed = External("elementwise");
  for (TfLiteDelegate* delegate : {waiting.get(), undescribed.get()}) {
    EXPECT_EQ(Set(delegate, {{"waits", "0"}}), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("expected a plug-in that can change options of its "
                                             "delegates"));
  }
  EXPECT_EQ(Set(older.get(), {{"ops", "0"}}), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("option 'ops' is fixed"));
  TfLiteDelegate plain = TfLiteDelegateCreate();
  for (TfLiteDelegate* foreign : {&plain, static_cast<TfLiteDelegate*>(nullptr)}) {
    EXPECT_EQ(Set(foreign, {{"factor", "3"}}), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("expected a delegate that was created by a plug-in"));
    EXPECT_EQ(ValueOf(foreign, "factor"), "");
  }
}

TEST_F(LiveOptions, missing_arguments_are_errors) {
  const Handle delegate = External("hooks");
  EXPECT_EQ(DeputyPluginSetDelegateOptions(delegate.get(), nullptr, nullptr, 1), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("1 options: expected their keys and values"));
  EXPECT_EQ(DeputyPluginSetDelegateOptions(delegate.get(), nullptr, nullptr, 0), kTfLiteOk);
  EXPECT_EQ(DeputyPluginGetDelegateOption(delegate.get(), "factor", nullptr, nullptr),
            kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a key and a callback, found NULL"));
  EXPECT_EQ(ValueOf(delegate.get(), nullptr), "");
  EXPECT_EQ(ValueOf(delegate.get(), "colour"), "");
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected an option of the delegate, found 'colour'"));
}

TEST_F(LiveOptions, elementwise_changes_its_log) {
  const std::string first = ScratchFile("first_log"), second = ScratchFile("second_log");
  std::filesystem::remove(first);
  std::filesystem::remove(second);
  const Handle delegate = External("described0", {{"log", first}});
  Applied applied(delegate.get());
  ASSERT_EQ(Set(delegate.get(), {{"log", second}}), kTfLiteOk) << DeputyLastError();
  EXPECT_THAT(applied.Run(), ElementsAre(2, 10));
  EXPECT_EQ(ReadText(first), "claimed 0\npartition 0\ninputs 0\noutputs 1\n");
  EXPECT_EQ(ReadText(second), "run_start\ninvoke\nrun_end\n");
}

}  // namespace
}  // namespace deputy::live_options_test
