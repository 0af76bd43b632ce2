// SPDX-License-Identifier: Apache-2.0
//
// Parallel inference with MindSpore Lite's C++ API: a model with several workers, which share its
// constants, and a queue of requests.
//
//     auto config = std::make_shared<mindspore::RunnerConfig>();
//     config->SetContext(context);
//     config->SetWorkersNum(4);
//     mindspore::ModelParallelRunner runner;
//     mindspore::Status status = runner.Init("face.ms", config);
//     // In any number of threads:
//     std::vector<mindspore::MSTensor> inputs = runner.GetInputs(), outputs;
//     FillInput(inputs[0].MutableData());
//     status = runner.Predict(inputs, &outputs);
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "model.h"
#include "model_parallel_runner_c.h"
#include "status.h"
#include "types.h"

namespace mindspore {

// Settings of a runner. Plain data, which ModelParallelRunner::Init reads.
class RunnerConfig {
 public:
  // Number of workers: 1 to 256. 0, the default: the number of processors divided by the threads of
  // one worker.
  void SetWorkersNum(int32_t count) { workers_ = count; }
  int32_t GetWorkersNum() const { return workers_; }

  // Context of each worker; null, the default: a context with a CPU. If it does not set the number
  // of threads, the processors are divided among the workers. Its delegate is shared: Init and
  // Build are called once per worker, and each worker has its own kernels.
  void SetContext(const std::shared_ptr<Context>& context) { context_ = context; }
  std::shared_ptr<Context> GetContext() const { return context_; }

  // Sections of entries as for Model::UpdateConfig, and a file as for Model::LoadConfig, which is
  // read first. Init returns failures of both.
  void SetConfigInfo(const std::string& section, const std::map<std::string, std::string>& config) {
    sections_[section] = config;
  }
  std::map<std::string, std::map<std::string, std::string>> GetConfigInfo() const {
    return sections_;
  }
  void SetConfigPath(const std::string& path) { path_ = path; }
  std::string GetConfigPath() const { return path_; }
  // Numbers of devices. Init returns kLiteNotSupport if there are any.
  void SetDeviceIds(const std::vector<uint32_t>& ids) { device_ids_ = ids; }
  std::vector<uint32_t> GetDeviceIds() const { return device_ids_; }

 private:
  int32_t workers_ = 0;
  std::shared_ptr<Context> context_;
  std::map<std::string, std::map<std::string, std::string>> sections_;
  std::string path_;
  std::vector<uint32_t> device_ids_;
};

// All functions but the destructor may be called from several threads at the same time.
class ModelParallelRunner {
 public:
  ModelParallelRunner() : runner_(DeputyMSRunnerCreate()) {}
  ModelParallelRunner(const ModelParallelRunner&) = delete;
  ModelParallelRunner& operator=(const ModelParallelRunner&) = delete;
  // Fails the requests that are waiting for a worker (kLiteServiceDeny), and returns when all
  // requests have returned. Must not be called in a callback of the runner.
  ~ModelParallelRunner() { DeputyMSRunnerDestroy(&runner_); }

  // Load a .tflite or .ms model from a file, or from memory, which may be freed afterwards, and
  // build the workers. If the runner has a model, the call logs a warning and returns success.
  // After a failure Init may be called again.
  Status Init(const std::string& path, const std::shared_ptr<RunnerConfig>& config = nullptr) {
    return InitWith(config.get(), [&](MSContextHandle context, int32_t workers) {
      return DeputyMSRunnerInitFromFile(runner_, path.c_str(), context, workers);
    });
  }
  Status Init(const void* data, size_t size,
              const std::shared_ptr<RunnerConfig>& config = nullptr) {
    return InitWith(config.get(), [&](MSContextHandle context, int32_t workers) {
      return DeputyMSRunnerInit(runner_, data, size, context, workers);
    });
  }

