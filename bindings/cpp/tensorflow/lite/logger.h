// SPDX-License-Identifier: Apache-2.0
//
// Severities of messages, and the minimum severity that minimal_logging.h prints.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_LOGGER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_LOGGER_H_

namespace tflite {

enum LogSeverity {
  TFLITE_LOG_VERBOSE = 0,
  TFLITE_LOG_INFO = 1,
  TFLITE_LOG_WARNING = 2,
  TFLITE_LOG_ERROR = 3,
  // Severity above that of every message: prints nothing.
  TFLITE_LOG_SILENT = 4,
};

namespace logging_internal {

// The minimum severity of this executable or shared library. Hidden, so that each plug-in has its
// own and can be unloaded.
struct __attribute__((visibility("hidden"))) MinimumSeverity {
#ifdef NDEBUG
  static inline LogSeverity value = TFLITE_LOG_INFO;
#else
  static inline LogSeverity value = TFLITE_LOG_VERBOSE;
#endif
};

}  // namespace logging_internal

// Setting of the messages that the executable or shared library which contains the call prints
// through minimal_logging.h. Messages of an interpreter are not affected; see ErrorReporter and
// DeputySetDefaultReporter. Not thread-safe.
class LoggerOptions {
 public:
  static LogSeverity GetMinimumLogSeverity() { return logging_internal::MinimumSeverity::value; }

  // Returns the previous severity.
  static LogSeverity SetMinimumLogSeverity(LogSeverity new_severity) {
    const LogSeverity previous = logging_internal::MinimumSeverity::value;
    logging_internal::MinimumSeverity::value = new_severity;
    return previous;
  }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_LOGGER_H_
