// SPDX-License-Identifier: Apache-2.0
//
// Processors and log of the process.
//
// The log receives the messages that would otherwise be printed to stderr: reports of interpreters
// without an error reporter of their own, warnings about settings, and, at lower levels,
// information about models and delegates. Messages have no newline at their end.
//
// The functions are exported by libdeputy.so.1 under the symbol version DEPUTY_1.0; the rules of
// deputy.h apply.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PROCESS_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PROCESS_H_

#include <stdint.h>

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Number of threads that can run at the same time on the calling thread's processors: those in its
// affinity, without the slow ones of a machine with fast and slow processors, and at most the
// control groups' quota of time, rounded up. At least 1. Interpreters use at most as many threads,
// whatever TfLiteInterpreterOptionsSetNumThreads requests. The quota is read at each call; it can
// change. Any thread.
TFL_CAPI_EXPORT int32_t DeputyGetProcessorCount(void);

// Severity of a message. The numbers are those of tflite::LogSeverity.
typedef enum DeputyLogLevel {
  // Subgraphs that are prepared, and nodes that a delegate does not run.
  kDeputyLogVerbose = 0,
  // Interpreters, delegate libraries, delegates that are applied and their numbers of nodes.
  kDeputyLogInfo = 1,
  // Settings that are ignored, and results that could not be stored.
  kDeputyLogWarning = 2,
  // Failures of calls.
  kDeputyLogError = 3,
  // Used as the minimum level only; discards all messages.
  kDeputyLogSilent = 4,
} DeputyLogLevel;

// Sets the minimum level of messages; lower ones are discarded. Overrides the environment variable
// DEPUTY_LOG ("verbose", "info", "warning", "error" or "silent"); kDeputyLogWarning by default.
// Does not affect DeputyLastError, error reporters of interpreters and DeputySetDefaultReporter.
// kTfLiteError for a value that is not in the enum. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputySetLogLevel(DeputyLogLevel level);

// Returns the minimum level of messages. Any thread.
TFL_CAPI_EXPORT DeputyLogLevel DeputyGetLogLevel(void);

// Passes messages to `callback` instead of stderr; NULL restores stderr. The callback may be called
// on any thread, by one thread at a time, and must not throw. Messages from within the callback are
// discarded. A reporter of DeputySetDefaultReporter receives errors and warnings instead of the
// callback. When the function returns, no other thread is in the former callback, so that
// `user_data` can be released. Must not be called from a thread for which a running callback waits.
// Any thread.
TFL_CAPI_EXPORT void DeputySetLogCallback(void (*callback)(void* user_data, DeputyLogLevel level,
                                                           const char* message),
                                          void* user_data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PROCESS_H_
