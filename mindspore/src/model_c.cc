// SPDX-License-Identifier: Apache-2.0
//
// The functions of model_c.h, and those of delegate_c.h and extensions_c.h for models.
#include "mindspore/src/log.h"
#include "mindspore/src/model.h"

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

Model* CheckedModel(MSModelHandle handle, const char* function) {
  if (handle == nullptr) Fail(kMSStatusLiteNullptr, "%s: the model is NULL", function);
  return Model::Of(handle);
}

// Callbacks of MSModelPredict, which have no user_data.
struct PlainCallbacks {
  MSKernelCallBackC before, after;
};

MSTensorHandle FindByName(const std::vector<MSTensorHandle>& tensors, const char* name) {
  for (MSTensorHandle tensor : tensors) {
    if (name != nullptr && Tensor::Of(tensor)->name() == name) return tensor;
  }
  return nullptr;
}

}  // namespace

MSModelHandle MSModelCreate() {
  return Contain<Model*>(nullptr, nullptr, [] { return new Model; });
}

void MSModelDestroy(MSModelHandle* model) {
  if (model == nullptr || *model == nullptr) return;
  delete Model::Of(*model);
  *model = nullptr;
}

MSStatus MSModelBuild(MSModelHandle model, const void* model_data, size_t data_size,
                      MSModelType model_type, const MSContextHandle model_context) {
  Model* const target = CheckedModel(model, "MSModelBuild");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->Build(model_data, data_size, model_type, model_context); });
}

MSStatus MSModelBuildFromFile(MSModelHandle model, const char* model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  Model* const target = CheckedModel(model, "MSModelBuildFromFile");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->BuildFromFile(model_path, model_type, model_context); });
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs,
                       MSShapeInfo* shape_infos, size_t shape_info_num) {
  Model* const target = CheckedModel(model, "MSModelResize");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->Resize(inputs, shape_infos, shape_info_num); });
}

MSStatus DeputyMSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                              MSTensorHandleArray* outputs, DeputyMSKernelCallBack before,
                              DeputyMSKernelCallBack after, void* user_data) {
  Model* const target = CheckedModel(model, "MSModelPredict");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->Predict(inputs, outputs, {before, after, user_data}); });
}

MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                        MSTensorHandleArray* outputs, const MSKernelCallBackC before,
                        const MSKernelCallBackC after) {
  PlainCallbacks plain = {before, after};
  const auto call_before = [](void* user_data, const MSTensorHandleArray in,
                              const MSTensorHandleArray out, const MSCallBackParamC info) {
    return static_cast<PlainCallbacks*>(user_data)->before(in, out, info);
  };
  const auto call_after = [](void* user_data, const MSTensorHandleArray in,
                             const MSTensorHandleArray out, const MSCallBackParamC info) {
    return static_cast<PlainCallbacks*>(user_data)->after(in, out, info);
  };
  return DeputyMSModelPredict(
      model, inputs, outputs,
      before == nullptr ? nullptr : static_cast<DeputyMSKernelCallBack>(call_before),
      after == nullptr ? nullptr : static_cast<DeputyMSKernelCallBack>(call_after), &plain);
}

MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before,
                        const MSKernelCallBackC after) {
  return MSModelPredict(model, MSModelGetInputs(model), nullptr, before, after);
}

MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before,
                   const MSKernelCallBackC after) {
  return MSModelRunStep(model, before, after);
}

MSTensorHandleArray MSModelGetInputs(const MSModelHandle model) {
  const Model* const source = CheckedModel(model, "MSModelGetInputs");
  return source == nullptr ? MSTensorHandleArray{} : ArrayOf(source->inputs());
}

MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model) {
  const Model* const source = CheckedModel(model, "MSModelGetOutputs");
  return source == nullptr ? MSTensorHandleArray{} : ArrayOf(source->outputs());
}

MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char* tensor_name) {
  const Model* const source = CheckedModel(model, "MSModelGetInputByTensorName");
  return source == nullptr ? nullptr : FindByName(source->inputs(), tensor_name);
}

MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char* tensor_name) {
  const Model* const source = CheckedModel(model, "MSModelGetOutputByTensorName");
  return source == nullptr ? nullptr : FindByName(source->outputs(), tensor_name);
}

MSTensorHandleArray DeputyMSModelGetOutputsByNodeName(const MSModelHandle model,
                                                      const char* node_name) {
  Model* const source = CheckedModel(model, "GetOutputsByNodeName");
  MSTensorHandleArray array = {};
  if (source == nullptr || node_name == nullptr) return array;
  Guard([&] { return array = ArrayOf(source->OutputsOfNode(node_name)), kMSStatusSuccess; });
  return array;
}

MSStatus DeputyMSModelLoadConfig(MSModelHandle model, const char* path) {
  Model* const target = CheckedModel(model, "LoadConfig");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->LoadConfig(path); });
}

MSStatus DeputyMSModelUpdateConfig(MSModelHandle model, const char* section, const char* key,
                                   const char* value) {
  Model* const target = CheckedModel(model, "UpdateConfig");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] { return target->UpdateConfig(section, key, value); });
}

void DeputyMSModelVisitConfig(const MSModelHandle model,
                              void (*visit)(void* user_data, const char* section, const char* key,
                                            const char* value),
                              void* user_data) {
  const Model* const source = CheckedModel(model, "VisitConfig");
  if (source == nullptr || visit == nullptr) return;
  for (const auto& [section, entries] : source->config().sections()) {
    for (const auto& [key, value] : entries) {
      visit(user_data, section.c_str(), key.c_str(), value.c_str());
    }
  }
}

const TfLiteInterpreter* DeputyMSModelGetInterpreter(const MSModelHandle model) {
  return model == nullptr ? nullptr : Model::Of(model)->interpreter();
}
