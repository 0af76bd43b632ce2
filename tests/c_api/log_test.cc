// SPDX-License-Identifier: Apache-2.0
//
// Tests the log of the process: levels, DEPUTY_LOG, the callback, and the messages of interpreters
// and delegates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_process.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "tests/support/delegate_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::log_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

using Messages = std::vector<std::pair<DeputyLogLevel, std::string>>;

void Store(void* user_data, DeputyLogLevel level, const char* message) {
  static_cast<Messages*>(user_data)->emplace_back(level, message);
}

class ProcessLog : public testing::Test {
 protected:
  void TearDown() override {
    DeputySetLogCallback(nullptr, nullptr);
    DeputySetLogLevel(kDeputyLogWarning);
  }

  // Returns the messages of each level with the minimum `level`.
  Messages WithMinimum(DeputyLogLevel level) {
    Messages messages;
    DeputySetLogLevel(level);
    DeputySetLogCallback(&Store, &messages);
    for (int each = kDeputyLogVerbose; each <= kDeputyLogError; ++each) {
      Log(static_cast<DeputyLogLevel>(each), "level %d", each);
    }
    DeputySetLogCallback(nullptr, nullptr);
    return messages;
  }
};

TEST_F(ProcessLog, discards_messages_below_the_level) {
  const Messages all = {{kDeputyLogVerbose, "level 0"},
                        {kDeputyLogInfo, "level 1"},
                        {kDeputyLogWarning, "level 2"},
                        {kDeputyLogError, "level 3"}};
  for (int minimum = kDeputyLogVerbose; minimum <= kDeputyLogSilent; ++minimum) {
    EXPECT_EQ(WithMinimum(static_cast<DeputyLogLevel>(minimum)),
              Messages(all.begin() + minimum, all.end()));
    EXPECT_EQ(DeputyGetLogLevel(), minimum);
  }
}

TEST_F(ProcessLog, refuses_levels_that_do_not_exist) {
  DeputySetLogLevel(kDeputyLogError);
  EXPECT_EQ(DeputySetLogLevel(static_cast<DeputyLogLevel>(-1)), kTfLiteError);
  EXPECT_EQ(DeputySetLogLevel(static_cast<DeputyLogLevel>(5)), kTfLiteError);
  EXPECT_EQ(DeputyGetLogLevel(), kDeputyLogError);
}

TEST_F(ProcessLog, is_printed_to_stderr_without_a_callback) {
  DeputySetLogLevel(kDeputyLogVerbose);
  testing::internal::CaptureStderr();
  Log(kDeputyLogVerbose, "a");
  Log(kDeputyLogInfo, "b\n\x1b[1mc");
  ReportWarning("%s", "d");
  ErrorReporter().Report("e\nf");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "VERBOSE: a\nINFO: b  [1mc\nWARNING: d\nERROR: e\nf\n");
  EXPECT_STREQ(DeputyLastError(), "e\nf");
}

