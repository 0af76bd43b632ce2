// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_RUNTIME_ACCELERATOR_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_RUNTIME_ACCELERATOR_H_

// The members of Deputy's class with the names of LiteRT's.
#define environment env
#define get_name GetName
#define get_version GetVersion
#define get_hardware GetHardwareSupport
#define is_compiler IsTfLiteDelegateResponsibleForJitCompilation
#define create_delegate CreateDelegate
#include "litert/src/accelerator.h"

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_RUNTIME_ACCELERATOR_H_
