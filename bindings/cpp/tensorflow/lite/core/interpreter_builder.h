// SPDX-License-Identifier: Apache-2.0
//
// Builds interpreters from a model.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_BUILDER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_BUILDER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "deputy/deputy.h"
#include "deputy/deputy_graph.h"
#include "flatbuffers/flatbuffers.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/api/op_resolver.h"
#include "tensorflow/lite/core/api/op_resolver_internal.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_experimental.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/interpreter.h"
#include "tensorflow/lite/core/model_builder.h"
#include "tensorflow/lite/core/subgraph.h"
#include "tensorflow/lite/interpreter_options.h"
#include "tensorflow/lite/mutable_op_resolver.h"
#include "tensorflow/lite/profiling/telemetry/profiler.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/stderr_reporter.h"
#include "tensorflow/lite/version.h"

namespace tflite {
namespace impl {

class InterpreterBuilder {
 public:
  // The model must outlive the builder and its interpreters, the resolver the builder. Reports go
  // to the model's reporter. The options are copied.
  InterpreterBuilder(const FlatBufferModel& model, const OpResolver& op_resolver,
                     const InterpreterOptions* options_experimental = nullptr)
      : flatbuffer_model_(&model),
        model_(model.GetModel()),
        op_resolver_(op_resolver),
        error_reporter_(model.error_reporter()) {
    if (options_experimental != nullptr) options_ = *options_experimental;
  }

  // Builds from a model whose bytes are those of `allocation`; without one the interpreters use a
  // copy of the model, because its size is not known.
  InterpreterBuilder(const ::tflite::Model* model, const OpResolver& op_resolver,
                     ErrorReporter* error_reporter = DefaultErrorReporter(),
                     const InterpreterOptions* options_experimental = nullptr,
                     const Allocation* allocation = nullptr)
      : model_(model),
        allocation_(allocation),
        op_resolver_(op_resolver),
        error_reporter_(error_reporter != nullptr ? error_reporter : DefaultErrorReporter()) {
    if (options_experimental != nullptr) options_ = *options_experimental;
  }

  InterpreterBuilder(const InterpreterBuilder&) = delete;
  InterpreterBuilder& operator=(const InterpreterBuilder&) = delete;

  // Stores a new interpreter; null, after a report, if the result is not kTfLiteOk: then the model
  // is invalid, a builtin operator has no kernel, or a delegate could not be applied. A custom
  // operator without a kernel is reported by AllocateTensors, because a delegate may run it.
  TfLiteStatus operator()(std::unique_ptr<Interpreter>* interpreter) {
    if (interpreter == nullptr) {
      error_reporter_->Report("Null output pointer passed to InterpreterBuilder.");
      return kTfLiteError;
    }
    interpreter->reset();
    if (!CheckModel()) return kTfLiteError;
    std::unique_ptr<Interpreter> built = Create();
    if (built == nullptr) return kTfLiteError;
    Configure(built.get());
    for (TfLiteDelegate* delegate : delegates_) {
      const TfLiteStatus status = built->ModifyGraphWithDelegateImpl(delegate);
      if (status != kTfLiteOk) {
        error_reporter_->Report("Failed to apply delegates.\n");
        return status;
      }
    }
    *interpreter = std::move(built);
    return kTfLiteOk;
  }

  // Sets the number of threads first; see SetNumThreads.
  TfLiteStatus operator()(std::unique_ptr<Interpreter>* interpreter, int num_threads) {
    const TfLiteStatus status = SetNumThreads(num_threads);
    if (status == kTfLiteOk) return (*this)(interpreter);
    if (interpreter != nullptr) interpreter->reset();
    return status;
  }

  // Sets the number of threads: 0 and 1 are one thread, -1 the default. kTfLiteError below -1.
  TfLiteStatus SetNumThreads(int num_threads) {
    if (num_threads < -1) {
      error_reporter_->Report(
          "num_threads should be >= 0 or just -1 to let TFLite runtime set the value.");
      return kTfLiteError;
    }
    num_threads_ = num_threads;
    return kTfLiteOk;
  }

  // Adds a profiler to the next interpreter, which owns it.
  void SetTelemetryProfiler(std::unique_ptr<telemetry::TelemetryProfiler> profiler) {
    telemetry_profiler_ = std::move(profiler);
  }

  // Adds a delegate, which must outlive the interpreters. Delegates are applied in the order of
  // these calls.
  void AddDelegate(TfLiteDelegate* delegate) {
    if (delegate == nullptr) {
      error_reporter_->Report("Null delegate.");
    } else {
      delegates_.push_back(delegate);
    }
  }
  void AddDelegate(TfLiteOpaqueDelegateStruct* opaque_delegate) {
    AddDelegate(reinterpret_cast<TfLiteDelegate*>(opaque_delegate));
  }

