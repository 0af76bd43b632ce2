// SPDX-License-Identifier: Apache-2.0
//
// Tests error reports: one per failure, formatted once, stored in the reporter and for the thread,
// and with doubled percent signs if a client receives it as a format.
#include "core/base/error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/load_result.h"

namespace deputy::error_test {
namespace {

TEST(ErrorReporter, reports_and_stores_the_text) {
  ReportLog log;
  EXPECT_STREQ(log.reporter()->last_error(), "");
  log.reporter()->Report("expected %d, found %s", 3, "four");
  ASSERT_EQ(log.texts().size(), 1u);
  EXPECT_EQ(log.texts()[0], "expected 3, found four");
  EXPECT_STREQ(log.reporter()->last_error(), "expected 3, found four");
  EXPECT_STREQ(ThreadLastError(), "expected 3, found four");
}

TEST(ErrorReporter, details_after_upstreams_texts_are_hidden_from_the_client) {
  ReportLog log;
  const ReportCollector all(log.reporter());
  log.reporter()->ReportWithDetail("what we know", "Upstream's %d.\n", 7);
  log.reporter()->ReportWithDetail("", "Alone.");
  EXPECT_EQ(log.texts(), (std::vector<std::string>{"Upstream's 7.\n", "Alone."}));
  EXPECT_STREQ(all.text(), "Upstream's 7.; what we know; Alone.");
  EXPECT_STREQ(log.reporter()->last_error(), "Alone.");
  log.reporter()->ReportWithDetail("what we know", "Upstream's %d.\n", 7);
  EXPECT_STREQ(log.reporter()->last_error(), "Upstream's 7.; what we know");
  EXPECT_STREQ(ThreadLastError(), "Upstream's 7.; what we know");
  EXPECT_EQ(log.reporter()->count(), 3u);
}

TEST(ReportCollector, collects_reports_during_its_lifetime) {
  ReportLog log;
  log.reporter()->Report("before");
  {
    const ReportCollector all(log.reporter());
    EXPECT_STREQ(all.text(), "");
    log.reporter()->Report("first");
    {
      const ReportCollector inner(log.reporter());
      log.reporter()->Report("of the inner one");
      EXPECT_STREQ(inner.text(), "of the inner one");
    }
    log.reporter()->Report("%s", "100%");
    EXPECT_STREQ(all.text(), "first; 100%");
  }
  log.reporter()->Report("afterwards");
  EXPECT_EQ(log.texts().size(), 5u);
}

TEST(ReportCollector, truncates_long_texts) {
  ReportLog log;
  const ReportCollector all(log.reporter());
  for (int i = 0; i < 3; ++i) log.reporter()->Report("%s", std::string(600, 'x').c_str());
  std::string expected(1023, 'x');
  expected[600] = ';';
  expected[601] = ' ';
  EXPECT_EQ(all.text(), expected);
}

// A client that cannot read a va_list receives the format only.
struct FormatLog {
  ReportFunction function = [](void* user_data, const char* given, va_list) {
    static_cast<FormatLog*>(user_data)->format = given;
  };
  std::string format;
};

TEST(ErrorReporter, passes_the_text_to_clients_as_the_format) {
  FormatLog log;
  ErrorReporter reporter(log.function, &log);
  reporter.Report("expected %d, found %s", 3, "four");
  EXPECT_EQ(log.format, "expected 3, found four");
}

TEST(ErrorReporter, doubles_percent_signs_in_the_format) {
  FormatLog log;
  ErrorReporter reporter(log.function, &log);
  reporter.Report("100%% of '%s'", "%s%n");
  EXPECT_EQ(log.format, "100%% of '%%s%%n'");
  EXPECT_STREQ(reporter.last_error(), "100% of '%s%n'");
  ReportLog formatted;
  formatted.reporter()->Report("100%% of '%s'", "%s%n");
  EXPECT_EQ(formatted.texts()[0], "100% of '%s%n'");
}

TEST(ErrorReporter, truncates_formats_between_percent_pairs) {
  FormatLog log;
  ErrorReporter reporter(log.function, &log);
  reporter.Report("%s", std::string(100000, '%').c_str());
  EXPECT_EQ(log.format, std::string(2 * 1023, '%'));
  EXPECT_EQ(reporter.last_error(), std::string(1023, '%'));
}

TEST(DefaultReporter, passes_the_text_to_clients_as_the_format) {
  FormatLog log;
  SetDefaultReporter(log.function, &log);
  ErrorReporter().Report("%d %%", 50);
  SetDefaultReporter(nullptr, nullptr);
  EXPECT_EQ(log.format, "50 %%");
}

TEST(ErrorReporter, may_quote_its_own_last_error) {
  ReportLog log;
  log.reporter()->Report("first");
  log.reporter()->Report("%s, then second", log.reporter()->last_error());
  EXPECT_STREQ(log.reporter()->last_error(), "first, then second");
}

TEST(ErrorReporter, truncates_endless_texts) {
  ReportLog log;
  log.reporter()->Report("%s", std::string(100000, 'x').c_str());
  ASSERT_EQ(log.texts().size(), 1u);
  EXPECT_EQ(log.texts()[0], std::string(1023, 'x'));
}

TEST(ErrorReporter, contains_exceptions_of_the_reporter) {
  ErrorReporter reporter(
      [](void*, const char*, va_list) { throw std::runtime_error("a client's"); }, nullptr);
  reporter.Report("text");
  EXPECT_STREQ(reporter.last_error(), "text");
}

TEST(Fail, reports_and_returns_the_status) {
  ReportLog log;
  EXPECT_EQ(Fail(log.reporter(), kTfLiteApplicationError, "node %d", 5), kTfLiteApplicationError);
  EXPECT_EQ(log.all(), "node 5\n");
}

TEST(DefaultReporter, writes_a_line_to_standard_error) {
  ErrorReporter reporter;
  testing::internal::CaptureStderr();
  reporter.Report("something is %s", "wrong");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ERROR: something is wrong\n");
}

TEST(DefaultReporter, can_be_redirected_and_restored) {
  std::string text;
  SetDefaultReporter(
      [](void* user_data, const char* format, va_list args) {
        char buffer[100];
        std::vsnprintf(buffer, sizeof(buffer), format, args);
        *static_cast<std::string*>(user_data) += buffer;
      },
      &text);
  testing::internal::CaptureStderr();
  ErrorReporter reporter;
  reporter.Report("elsewhere");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(text, "elsewhere");
  SetDefaultReporter(nullptr, nullptr);
  testing::internal::CaptureStderr();
  reporter.Report("here");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ERROR: here\n");
}

TEST(ThreadLastError, is_thread_local) {
  ReportLog log;
  log.reporter()->Report("of the main thread");
  std::thread other([] {
    EXPECT_STREQ(ThreadLastError(), "");
    ReportLog others;
    others.reporter()->Report("of the other thread");
    EXPECT_STREQ(ThreadLastError(), "of the other thread");
  });
  other.join();
  EXPECT_STREQ(ThreadLastError(), "of the main thread");
}

TEST(DefaultReporter, may_be_redirected_while_threads_report) {
  const ReportFunction silent = [](void*, const char*, va_list) {};
  SetDefaultReporter(silent, nullptr);
  std::thread reporting([] {
    ErrorReporter reporter;
    for (int i = 0; i < 1000; ++i) reporter.Report("%d", i);
  });
  for (int i = 0; i < 1000; ++i) SetDefaultReporter(silent, &i);
  reporting.join();
  SetDefaultReporter(nullptr, nullptr);
}

}  // namespace
}  // namespace deputy::error_test
