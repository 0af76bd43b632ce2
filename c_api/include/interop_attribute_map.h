// SPDX-License-Identifier: Apache-2.0
//
// Attribute maps. Their type and keys are in interop_types.h; the functions on them are declared
// here when the library has them.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interop_types.h"

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_
