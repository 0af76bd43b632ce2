// SPDX-License-Identifier: Apache-2.0
//
// Inferences and resizes of a model.
#include <algorithm>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "deputy/builtin_ops.h"
#include "mindspore/src/affinity.h"
#include "mindspore/src/log.h"
#include "mindspore/src/model.h"

namespace deputy::ms_api {
namespace {

std::vector<int> ShapeOf(const TfLiteTensor& tensor) {
  return {tensor.dims->data, tensor.dims->data + tensor.dims->size};
}

}  // namespace

// ---- Callbacks ----------------------------------------------------------------------------------

// Returns a node as presented to callbacks. Views are created on first use, because a resize may
// add nodes of delegates.
const Model::NodeView& Model::ViewOf(int node) {
  const auto at = static_cast<size_t>(node);
  if (at >= views_.size()) views_.resize(at + 1);
  if (views_[at] != nullptr) return *views_[at];
  auto view = std::make_unique<NodeView>();
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyInterpreterGetNodeInfo(interpreter_.get(), 0, node, &info) == kTfLiteOk) {
    const bool delegate = info.builtin_code == kTfLiteBuiltinDelegate;
    view->type = delegate ? "NONE" : TypeNameOf(info.builtin_code);
    view->name = delegate ? info.operator_name : view->type + "-op" + std::to_string(node);
    view->inputs = table_->Handles({info.inputs, static_cast<size_t>(info.input_count)});
    view->outputs = table_->Handles({info.outputs, static_cast<size_t>(info.output_count)});
  }
  views_[at] = std::move(view);
  return *views_[at];
}

void Model::CallBack(DeputyMSKernelCallBack callback, int node) {
  if (callback == nullptr) return;
  Guard([&] {
    const NodeView& view = ViewOf(node);
    const MSCallBackParamC info = {const_cast<char*>(view.name.c_str()),
                                   const_cast<char*>(view.type.c_str())};
    if (!callback(callbacks_->user_data, ArrayOf(view.inputs), ArrayOf(view.outputs), info)) {
      Log(kDeputyMSLogWarning, "a callback of node '%s' returned false", view.name.c_str());
    }
    return kMSStatusSuccess;
  });
}

// ---- Predict ------------------------------------------------------------------------------------

MSStatus Model::Predict(const MSTensorHandleArray& inputs, MSTensorHandleArray* outputs,
                        const Callbacks& callbacks) {
  const std::scoped_lock lock(mutex_);
  if (interpreter_ == nullptr) {
    return Fail(kMSStatusLiteUninitializedObj, "Predict: the model is not built");
  }
  if (running_) return Fail(kMSStatusLiteReentrantError, "Predict: the model is running");
  if (inputs.handle_num != inputs_.size()) {
    return Fail(kMSStatusLiteInputTensorError, "Predict: expected %zu inputs, found %zu",
                inputs_.size(), inputs.handle_num);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const MSStatus status = CheckInput(i, inputs.handle_list[i]);
    if (status != kMSStatusSuccess) return status;
  }
  // The model's own tensors get the device addresses of the caller's tensors for this inference.
  std::vector<void*> addresses;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Tensor* const own = Tensor::Of(inputs_[i]);
    addresses.push_back(own->device_data());
    if (inputs.handle_list[i] != own) {
      own->set_device_data(Tensor::Of(inputs.handle_list[i])->device_data());
    }
  }
  const MSStatus status = Run(inputs, callbacks);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Tensor::Of(inputs_[i])->set_device_data(addresses[i]);
  }
  if (status == kMSStatusSuccess && outputs != nullptr) *outputs = ArrayOf(outputs_);
  return status;
}

