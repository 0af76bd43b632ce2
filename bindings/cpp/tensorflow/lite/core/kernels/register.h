// SPDX-License-Identifier: Apache-2.0
//
// Resolvers for the library's kernels of all operators. They contain no table of kernels: each one
// is looked up in the library when a model needs it.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_REGISTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_REGISTER_H_

#include "tensorflow/lite/core/model.h"  // IWYU pragma: export
#include "tensorflow/lite/mutable_op_resolver.h"

namespace tflite {
namespace ops {
namespace builtin {

// Resolver for all operators. It has no virtual functions of its own, so that copies to a
// MutableOpResolver keep their kernels. The library has no default delegates.
class BuiltinOpResolver : public MutableOpResolver {
 public:
  BuiltinOpResolver() { AddLibraryKernels(); }
};

// In TensorFlow Lite this resolver applies XNNPACK by default; the library's own kernels are
// faster.
class BuiltinOpResolverWithXNNPACK : public BuiltinOpResolver {
 public:
  explicit BuiltinOpResolverWithXNNPACK(bool /*enable_xnnpack_unsigned_quantized*/ = true) {}
};

class BuiltinOpResolverWithoutDefaultDelegates : public BuiltinOpResolver {
 public:
  BuiltinOpResolverWithoutDefaultDelegates() {
    delegate_creators_.clear();
    opaque_delegate_creators_.clear();
  }
};

}  // namespace builtin
}  // namespace ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_REGISTER_H_
