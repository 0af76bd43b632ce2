// SPDX-License-Identifier: Apache-2.0
//
// Models, options, interpreters and signatures of the main C API: each function checks its
// arguments, guards against exceptions and forwards.
#include "c_api/include/c_api.h"

#include <cstring>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/src/objects.h"
#include "core/base/environment.h"
#include "core/base/log.h"
#include "core/delegation/make_delegation.h"
#include "core/plugin/layers.h"
#include "kernels/cpu/cpu.h"
#include "kernels/registry.h"

using deputy::EnvironmentChoice;
using deputy::ErrorReporter;
using deputy::Fail;
using deputy::Guard;

namespace {

using Reporter = void (*)(void*, const char*, va_list);

// Release of upstream whose behaviour this library implements; programs compare this text.
constexpr const char* kTfLiteVersion = "2.19.0";

TfLiteModel* WrapModel(std::shared_ptr<const deputy::Model> model) {
  return model == nullptr ? nullptr : new TfLiteModel{std::move(model)};
}

TfLiteModel* CreateFromBuffer(const void* data, size_t size, Reporter function, void* user_data) {
  return Guard(nullptr, [&] {
    ErrorReporter reporter(function, user_data);
    return WrapModel(deputy::Model::FromBuffer(data, size, &reporter));
  });
}

TfLiteModel* CreateFromFile(const char* path, Reporter function, void* user_data) {
  return Guard(nullptr, [&] {
    ErrorReporter reporter(function, user_data);
    return WrapModel(deputy::Model::FromFile(path, &reporter));
  });
}

deputy::InterpreterConfig ConfigOf(const TfLiteInterpreterOptions* options,
                                   deputy::Validation** out_validation) {
  deputy::InterpreterConfig config;
  if (options != nullptr) config = options->config;
  config.make_delegate_parts = &deputy::MakeDelegation;
  constexpr auto kTranspose = kTfLiteBuiltinTranspose;
  config.transpose = deputy::FromOpDef(*deputy::FindBuiltin(kTranspose, 1), 1);
  deputy::ReportMisspeltVariables();
  if (options == nullptr || !options->arithmetic_set) {
    if (EnvironmentChoice("DEPUTY_ARITHMETIC", {"default", "reference"}) == "reference") {
      config.arithmetic = deputy::Arithmetic::kReference;
    }
  }
  if (options == nullptr || !options->precision_set) {
    const auto name = EnvironmentChoice("DEPUTY_PRECISION", {"float32", "bf16", "fp16"});
    if (name == "bf16") config.precision = deputy::Precision::kBfloat16;
    if (name == "fp16") config.precision = deputy::Precision::kFloat16;
  }
  if (options == nullptr || !options->policy_set) {
    config.hot = EnvironmentChoice("DEPUTY_DELEGATE_POLICY", {"tflite", "hot"}) == "hot";
  }
  if (config.cpu == nullptr) config.cpu = &deputy::Cpu();
  config.cpu_float16 = &deputy::WithFloat16(*config.cpu);
  config.weight_code = config.cpu->name;
  config.fusion = EnvironmentChoice("DEPUTY_PLAN", {"fused", "off"}) != "off" &&
                  strcmp(config.cpu->name, "reference") != 0;
  deputy::ValidationConfig validation;
  if (options != nullptr && options->validation_set) {
    validation = options->validation;
  } else {
    validation.enabled = EnvironmentChoice("DEPUTY_VALIDATION", {"0", "1"}) == "1" ||
                         deputy::InterpreterLayer("validate").has_value();
  }
  if (!config.verification.enabled()) config.verification = deputy::VerificationOfEnvironment();
  if (validation.enabled) {
    config.make_observers.emplace_back(
        [validation, out_validation](deputy::InterpreterState* interpreter) {
          auto layer = std::make_unique<deputy::Validation>(interpreter, validation);
          *out_validation = layer.get();
          return layer;
        });
  }
  return config;
}

TfLiteInterpreter* CreateInterpreter(const TfLiteModel* model,
                                     const TfLiteInterpreterOptions* options, bool with_builtins) {
  if (model == nullptr) {
    ErrorReporter().Report("Cannot create an interpreter: expected a model, found NULL");
    return nullptr;
  }
  return Guard(nullptr, [&]() -> TfLiteInterpreter* {
    const deputy::OperatorSet none;
    deputy::ClientResolver resolver(options == nullptr ? none : options->operators, with_builtins);
    auto interpreter = std::make_unique<TfLiteInterpreter>();
    interpreter->impl = deputy::Interpreter::Create(
        model->impl, ConfigOf(options, &interpreter->validation), &resolver);
    if (interpreter->impl == nullptr) return nullptr;
    deputy::Log(kDeputyLogInfo, "interpreter: %d subgraphs, CPU kernels '%s'",
                interpreter->impl->subgraph_count(), deputy::Cpu().name);
    if (options != nullptr) {
      const TfLiteStatus placed =
          deputy::ApplyPlacements(options->placements, interpreter->impl.get());
      if (placed != kTfLiteOk) return nullptr;
      interpreter->delegate_fallback = options->delegate_fallback;
      interpreter->telemetry.Set(interpreter->impl.get(), options->telemetry);
      interpreter->telemetry.ReportSettings();
      for (TfLiteDelegate* delegate : options->delegates) {
        const TfLiteStatus status = interpreter->impl->ModifyGraphWithDelegate(delegate);
        interpreter->telemetry.ReportEvent("ModifyGraphWithDelegate", status);
        if (status != kTfLiteOk && !interpreter->impl->hot()) return nullptr;
      }
      if (deputy::CheckDelegation(interpreter->impl.get(), options->requirement, nullptr,
                                  nullptr) != kTfLiteOk) {
        return nullptr;
      }
    }
    return interpreter.release();
  });
}

}  // namespace

