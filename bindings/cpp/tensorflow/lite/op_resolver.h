// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OP_RESOLVER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OP_RESOLVER_H_

#include "tensorflow/lite/core/api/op_resolver.h"  // IWYU pragma: export

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OP_RESOLVER_H_
