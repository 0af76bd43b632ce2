// SPDX-License-Identifier: Apache-2.0
//
// The one place where a failure is born. Every failing path of the library ends in Fail() or in
// ErrorReporter::Report(), so that one breakpoint finds it, one report is made per failure, and
// nothing is ever printed that a caller cannot redirect.
//
// Nothing here allocates: a report about exhausted memory must not need memory.
#ifndef DEPUTY_CORE_BASE_ERROR_H_
#define DEPUTY_CORE_BASE_ERROR_H_

#include <cstdarg>
#include <cstddef>

#include "c_api/include/c_api_types.h"

namespace deputy {

// A client's reporter as the C API spells it: user data, printf format, arguments.
using ReportFunction = void (*)(void* user_data, const char* format, va_list args);

class ReportCollector;

// Where a failure text goes. A reporter with a null function forwards to the process-wide default
// (standard error until SetDefaultReporter). Not thread safe, apart from the default reporter.
class ErrorReporter {
 public:
  ErrorReporter() = default;
  ErrorReporter(ReportFunction function, void* user_data)
      : function_(function), user_data_(user_data) {}

  // Formats the text, remembers it as last_error() and as the calling thread's last error, and
  // hands it to the client as a format without arguments: the text with every % doubled.
  void Report(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void ReportV(const char* format, va_list args);

  // For texts of upstream's that clients compare letter by letter: the client gets the text alone;
  // `detail`, what we know beyond it, stands behind it, as "text; detail", in last_error(), the
  // thread's last error and collectors.
  void ReportWithDetail(const char* detail, const char* format, ...)
      __attribute__((format(printf, 3, 4)));

  // Text of the newest report, "" before the first. Valid until the next report.
  const char* last_error() const { return last_error_; }

  // Of reports so far.
  size_t count() const { return count_; }

 private:
  friend class ReportCollector;
  friend class ReportSilencer;

  // `known` is remembered, `text` handed to the client.
  void Deliver(const char* known, const char* text);

  ReportFunction function_ = nullptr;
  void* user_data_ = nullptr;
  ReportCollector* collector_ = nullptr;
  size_t count_ = 0;
  int silencers_ = 0;
  char last_error_[1024] = "";
};

// Until it is destroyed, keeps the texts of a reporter, which outlives it: the newest alone often
// says no more than that something failed. A collector within a collector has them for itself.
class ReportCollector {
 public:
  explicit ReportCollector(ErrorReporter* reporter);
  ~ReportCollector();
  ReportCollector(const ReportCollector&) = delete;
  ReportCollector& operator=(const ReportCollector&) = delete;

  // "first; second", cut off where there is no more room; "" if there was none.
  const char* text() const { return text_; }

 private:
  friend class ErrorReporter;
  void Add(const char* text);

  ErrorReporter* const reporter_;
  ReportCollector* const outer_;
  size_t used_ = 0;
  char text_[1024] = "";
};

// Discards the reports of a reporter, which outlives it, until it is destroyed: for an attempt
// whose failure is not an error.
class ReportSilencer {
 public:
  explicit ReportSilencer(ErrorReporter* reporter) : reporter_(reporter) { ++reporter->silencers_; }
  ~ReportSilencer() { --reporter_->silencers_; }
  ReportSilencer(const ReportSilencer&) = delete;
  ReportSilencer& operator=(const ReportSilencer&) = delete;

 private:
  ErrorReporter* const reporter_;
};

// Reports and returns `status`, so that a failing path is one statement.
TfLiteStatus Fail(ErrorReporter* reporter, TfLiteStatus status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// Reports "out of memory" to the process-wide default.
void ReportOutOfMemory();

// Redirects the process-wide default; a null function restores standard error. Thread safe.
void SetDefaultReporter(ReportFunction function, void* user_data);

// The calling thread's newest report from any object, "" if there is none.
const char* ThreadLastError();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ERROR_H_
