// SPDX-License-Identifier: Apache-2.0
//
// Class that implements the macros of tools/logging.h, for headers that must not define the macros.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_WRAPPER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_WRAPPER_H_

#include <cstdlib>
#include <iostream>
#include <ostream>
#include <sstream>

namespace tflite {
namespace logging {

// Collects a message and prints it when the object is destroyed: INFO and WARN on stdout, ERROR and
// FATAL on stderr. FATAL aborts the process.
class LoggingWrapper {
 public:
  enum class LogSeverity : int {
    INFO = 0,
    WARN = 1,
    ERROR = 2,
    FATAL = 3,
  };

  explicit LoggingWrapper(LogSeverity severity) : LoggingWrapper(severity, true) {}

  // Prints and aborts only if `log` is true.
  LoggingWrapper(LogSeverity severity, bool log) : severity_(severity), should_log_(log) {}

  LoggingWrapper(const LoggingWrapper&) = delete;
  LoggingWrapper& operator=(const LoggingWrapper&) = delete;

  ~LoggingWrapper() {
    if (!should_log_) return;
    static constexpr const char* kNames[] = {"INFO", "WARN", "ERROR", "FATAL"};
    std::ostream& output = severity_ >= LogSeverity::ERROR ? std::cerr : std::cout;
    output << kNames[static_cast<int>(severity_)] << ": " << stream_.str() << std::endl;
    if (severity_ == LogSeverity::FATAL) std::abort();
  }

  std::stringstream& Stream() { return stream_; }

 private:
  std::stringstream stream_;
  LogSeverity severity_;
  bool should_log_;
};

}  // namespace logging
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_WRAPPER_H_
