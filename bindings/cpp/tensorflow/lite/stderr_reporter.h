// SPDX-License-Identifier: Apache-2.0
//
// The reporter that is used where a program passes none: it prints to stderr.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STDERR_REPORTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STDERR_REPORTER_H_

#include <cstdarg>
#include <cstdio>
#include <string>

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite {

// Prints "ERROR: ", the message and a line break.
class StderrReporter : public ErrorReporter {
 public:
  using ErrorReporter::Report;
  int Report(const char* format, va_list args) override {
    // One call of printf per message, so that messages of several threads do not mix.
    const std::string line = std::string("ERROR: ") + format + "\n";
    return vfprintf(stderr, line.c_str(), args);
  }
};

// Returns the StderrReporter that is shared by all models and interpreters to which the program
// passes no reporter.
inline ErrorReporter* DefaultErrorReporter() {
  // Never destroyed: other static objects may report while the program ends.
  static ErrorReporter* const reporter = new StderrReporter;
  return reporter;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STDERR_REPORTER_H_
