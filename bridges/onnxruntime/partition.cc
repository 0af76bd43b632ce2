// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/partition.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "bridges/onnxruntime/definition.h"
#include "bridges/onnxruntime/operators.h"

namespace deputy::onnxruntime {
namespace {

std::vector<int> ToVector(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

Partition::Partition(const Engine& engine, const TfLiteDelegateParams& params)
    : engine_(engine),
      nodes_(ToVector(params.nodes_to_replace)),
      partition_inputs_(ToVector(params.input_tensors)),
      outputs_(ToVector(params.output_tensors)) {}

Partition::~Partition() {
  if (session_ != nullptr) functions().ReleaseSession(session_);
}

TfLiteStatus Partition::Prepare(TfLiteContext* context) {
  if (session_ != nullptr) return kTfLiteOk;
  std::string model;
  std::string problem = Build(context, &model);
  const auto start = std::chrono::steady_clock::now();
  if (problem.empty()) problem = CreateSession(model);
  const auto took = std::chrono::steady_clock::now() - start;
  engine_.compile_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  if (problem.empty()) return kTfLiteOk;
  context->ReportError(context, "deputy_onnxruntime: %s", problem.c_str());
  return kTfLiteError;
}

std::string Partition::Build(TfLiteContext* context, std::string* out_model) {
  const int last_node = nodes_.empty() ? -1 : *std::max_element(nodes_.begin(), nodes_.end());
  const HalfConstants halves = FindHalfConstants(context, last_node);
  Definition definition(context, &halves, false);
  for (const int index : nodes_) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return "node " + std::to_string(index) + " does not exist";
    }
    AddNode(&definition, *node, *registration);
    if (definition.refusal()) {
      return "node " + std::to_string(index) + ": " + definition.refusal().text;
    }
  }
  inputs_.clear();
  input_names_.clear();
  output_names_.clear();
  *out_model =
      definition.Finish(partition_inputs_, outputs_, &inputs_, &input_names_, &output_names_);
  if (out_model->size() <= INT32_MAX) return "";
  return "expected a model of at most 2 GiB, found " + std::to_string(out_model->size()) + " bytes";
}

std::string Partition::CreateSession(const std::string& model) {
  OrtSessionOptions* options = nullptr;
  std::string problem =
      TakeError(functions(), "CreateSessionOptions", functions().CreateSessionOptions(&options));
  if (!problem.empty()) return problem;
  problem = Configure(options);
  if (problem.empty()) {
    problem = TakeError(functions(), "CreateSessionFromArray",
                        functions().CreateSessionFromArray(engine_.library->env, model.data(),
                                                           model.size(), options, &session_));
  }
  functions().ReleaseSessionOptions(options);
  return problem;
}

std::string Partition::Configure(OrtSessionOptions* options) {
  std::string problem = TakeError(functions(), "SetSessionLogSeverityLevel",
                                  functions().SetSessionLogSeverityLevel(options, kLogFatal));
  if (problem.empty()) {
    problem = TakeError(
        functions(), "SetSessionGraphOptimizationLevel",
        functions().SetSessionGraphOptimizationLevel(options, engine_.options.optimization));
  }
  // Otherwise ONNX Runtime may quantise float32 weights between quantised tensors with one scale,
  // and sum products in 16 bits.
  if (problem.empty()) {
    problem =
        TakeError(functions(), "AddSessionConfigEntry",
                  functions().AddSessionConfigEntry(options, "session.disable_quant_qdq", "1"));
  }
  if (problem.empty()) {
    problem = TakeError(functions(), "SetIntraOpNumThreads",
                        functions().SetIntraOpNumThreads(options, engine_.options.num_threads));
  }
  return problem;
}

TfLiteStatus Partition::Invoke(TfLiteContext* context) {
  const std::string problem =
      session_ == nullptr ? "the partition is not prepared" : Execute(*context);
  if (problem.empty()) return kTfLiteOk;
  context->ReportError(context, "deputy_onnxruntime: %s", problem.c_str());
  return kTfLiteError;
}

std::string Partition::Execute(const TfLiteContext& context) {
  std::vector<OrtValue*> inputs, outputs;
  std::string problem;
  for (size_t i = 0; i < inputs_.size() && problem.empty(); ++i) {
    problem = Wrap(context.tensors[inputs_[i]], &inputs);
  }
  for (size_t i = 0; i < outputs_.size() && problem.empty(); ++i) {
    problem = Wrap(context.tensors[outputs_[i]], &outputs);
  }
  if (problem.empty()) problem = Run(inputs, &outputs);
  for (const auto* values : {&inputs, &outputs}) {
    for (OrtValue* value : *values) functions().ReleaseValue(value);
  }
  return problem;
}

// Adds a value that uses the tensor's memory.
std::string Partition::Wrap(const TfLiteTensor& tensor, std::vector<OrtValue*>* out_values) const {
  const Dims dims = DimsOf(tensor);
  OrtValue* value = nullptr;
  std::string problem = TakeError(functions(), "CreateTensorWithDataAsOrtValue",
                                  functions().CreateTensorWithDataAsOrtValue(
                                      engine_.library->memory, tensor.data.raw, tensor.bytes,
                                      dims.data(), dims.size(), TypeOf(tensor), &value));
  if (problem.empty()) out_values->push_back(value);
  return problem;
}

std::string Partition::Run(const std::vector<OrtValue*>& inputs, std::vector<OrtValue*>* outputs) {
  const std::vector<const char*> input_names = Pointers(input_names_);
  const std::vector<const char*> output_names = Pointers(output_names_);
  return TakeError(
      functions(), "Run",
      functions().Run(session_, nullptr, input_names.data(), inputs.data(), inputs.size(),
                      output_names.data(), outputs->size(), outputs->data()));
}

}  // namespace deputy::onnxruntime
