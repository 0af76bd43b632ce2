// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/partition.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "bridges/nnapi/operators.h"

namespace deputy::nnapi {
namespace {

std::vector<int> ToVector(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

// Writes NNAPI's cache token: four FNV-1a hashes of `text` with different seeds. The token
// identifies a model in the cache folder and the settings with which this bridge compiles it.
void WriteToken(const std::string& text, uint8_t* token) {
  for (uint64_t seed = 0; seed < kCacheTokenBytes / 8; ++seed) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ (seed * UINT64_C(0x9E3779B97F4A7C15));
    for (const char c : text) {
      hash = (hash ^ static_cast<uint8_t>(c)) * UINT64_C(1099511628211);
    }
    memcpy(token + seed * 8, &hash, 8);
  }
}

}  // namespace

Partition::Partition(const Engine& engine, const TfLiteDelegateParams& params)
    : engine_(engine),
      nodes_(ToVector(params.nodes_to_replace)),
      partition_inputs_(ToVector(params.input_tensors)),
      outputs_(ToVector(params.output_tensors)) {}

Partition::~Partition() { Clear(); }

void Partition::Clear() {
  if (burst_ != nullptr) functions().Burst_free(burst_);
  if (compilation_ != nullptr) functions().Compilation_free(compilation_);
  if (model_ != nullptr) functions().Model_free(model_);
  burst_ = nullptr;
  compilation_ = nullptr;
  model_ = nullptr;
  definition_.reset();
  inputs_.clear();
  constants_ = {};
  constants_block_.Free();
  arguments_block_.Free();
}

TfLiteStatus Partition::Prepare(TfLiteContext* context) {
  if (compilation_ != nullptr) return kTfLiteOk;
  std::string problem = Build(context);
  const auto start = std::chrono::steady_clock::now();
  if (problem.empty()) problem = Compile();
  const auto took = std::chrono::steady_clock::now() - start;
  engine_.compile_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  if (problem.empty() && engine_.options.shared_memory) problem = ShareArguments(*context);
  if (problem.empty()) return kTfLiteOk;
  Clear();
  context->ReportError(context, "deputy_nnapi: %s", problem.c_str());
  return kTfLiteError;
}

std::string Partition::ShareConstants(const TfLiteContext& context) {
  size_t bytes = 0;
  for (const int index : partition_inputs_) {
    const TfLiteTensor& tensor = context.tensors[index];
    if (!IsConstant(tensor)) continue;
    constants_.offsets[index] = bytes;
    bytes = AlignedOffset(bytes + tensor.bytes);
  }
  std::string problem = constants_block_.Create(functions(), bytes);
  if (!problem.empty()) return problem;
  for (const auto& [index, offset] : constants_.offsets) {
    const TfLiteTensor& tensor = context.tensors[index];
    memcpy(constants_block_.data() + offset, tensor.data.raw_const, tensor.bytes);
  }
  constants_.memory = constants_block_.memory();
  return "";
}

std::string Partition::Build(TfLiteContext* context) {
  if (engine_.options.shared_memory) {
    std::string problem = ShareConstants(*context);
    if (!problem.empty()) return problem;
  }
  std::string problem = ErrorText("Model_create", functions().Model_create(&model_));
  if (!problem.empty()) return problem;
  definition_ =
      std::make_unique<Definition>(context, engine_.devices.feature_level, &functions(), model_,
                                   constants_.memory == nullptr ? nullptr : &constants_);
  for (const int index : nodes_) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return "node " + std::to_string(index) + " does not exist";
    }
    AddNode(definition_.get(), *node, *registration);
    const std::string where = "node " + std::to_string(index) + ": ";
    if (definition_->refusal()) return where + definition_->refusal().text;
    if (!definition_->error().empty()) return where + definition_->error();
  }
  definition_->FinishModel(partition_inputs_, outputs_, engine_.options.allow_fp16, &inputs_);
  return definition_->error();
}

std::string Partition::Compile() {
  const std::vector<ANeuralNetworksDevice*>& devices = engine_.devices.chosen;
  std::string problem =
      devices.empty()
          ? ErrorText("Compilation_create", functions().Compilation_create(model_, &compilation_))
          : ErrorText(
                "Compilation_createForDevices",
                functions().Compilation_createForDevices(
                    model_, devices.data(), static_cast<uint32_t>(devices.size()), &compilation_));
  if (problem.empty()) problem = Configure();
  if (problem.empty()) {
    problem = ErrorText("Compilation_finish", functions().Compilation_finish(compilation_));
  }
  const bool has_burst =
      functions().Burst_create != nullptr && functions().Execution_burstCompute != nullptr;
  if (problem.empty() && engine_.options.use_burst_mode && has_burst) {
    problem = ErrorText("Burst_create", functions().Burst_create(compilation_, &burst_));
  }
  return problem;
}

// Applies the options; those for which the library has no function are skipped.
std::string Partition::Configure() {
  const Options& options = engine_.options;
  std::string problem;
  if (options.preference >= 0) {
    problem = ErrorText("Compilation_setPreference",
                        functions().Compilation_setPreference(compilation_, options.preference));
  }
  if (problem.empty() && options.priority != 0 && functions().Compilation_setPriority != nullptr) {
    problem = ErrorText("Compilation_setPriority",
                        functions().Compilation_setPriority(compilation_, options.priority));
  }
  // NNAPI supports time limits only for a single device.
  const bool has_timeout = options.compile_timeout_us > 0 && engine_.devices.chosen.size() == 1 &&
                           functions().Compilation_setTimeout != nullptr;
  if (problem.empty() && has_timeout) {
    problem =
        ErrorText("Compilation_setTimeout",
                  functions().Compilation_setTimeout(
                      compilation_, static_cast<uint64_t>(options.compile_timeout_us) * 1000));
  }
  return problem.empty() ? SetCaching() : problem;
}

