// SPDX-License-Identifier: Apache-2.0
//
// Log messages. These functions and the default logger are linked statically: each library has its
// own.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Severity of a message, with the values of TensorFlow Lite's LogSeverity. A logger with
// kLiteRtLogSeveritySilent logs nothing.
typedef int8_t LiteRtLogSeverity;
enum {
  kLiteRtLogSeverityDebug = -1,
  kLiteRtLogSeverityVerbose = 0,
  kLiteRtLogSeverityInfo = 1,
  kLiteRtLogSeverityWarning = 2,
  kLiteRtLogSeverityError = 3,
  kLiteRtLogSeveritySilent = 4,
};

#define LITERT_DEBUG kLiteRtLogSeverityDebug
#define LITERT_VERBOSE kLiteRtLogSeverityVerbose
#define LITERT_INFO kLiteRtLogSeverityInfo
#define LITERT_WARNING kLiteRtLogSeverityWarning
#define LITERT_ERROR kLiteRtLogSeverityError
#define LITERT_SILENT kLiteRtLogSeveritySilent

// Returns the name of a severity as a constant string; "UNKNOWN" for other values.
const char* LiteRtGetLogSeverityName(LiteRtLogSeverity severity);

// ---- Loggers ------------------------------------------------------------------------------------

// Creates a logger that prints to stderr.
LiteRtStatus LiteRtCreateLogger(LiteRtLogger* logger);

// Creates a logger that stores its messages.
LiteRtStatus LiteRtCreateSinkLogger(LiteRtLogger* logger);

// Destroys a logger that the caller owns.
void LiteRtDestroyLogger(LiteRtLogger logger);

// Returns the name of the logger's kind.
LiteRtStatus LiteRtGetLoggerIdentifier(LiteRtLoggerConst logger, const char** identifier);

// Smallest severity that a logger logs.
LiteRtStatus LiteRtGetMinLoggerSeverity(LiteRtLogger logger, LiteRtLogSeverity* min_severity);
LiteRtStatus LiteRtSetMinLoggerSeverity(LiteRtLogger logger, LiteRtLogSeverity min_severity);

// Logs a message, with a format and arguments as for printf.
LiteRtStatus LiteRtLoggerLog(LiteRtLogger logger, LiteRtLogSeverity severity, const char* format,
                             ...);

// The following functions enumerate and discard the messages of a logger of LiteRtCreateSinkLogger;
// kLiteRtStatusErrorInvalidArgument for other loggers, kLiteRtStatusErrorNotFound if the index is
// out of range. Messages are valid until the next call with the logger.
LiteRtStatus LiteRtGetSinkLoggerSize(LiteRtLogger logger, size_t* size);
LiteRtStatus LiteRtGetSinkLoggerMessage(LiteRtLogger logger, size_t idx, const char** message);
LiteRtStatus LiteRtClearSinkLogger(LiteRtLogger logger);

// ---- Default logger -----------------------------------------------------------------------------

// The default logger, initially one that prints to stderr. The caller keeps a logger that it sets.
LiteRtLogger LiteRtGetDefaultLogger(void);
LiteRtStatus LiteRtSetDefaultLogger(LiteRtLogger logger);

// Logs a message with the default logger.
LiteRtStatus LiteRtDefaultLoggerLog(LiteRtLogSeverity severity, const char* format, ...);

// Make a predefined logger the default one: one that prints to stderr, or one that stores its
// messages.
LiteRtStatus LiteRtUseStandardLogger(void);
LiteRtStatus LiteRtUseSinkLogger(void);

// ---- Macros -------------------------------------------------------------------------------------

// Compiles a statement if assertions are enabled.
#ifndef NDEBUG
#define LITERT_DEBUG_CODE(stmt) stmt;
#else
#define LITERT_DEBUG_CODE(stmt)
#endif

// Name of the source file without folders, where the compiler defines it.
#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

#define DEPUTY_LITERT_TEXT_OF(x) #x
#define DEPUTY_LITERT_TEXT(x) DEPUTY_LITERT_TEXT_OF(x)

// Logs a message with its position in the source. The arguments after the severity are a string
// literal and its arguments, as for printf; they are evaluated only if the logger logs the
// severity.
#define LITERT_LOGGER_LOG_PROD(logger, severity, ...)                                       \
  do {                                                                                      \
    LiteRtLogSeverity deputy_min_severity;                                                  \
    if (LiteRtGetMinLoggerSeverity(logger, &deputy_min_severity) != kLiteRtStatusOk) {      \
      deputy_min_severity = kLiteRtLogSeverityVerbose;                                      \
    }                                                                                       \
    if ((severity) >= deputy_min_severity) {                                                \
      LiteRtLoggerLog(logger, severity,                                                     \
                      "[" __FILE_NAME__ ":" DEPUTY_LITERT_TEXT(__LINE__) "] " __VA_ARGS__); \
    }                                                                                       \
  } while (false)
#define LITERT_LOGGER_LOG(logger, severity, ...) \
  LITERT_LOGGER_LOG_PROD(logger, severity, __VA_ARGS__)

// Logs a message with the default logger. The macro is a whole statement.
#define LITERT_LOG(severity, ...) \
  LITERT_LOGGER_LOG(LiteRtGetDefaultLogger(), severity, __VA_ARGS__);

// Ends the process, the second macro after a message. The library itself does not use them.
#define LITERT_ABORT abort()
#define LITERT_FATAL(...)                                          \
  do {                                                             \
    LITERT_LOG(kLiteRtLogSeverityError, __VA_ARGS__) LITERT_ABORT; \
  } while (0)

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_H_
