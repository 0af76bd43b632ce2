// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/model.h"

#include <cstdlib>

#include "deputy/common.h"

namespace deputy::triton {
namespace {

// Number of input shapes for which an instance stays prepared.
constexpr int32_t kPreparedShapes = 4;

struct MessageDeleter {
  void operator()(TRITONSERVER_Message* message) const {
    LogIfError(Error(TRITONSERVER_MessageDelete(message)), "a message cannot be deleted");
  }
};
using Message = std::unique_ptr<TRITONSERVER_Message, MessageDeleter>;

Error ReadConfig(TRITONBACKEND_Model* triton, Json* config) {
  TRITONSERVER_Message* message = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelConfig(triton, 1, &message));
  const Message owner(message);
  const char* text = nullptr;
  size_t size = 0;
  DEPUTY_TRY(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  *config = Json::parse(text, text + size, nullptr, /*allow_exceptions=*/false);
  if (!config->is_object()) return Invalid("the model configuration is not a JSON object");
  return nullptr;
}

Error WriteConfig(TRITONBACKEND_Model* triton, const Json& config) {
  // A name that is not UTF-8 gets replacement characters; CheckTensors compares the original.
  const std::string text = config.dump(-1, ' ', false, Json::error_handler_t::replace);
  TRITONSERVER_Message* message = nullptr;
  DEPUTY_TRY(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()));
  const Message owner(message);
  return Error(TRITONBACKEND_ModelSetConfig(triton, 1, message));
}

bool HasVariables(const TfLiteInterpreter* interpreter) {
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter, s); ++t) {
      if (DeputyInterpreterGetTensor(interpreter, s, t)->is_variable) return true;
    }
  }
  return false;
}

}  // namespace

Error Model::Load(TRITONBACKEND_Model* triton, const MetricFamilies* families,
                  std::unique_ptr<Model>* model) {
  auto loaded = std::make_unique<Model>();
  const char* name = nullptr;
  uint64_t version = 0;
  DEPUTY_TRY(TRITONBACKEND_ModelName(triton, &name));
  DEPUTY_TRY(TRITONBACKEND_ModelVersion(triton, &version));
  loaded->name_ = name;
  Json config;
  DEPUTY_TRY(ReadConfig(triton, &config));
  DEPUTY_TRY(ReadSettings(config, &loaded->settings_));
  DEPUTY_TRY(loaded->Open(triton));
  DEPUTY_TRY(loaded->Describe());
  bool completes = false;
  DEPUTY_TRY(TRITONBACKEND_ModelAutoCompleteConfig(triton, &completes));
  if (completes) {
    bool is_changed = CompleteTensors(loaded->inputs_, "input", &config);
    is_changed |= CompleteTensors(loaded->outputs_, "output", &config);
    if (is_changed) DEPUTY_TRY(WriteConfig(triton, config));
  }
  DEPUTY_TRY(CheckTensors(loaded->inputs_, "input", config));
  DEPUTY_TRY(CheckTensors(loaded->outputs_, "output", config));
  loaded->metrics_ = std::make_unique<ModelMetrics>(families, loaded->name_, version);
  *model = std::move(loaded);
  return nullptr;
}

Error Model::Open(TRITONBACKEND_Model* triton) {
  int kind = -1;
  const char* folder = nullptr;
  uint64_t version = 0;
  DEPUTY_TRY(TRITONBACKEND_ModelRepository(triton, &kind, &folder));
  DEPUTY_TRY(TRITONBACKEND_ModelVersion(triton, &version));
  if (kind != kArtifactFilesystem) {
    return MakeError(kErrorUnsupported, "the model repository is not in the file system");
  }
  const std::string path =
      std::string(folder) + "/" + std::to_string(version) + "/" + settings_.model_file;
  // A copy, because the file may be overwritten while the model serves requests.
  model_.reset(DeputyModelCreateFromFileByCopy(path.c_str()));
  if (model_ == nullptr) return Invalid(path + ": " + DeputyLastError());
  return nullptr;
}

Error Model::Describe() {
  Interpreter interpreter;
  DEPUTY_TRY(NewInterpreter({}, &interpreter));
  has_state_ = HasVariables(interpreter.get());
  DEPUTY_TRY(DescribeInputs(interpreter.get(), is_batched(), &inputs_));
  return DescribeOutputs(interpreter.get(), is_batched(), &outputs_);
}

Error Model::NewInterpreter(const std::vector<Delegate>& delegates,
                            Interpreter* interpreter) const {
  const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> options(
      TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
  TfLiteInterpreterOptionsSetNumThreads(options.get(), settings_.threads);
  DeputyInterpreterOptionsSetPreparedShapes(options.get(), kPreparedShapes);
  if (settings_.precision) {
    DeputyInterpreterOptionsSetPrecision(options.get(), *settings_.precision);
  }
  // Hot is the default of the command, too.
  if (settings_.policy || std::getenv("DEPUTY_DELEGATE_POLICY") == nullptr) {
    DeputyInterpreterOptionsSetDelegatePolicy(options.get(),
                                              settings_.policy.value_or(kDeputyPolicyHot));
  }
  for (const Delegate& delegate : delegates) {
    TfLiteInterpreterOptionsAddDelegate(options.get(), delegate.get());
  }
  interpreter->reset(TfLiteInterpreterCreate(model_.get(), options.get()));
  if (*interpreter == nullptr ||
      TfLiteInterpreterAllocateTensors(interpreter->get()) != kTfLiteOk) {
    return Invalid("model '" + name_ + "' cannot be prepared: " + DeputyLastError());
  }
  return nullptr;
}

}  // namespace deputy::triton