TEST_F(ProcessLog, does_not_affect_last_errors) {
  DeputySetLogLevel(kDeputyLogSilent);
  testing::internal::CaptureStderr();
  ReportWarning("a warning");
  EXPECT_STREQ(DeputyLastError(), "a warning");
  ErrorReporter().Report("an error");
  EXPECT_STREQ(DeputyLastError(), "an error");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

void StoreFormat(void* user_data, const char* format, va_list) {
  *static_cast<std::string*>(user_data) += std::string(format) + ";";
}

TEST_F(ProcessLog, passes_errors_and_warnings_to_a_default_reporter_instead) {
  Messages messages;
  std::string reported;
  DeputySetLogLevel(kDeputyLogVerbose);
  DeputySetLogCallback(&Store, &messages);
  DeputySetDefaultReporter(&StoreFormat, &reported);
  ErrorReporter().Report("error");
  ReportWarning("warning");
  Log(kDeputyLogInfo, "information");
  DeputySetDefaultReporter(nullptr, nullptr);
  EXPECT_EQ(reported, "error;warning;");
  EXPECT_EQ(messages, (Messages{{kDeputyLogInfo, "information"}}));
}

TEST_F(ProcessLog, discards_messages_from_within_the_callback) {
  Messages messages;
  DeputySetLogCallback(
      [](void* user_data, DeputyLogLevel level, const char* message) {
        Store(user_data, level, message);
        ErrorReporter().Report("from within");
      },
      &messages);
  ErrorReporter().Report("first");
  ErrorReporter().Report("second");
  EXPECT_EQ(messages, (Messages{{kDeputyLogError, "first"}, {kDeputyLogError, "second"}}));
}

TEST_F(ProcessLog, can_replace_its_callback_within_the_callback) {
  Messages messages;
  DeputySetLogCallback(
      [](void* user_data, DeputyLogLevel level, const char* message) {
        Store(user_data, level, message);
        DeputySetLogCallback(nullptr, nullptr);
        throw 1;
      },
      &messages);
  testing::internal::CaptureStderr();
  ErrorReporter().Report("first");
  ErrorReporter().Report("second");
  EXPECT_EQ(messages, (Messages{{kDeputyLogError, "first"}}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ERROR: second\n");
}

struct SlowLog {
  std::atomic<bool> is_called{false};
  std::atomic<bool> may_return{false};
  std::atomic<int> calls{0};
};

TEST_F(ProcessLog, waits_for_a_running_callback_when_it_is_replaced) {
  SlowLog slow;
  DeputySetLogCallback(
      [](void* user_data, DeputyLogLevel, const char*) {
        auto* const log = static_cast<SlowLog*>(user_data);
        log->is_called = true;
        while (!log->may_return) std::this_thread::yield();
        ++log->calls;
      },
      &slow);
  std::thread reporting([] { ErrorReporter().Report("slow"); });
  while (!slow.is_called) std::this_thread::yield();
  std::atomic<int> calls_at_return{-1};
  std::thread replacing([&] {
    DeputySetLogCallback(nullptr, nullptr);
    calls_at_return = slow.calls.load();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  slow.may_return = true;
  replacing.join();
  reporting.join();
  EXPECT_EQ(calls_at_return, 1);
}

// Returns true if the process exits with 0 within 20 seconds; ends it otherwise.
bool ExitsWithoutError(pid_t process) {
  int status = -1;
  for (int k = 0; k < 2000; ++k) {
    if (waitpid(process, &status, WNOHANG) != 0) return status == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  return false;
}

TEST_F(ProcessLog, works_in_a_child_that_is_forked_during_a_call) {
  SlowLog slow;
  DeputySetLogCallback(
      [](void* user_data, DeputyLogLevel, const char*) {
        auto* const log = static_cast<SlowLog*>(user_data);
        ++log->calls;
        log->is_called = true;
        while (!log->may_return) std::this_thread::yield();
      },
      &slow);
  std::thread reporting([] { ErrorReporter().Report("slow"); });
  while (!slow.is_called) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    slow.may_return = true;
    ErrorReporter().Report("in the child");
    DeputySetLogCallback(nullptr, nullptr);
    _exit(slow.calls == 2 ? 0 : 1);
  }
  EXPECT_TRUE(ExitsWithoutError(child));
  slow.may_return = true;
  reporting.join();
  EXPECT_EQ(slow.calls, 1);
}

TEST_F(ProcessLog, may_be_forked_within_the_callback) {
  pid_t child = -1;
  DeputySetLogCallback(
      [](void* user_data, DeputyLogLevel, const char*) {
        const pid_t forked = fork();
        *static_cast<pid_t*>(user_data) = forked;
        if (forked == 0) ErrorReporter().Report("from within");
      },
      &child);
  ErrorReporter().Report("first");
  if (child == 0) {
    // Another thread finds the mutex unlocked.
    std::thread([] { DeputySetLogCallback(nullptr, nullptr); }).join();
    _exit(0);
  }
  EXPECT_TRUE(ExitsWithoutError(child));
}

// ---- Messages of interpreters and delegates -----------------------------------------------------

using Texts = std::vector<std::string>;

Texts TextsWith(const Messages& messages, const std::string& part) {
  Texts texts;
  for (const auto& [level, text] : messages) {
    if (text.find(part) != std::string::npos) texts.push_back(std::to_string(level) + " " + text);
  }
  return texts;
}

TEST_F(ProcessLog, has_the_nodes_of_an_applied_delegate) {
  Messages messages;
  DeputySetLogCallback(&Store, &messages);
  for (const DeputyLogLevel level : {kDeputyLogWarning, kDeputyLogInfo, kDeputyLogVerbose}) {
    messages.clear();
    DeputySetLogLevel(level);
    Scripted delegate({0, 1, 4});
    TestInterpreter t(Chain(6));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    const std::string applied =
        "1 subgraph 0: delegate 'Scripted' runs 3 of 6 nodes in 2 partitions";
    EXPECT_EQ(TextsWith(messages, "partitions"),
              level == kDeputyLogWarning ? Texts{} : Texts{applied});
    EXPECT_EQ(TextsWith(messages, "not in 'Scripted': ").size(),
              level == kDeputyLogVerbose ? 3 : 0);
    EXPECT_EQ(TextsWith(messages, "CPU kernels").size(), level == kDeputyLogWarning ? 0 : 1);
  }
}

TEST_F(ProcessLog, has_the_reason_why_a_delegate_is_not_applied) {
  Messages messages;
  DeputySetLogLevel(kDeputyLogInfo);
  Scripted delegate({0});
  delegate.script->failure = kScriptedErrorStatus;
  TestInterpreter t(Chain(2));
  DeputySetLogCallback(&Store, &messages);
  EXPECT_NE(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_THAT(TextsWith(messages, "is not applied: "), SizeIs(1));
}

TEST_F(ProcessLog, has_the_number_of_threads_that_are_not_used) {
  Messages messages;
  DeputySetLogLevel(kDeputyLogInfo);
  DeputySetLogCallback(&Store, &messages);
  const int limit = DeputyGetProcessorCount();
  TestInterpreter t(Chain(2), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, limit + 1);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(TextsWith(messages, "threads: "),
              ElementsAre("1 threads: expected at most " + std::to_string(limit) + ", found " +
                          std::to_string(limit + 1) + "; " + std::to_string(limit) + " are used"));
}

}  // namespace
}  // namespace deputy::log_test
