// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_INTERNAL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_INTERNAL_H_

#include "tensorflow/lite/core/api/op_resolver.h"

namespace tflite {

// Access to the private functions of OpResolver, for InterpreterBuilder and other resolvers.
class OpResolverInternal {
 public:
  OpResolverInternal() = delete;

  static bool MayContainUserDefinedOps(const OpResolver& op_resolver) {
    return op_resolver.MayContainUserDefinedOps();
  }
  static bool UsesReferenceKernels(const OpResolver& op_resolver) {
    return op_resolver.UsesReferenceKernels();
  }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_INTERNAL_H_
