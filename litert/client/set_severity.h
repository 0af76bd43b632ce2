// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_LITERT_CLIENT_SET_SEVERITY_H_
#define DEPUTY_LITERT_CLIENT_SET_SEVERITY_H_

#include "litert/c/internal/litert_logging.h"
#include "litert/c/litert_environment_options.h"

namespace deputy::litert_client {

// Sets the severity of the default logger to that in the options of an environment. `get_value` is
// LiteRtGetEnvironmentOptionsValue.
inline LiteRtStatus SetSeverity(LiteRtStatus (*get_value)(LiteRtEnvironmentOptions,
                                                          LiteRtEnvOptionTag, LiteRtAny*),
                                LiteRtEnvironmentOptions options) {
  LiteRtAny severity = {};
  const LiteRtStatus status = get_value(options, kLiteRtEnvOptionTagMinLoggerSeverity, &severity);
  if (status != kLiteRtStatusOk) return status;
  return LiteRtSetMinLoggerSeverity(LiteRtGetDefaultLogger(),
                                    static_cast<LiteRtLogSeverity>(severity.int_value));
}

}  // namespace deputy::litert_client

#endif  // DEPUTY_LITERT_CLIENT_SET_SEVERITY_H_
