// SPDX-License-Identifier: Apache-2.0
//
// The macros MS_API and DATASET_API of MindSpore Lite's headers, which export a symbol.
#ifndef DEPUTY_MINDSPORE_INCLUDE_VISIBLE_H_
#define DEPUTY_MINDSPORE_INCLUDE_VISIBLE_H_

#include "types_c.h"  // IWYU pragma: export: defines MS_API

#ifndef DATASET_API
#define DATASET_API MS_API
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_VISIBLE_H_
