// SPDX-License-Identifier: Apache-2.0
//
// A model of MindSpore Lite's C++ API: loads a .tflite or .ms file and runs it. Calls from several
// threads are serialised.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "delegate.h"
#include "register_kernel_c.h"
#include "status.h"
#include "types.h"

namespace mindspore {

class ModelParallelRunner;

class Model {
 public:
  Model() : model_(MSModelCreate()) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { MSModelDestroy(&model_); }

  // Loads a model from memory, which may be freed afterwards, or from a file. After a failure Build
  // may be called again.
  Status Build(const void* data, size_t size, ModelType type,
               const std::shared_ptr<Context>& context = nullptr) {
    return BuildWith(context, [&](MSContextHandle handle) {
      return MSModelBuild(model_, data, size, static_cast<MSModelType>(type), handle);
    });
  }
  Status Build(const std::string& path, ModelType type,
               const std::shared_ptr<Context>& context = nullptr) {
    return BuildWith(context, [&](MSContextHandle handle) {
      return MSModelBuildFromFile(model_, path.c_str(), static_cast<MSModelType>(type), handle);
    });
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
        MSModelResize(model_, detail::ToArray(&handles), shapes.data(), shapes.size()));
  }

  // Runs one inference. `outputs` receives the model's own tensors. A callback that returns false
  // is logged.
  Status Predict(const std::vector<MSTensor>& inputs, std::vector<MSTensor>* outputs,
                 const MSKernelCallBack& before = nullptr,
                 const MSKernelCallBack& after = nullptr) {
    Callbacks callbacks = {before, after};
    std::vector<MSTensorHandle> handles = detail::ToHandles(inputs);
    MSTensorHandleArray results = {};
    const MSStatus status = DeputyMSModelPredict(model_, detail::ToArray(&handles), &results,
                                                 before ? Callbacks::Before : nullptr,
                                                 after ? Callbacks::After : nullptr, &callbacks);
    if (status == kMSStatusSuccess && outputs != nullptr) *outputs = detail::ToTensors(results);
    return detail::ToStatus(status);
  }

  std::vector<MSTensor> GetInputs() const { return detail::ToTensors(MSModelGetInputs(model_)); }
  std::vector<MSTensor> GetOutputs() const { return detail::ToTensors(MSModelGetOutputs(model_)); }
  // Returns an input by name; a null handle if the model has no input of that name.
  // GetOutputByTensorName does so for outputs.
  MSTensor GetInputByTensorName(const std::string& name) const {
    return MSTensor(MSModelGetInputByTensorName(model_, name.c_str()));
  }
  MSTensor GetOutputByTensorName(const std::string& name) const {
    return MSTensor(MSModelGetOutputByTensorName(model_, name.c_str()));
  }
  std::vector<std::string> GetOutputTensorNames() const {
    std::vector<std::string> names;
    for (const MSTensor& output : GetOutputs()) names.push_back(output.Name());
    return names;
  }

  // Returns whether models of this type load on this device.
  static bool CheckModelSupport(enum DeviceType device, ModelType type) {
    return (device == kCPU || device == kGPU || device == kKirinNPU) &&
           (type == kMindIR || type == kMindIR_Lite);
  }

  // Deputy extension: the interpreter, for the functions of deputy/deputy.h that report which
  // delegate runs which node.
  const struct TfLiteInterpreter* interpreter() const {
    return DeputyMSModelGetInterpreter(model_);
  }

 private:
  friend class ModelParallelRunner;  // uses Callbacks and Fill

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
      return callback(detail::ToTensors(inputs), detail::ToTensors(outputs),
                      {info.node_name, info.node_type, 0});
    }
  };

  template <typename Function>
  Status BuildWith(const std::shared_ptr<Context>& context, Function&& build) {
    if (context == nullptr) return {kLiteNullptr, "Build: the context is null"};
    const int32_t parallel = context->GetInterOpParallelNum();
    if (parallel < 0 || (context->GetThreadNum() > 0 && parallel > context->GetThreadNum())) {
      return {kLiteNullptr, "Build: more operators in parallel than threads"};
    }
    MSContextHandle handle = MSContextCreate();
    Fill(context, handle);
    const MSStatus status = build(handle);
    MSContextDestroy(&handle);  // no effect if the model owns it now
    return detail::ToStatus(status);
  }

  static void Fill(const std::shared_ptr<Context>& context, MSContextHandle handle) {
    MSContextSetThreadNum(handle, context->GetThreadNum());
    MSContextSetThreadAffinityMode(handle, context->GetThreadAffinityMode());
    const std::vector<int32_t> cores = context->GetThreadAffinityCoreList();
    MSContextSetThreadAffinityCoreList(handle, cores.data(), cores.size());
    MSContextSetEnableParallel(handle, context->GetEnableParallel());
    for (const auto& device : context->MutableDeviceInfo()) {
      if (device != nullptr) MSContextAddDeviceInfo(handle, ToC(device.get()));
    }
    for (struct TfLiteDelegate* delegate : context->tflite_delegates()) {
      DeputyMSContextAddTfLiteDelegate(handle, delegate);
    }
    // For registered kernels, which get the context.
    DeputyMSContextSetObject(handle, new std::shared_ptr<Context>(context), [](void* object) {
      delete static_cast<std::shared_ptr<Context>*>(object);
    });
    if (context->GetDelegate() == nullptr) return;
    const DeputyMSDelegate delegate = detail::ToC(context->GetDelegate(), context);
    if (DeputyMSContextSetDelegate(handle, &delegate) != kMSStatusSuccess) {
      delegate.release(delegate.user_data);
    }
  }

  static MSDeviceInfoHandle ToC(DeviceInfoContext* device) {
    MSDeviceInfoHandle info =
        MSDeviceInfoCreate(static_cast<MSDeviceType>(device->GetDeviceType()));
    MSDeviceInfoSetProvider(info, device->GetProvider().c_str());
    MSDeviceInfoSetProviderDevice(info, device->GetProviderDevice().c_str());
    if (const auto cpu = device->Cast<CPUDeviceInfo>()) {
      MSDeviceInfoSetEnableFP16(info, cpu->GetEnableFP16());
    }
    if (const auto gpu = device->Cast<GPUDeviceInfo>()) {
      MSDeviceInfoSetEnableFP16(info, gpu->GetEnableFP16());
    }
    if (const auto npu = device->Cast<KirinNPUDeviceInfo>()) {
      MSDeviceInfoSetFrequency(info, npu->GetFrequency());
    }
    return info;
  }

  MSModelHandle model_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_H_
