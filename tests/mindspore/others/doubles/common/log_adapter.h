// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: the macro MS_LOG.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_LOG_ADAPTER_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_LOG_ADAPTER_H_

#include "mindspore/log.h"

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_LOG_ADAPTER_H_
