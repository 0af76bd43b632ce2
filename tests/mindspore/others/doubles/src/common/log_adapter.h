// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: the macro MS_LOG, and the bounds-checked functions that it
// includes.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_

#include "include/securec.h"
#include "mindspore/log.h"

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_LOG_ADAPTER_H_
