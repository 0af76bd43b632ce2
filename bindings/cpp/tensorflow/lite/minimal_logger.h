// SPDX-License-Identifier: Apache-2.0
//
// Class that implements the macros of minimal_logging.h, for headers that must not define the
// macros: TFLITE_LOG is also a macro of tools/logging.h.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGER_H_

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

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGER_H_
