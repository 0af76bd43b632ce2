// SPDX-License-Identifier: Apache-2.0
//
// Messages on stderr, each a line "SEVERITY: text".
//
// TFLITE_LOG is also a macro of tools/logging.h; that of the header that is included last is valid.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MINIMAL_LOGGING_H_

#include "tensorflow/lite/logger.h"          // IWYU pragma: export
#include "tensorflow/lite/minimal_logger.h"  // IWYU pragma: export

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
#undef TFLITE_LOG
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
