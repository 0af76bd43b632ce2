// SPDX-License-Identifier: Apache-2.0
//
// The log of the process (c_api/include/deputy_process.h). Nothing here allocates.
#ifndef DEPUTY_CORE_BASE_LOG_H_
#define DEPUTY_CORE_BASE_LOG_H_

#include "c_api/include/deputy_process.h"

namespace deputy {

using LogCallback = void (*)(void* user_data, DeputyLogLevel level, const char* message);

void SetLogCallback(LogCallback callback, void* user_data);
void SetLogLevel(DeputyLogLevel level);
// The first call reads DEPUTY_LOG, unless SetLogLevel was called before.
DeputyLogLevel CurrentLogLevel();

// Returns true if messages of `level` are not discarded: to avoid the cost of a message.
inline bool IsLogged(DeputyLogLevel level) { return level >= CurrentLogLevel(); }

// Writes a message as it is.
void WriteLog(DeputyLogLevel level, const char* message);

// Formats and writes a message of at most 1023 bytes, in which control characters become spaces.
void Log(DeputyLogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_LOG_H_
