// SPDX-License-Identifier: Apache-2.0
//
// A model of MindSpore Lite's C++ API: loads a .tflite or .ms file and runs it. Calls of Build,
// Resize and Predict from several threads are serialised. Copies of a Model refer to the same
// model.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "callback.h"  // IWYU pragma: export
#include "cell.h"      // IWYU pragma: export
#include "cfg.h"       // IWYU pragma: export
#include "context.h"   // IWYU pragma: export
#include "delegate.h"
#include "graph.h"  // IWYU pragma: export
#include "register_kernel_c.h"
#include "status.h"  // IWYU pragma: export
#include "types.h"   // IWYU pragma: export

namespace mindspore {

namespace dataset {
class Dataset;  // a class of MindSpore's MindData, which Deputy does not have
}

namespace detail {

// Converts a context of the C++ API to one of the C API.
class ContextBuilder {
 public:
  // Fills `handle`. Fails for a delegate that does not derive from Delegate.
  static Status Fill(const std::shared_ptr<Context>& context,
                     const std::shared_ptr<const ConfigInfos>& config, MSContextHandle handle) {
    FillSettings(*context, handle);
    for (const auto& device : context->MutableDeviceInfo()) {
      if (device != nullptr) MSContextAddDeviceInfo(handle, ToC(device.get()));
    }
    for (struct TfLiteDelegate* delegate : context->tflite_delegates()) {
      DeputyMSContextAddTfLiteDelegate(handle, delegate);
    }
    // Registered kernels receive the context and the configuration from this object.
    DeputyMSContextSetObject(handle, new ContextObject{context, config},
                             [](void* object) { delete static_cast<ContextObject*>(object); });
    if (context->get_delegate() == nullptr) return kSuccess;
    const std::shared_ptr<Delegate> delegate = context->GetDelegate();
    if (delegate == nullptr) {
      return {kLiteNotSupport, "Build: the delegate does not derive from mindspore::Delegate"};
    }
    const DeputyMSDelegate c = detail::ToC(delegate, context, config);
    if (DeputyMSContextSetDelegate(handle, &c) != kMSStatusSuccess) c.release(c.user_data);
    return kSuccess;
  }

 private:
  static void FillSettings(const Context& context, MSContextHandle handle) {
    MSContextSetThreadNum(handle, context.GetThreadNum());
    MSContextSetThreadAffinityMode(handle, context.GetThreadAffinityMode());
    const std::vector<int32_t> cores = context.GetThreadAffinityCoreList();
    MSContextSetThreadAffinityCoreList(handle, cores.data(), cores.size());
    MSContextSetEnableParallel(handle, context.GetEnableParallel());
    const char* const built_in = context.GetBuiltInDelegate() == kNoDelegate ? ""
                                 : context.GetBuiltInDelegate() == kCoreML   ? "CoreML"
                                                                             : "PNNA";
    const std::pair<const char*, std::string> settings[] = {
        {"inter_op_parallel_num", std::to_string(context.GetInterOpParallelNum())},
        {"multi_modal_hw", TextOf(context.GetMultiModalHW())},
        {"group_info_file", context.GetGroupInfoFile()},
        {"built_in_delegate", built_in},
    };
    for (const auto& setting : settings) {
      DeputyMSContextSetSetting(handle, setting.first, setting.second.c_str());
    }
  }

  static MSDeviceInfoHandle ToC(DeviceInfoContext* device) {
    MSDeviceInfoHandle info =
        MSDeviceInfoCreate(static_cast<MSDeviceType>(device->GetDeviceType()));
    if (info == nullptr) return nullptr;
    MSDeviceInfoSetProvider(info, device->GetProvider().c_str());
    MSDeviceInfoSetProviderDevice(info, device->GetProviderDevice().c_str());
    for (const auto& setting : device->settings()) {
      DeputyMSDeviceInfoSetSetting(info, setting.first.c_str(), setting.second.c_str());
    }
    if (device->GetAllocator() != nullptr) DeputyMSDeviceInfoSetSetting(info, "allocator", "true");
    if (const auto npu = device->Cast<KirinNPUDeviceInfo>()) {
      MSDeviceInfoSetFrequency(info, npu->GetFrequency());
    }
    return info;
  }
};

}  // namespace detail

class ModelParallelRunner;

class Model {
 public:
  Model() : model_(MSModelCreate(), [](void* handle) { MSModelDestroy(&handle); }) {}

