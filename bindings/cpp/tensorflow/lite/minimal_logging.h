// SPDX-License-Identifier: Apache-2.0
//
// Messages on stderr, each a line "SEVERITY: text".
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGING_H_

#include <cstdarg>
#include <cstdio>

#include "tensorflow/lite/logger.h"

namespace tflite {
namespace logging_internal {

using ::tflite::LogSeverity;

// Any thread, except SetMinimumLogSeverity. Hidden for the reason that logger.h gives.
class __attribute__((visibility("hidden"))) MinimalLogger {
 public:
  // Prints a printf-style message whose severity is at least the minimum.
  static void Log(LogSeverity severity, const char* format, ...) {
    std::va_list args;
    va_start(args, format);
    LogFormatted(severity, format, args);
    va_end(args);
  }

  static void LogFormatted(LogSeverity severity, const char* format, std::va_list args) {
    if (severity < GetMinimumLogSeverity()) return;
    std::fprintf(stderr, "%s: ", GetSeverityName(severity));
    std::vfprintf(stderr, format, args);
    std::fputc('\n', stderr);
  }

  static LogSeverity GetMinimumLogSeverity() { return LoggerOptions::GetMinimumLogSeverity(); }

  // Returns the previous severity.
  static LogSeverity SetMinimumLogSeverity(LogSeverity new_severity) {
    return LoggerOptions::SetMinimumLogSeverity(new_severity);
  }

 private:
  static const char* GetSeverityName(LogSeverity severity) {
    switch (severity) {
      case TFLITE_LOG_VERBOSE:
        return "VERBOSE";
      case TFLITE_LOG_INFO:
        return "INFO";
      case TFLITE_LOG_WARNING:
        return "WARNING";
      case TFLITE_LOG_ERROR:
        return "ERROR";
      case TFLITE_LOG_SILENT:
        return "SILENT";
    }
    return "<Unknown severity>";
  }
};

}  // namespace logging_internal
}  // namespace tflite

// Prints a printf-style message in every build. `...` is the format and its arguments.
#define TFLITE_LOG_PROD(severity, ...)                                                    \
  if ((severity) >= ::tflite::logging_internal::MinimalLogger::GetMinimumLogSeverity()) { \
    ::tflite::logging_internal::MinimalLogger::Log((severity), __VA_ARGS__);              \
  }

// Prints a message at the first execution of this line only.
#define TFLITE_LOG_PROD_ONCE(severity, ...)          \
  do {                                               \
    static const bool tflite_internal_logged = [&] { \
      TFLITE_LOG_PROD(severity, __VA_ARGS__)         \
      return true;                                   \
    }();                                             \
    (void)tflite_internal_logged;                    \
  } while (false);

// Variants that print in debug builds only.
#ifdef NDEBUG
#define TFLITE_LOG(severity, ...)           \
  while (false) {                           \
    TFLITE_LOG_PROD(severity, __VA_ARGS__); \
  }
#define TFLITE_LOG_ONCE TFLITE_LOG
#else
#define TFLITE_LOG TFLITE_LOG_PROD
#define TFLITE_LOG_ONCE TFLITE_LOG_PROD_ONCE
#endif

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGING_H_
