// SPDX-License-Identifier: Apache-2.0
//
// Messages of command-line tools as streams: TFLITE_LOG(INFO) << "text".
//
// TFLITE_LOG is also a macro of minimal_logging.h; that of the header that is included last is
// valid.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_H_

#include "tensorflow/lite/tools/logging_wrapper.h"  // IWYU pragma: export

// Stream of a message of severity INFO, WARN, ERROR or FATAL; FATAL aborts.
#undef TFLITE_LOG
#define TFLITE_LOG(severity) \
  tflite::logging::LoggingWrapper(tflite::logging::LoggingWrapper::LogSeverity::severity).Stream()

// Variant that prints only if `should_log` is true.
#define TFLITE_MAY_LOG(severity, should_log)                                              \
  tflite::logging::LoggingWrapper(tflite::logging::LoggingWrapper::LogSeverity::severity, \
                                  (should_log))                                           \
      .Stream()

// Abort with a message unless a condition is true.
#define TFLITE_TOOLS_CHECK(condition) TFLITE_MAY_LOG(FATAL, !(condition))
#define TFLITE_TOOLS_CHECK_EQ(a, b) TFLITE_TOOLS_CHECK((a) == (b))

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_LOGGING_H_
