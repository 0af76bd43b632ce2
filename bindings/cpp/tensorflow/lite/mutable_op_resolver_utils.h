// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_UTILS_H_

#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_opaque.h"
#include "tensorflow/lite/mutable_op_resolver.h"

namespace tflite {

// Add an operator object, which must outlive the resolver and its interpreters, for its own version
// or for all versions from `min_version` to `max_version`.
inline void AddOp(MutableOpResolver* mutable_op_resolver, const TfLiteOperator* op, int min_version,
                  int max_version) {
  TfLiteRegistration registration{};
  registration.builtin_code = TfLiteOperatorGetBuiltInCode(op);
  registration.custom_name = TfLiteOperatorGetCustomName(op);
  registration.version = TfLiteOperatorGetVersion(op);
  registration.registration_external = const_cast<TfLiteOperator*>(op);
  if (registration.custom_name != nullptr) {
    mutable_op_resolver->AddCustom(registration.custom_name, &registration, min_version,
                                   max_version);
  } else {
    mutable_op_resolver->AddBuiltin(static_cast<BuiltinOperator>(registration.builtin_code),
                                    &registration, min_version, max_version);
  }
}

inline void AddOp(MutableOpResolver* mutable_op_resolver, const TfLiteOperator* op) {
  const int version = TfLiteOperatorGetVersion(op);
  AddOp(mutable_op_resolver, op, version, version);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_UTILS_H_
