// SPDX-License-Identifier: Apache-2.0
#include "litert/c/internal/litert_runtime_builtin.h"

#include "litert/c/internal/litert_runtime_api_export.h"

const LiteRtRuntimeCApiStruct* GetLiteRtRuntimeBuiltin() { return &kLiteRtRuntimeBuiltin; }
