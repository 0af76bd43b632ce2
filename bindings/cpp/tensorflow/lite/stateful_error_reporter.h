// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STATEFUL_ERROR_REPORTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STATEFUL_ERROR_REPORTER_H_

#include <string>

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite {

// A reporter that keeps its messages.
class StatefulErrorReporter : public ErrorReporter {
 public:
  virtual std::string message() = 0;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STATEFUL_ERROR_REPORTER_H_