  // Loads a model from memory, which may be freed afterwards, or from a file. A null context fails
  // with kLiteNullptr. After a failure Build may be called again.
  Status Build(const void* data, size_t size, ModelType type,
               const std::shared_ptr<Context>& context = nullptr) {
    return BuildWith(context, [&](MSContextHandle handle) {
      return MSModelBuild(model_.get(), data, size, static_cast<MSModelType>(type), handle);
    });
  }
  Status Build(const std::string& path, ModelType type,
               const std::shared_ptr<Context>& context = nullptr) {
    return BuildWith(context, [&](MSContextHandle handle) {
      return MSModelBuildFromFile(model_.get(), path.c_str(), static_cast<MSModelType>(type),
                                  handle);
    });
  }
  // Constants in a second buffer are refused with kLiteNotSupport, unless it is empty.
  Status Build(const void* data, size_t size, const void* /*weights*/, size_t weight_size,
               ModelType type, const std::shared_ptr<Context>& context = nullptr) {
    if (weight_size == 0) return Build(data, size, type, context);
    return {kLiteNotSupport, "Build: constants in a second buffer are not supported"};
  }
  // Encrypted models are refused with kLiteNotSupport. An empty key is ignored.
  Status Build(const void* data, size_t size, ModelType type,
               const std::shared_ptr<Context>& context, const Key& key,
               const std::string& mode = kDecModeAesGcm, const std::string& /*library*/ = "") {
    return key.len == 0 ? Build(data, size, type, context) : RefuseKey(mode);
  }
  Status Build(const std::string& path, ModelType type, const std::shared_ptr<Context>& context,
               const Key& key, const std::string& mode = kDecModeAesGcm,
               const std::string& /*library*/ = "") {
    return key.len == 0 ? Build(path, type, context) : RefuseKey(mode);
  }
  // Builds a graph of Serialization::Load. Training is refused with kLiteNotSupport.
  Status Build(const GraphCell& cell, const std::shared_ptr<Context>& context = nullptr,
               const std::shared_ptr<TrainCfg>& training = nullptr) {
    if (training != nullptr) return NoTraining("Build");
    if (cell.GetGraph() == nullptr || *cell.GetGraph() == nullptr) {
      return {kLiteNullptr, "Build: the graph is empty"};
    }
    const Graph::GraphData& file = *cell.GetGraph()->data();
    if (!file.path.empty()) return Build(file.path, file.type, context);
    return Build(file.bytes.Data(), file.bytes.DataSize(), file.type, context);
  }

  // Sets the shapes of all inputs. After a failure the previous shapes are restored.
  Status Resize(const std::vector<MSTensor>& inputs,
                const std::vector<std::vector<int64_t>>& dims) {
    std::vector<MSShapeInfo> shapes(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      shapes[i].shape_num = dims[i].size();
      if (dims[i].size() > MS_MAX_SHAPE_NUM) return {kLiteInputParamInvalid, "too many dimensions"};
      for (size_t axis = 0; axis < dims[i].size(); ++axis) shapes[i].shape[axis] = dims[i][axis];
    }
    std::vector<MSTensorHandle> handles = detail::ToHandles(inputs);
    return detail::ToStatus(
        MSModelResize(model_.get(), detail::ToArray(&handles), shapes.data(), shapes.size()));
  }

  // Runs one inference. `outputs` receives the model's own tensors. A callback that returns false
  // is logged.
  Status Predict(const std::vector<MSTensor>& inputs, std::vector<MSTensor>* outputs,
                 const MSKernelCallBack& before = nullptr,
                 const MSKernelCallBack& after = nullptr) {
    Callbacks callbacks = {before, after};
    std::vector<MSTensorHandle> handles = detail::ToHandles(inputs);
    MSTensorHandleArray results = {};
    const MSStatus status = DeputyMSModelPredict(model_.get(), detail::ToArray(&handles), &results,
                                                 before ? Callbacks::Before : nullptr,
                                                 after ? Callbacks::After : nullptr, &callbacks);
    if (status == kMSStatusSuccess && outputs != nullptr) *outputs = detail::ToTensors(results);
    return detail::ToStatus(status);
  }
  // Runs one inference with the contents of GetInputs(); GetOutputs() has the results.
  Status Predict(const MSKernelCallBack& before = nullptr,
                 const MSKernelCallBack& after = nullptr) {
    return Predict(GetInputs(), nullptr, before, after);
  }
  // A step of a model that is not in training mode is an inference.
  Status RunStep(const MSKernelCallBack& before = nullptr,
                 const MSKernelCallBack& after = nullptr) {
    return Predict(before, after);
  }

