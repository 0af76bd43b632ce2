// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MODEL_BUILDER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MODEL_BUILDER_H_

#include "tensorflow/lite/core/model_builder.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MODEL_BUILDER_H_