MSStatus Model::Run(const MSTensorHandleArray& inputs, const Callbacks& callbacks) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const MSStatus status = CopyInput(i, inputs.handle_list[i]);
    if (status != kMSStatusSuccess) return status;
  }
  reported_.clear();
  ClearFailures();
  running_ = true;
  const bool has_callbacks = callbacks.before != nullptr || callbacks.after != nullptr;
  callbacks_ = has_callbacks ? &callbacks : nullptr;
  // A profiler with this function disables fusion in the interpreter, so that the function is set
  // only if there are callbacks.
  profiler_.ReportBeginOpInvokeEvent = has_callbacks ? begin_event_ : nullptr;
  const AffinityScope affinity(cores_);
  const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_.get());
  callbacks_ = nullptr;
  running_ = false;
  return status == kTfLiteOk ? kMSStatusSuccess : FailedCall("Predict", kMSStatusLiteError);
}

// Checks that only kernels of the delegate read an input whose data is on a device.
MSStatus Model::CheckDeviceInput(size_t index) {
  const int tensor = TfLiteInterpreterInputTensorIndices(interpreter_.get())[index];
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter_.get(), 0); ++node) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter_.get(), 0, node, &info) != kTfLiteOk) continue;
    const int* const end = info.inputs + info.input_count;
    if (info.plan_position < 0 || std::find(info.inputs, end, tensor) == end) continue;
    const bool delegate = info.builtin_code == kTfLiteBuiltinDelegate;
    if (delegate && adapter_ != nullptr && adapter_->HasKernel(info.operator_name)) continue;
    return Fail(kMSStatusLiteInputTensorError,
                "Predict: input %zu '%s' has data on a device only, but no kernel of the context's "
                "delegate runs node %d %s, which reads it",
                index, Tensor::Of(inputs_[index])->name().c_str(), node, info.operator_name);
  }
  return kMSStatusSuccess;
}

MSStatus Model::CheckInput(size_t index, MSTensorHandle handle) {
  Tensor* const own = Tensor::Of(inputs_[index]);
  Tensor* const given = Tensor::Of(handle);
  if (given == nullptr) {
    return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu '%s' is NULL", index,
                own->name().c_str());
  }
  const bool on_device = given->device_data() != nullptr;
  if (given == own) {
    const bool device_only = on_device && given->given_data() == nullptr;
    return device_only ? CheckDeviceInput(index) : kMSStatusSuccess;
  }
  const bool texts = own->type() == kMSDataTypeObjectTypeString;
  if (given->type() != own->type() || (!texts && given->byte_size() != own->byte_size())) {
    return Fail(kMSStatusLiteInputTensorError,
                "Predict: input %zu '%s': expected type %d and %zu bytes, found type %d and %zu",
                index, own->name().c_str(), own->type(), own->byte_size(), given->type(),
                given->byte_size());
  }
  if (given->data() == nullptr && own->byte_size() > 0) {
    if (on_device) return CheckDeviceInput(index);
    return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu '%s' has no data", index,
                own->name().c_str());
  }
  if (given->name() != own->name()) {
    Log(kDeputyMSLogWarning, "Predict: input %zu: expected '%s', found '%s'", index,
        own->name().c_str(), given->name().c_str());
  }
  return kMSStatusSuccess;
}

MSStatus Model::CopyInput(size_t index, MSTensorHandle handle) {
  Tensor* const given = Tensor::Of(handle);
  if (given->type() == kMSDataTypeObjectTypeString && handle != inputs_[index]) {
    return CopyTexts(index, given);
  }
  const void* data = handle == inputs_[index] ? given->given_data() : given->data();
  TfLiteTensor* tensor =
      TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(index));
  if (data == nullptr || tensor->bytes == 0) return kMSStatusSuccess;
  if (TfLiteTensorCopyFromBuffer(tensor, data, tensor->bytes) == kTfLiteOk) return kMSStatusSuccess;
  return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu cannot be copied", index);
}