  // Return new tensors with the properties of the model's inputs and outputs, without data; empty
  // before Init.
  std::vector<MSTensor> GetInputs() {
    return Create(DeputyMSRunnerInputCount(runner_), DeputyMSRunnerCreateInput);
  }
  std::vector<MSTensor> GetOutputs() {
    return Create(DeputyMSRunnerOutputCount(runner_), DeputyMSRunnerCreateOutput);
  }

  // Runs one inference on the calling thread, with an idle worker. Inputs whose shapes
  // differ from the model's resize the worker. If `outputs` has one tensor per output of the model,
  // each tensor that has data receives the result in place: memory of SetData must suffice for it.
  // The others are replaced by new tensors, which belong to the caller.
  Status Predict(const std::vector<MSTensor>& inputs, std::vector<MSTensor>* outputs,
                 const MSKernelCallBack& before = nullptr,
                 const MSKernelCallBack& after = nullptr) {
    if (outputs == nullptr) return {kLiteNullptr, "Predict: the vector of outputs is null"};
    Model::Callbacks callbacks = {before, after};
    std::vector<MSTensorHandle> handles = detail::ToHandles(inputs);
    std::vector<MSTensorHandle> results(DeputyMSRunnerOutputCount(runner_), nullptr);
    const bool has_tensors = outputs->size() == results.size();
    for (size_t i = 0; has_tensors && i < results.size(); ++i) {
      if ((*outputs)[i].Data() != nullptr) results[i] = (*outputs)[i].handle();
    }
    const std::vector<MSTensorHandle> given = results;
    const MSStatus status =
        DeputyMSRunnerPredict(runner_, detail::ToArray(&handles), results.data(), results.size(),
                              before ? Model::Callbacks::Before : nullptr,
                              after ? Model::Callbacks::After : nullptr, &callbacks);
    // The runner may be destroyed now: the rest uses the arguments only.
    if (status != kMSStatusSuccess) return detail::ToStatus(status);
    outputs->resize(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (given[i] == nullptr) (*outputs)[i] = Own(results[i]);
    }
    return kSuccess;
  }

 private:
  // Transfers the caller's reference to a tensor of the C API to the result.
  static MSTensor Own(MSTensorHandle handle) {
    MSTensor tensor(handle);
    DeputyMSTensorRelease(handle);
    return tensor;
  }

  std::vector<MSTensor> Create(size_t count, MSTensorHandle (*create)(DeputyMSRunner*, size_t)) {
    std::vector<MSTensor> tensors;
    for (size_t i = 0; i < count; ++i) tensors.push_back(Own(create(runner_, i)));
    return tensors;
  }

  // Sets the configuration of a model, which a runner copies.
  static Status Configure(const RunnerConfig& config, Model* model) {
    if (!config.GetDeviceIds().empty()) {
      return {kLiteNotSupport, "Init: numbers of devices are not supported"};
    }
    if (!config.GetConfigPath().empty()) {
      if (Status status = model->LoadConfig(config.GetConfigPath()); status.IsError())
        return status;
    }
    for (const auto& section : config.GetConfigInfo()) {
      for (const auto& entry : section.second) {
        Status status = model->UpdateConfig(section.first, {entry.first, entry.second});
        if (status.IsError()) return status;
      }
    }
    return kSuccess;
  }

  template <typename Function>
  Status InitWith(const RunnerConfig* config, Function&& init) {
    const RunnerConfig defaults;
    if (config == nullptr) config = &defaults;
    Model configured;
    if (Status status = Configure(*config, &configured); status.IsError()) return status;
    DeputyMSRunnerSetConfig(runner_, configured.model_.get());
    if (config->GetContext() == nullptr) {
      return detail::ToStatus(init(nullptr, config->GetWorkersNum()));
    }
    MSContextHandle handle = MSContextCreate();
    Status status = detail::ContextBuilder::Fill(config->GetContext(), configured.Config(), handle);
    if (status.IsOk()) status = detail::ToStatus(init(handle, config->GetWorkersNum()));
    MSContextDestroy(&handle);  // no effect if the runner owns it now
    return status;
  }

  DeputyMSRunner* runner_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_H_
