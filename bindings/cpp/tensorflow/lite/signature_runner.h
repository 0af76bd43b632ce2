// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SIGNATURE_RUNNER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SIGNATURE_RUNNER_H_

#include "tensorflow/lite/core/signature_runner.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_SIGNATURE_RUNNER_H_