// Copies texts, whose total size may differ from one inference to the next.
MSStatus Model::CopyTexts(size_t index, Tensor* given) {
  TfLiteTensor* tensor =
      TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(index));
  Tensor* const own = Tensor::Of(inputs_[index]);
  const size_t count = DeputyMSTensorGetString(given, 0, nullptr, nullptr);
  if (static_cast<int64_t>(count) != own->element_count()) {
    return Fail(kMSStatusLiteInputTensorError,
                "Predict: input %zu '%s': expected %lld texts, found %zu", index,
                own->name().c_str(), static_cast<long long>(own->element_count()), count);
  }
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = kTfLiteDynamic;
  if (TfLiteTensorRealloc(given->byte_size(), tensor) != kTfLiteOk) {
    return Fail(kMSStatusLiteMemoryFailed, "out of memory");
  }
  std::memcpy(tensor->data.raw, given->data(), given->byte_size());
  return kMSStatusSuccess;
}

// ---- Resize -------------------------------------------------------------------------------------

MSStatus Model::Resize(const MSTensorHandleArray& inputs, const MSShapeInfo* shapes, size_t count) {
  const std::scoped_lock lock(mutex_);
  if (interpreter_ == nullptr) {
    return Fail(kMSStatusLiteUninitializedObj, "Resize: the model is not built");
  }
  if (running_) return Fail(kMSStatusLiteReentrantError, "Resize: the model is running");
  if (inputs.handle_num != inputs_.size() || count != inputs_.size() || shapes == nullptr) {
    return Fail(kMSStatusLiteInputParamInvalid,
                "Resize: expected %zu inputs with shapes, found %zu and %zu", inputs_.size(),
                inputs.handle_num, count);
  }
  std::vector<std::vector<int>> old_shapes, new_shapes(count);
  for (size_t i = 0; i < count; ++i) {
    if (inputs.handle_list[i] != inputs_[i] || shapes[i].shape_num > MS_MAX_SHAPE_NUM) {
      return Fail(kMSStatusLiteInputParamInvalid, "Resize: tensor %zu is not the model's input", i);
    }
    for (size_t axis = 0; axis < shapes[i].shape_num; ++axis) {
      const int64_t dim = shapes[i].shape[axis];
      if (dim < 0 || dim > INT32_MAX) {
        return Fail(kMSStatusLiteInputParamInvalid,
                    "Resize: input %zu: expected dimensions of 0 to 2147483647, found %lld", i,
                    static_cast<long long>(dim));
      }
      new_shapes[i].push_back(static_cast<int>(dim));
    }
    old_shapes.push_back(
        ShapeOf(*TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(i))));
  }
  const AffinityScope affinity(cores_);
  reported_.clear();
  ClearFailures();
  if (ResizeInputs(new_shapes) == kTfLiteOk) {
    views_.clear();
    return kMSStatusSuccess;
  }
  const MSStatus status = FailedCall("Resize", kMSStatusLiteError);
  const std::string text = DeputyMSLastError();
  RestoreShapes(old_shapes);
  return Fail(status, "%s", text.c_str());
}

TfLiteStatus Model::ResizeInputs(const std::vector<std::vector<int>>& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    TF_LITE_ENSURE_STATUS(TfLiteInterpreterResizeInputTensor(
        interpreter_.get(), static_cast<int32_t>(i), shapes[i].data(),
        static_cast<int32_t>(shapes[i].size())));
  }
  return TfLiteInterpreterAllocateTensors(interpreter_.get());
}

// Restores the previous shapes of the inputs. A static delegate that failed for the new shapes was
// removed, and must be applied again.
void Model::RestoreShapes(const std::vector<std::vector<int>>& shapes) {
  views_.clear();
  const bool restored = ResizeInputs(shapes) == kTfLiteOk;
  bool applied = true;
  for (int i = 0; i < DeputyInterpreterGetDelegateCount(interpreter_.get()); ++i) {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof info;
    DeputyInterpreterGetDelegateInfo(interpreter_.get(), i, &info);
    applied = applied && info.applied != 0;
  }
  if (restored && (applied || ApplyDelegates() == kMSStatusSuccess)) return;
  Log(kDeputyMSLogError, "Resize: the former shapes could not be restored");
}

}  // namespace deputy::ms_api
