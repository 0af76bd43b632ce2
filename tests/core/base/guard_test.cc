// SPDX-License-Identifier: Apache-2.0
//
// Tests the guard that catches exceptions: the returned status, and the reports.
#include "core/base/guard.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace deputy::guard_test {
namespace {

// Collects the texts of the default reporter.
class DefaultReports {
 public:
  DefaultReports() {
    SetDefaultReporter(
        [](void* text, const char* format, va_list) { *static_cast<std::string*>(text) += format; },
        &text_);
  }
  ~DefaultReports() { SetDefaultReporter(nullptr, nullptr); }
  DefaultReports(const DefaultReports&) = delete;
  DefaultReports& operator=(const DefaultReports&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(Guard, returns_what_the_body_returns) {
  const DefaultReports reports;
  EXPECT_EQ(Guard(kTfLiteError, [] { return kTfLiteOk; }), kTfLiteOk);
  const std::unique_ptr<int> made(Guard(nullptr, [] { return new int(7); }));
  EXPECT_EQ(*made, 7);
  bool ran = false;
  Guard([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_EQ(reports.text(), "");
}

TEST(Guard, reports_out_of_memory_and_returns_the_failure) {
  const DefaultReports reports;
  EXPECT_EQ(Guard(kTfLiteError, []() -> TfLiteStatus { throw std::bad_alloc(); }), kTfLiteError);
  EXPECT_EQ(reports.text(), "out of memory");
  EXPECT_EQ(Guard(nullptr, []() -> int* { throw std::runtime_error("x"); }), nullptr);
  Guard([] { throw 3; });
  EXPECT_EQ(reports.text(), "out of memoryout of memoryout of memory");
}

TEST(Guard, a_handler_can_report_and_return_the_failure) {
  const DefaultReports reports;
  int handled = 0;
  const auto refuse = [&] {
    ++handled;
    return kTfLiteDelegateError;
  };
  EXPECT_EQ(Guard(refuse, [] { return kTfLiteOk; }), kTfLiteOk);
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(Guard(refuse, []() -> TfLiteStatus { throw std::bad_alloc(); }), kTfLiteDelegateError);
  EXPECT_EQ(handled, 1);
  Guard(Ignore, [] { throw std::bad_alloc(); });
  EXPECT_EQ(reports.text(), "");
}

}  // namespace
}  // namespace deputy::guard_test