  // Load a configuration file, or set one entry, before Build (DeputyMSModelLoadConfig and
  // DeputyMSModelUpdateConfig in extensions_c.h). Kernels of delegates read it with GetConfig.
  Status LoadConfig(const std::string& path) {
    return detail::ToStatus(DeputyMSModelLoadConfig(model_.get(), path.c_str()));
  }
  Status UpdateConfig(const std::string& section,
                      const std::pair<std::string, std::string>& entry) {
    return detail::ToStatus(DeputyMSModelUpdateConfig(model_.get(), section.c_str(),
                                                      entry.first.c_str(), entry.second.c_str()));
  }

  std::vector<MSTensor> GetInputs() const {
    return detail::ToTensors(MSModelGetInputs(model_.get()));
  }
  std::vector<MSTensor> GetOutputs() const {
    return detail::ToTensors(MSModelGetOutputs(model_.get()));
  }
  // Returns an input by name; a null handle if the model has no input of that name.
  // GetOutputByTensorName does so for outputs.
  MSTensor GetInputByTensorName(const std::string& name) const {
    return MSTensor(MSModelGetInputByTensorName(model_.get(), name.c_str()));
  }
  MSTensor GetOutputByTensorName(const std::string& name) const {
    return MSTensor(MSModelGetOutputByTensorName(model_.get(), name.c_str()));
  }
  std::vector<std::string> GetOutputTensorNames() const {
    std::vector<std::string> names;
    for (const MSTensor& output : GetOutputs()) names.push_back(output.Name());
    return names;
  }
  // Returns the outputs of the model that a node computes; empty if there is none. The names of
  // nodes are those in the .ms file, and those that callbacks receive.
  std::vector<MSTensor> GetOutputsByNodeName(const std::string& name) const {
    return detail::ToTensors(DeputyMSModelGetOutputsByNodeName(model_.get(), name.c_str()));
  }

  // Returns true if models of this type load on this device.
  static bool CheckModelSupport(enum DeviceType device, ModelType type) {
    return (device == kCPU || device == kGPU || device == kKirinNPU || device == kAllDevice) &&
           (type == kMindIR || type == kMindIR_Lite);
  }

  // Releases the model, which is freed if no copy of this Model refers to it. This Model may be
  // built again.
  Status Finalize() {
    model_ = Model().model_;
    return kSuccess;
  }

  // Functions that Deputy does not support. Those with a Status return kLiteNotSupport and a text,
  // except SetTrainMode(false), which succeeds.
  Status UpdateWeights(const std::vector<MSTensor>& /*weights*/) {
    return {kLiteNotSupport, "UpdateWeights: the constants of a model cannot be changed"};
  }
  Status UpdateWeights(const std::vector<std::vector<MSTensor>>& /*weights*/) {
    return {kLiteNotSupport, "UpdateWeights: the constants of a model cannot be changed"};
  }
  Status BindGLTexture2DMemory(const std::map<std::string, unsigned int>& /*inputs*/,
                               std::map<std::string, unsigned int>* /*outputs*/) {
    return {kLiteNotSupport, "BindGLTexture2DMemory: memory is not shared with OpenGL"};
  }
  bool HasPreprocess() const { return false; }
  Status Preprocess(const std::vector<std::vector<MSTensor>>& /*inputs*/,
                    std::vector<MSTensor>* /*outputs*/) {
    return {kLiteNotSupport, "Preprocess: the model has no preprocessing"};
  }
  Status PredictWithPreprocess(const std::vector<std::vector<MSTensor>>& /*inputs*/,
                               std::vector<MSTensor>* /*outputs*/,
                               const MSKernelCallBack& /*before*/ = nullptr,
                               const MSKernelCallBack& /*after*/ = nullptr) {
    return {kLiteNotSupport, "PredictWithPreprocess: the model has no preprocessing"};
  }
  Status BuildTransferLearning(const GraphCell& /*backbone*/, const GraphCell& /*head*/,
                               const std::shared_ptr<Context>& /*context*/,
                               const std::shared_ptr<TrainCfg>& /*training*/ = nullptr) {
    return NoTraining("BuildTransferLearning");
  }
  Status SetTrainMode(bool train) {
    return train ? NoTraining("SetTrainMode(true)") : Status(kSuccess);
  }
  bool GetTrainMode() const { return false; }
  Status ApplyGradients(const std::vector<MSTensor>& /*gradients*/) {
    return NoTraining("ApplyGradients");
  }
  Status UpdateFeatureMaps(const std::vector<MSTensor>& /*weights*/) {
    return NoTraining("UpdateFeatureMaps");
  }
  Status SetOptimizerParams(const std::vector<MSTensor>& /*params*/) {
    return NoTraining("SetOptimizerParams");
  }
  Status SetupVirtualBatch(int /*multiplier*/, float /*rate*/ = -1, float /*momentum*/ = -1) {
    return NoTraining("SetupVirtualBatch");
  }
  Status SetLearningRate(float /*rate*/) { return NoTraining("SetLearningRate"); }
  Status InitMetrics(const std::vector<Metrics*>& /*metrics*/) { return NoTraining("InitMetrics"); }
  Status Train(int /*epochs*/, const std::shared_ptr<dataset::Dataset>& /*data*/,
               const std::vector<TrainCallBack*>& /*callbacks*/) {
    return NoTraining("Train");
  }
  Status Evaluate(const std::shared_ptr<dataset::Dataset>& /*data*/,
                  const std::vector<TrainCallBack*>& /*callbacks*/) {
    return NoTraining("Evaluate");
  }
  // Queries of training log an error and return an empty vector or 0.
  std::vector<MSTensor> GetTrainableParams() const { return LogNoTraining("GetTrainableParams"); }
  std::vector<MSTensor> GetFeatureMaps() const { return LogNoTraining("GetFeatureMaps"); }
  std::vector<MSTensor> GetGradients() const { return LogNoTraining("GetGradients"); }
  std::vector<MSTensor> GetOptimizerParams() const { return LogNoTraining("GetOptimizerParams"); }
  float GetLearningRate() const {
    LogNoTraining("GetLearningRate");
    return 0;
  }
  std::vector<Metrics*> GetMetrics() const {
    LogNoTraining("GetMetrics");
    return {};
  }