TfLiteStatus deputy::AfterInvoke(TfLiteInterpreter* interpreter, TfLiteStatus status) {
  interpreter->telemetry.ReportEvent("Invoke", status);
  if (status == kTfLiteOk || !interpreter->delegate_fallback ||
      !interpreter->impl->HasDelegates()) {
    return status;
  }
  // The status reports the fallback even if the second inference succeeds.
  const TfLiteStatus fallback = interpreter->impl->FallBackToCpu();
  interpreter->telemetry.ReportEvent("Invoke",
                                     fallback == kTfLiteDelegateError ? kTfLiteOk : fallback);
  return fallback;
}

// ---- Versions -----------------------------------------------------------------------------------

const char* TfLiteVersion(void) { return kTfLiteVersion; }
const char* TfLiteExtensionApisVersion(void) { return kTfLiteVersion; }
int TfLiteSchemaVersion(void) { return 3; }

// ---- Models -------------------------------------------------------------------------------------

TfLiteModel* TfLiteModelCreate(const void* model_data, size_t model_size) {
  return CreateFromBuffer(model_data, model_size, nullptr, nullptr);
}

TfLiteModel* TfLiteModelCreateWithErrorReporter(const void* model_data, size_t model_size,
                                                Reporter reporter, void* user_data) {
  return CreateFromBuffer(model_data, model_size, reporter, user_data);
}

TfLiteModel* TfLiteModelCreateFromFile(const char* model_path) {
  return CreateFromFile(model_path, nullptr, nullptr);
}

TfLiteModel* TfLiteModelCreateFromFileWithErrorReporter(const char* model_path, Reporter reporter,
                                                        void* user_data) {
  return CreateFromFile(model_path, reporter, user_data);
}

void TfLiteModelDelete(TfLiteModel* model) { delete model; }

// ---- Options ------------------------------------------------------------------------------------

TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate(void) {
  return Guard(nullptr, [] { return new TfLiteInterpreterOptions; });
}

TfLiteInterpreterOptions* TfLiteInterpreterOptionsCopy(const TfLiteInterpreterOptions* from) {
  if (from == nullptr) return nullptr;
  return Guard(nullptr, [&] { return new TfLiteInterpreterOptions(*from); });
}

void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options) { delete options; }

void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions* options, int32_t num_threads) {
  if (options != nullptr) options->config.num_threads = num_threads;
}

void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions* options,
                                         TfLiteOpaqueDelegate* delegate) {
  if (options == nullptr) return;
  Guard([&] { options->delegates.push_back(reinterpret_cast<TfLiteDelegate*>(delegate)); });
}

void TfLiteInterpreterOptionsSetErrorReporter(TfLiteInterpreterOptions* options, Reporter reporter,
                                              void* user_data) {
  if (options != nullptr) options->config.reporter = ErrorReporter(reporter, user_data);
}

