// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_H_

#include "tensorflow/lite/core/interpreter.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERPRETER_H_
