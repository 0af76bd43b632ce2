// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_H_

#include "tensorflow/lite/core/interpreter_builder.h"  // IWYU pragma: export
#include "tensorflow/lite/core/model_builder.h"        // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_H_
