// SPDX-License-Identifier: Apache-2.0
//
// Checks a model without building an interpreter.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_TOOLS_VERIFIER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_TOOLS_VERIFIER_H_

#include <cstddef>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/api/op_resolver.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/model.h"
#include "tensorflow/lite/error_reporter.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

// Returns the same empty kernel for every operator.
class AlwaysTrueResolver : public OpResolver {
 public:
  AlwaysTrueResolver() = default;
  const TfLiteRegistration* FindOp(tflite::BuiltinOperator /*op*/, int /*version*/) const override {
    return &kernel_;
  }
  const TfLiteRegistration* FindOp(const char* /*op*/, int /*version*/) const override {
    return &kernel_;
  }

 private:
  TfLiteRegistration kernel_{};
};

// Returns true if the library can load the model; otherwise reports the reason. Checks the
// flatbuffer and the data of tensors. The schema's version, and the references of nodes to tensors
// and subgraphs, are checked when an interpreter is built or allocated.
inline bool Verify(const void* buf, size_t len, ErrorReporter* error_reporter) {
  if (error_reporter == nullptr) error_reporter = DefaultErrorReporter();
  if (buf == nullptr) {
    error_reporter->Report("Invalid flatbuffer format");
    return false;
  }
  return model_internal::Handle::Create(buf, len, error_reporter) != nullptr;
}

// Also requires that the resolver has a kernel for each operator. Deprecated: a delegate may run
// operators that have none.
inline bool Verify(const void* buf, size_t len, const OpResolver& resolver,
                   ErrorReporter* error_reporter) {
  if (error_reporter == nullptr) error_reporter = DefaultErrorReporter();
  if (!Verify(buf, len, error_reporter)) return false;
  const auto* const codes = GetModel(buf)->operator_codes();
  if (codes == nullptr) return true;
  for (const OperatorCode* code : *codes) {
    const TfLiteRegistration* kernel = nullptr;
    if (GetRegistrationFromOpCode(code, resolver, error_reporter, &kernel) != kTfLiteOk) {
      if (code->custom_code() != nullptr) {
        error_reporter->Report("custom op: %s, version %d is not supported",
                               code->custom_code()->c_str(), code->version());
      }
      return false;
    }
  }
  return true;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_TOOLS_VERIFIER_H_
