// SPDX-License-Identifier: Apache-2.0
#include "c_api/include/deputy_process.h"

#include "core/base/log.h"
#include "core/base/processors.h"

int32_t DeputyGetProcessorCount(void) { return deputy::MaxUsefulThreads(); }

TfLiteStatus DeputySetLogLevel(DeputyLogLevel level) {
  const int number = level;
  if (number < kDeputyLogVerbose || number > kDeputyLogSilent) return kTfLiteError;
  deputy::SetLogLevel(level);
  return kTfLiteOk;
}

DeputyLogLevel DeputyGetLogLevel(void) { return deputy::CurrentLogLevel(); }

void DeputySetLogCallback(void (*callback)(void* user_data, DeputyLogLevel level,
                                           const char* message),
                          void* user_data) {
  deputy::SetLogCallback(callback, user_data);
}
