// SPDX-License-Identifier: Apache-2.0
//
// Destination of error messages. Models and interpreters borrow a reporter, which must outlive
// them.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_ERROR_REPORTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_ERROR_REPORTER_H_

#include <cstdarg>

namespace tflite {

class ErrorReporter {
 public:
  virtual ~ErrorReporter() = default;

  // Receives a printf format and its arguments. Returns the number of characters, or a negative
  // number on failure. Threads of an interpreter may call it at the same time.
  virtual int Report(const char* format, va_list args) = 0;

  int Report(const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = Report(format, args);
    va_end(args);
    return length;
  }

  // Reports like Report. The first argument is ignored; macros that expect a context pass one.
  int ReportError(void*, const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = Report(format, args);
    va_end(args);
    return length;
  }
};

}  // namespace tflite

// Reports a message. Programs that define TF_LITE_STRIP_ERROR_STRINGS contain no messages.
#ifdef TF_LITE_STRIP_ERROR_STRINGS
#define TF_LITE_REPORT_ERROR(reporter, ...)
#else
#define TF_LITE_REPORT_ERROR(reporter, ...)                                 \
  do {                                                                      \
    static_cast<::tflite::ErrorReporter*>((reporter))->Report(__VA_ARGS__); \
  } while (false)
#endif

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_ERROR_REPORTER_H_
