// SPDX-License-Identifier: Apache-2.0
//
// Error reports. All reports pass through ErrorReporter::Deliver, so that one breakpoint finds
// them, and callers can redirect all output.
//
// Nothing here allocates, since out of memory must be reportable.
#ifndef DEPUTY_CORE_BASE_ERROR_H_
#define DEPUTY_CORE_BASE_ERROR_H_

#include <cstdarg>
#include <cstddef>

#include "c_api/include/c_api_types.h"

namespace deputy {

// A client's reporter with the C API's signature: user data, printf format, arguments.
using ReportFunction = void (*)(void* user_data, const char* format, va_list args);

class ReportCollector;

// Destination of error texts. A reporter with a null function forwards to the process-wide default
// (the log of log.h until SetDefaultReporter). Not thread-safe, except for the default reporter.
class ErrorReporter {
 public:
  ErrorReporter() = default;
  ErrorReporter(ReportFunction function, void* user_data)
      : function_(function), user_data_(user_data) {}

  // Formats the text, stores it as last_error() and as the calling thread's last error, and passes
  // it to the client as a format without arguments: the text with every % doubled.
  void Report(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void ReportV(const char* format, va_list args);

  // For upstream's texts, which clients compare letter by letter: the client receives only the
  // text. last_error(), the thread's last error and collectors receive "text; detail".
  void ReportWithDetail(const char* detail, const char* format, ...)
      __attribute__((format(printf, 3, 4)));

  // Returns the text of the newest report, "" before the first. Valid until the next report.
  const char* last_error() const { return last_error_; }

  // Number of reports so far.
  size_t count() const { return count_; }

 private:
  friend class ReportCollector;
  friend class ReportSilencer;

  // Stores `known` as the newest report and passes `text` to the client.
  void Deliver(const char* known, const char* text);

  ReportFunction function_ = nullptr;
  void* user_data_ = nullptr;
  ReportCollector* collector_ = nullptr;
  size_t count_ = 0;
  int silencers_ = 0;
  char last_error_[1024] = "";
};

// Collects the texts of a reporter, which must outlive it: the newest report alone is often not
// specific enough. Collectors nest; only the innermost one receives a report.
class ReportCollector {
 public:
  explicit ReportCollector(ErrorReporter* reporter);
  ~ReportCollector();
  ReportCollector(const ReportCollector&) = delete;
  ReportCollector& operator=(const ReportCollector&) = delete;

  // Returns the collected texts, joined as "first; second" and truncated to 1023 bytes; "" if there
  // was no report.
  const char* text() const { return text_; }

 private:
  friend class ErrorReporter;
  void Add(const char* text);

  ErrorReporter* const reporter_;
  ReportCollector* const outer_;
  size_t used_ = 0;
  char text_[1024] = "";
};

// Discards the reports of a reporter, which must outlive it: for an attempt whose failure is not an
// error.
class ReportSilencer {
 public:
  explicit ReportSilencer(ErrorReporter* reporter) : reporter_(reporter) { ++reporter->silencers_; }
  ~ReportSilencer() { --reporter_->silencers_; }
  ReportSilencer(const ReportSilencer&) = delete;
  ReportSilencer& operator=(const ReportSilencer&) = delete;

 private:
  ErrorReporter* const reporter_;
};

// Reports the text and returns `status`, so that a failing path is one statement.
TfLiteStatus Fail(ErrorReporter* reporter, TfLiteStatus status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// Reports a problem that fails no call to the process-wide default, at the level of a warning.
void ReportWarning(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Reports "out of memory" to the process-wide default.
void ReportOutOfMemory();

// Redirects the process-wide default; a null function restores the log. Thread-safe.
void SetDefaultReporter(ReportFunction function, void* user_data);

// Returns the calling thread's newest report from any reporter, "" if there is none.
const char* ThreadLastError();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_ERROR_H_
