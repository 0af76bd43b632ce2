// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_REF_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_REF_H_

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {
namespace ops {
namespace builtin {

// Interpreters that are built with this resolver round quantised results exactly as TensorFlow
// Lite's reference kernels do (DeputyArithmetic in deputy.h).
class BuiltinRefOpResolver : public MutableOpResolver {
 public:
  BuiltinRefOpResolver() { AddLibraryKernels(); }

  const TfLiteRegistration* FindOp(tflite::BuiltinOperator op, int version) const override {
    return MutableOpResolver::FindOp(op, version);
  }
  const TfLiteRegistration* FindOp(const char* op, int version) const override {
    return MutableOpResolver::FindOp(op, version);
  }

 private:
  bool UsesReferenceKernels() const override { return true; }
};

}  // namespace builtin
}  // namespace ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_REGISTER_REF_H_