 private:
  bool CheckModel() const {
    if (model_ == nullptr) {
      error_reporter_->Report("Null pointer passed in as model.");
      return false;
    }
    return true;
  }

  // Returns the library's model; null after a report.
  std::shared_ptr<model_internal::Handle> Handle() {
    if (flatbuffer_model_ != nullptr) return flatbuffer_model_->handle();
    if (handle_ == nullptr) {
      handle_ = allocation_ != nullptr
                    ? model_internal::Handle::Create(allocation_->base(), allocation_->bytes(),
                                                     error_reporter_)
                    : model_internal::Handle::Create(model_, error_reporter_);
    }
    return handle_;
  }

  std::unique_ptr<Interpreter> Create() {
    const std::shared_ptr<model_internal::Handle> model = Handle();
    if (model == nullptr) return nullptr;
    TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, &subgraph_internal::Report, error_reporter_);
    TfLiteInterpreterOptionsSetNumThreads(options, num_threads_ == 0 ? 1 : num_threads_);
    // Without callbacks the library uses its own kernels.
    if (OpResolverInternal::MayContainUserDefinedOps(op_resolver_)) {
      TfLiteInterpreterOptionsSetOpResolver(options, &FindBuiltin, &FindCustom,
                                            const_cast<OpResolver*>(&op_resolver_));
    }
    if (OpResolverInternal::UsesReferenceKernels(op_resolver_)) {
      DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
    }
    TfLiteInterpreter* const created = TfLiteInterpreterCreate(model->get(), options);
    TfLiteInterpreterOptionsDelete(options);
    if (created == nullptr) return nullptr;
    std::unique_ptr<Interpreter> interpreter(new Interpreter(created, error_reporter_));
    interpreter->model_ = model;
    return interpreter;
  }

  void Configure(Interpreter* interpreter) {
    interpreter->SetSignatureDef(ReadSignatures(interpreter->c_interpreter()));
    interpreter->ApplyOptionsImpl(&options_);
    interpreter->AddProfiler(std::move(telemetry_profiler_));
    interpreter->lazy_delegate_providers_ = op_resolver_.GetDelegateCreators();
    if (!options_.GetUseSignatureTensorNames()) return;
    for (const internal::SignatureDef& signature : interpreter->signature_defs_) {
      Subgraph* const subgraph = interpreter->subgraph(static_cast<int>(signature.subgraph_index));
      for (const auto* names : {&signature.inputs, &signature.outputs}) {
        for (const auto& entry : *names) {
          subgraph->tensor(static_cast<int>(entry.second))->name = entry.first.c_str();
        }
      }
    }
  }

  static std::vector<internal::SignatureDef> ReadSignatures(const TfLiteInterpreter* interpreter) {
    std::vector<internal::SignatureDef> signatures;
    const int32_t count = TfLiteInterpreterGetSignatureCount(interpreter);
    for (int32_t i = 0; i < count; ++i) {
      internal::SignatureDef signature;
      signature.signature_key = TfLiteInterpreterGetSignatureKey(interpreter, i);
      signature.subgraph_index =
          static_cast<uint32_t>(DeputyInterpreterGetSignatureSubgraph(interpreter, i));
      const char* name = nullptr;
      int32_t tensor = 0;
      for (int32_t k = 0; k < DeputyInterpreterGetSignatureInputCount(interpreter, i); ++k) {
        DeputyInterpreterGetSignatureInput(interpreter, i, k, &name, &tensor);
        signature.inputs[name] = static_cast<uint32_t>(tensor);
      }
      for (int32_t k = 0; k < DeputyInterpreterGetSignatureOutputCount(interpreter, i); ++k) {
        DeputyInterpreterGetSignatureOutput(interpreter, i, k, &name, &tensor);
        signature.outputs[name] = static_cast<uint32_t>(tensor);
      }
      signatures.push_back(std::move(signature));
    }
    return signatures;
  }

  static const TfLiteRegistration* FindBuiltin(void* resolver, TfLiteBuiltinOperator op,
                                               int version) {
    return static_cast<const OpResolver*>(resolver)->FindOp(static_cast<BuiltinOperator>(op),
                                                            version);
  }
  static const TfLiteRegistration* FindCustom(void* resolver, const char* op, int version) {
    return static_cast<const OpResolver*>(resolver)->FindOp(op, version);
  }

  const FlatBufferModel* flatbuffer_model_ = nullptr;
  const ::tflite::Model* model_;
  const Allocation* allocation_ = nullptr;
  const OpResolver& op_resolver_;
  ErrorReporter* error_reporter_;
  std::vector<TfLiteDelegate*> delegates_;
  int num_threads_ = -1;
  InterpreterOptions options_;
  std::shared_ptr<model_internal::Handle> handle_;
  std::unique_ptr<telemetry::TelemetryProfiler> telemetry_profiler_;
};

}  // namespace impl

using InterpreterBuilder = impl::InterpreterBuilder;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_BUILDER_H_