std::string Partition::SetCaching() {
  const Options& options = engine_.options;
  if (options.cache_dir.empty() || functions().Compilation_setCaching == nullptr) return "";
  std::string text = options.model_token + "|" + engine_.library->path + "|" +
                     options.accelerator_name + (options.allow_fp16 ? "|fp16" : "|");
  for (const int node : nodes_) text += " " + std::to_string(node);
  for (const int index : partition_inputs_) {
    const TfLiteIntArray* dims = definition_->context().tensors[index].dims;
    for (int i = 0; i < dims->size; ++i) text += "," + std::to_string(dims->data[i]);
    text += ";";
  }
  uint8_t token[kCacheTokenBytes];
  WriteToken(text, token);
  return ErrorText("Compilation_setCaching", functions().Compilation_setCaching(
                                                 compilation_, options.cache_dir.c_str(), token));
}

std::string Partition::ShareArguments(const TfLiteContext& context) {
  size_t bytes = 0;
  input_offsets_.clear();
  output_offsets_.clear();
  for (const int index : inputs_) {
    input_offsets_.push_back(bytes);
    bytes = AlignedOffset(bytes + context.tensors[index].bytes);
  }
  for (const int index : outputs_) {
    output_offsets_.push_back(bytes);
    bytes = AlignedOffset(bytes + context.tensors[index].bytes);
  }
  return arguments_block_.Create(functions(), bytes);
}

TfLiteStatus Partition::Invoke(TfLiteContext* context) {
  const std::string problem =
      compilation_ == nullptr ? "the partition is not prepared" : Execute(context);
  if (problem.empty()) return kTfLiteOk;
  context->ReportError(context, "deputy_nnapi: %s", problem.c_str());
  return kTfLiteError;
}

std::string Partition::Execute(TfLiteContext* context) {
  ANeuralNetworksExecution* execution = nullptr;
  std::string problem =
      ErrorText("Execution_create", functions().Execution_create(compilation_, &execution));
  if (!problem.empty()) return problem;
  problem = SetArguments(*context, execution);
  if (problem.empty()) problem = Compute(execution);
  functions().Execution_free(execution);
  if (!problem.empty() || arguments_block_.data() == nullptr) return problem;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TfLiteTensor& tensor = context->tensors[outputs_[i]];
    memcpy(tensor.data.raw, arguments_block_.data() + output_offsets_[i], tensor.bytes);
  }
  return "";
}

std::string Partition::SetArguments(const TfLiteContext& context,
                                    ANeuralNetworksExecution* execution) {
  char* const shared = arguments_block_.data();
  std::string problem;
  for (size_t i = 0; i < inputs_.size() && problem.empty(); ++i) {
    const TfLiteTensor& tensor = context.tensors[inputs_[i]];
    const auto index = static_cast<int32_t>(i);
    if (shared == nullptr) {
      problem = ErrorText("Execution_setInput",
                          functions().Execution_setInput(execution, index, nullptr,
                                                         tensor.data.raw_const, tensor.bytes));
      continue;
    }
    memcpy(shared + input_offsets_[i], tensor.data.raw_const, tensor.bytes);
    problem = ErrorText(
        "Execution_setInputFromMemory",
        functions().Execution_setInputFromMemory(
            execution, index, nullptr, arguments_block_.memory(), input_offsets_[i], tensor.bytes));
  }
  for (size_t i = 0; i < outputs_.size() && problem.empty(); ++i) {
    const TfLiteTensor& tensor = context.tensors[outputs_[i]];
    const auto index = static_cast<int32_t>(i);
    problem = shared == nullptr
                  ? ErrorText("Execution_setOutput",
                              functions().Execution_setOutput(execution, index, nullptr,
                                                              tensor.data.raw, tensor.bytes))
                  : ErrorText("Execution_setOutputFromMemory",
                              functions().Execution_setOutputFromMemory(
                                  execution, index, nullptr, arguments_block_.memory(),
                                  output_offsets_[i], tensor.bytes));
  }
  const int64_t timeout = engine_.options.execution_timeout_us;
  if (problem.empty() && timeout > 0 && engine_.devices.chosen.size() == 1 &&
      functions().Execution_setTimeout != nullptr) {
    problem = ErrorText(
        "Execution_setTimeout",
        functions().Execution_setTimeout(execution, static_cast<uint64_t>(timeout) * 1000));
  }
  return problem;
}

std::string Partition::Compute(ANeuralNetworksExecution* execution) {
  if (burst_ != nullptr) {
    return ErrorText("Execution_burstCompute",
                     functions().Execution_burstCompute(execution, burst_));
  }
  if (functions().Execution_compute != nullptr) {
    return ErrorText("Execution_compute", functions().Execution_compute(execution));
  }
  ANeuralNetworksEvent* event = nullptr;
  std::string problem =
      ErrorText("Execution_startCompute", functions().Execution_startCompute(execution, &event));
  if (!problem.empty()) return problem;
  problem = ErrorText("Event_wait", functions().Event_wait(event));
  functions().Event_free(event);
  return problem;
}

}  // namespace deputy::nnapi
