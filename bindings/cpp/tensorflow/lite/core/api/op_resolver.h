// SPDX-License-Identifier: Apache-2.0
//
// Maps operators of a model to kernels. An InterpreterBuilder queries the resolver for each
// operator of its model, unless all kernels are the library's; the interpreter copies the
// registrations.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

class OpResolverInternal;

class OpResolver {
 public:
  // Return the kernel of a version of an operator, or null. Its operator object, if it has one,
  // must outlive the interpreters.
  virtual const TfLiteRegistration* FindOp(tflite::BuiltinOperator op, int version) const = 0;
  virtual const TfLiteRegistration* FindOp(const char* op, int version) const = 0;

  using TfLiteDelegatePtrVector =
      std::vector<std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>>;

  // Deprecated, not called: use GetDelegateCreators.
  virtual TfLiteDelegatePtrVector GetDelegates(int /*num_threads*/) const { return {}; }

  using TfLiteDelegateCreator =
      std::function<std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>(TfLiteContext*)>;
  using TfLiteDelegateCreators = std::vector<TfLiteDelegateCreator>;

  // Returns functions that create delegates. The interpreter calls them, and applies and owns what
  // they return, before it first allocates tensors or creates a signature runner, unless other
  // delegates run the whole graph.
  virtual TfLiteDelegateCreators GetDelegateCreators() const { return {}; }

  using TfLiteOpaqueDelegatePtr =
      std::unique_ptr<TfLiteOpaqueDelegate, void (*)(TfLiteOpaqueDelegate*)>;
  using TfLiteOpaqueDelegateCreator = std::function<TfLiteOpaqueDelegatePtr(int num_threads)>;
  using TfLiteOpaqueDelegateCreators = std::vector<TfLiteOpaqueDelegateCreator>;

  // Not called: TensorFlow Lite calls it in Google Play services only.
  virtual TfLiteOpaqueDelegateCreators GetOpaqueDelegateCreators() const { return {}; }

  OpResolver() = default;
  OpResolver(const OpResolver& other) = default;
  OpResolver& operator=(const OpResolver& other) = default;
  virtual ~OpResolver() = default;

 private:
  friend class OpResolverInternal;

  // Returns false if all kernels are those that the library has for the operators.
  virtual bool MayContainUserDefinedOps() const { return true; }

  // Returns true if the interpreter must compute like TensorFlow Lite's reference kernels.
  virtual bool UsesReferenceKernels() const { return false; }
};

// Finds the kernel of an operator code. kTfLiteError, after a report, if there is none; a custom
// operator without a kernel is not reported, because a delegate may run it.
inline TfLiteStatus GetRegistrationFromOpCode(const OperatorCode* opcode,
                                              const OpResolver& op_resolver,
                                              ErrorReporter* error_reporter,
                                              const TfLiteRegistration** registration) {
  *registration = nullptr;
  // Old models have the number in a byte only.
  const BuiltinOperator op = std::max(
      opcode->builtin_code(), static_cast<BuiltinOperator>(opcode->deprecated_builtin_code()));
  if (op > BuiltinOperator_MAX) {
    TF_LITE_REPORT_ERROR(error_reporter,
                         "Op builtin_code out of range: %d. Are you using old TFLite binary with "
                         "newer model?",
                         static_cast<int>(op));
    return kTfLiteError;
  }
  if (op == BuiltinOperator_CUSTOM && opcode->custom_code() == nullptr) {
    TF_LITE_REPORT_ERROR(error_reporter, "Operator with CUSTOM builtin_code has no custom_code.\n");
    return kTfLiteError;
  }
  if (op == BuiltinOperator_CUSTOM) {
    *registration = op_resolver.FindOp(opcode->custom_code()->c_str(), opcode->version());
    return *registration == nullptr ? kTfLiteError : kTfLiteOk;
  }
  *registration = op_resolver.FindOp(op, opcode->version());
  if (*registration != nullptr) return kTfLiteOk;
  TF_LITE_REPORT_ERROR(error_reporter,
                       "Didn't find op for builtin opcode '%s' version '%d'. An older version of "
                       "this builtin might be supported. Are you using an old TFLite binary with "
                       "a newer model?\n",
                       EnumNameBuiltinOperator(op), opcode->version());
  return kTfLiteError;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_OP_RESOLVER_H_
