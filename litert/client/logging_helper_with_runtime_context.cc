// SPDX-License-Identifier: Apache-2.0
#include "litert/c/internal/litert_logging_helper_with_runtime_context.h"

#include "litert/c/internal/litert_runtime_context.h"
#include "litert/client/set_severity.h"

LiteRtStatus LiteRtPropagateMinLoggerSeverityWithRuntimeContext(
    const LiteRtRuntimeContext* runtime_context, LiteRtEnvironmentOptions options) {
  if (runtime_context == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return deputy::litert_client::SetSeverity(runtime_context->get_environment_options_value,
                                            options);
}
