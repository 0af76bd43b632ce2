// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ERROR_REPORTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ERROR_REPORTER_H_

#include "tensorflow/lite/core/api/error_reporter.h"  // IWYU pragma: export
#include "tensorflow/lite/stderr_reporter.h"          // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ERROR_REPORTER_H_
