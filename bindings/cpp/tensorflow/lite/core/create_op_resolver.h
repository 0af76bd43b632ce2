// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_CREATE_OP_RESOLVER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_CREATE_OP_RESOLVER_H_

#include <memory>

#include "tensorflow/lite/core/kernels/register.h"
#include "tensorflow/lite/mutable_op_resolver.h"

namespace tflite {

// Returns a resolver for all operators.
inline std::unique_ptr<MutableOpResolver> CreateOpResolver() {
  return std::make_unique<ops::builtin::BuiltinOpResolver>();
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_CREATE_OP_RESOLVER_H_