void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions* options,
                                         TfLiteOperator* registration) {
  if (options == nullptr) return;
  Guard([&] { options->operators.AddOperator(registration); });
}

TfLiteStatus TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions* options,
                                                        bool enable) {
  if (options == nullptr) return kTfLiteError;
  options->config.cancellation = enable;
  return kTfLiteOk;
}

// ---- Interpreter --------------------------------------------------------------------------------

TfLiteInterpreter* TfLiteInterpreterCreate(const TfLiteModel* model,
                                           const TfLiteInterpreterOptions* optional_options) {
  return CreateInterpreter(model, optional_options, true);
}

TfLiteInterpreter* TfLiteInterpreterCreateWithSelectedOps(const TfLiteModel* model,
                                                          const TfLiteInterpreterOptions* options) {
  return CreateInterpreter(model, options, false);
}

TfLiteInterpreter* DeputyInterpreterCreateEmpty(const TfLiteInterpreterOptions* optional_options) {
  return Guard(nullptr, [&]() -> TfLiteInterpreter* {
    auto interpreter = std::make_unique<TfLiteInterpreter>();
    interpreter->impl =
        deputy::Interpreter::CreateEmpty(ConfigOf(optional_options, &interpreter->validation));
    if (interpreter->impl == nullptr) return nullptr;
    if (optional_options != nullptr) {
      interpreter->delegate_fallback = optional_options->delegate_fallback;
      interpreter->telemetry.Set(interpreter->impl.get(), optional_options->telemetry);
    }
    return interpreter.release();
  });
}

void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter) {
  if (interpreter != nullptr && interpreter->runs != nullptr && interpreter->runs->IsInCallback()) {
    ErrorReporter().Report("TfLiteInterpreterDelete: expected no call in a callback of a run");
    return;
  }
  delete interpreter;
}

int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr
             ? 0
             : static_cast<int32_t>(interpreter->impl->primary().graph().inputs().size());
}

const int* TfLiteInterpreterInputTensorIndices(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? nullptr : interpreter->impl->primary().graph().inputs().data();
}

int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter* interpreter,
                                             int32_t input_index) {
  if (input_index < 0 || input_index >= TfLiteInterpreterGetInputTensorCount(interpreter)) {
    return -1;
  }
  return interpreter->impl->primary().graph().inputs()[input_index];
}

TfLiteTensor* TfLiteInterpreterGetInputTensor(const TfLiteInterpreter* interpreter,
                                              int32_t input_index) {
  return TfLiteInterpreterGetTensor(interpreter,
                                    TfLiteInterpreterGetInputTensorIndex(interpreter, input_index));
}

TfLiteStatus TfLiteInterpreterResizeInputTensor(TfLiteInterpreter* interpreter, int32_t input_index,
                                                const int* input_dims, int32_t input_dims_size) {
  if (interpreter == nullptr) return kTfLiteError;
  const int tensor = TfLiteInterpreterGetInputTensorIndex(interpreter, input_index);
  if (tensor < 0 || input_dims_size < 0 || (input_dims == nullptr && input_dims_size > 0)) {
    return Fail(
        interpreter->impl->reporter(), kTfLiteError,
        "Cannot resize input %d to %d dimensions: expected an input index below %d and a shape",
        input_index, input_dims_size, TfLiteInterpreterGetInputTensorCount(interpreter));
  }
  return Guard(kTfLiteError, [&] {
    TF_LITE_ENSURE_STATUS(interpreter->impl->EnterCall("ResizeInputTensor"));
    deputy::Subgraph& primary = interpreter->impl->primary();
    TF_LITE_ENSURE_STATUS(primary.CheckNotRunning("ResizeInputTensor"));
    return primary.ResizeInputTensor(tensor, {input_dims, static_cast<size_t>(input_dims_size)});
  });
}

TfLiteStatus TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] { return interpreter->impl->AllocateTensors(); });
}

TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    return deputy::AfterInvoke(interpreter,
                               interpreter->impl->Invoke(interpreter->allow_buffer_handle_output));
  });
}

int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr
             ? 0
             : static_cast<int32_t>(interpreter->impl->primary().graph().outputs().size());
}

const int* TfLiteInterpreterOutputTensorIndices(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? nullptr : interpreter->impl->primary().graph().outputs().data();
}

