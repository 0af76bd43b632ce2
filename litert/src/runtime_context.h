// SPDX-License-Identifier: Apache-2.0
//
// The table of the library's functions that accelerators and dispatch plug-ins receive.
#ifndef DEPUTY_LITERT_SRC_RUNTIME_CONTEXT_H_
#define DEPUTY_LITERT_SRC_RUNTIME_CONTEXT_H_

#include "litert/c/internal/litert_runtime_context.h"

namespace deputy::litert {

LiteRtRuntimeContext* RuntimeContext();

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_RUNTIME_CONTEXT_H_
