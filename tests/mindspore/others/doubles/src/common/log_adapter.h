// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: the macros MS_LOG and MS_UNLIKELY, and the bounds-checked
// functions that it includes.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_

#include "include/securec.h"
#include "mindspore/log.h"

#define MS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_