int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter* interpreter,
                                              int32_t output_index) {
  if (output_index < 0 || output_index >= TfLiteInterpreterGetOutputTensorCount(interpreter)) {
    return -1;
  }
  return interpreter->impl->primary().graph().outputs()[output_index];
}

const TfLiteTensor* TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter* interpreter,
                                                     int32_t output_index) {
  return TfLiteInterpreterGetTensor(
      interpreter, TfLiteInterpreterGetOutputTensorIndex(interpreter, output_index));
}

TfLiteTensor* TfLiteInterpreterGetTensor(const TfLiteInterpreter* interpreter, int index) {
  return interpreter == nullptr ? nullptr : interpreter->impl->primary().graph().tensor(index);
}

TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? kTfLiteError : interpreter->impl->Cancel();
}

// ---- Signatures ---------------------------------------------------------------------------------

int32_t TfLiteInterpreterGetSignatureCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? 0 : static_cast<int32_t>(interpreter->impl->signatures().count());
}

const char* TfLiteInterpreterGetSignatureKey(const TfLiteInterpreter* interpreter,
                                             int32_t signature_index) {
  if (signature_index < 0 || signature_index >= TfLiteInterpreterGetSignatureCount(interpreter)) {
    return nullptr;
  }
  return interpreter->impl->signatures().at(static_cast<size_t>(signature_index)).key;
}

TfLiteSignatureRunner* TfLiteInterpreterGetSignatureRunner(const TfLiteInterpreter* interpreter,
                                                           const char* signature_key) {
  if (interpreter == nullptr) return nullptr;
  return Guard(nullptr, [&]() -> TfLiteSignatureRunner* {
    deputy::SignatureRunner* runner = interpreter->impl->GetSignatureRunner(signature_key);
    return runner == nullptr ? nullptr : new TfLiteSignatureRunner{runner, interpreter};
  });
}

size_t TfLiteSignatureRunnerGetInputCount(const TfLiteSignatureRunner* signature_runner) {
  return signature_runner == nullptr ? 0 : signature_runner->impl->input_count();
}

const char* TfLiteSignatureRunnerGetInputName(const TfLiteSignatureRunner* signature_runner,
                                              int32_t input_index) {
  return signature_runner == nullptr ? nullptr : signature_runner->impl->InputName(input_index);
}

TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(TfLiteSignatureRunner* signature_runner,
                                                    const char* input_name, const int* input_dims,
                                                    int32_t input_dims_size) {
  if (signature_runner == nullptr || input_dims_size < 0 ||
      (input_dims == nullptr && input_dims_size > 0)) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    return signature_runner->impl->ResizeInputTensor(
        input_name, {input_dims, static_cast<size_t>(input_dims_size)}, true);
  });
}

TfLiteStatus TfLiteSignatureRunnerAllocateTensors(TfLiteSignatureRunner* signature_runner) {
  if (signature_runner == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] { return signature_runner->impl->AllocateTensors(); });
}

TfLiteTensor* TfLiteSignatureRunnerGetInputTensor(TfLiteSignatureRunner* signature_runner,
                                                  const char* input_name) {
  return signature_runner == nullptr ? nullptr : signature_runner->impl->InputTensor(input_name);
}

TfLiteStatus TfLiteSignatureRunnerInvoke(TfLiteSignatureRunner* signature_runner) {
  if (signature_runner == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    const TfLiteStatus status = signature_runner->impl->Invoke();
    signature_runner->interpreter->telemetry.ReportEvent("Invoke", status);
    return status;
  });
}

size_t TfLiteSignatureRunnerGetOutputCount(const TfLiteSignatureRunner* signature_runner) {
  return signature_runner == nullptr ? 0 : signature_runner->impl->output_count();
}

const char* TfLiteSignatureRunnerGetOutputName(const TfLiteSignatureRunner* signature_runner,
                                               int32_t output_index) {
  return signature_runner == nullptr ? nullptr : signature_runner->impl->OutputName(output_index);
}

const TfLiteTensor* TfLiteSignatureRunnerGetOutputTensor(
    const TfLiteSignatureRunner* signature_runner, const char* output_name) {
  return signature_runner == nullptr ? nullptr : signature_runner->impl->OutputTensor(output_name);
}

TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner* signature_runner) {
  return signature_runner == nullptr ? kTfLiteError
                                     : signature_runner->impl->subgraph()->interpreter()->Cancel();
}

void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner* signature_runner) {
  delete signature_runner;
}
