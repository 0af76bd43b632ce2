// SPDX-License-Identifier: Apache-2.0
//
// Formats and delivers error reports. Texts are formatted into a local buffer first: an argument
// may point into the text that the report replaces, and a client's reporter may report recursively.
#include "core/base/error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "core/base/log.h"

namespace deputy {
namespace {

constexpr size_t kTextSize = 1024;

// Newest report of the thread: an array instead of a std::string, because it needs no allocation.
thread_local char thread_last_error[kTextSize] = "";

std::mutex default_reporter_mutex;
ReportFunction default_function = nullptr;
void* default_user_data = nullptr;

// A text of less than kTextSize bytes, escaped to a printf format that prints it.
class TextAsFormat {
 public:
  explicit TextAsFormat(const char* text) {
    char* out = format_;
    for (; *text != '\0'; ++text) {
      if (*text == '%') *out++ = '%';
      *out++ = *text;
    }
    *out = '\0';
  }
  const char* get() const { return format_; }

 private:
  char format_[2 * kTextSize];  // large enough for a text of '%' only
};

// Calls a client's reporter with an empty va_list, which only a variadic function can create.
// Exceptions of the reporter are swallowed.
void CallReporter(ReportFunction function, void* user_data, const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  try {
    function(user_data, format, args);
  } catch (...) {
  }
  va_end(args);
}

void FormatText(const char* format, va_list args, char (&out_text)[kTextSize]) {
  if (std::vsnprintf(out_text, kTextSize, format, args) < 0) {
    std::snprintf(out_text, kTextSize, "%s", format);
  }
}

// Clients in languages that cannot read a va_list show the format only, so it contains the whole
// text.
void DeliverTo(ReportFunction function, void* user_data, const char* text) {
  CallReporter(function, user_data, TextAsFormat(text).get());
}

void DeliverToDefault(DeputyLogLevel level, const char* text) {
  ReportFunction function;
  void* user_data;
  {
    std::lock_guard<std::mutex> lock(default_reporter_mutex);
    function = default_function;
    user_data = default_user_data;
  }
  if (function == nullptr) {
    WriteLog(level, text);
  } else {
    // The reporter is called without the lock, so that it may redirect the default itself.
    DeliverTo(function, user_data, text);
  }
}

}  // namespace

void ErrorReporter::Report(const char* format, ...) {
  va_list args;
  va_start(args, format);
  ReportV(format, args);
  va_end(args);
}

void ErrorReporter::ReportV(const char* format, va_list args) {
  char text[kTextSize];
  FormatText(format, args, text);
  Deliver(text, text);
}

void ErrorReporter::ReportWithDetail(const char* detail, const char* format, ...) {
  char text[kTextSize], known[kTextSize];
  va_list args;
  va_start(args, format);
  FormatText(format, args, text);
  va_end(args);
  // Upstream's texts may end with a newline.
  const int length = static_cast<int>(std::strcspn(text, "\n"));
  std::snprintf(known, sizeof(known), "%.*s%s%s", length, text, *detail == '\0' ? "" : "; ",
                detail);
  Deliver(known, text);
}

void ErrorReporter::Deliver(const char* known, const char* text) {
  static_assert(sizeof(last_error_) == kTextSize);
  if (silencers_ > 0) return;
  ++count_;
  std::snprintf(last_error_, sizeof(last_error_), "%s", known);
  std::memcpy(thread_last_error, last_error_, sizeof(thread_last_error));
  if (collector_ != nullptr) collector_->Add(last_error_);
  if (function_ == nullptr) {
    DeliverToDefault(kDeputyLogError, text);
  } else {
    DeliverTo(function_, user_data_, text);
  }
}

ReportCollector::ReportCollector(ErrorReporter* reporter)
    : reporter_(reporter), outer_(reporter->collector_) {
  reporter->collector_ = this;
}

ReportCollector::~ReportCollector() { reporter_->collector_ = outer_; }

void ReportCollector::Add(const char* text) {
  const size_t available = sizeof(text_) - used_;
  const int length = std::snprintf(text_ + used_, available, "%s%s", used_ == 0 ? "" : "; ", text);
  if (length > 0) used_ += std::min(static_cast<size_t>(length), available - 1);
}

TfLiteStatus Fail(ErrorReporter* reporter, TfLiteStatus status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  reporter->ReportV(format, args);
  va_end(args);
  return status;
}

void ReportWarning(const char* format, ...) {
  char text[kTextSize];
  va_list args;
  va_start(args, format);
  FormatText(format, args, text);
  va_end(args);
  std::memcpy(thread_last_error, text, std::strlen(text) + 1);
  DeliverToDefault(kDeputyLogWarning, text);
}

void ReportOutOfMemory() { ErrorReporter().Report("out of memory"); }

void SetDefaultReporter(ReportFunction function, void* user_data) {
  std::lock_guard<std::mutex> lock(default_reporter_mutex);
  default_function = function;
  default_user_data = user_data;
}

const char* ThreadLastError() { return thread_last_error; }

}  // namespace deputy
