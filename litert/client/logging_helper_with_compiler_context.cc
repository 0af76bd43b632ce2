// SPDX-License-Identifier: Apache-2.0
#include "litert/c/internal/litert_logging_helper_with_compiler_context.h"

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/client/set_severity.h"

LiteRtStatus LiteRtPropagateMinLoggerSeverityWithCompilerContext(
    const LiteRtCompilerContext* compiler_context, LiteRtEnvironmentOptions options) {
  if (compiler_context == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return deputy::litert_client::SetSeverity(compiler_context->get_environment_options_value,
                                            options);
}
