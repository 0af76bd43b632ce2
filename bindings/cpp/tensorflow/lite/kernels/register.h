// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_H_

#include "tensorflow/lite/core/kernels/register.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_H_
