// SPDX-License-Identifier: Apache-2.0
#include "litert/c/internal/litert_logging_helper.h"

#include "litert/c/litert_environment.h"
#include "litert/client/set_severity.h"

LiteRtStatus LiteRtPropagateMinLoggerSeverity(LiteRtEnvironmentOptions options) {
  return deputy::litert_client::SetSeverity(&LiteRtGetEnvironmentOptionsValue, options);
}