  // Deputy extension: the interpreter, for the functions of deputy/deputy.h that report which
  // delegate runs which node.
  const struct TfLiteInterpreter* interpreter() const {
    return DeputyMSModelGetInterpreter(model_.get());
  }

 private:
  friend class ModelParallelRunner;  // uses Callbacks, Config and the handle

  struct Callbacks {
    const MSKernelCallBack& before;
    const MSKernelCallBack& after;

    static bool Before(void* user_data, const MSTensorHandleArray inputs,
                       const MSTensorHandleArray outputs, const MSCallBackParamC info) {
      return Call(static_cast<Callbacks*>(user_data)->before, inputs, outputs, info);
    }
    static bool After(void* user_data, const MSTensorHandleArray inputs,
                      const MSTensorHandleArray outputs, const MSCallBackParamC info) {
      return Call(static_cast<Callbacks*>(user_data)->after, inputs, outputs, info);
    }
    static bool Call(const MSKernelCallBack& callback, const MSTensorHandleArray& inputs,
                     const MSTensorHandleArray& outputs, const MSCallBackParamC& info) {
      MSCallBackParam param;
      param.node_name = info.node_name;
      param.node_type = info.node_type;
      return callback(detail::ToTensors(inputs), detail::ToTensors(outputs), param);
    }
  };

  static Status RefuseKey(const std::string& mode) {
    return {kLiteNotSupport, "Build: decryption (" + mode + ") is not supported"};
  }
  static Status NoTraining(const std::string& function) {
    return {kLiteNotSupport, function + ": training is not supported"};
  }
  static std::vector<MSTensor> LogNoTraining(const std::string& function) {
    DeputyMSLog(kDeputyMSLogError, NoTraining(function).GetErrDescription().c_str());
    return {};
  }

  // Returns a copy of the configuration, for kernels of delegates; never null.
  std::shared_ptr<const ConfigInfos> Config() const {
    auto config = std::make_shared<ConfigInfos>();
    const auto visit = [](void* infos, const char* section, const char* key, const char* value) {
      (*static_cast<ConfigInfos*>(infos))[section][key] = value;
    };
    DeputyMSModelVisitConfig(model_.get(), visit, config.get());
    return config;
  }

  template <typename Function>
  Status BuildWith(const std::shared_ptr<Context>& context, Function&& build) {
    if (context == nullptr) return {kLiteNullptr, "Build: the context is null"};
    const int32_t parallel = context->GetInterOpParallelNum();
    if (parallel < 0 || (context->GetThreadNum() > 0 && parallel > context->GetThreadNum())) {
      return {kLiteNullptr, "Build: SetInterOpParallelNum(" + std::to_string(parallel) +
                                ") is negative or exceeds the number of threads"};
    }
    MSContextHandle handle = MSContextCreate();
    Status status = detail::ContextBuilder::Fill(context, Config(), handle);
    if (status.IsOk()) status = detail::ToStatus(build(handle));
    MSContextDestroy(&handle);  // no effect if the model owns it now
    return status;
  }

  std::shared_ptr<void> model_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_H_
