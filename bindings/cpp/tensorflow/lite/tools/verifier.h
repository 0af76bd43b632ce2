// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_VERIFIER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_VERIFIER_H_

#include "tensorflow/lite/core/tools/verifier.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_VERIFIER_H_
