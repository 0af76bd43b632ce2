// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/model.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "deputy/builtin_ops.h"
#include "deputy/c_api_experimental.h"
#include "mindspore/ms/convert.h"
#include "mindspore/ms/file.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

constexpr uint32_t kMindIRLite = 4;  // kMindIR_Lite of the C++ API

// Converts a .ms file to a .tflite file in memory.
MSStatus ConvertMsFile(const std::vector<char>& ms, std::vector<char>* out_tflite) {
  std::string error;
  const auto* first = reinterpret_cast<const uint8_t*>(ms.data());
  const std::vector<uint8_t> tflite = ms::ConvertMsModel({first, ms.size()}, {}, &error);
  if (tflite.empty()) return Fail(kMSStatusLiteGraphFileError, "Build: %s", error.c_str());
  out_tflite->assign(tflite.begin(), tflite.end());
  return kMSStatusSuccess;
}

bool IsMs(const std::vector<char>& bytes) {
  return ms::IsMsModel({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// Returns the delegate library of a device.
const char* LibraryOf(const DeviceInfo& device) {
  if (!device.provider.empty()) return device.provider.c_str();
  return device.type == kMSDeviceTypeGPU ? "libdeputy_gpu.so" : "libdeputy_npu_stub.so";
}

struct PluginDeleter {
  void operator()(DeputyPlugin* plugin) const { DeputyPluginRelease(plugin); }
};

// Error reporter that discards messages, for calls whose failure is logged with DeputyLastError.
void DiscardError(void* /*user_data*/, const char* /*format*/, va_list /*args*/) {}

// Converts a device's settings to options of delegate libraries: the frequency of an NPU, and
// `auto` precision for a GPU, which uses half precision if it is faster.
std::vector<std::pair<std::string, std::string>> SettingsOf(const DeviceInfo& device) {
  if (device.type == kMSDeviceTypeKirinNPU) {
    return {{"frequency", std::to_string(device.frequency)}};
  }
  if (device.type == kMSDeviceTypeGPU && device.enable_fp16) return {{"precision", "auto"}};
  return {};
}

// Creates the delegate of a device, with those settings that its library declares as options.
TfLiteDelegate* CreateDeviceDelegate(DeputyPlugin* plugin, const DeviceInfo& device) {
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyPluginDescribe(plugin, &info) != kTfLiteOk) info.option_count = 0;
  const auto settings = SettingsOf(device);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) {
    for (size_t i = 0; i < info.option_count; ++i) {
      if (key != info.options[i].name) continue;
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  return DeputyPluginCreateDelegateWithErrorReporter(plugin, keys.data(), values.data(),
                                                     keys.size(), DiscardError, nullptr);
}

std::vector<int> ShapeOf(const TfLiteTensor& tensor) {
  return {tensor.dims->data, tensor.dims->data + tensor.dims->size};
}

}  // namespace

bool InterpreterTensors::AcceptsData(int index) {
  const int* first = TfLiteInterpreterInputTensorIndices(interpreter_);
  const int* end = first + TfLiteInterpreterGetInputTensorCount(interpreter_);
  return std::find(first, end, index) != end;
}

Model::Model() {
  profiler_.data = this;
  profiler_.ReportTelemetryEvent = [](auto*, const char*, uint64_t) {};
  profiler_.ReportSettings = [](auto*, const char*, const TfLiteTelemetrySettings*) {};
  begin_event_ = [](TfLiteTelemetryProfilerStruct* profiler, const char*, int64_t node,
                    int64_t subgraph) {
    auto* model = static_cast<Model*>(profiler->data);
    if (model->callbacks_ == nullptr || subgraph != 0) return UINT32_MAX;
    model->CallBack(model->callbacks_->before, static_cast<int>(node));
    return static_cast<uint32_t>(node);
  };
  profiler_.ReportEndOpInvokeEvent = [](TfLiteTelemetryProfilerStruct* profiler, uint32_t node) {
    auto* model = static_cast<Model*>(profiler->data);
    if (model->callbacks_ == nullptr || node == UINT32_MAX) return;
    model->CallBack(model->callbacks_->after, static_cast<int>(node));
  };
}

void Model::ReportError(void* user_data, const char* format, va_list arguments) {
  std::array<char, 1024> text;
  std::vsnprintf(text.data(), text.size(), format, arguments);
  auto* model = static_cast<Model*>(user_data);
  Guard([&] {
    if (!model->reported_.empty()) model->reported_ += "; ";
    model->reported_ += text.data();
    return kMSStatusSuccess;
  });
}

// ---- Build --------------------------------------------------------------------------------------

MSStatus Model::Build(const void* data, size_t size, MSModelType type, MSContextHandle context) {
  const std::scoped_lock lock(mutex_);
  if (const MSStatus status = CheckBuild(type, context); status != kMSStatusSuccess) return status;
  if (data == nullptr) return Fail(kMSStatusLiteNullptr, "Build: the model's bytes are NULL");
  if (size == 0) return Fail(kMSStatusLiteInputParamInvalid, "Build: the model has no bytes");
  const auto* first = static_cast<const char*>(data);
  return BuildWith({.bytes = Bytes(first, first + size)});
}

MSStatus Model::BuildFromFile(const char* path, MSModelType type, MSContextHandle context) {
  const std::scoped_lock lock(mutex_);
  if (const MSStatus status = CheckBuild(type, context); status != kMSStatusSuccess) return status;
  if (path == nullptr) return Fail(kMSStatusLiteNullptr, "Build: the path is NULL");
  Bytes bytes;
  const MSStatus status = Guard([&] {
    std::string error;
    if (ms::ReadMsFile(path, &bytes, &error)) return kMSStatusSuccess;
    return Fail(kMSStatusLiteFileError, "Build: '%s' %s", path, error.c_str());
  });
  if (status != kMSStatusSuccess) return status;
  const bool is_ms = !bytes.empty();
  return BuildWith({.path = is_ms ? nullptr : path, .bytes = std::move(bytes)});
}

MSStatus Model::BuildLike(const Model& source) {
  const std::scoped_lock lock(mutex_);
  AdoptContext(source.context_.get());
  return BuildWith({.loaded = source.model_});
}

// Checks the arguments of a build. The model takes ownership of the context first, also if the
// build fails later.
MSStatus Model::CheckBuild(MSModelType type, MSContextHandle context) {
  if (interpreter_ != nullptr) return Fail(kMSStatusLiteModelRebuild, "Build: the model is built");
  if (context == nullptr) return Fail(kMSStatusLiteNullptr, "Build: the context is NULL");
  AdoptContext(context);
  if (type != kMSModelTypeMindIR && static_cast<uint32_t>(type) != kMindIRLite) {
    return Fail(kMSStatusLiteParamInvalid, "Build: model type %u is not supported",
                static_cast<unsigned>(type));
  }
  return context_->Check();
}

void Model::AdoptContext(MSContextHandle context) {
  if (context == context_.get()) return;
  Context::Of(context)->Adopt();
  context_.reset(Context::Of(context));
}

MSStatus Model::BuildWith(Source source) {
  const MSStatus status = Guard([&] { return BuildSteps(std::move(source)); });
  if (status != kMSStatusSuccess) Clear();
  return status;
}

MSStatus Model::BuildSteps(Source source) {
  for (const auto step : {&Model::MakeAdapter}) {
    if (const MSStatus status = (this->*step)(); status != kMSStatusSuccess) return status;
  }
  if (source.loaded != nullptr) {
    model_ = std::move(source.loaded);
  } else if (const MSStatus status = LoadModel(std::move(source)); status != kMSStatusSuccess) {
    return status;
  }
  for (const auto step :
       {&Model::MakeInterpreter, &Model::ApplyDelegates, &Model::CheckPlacement}) {
    if (const MSStatus status = (this->*step)(); status != kMSStatusSuccess) return status;
  }
  MakeViews();
  return kMSStatusSuccess;
}

// Creates the adapter and calls the delegate's init, which must precede the reading of the model.
MSStatus Model::MakeAdapter() {
  if (context_->delegate == nullptr) return kMSStatusSuccess;
  adapter_ = std::make_unique<Adapter>(context_->delegate, context_.get(), true);
  const MSStatus status = adapter_->Init();
  if (status == kMSStatusSuccess || status == kMSStatusLiteNotSupport) return kMSStatusSuccess;
  return Fail(status, "Build: the delegate's Init returned %d (%s)", CodeOf(status),
              DeputyMSStatusText(status));
}

MSStatus Model::LoadModel(Source source) {
  const auto reporter = [](void* user_data, const char* format, va_list arguments) {
    ReportError(user_data, format, arguments);
  };
  auto loaded = std::make_shared<LoadedModel>();
  reported_.clear();
  if (source.path != nullptr) {
    loaded->model.reset(TfLiteModelCreateFromFileWithErrorReporter(source.path, reporter, this));
  } else {
    if (IsMs(source.bytes)) {
      const MSStatus status = ConvertMsFile(source.bytes, &loaded->bytes);
      if (status != kMSStatusSuccess) return status;
    } else {
      loaded->bytes = std::move(source.bytes);
    }
    loaded->model.reset(TfLiteModelCreateWithErrorReporter(loaded->bytes.data(),
                                                           loaded->bytes.size(), reporter, this));
  }
  if (loaded->model != nullptr) {
    model_ = std::move(loaded);
    return kMSStatusSuccess;
  }
  // The library's own message has details that TensorFlow Lite's messages omit.
  const std::string known = DeputyLastError();
  const std::string& why = known.starts_with(reported_) ? known : reported_;
  return Fail(kMSStatusLiteGraphFileError, "Build: the model was rejected: %s", why.c_str());
}

MSStatus Model::MakeInterpreter() {
  const std::unique_ptr<TfLiteInterpreterOptions, ModelDeleter> options(
      TfLiteInterpreterOptionsCreate());
  if (options == nullptr) return Fail(kMSStatusLiteMemoryFailed, "out of memory");
  const bool leaves_it = context_->thread_count == 0 && default_threads_ > 0;
  TfLiteInterpreterOptionsSetNumThreads(options.get(),
                                        leaves_it ? default_threads_ : context_->ThreadCount());
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), ReportError, this);
  TfLiteInterpreterOptionsSetTelemetryProfiler(options.get(), &profiler_);
  // A failing kernel must fail Predict, regardless of the policy in the environment.
  DeputyInterpreterOptionsSetDelegatePolicy(options.get(), kDeputyPolicyTfLite);
  reported_.clear();
  interpreter_.reset(TfLiteInterpreterCreate(model_->model.get(), options.get()));
  if (interpreter_ == nullptr) return FailedCall("the interpreter", kMSStatusLiteError);
  // Tensors are allocated now, because the delegate needs shapes. A delegate may still claim a
  // custom operator without a kernel.
  const TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter_.get());
  if (status == kTfLiteOk) return kMSStatusSuccess;
  const bool may_be_claimed =
      status == kTfLiteUnresolvedOps &&
      (adapter_ != nullptr || !context_->tflite_delegates.empty() || MayUseRegisteredKernels());
  if (may_be_claimed) return kMSStatusSuccess;
  return FailedCall(
      "Build", status == kTfLiteUnresolvedOps ? kMSStatusLiteNotFindOp : kMSStatusLiteInferError);
}

// Applies the context's delegate, or else that of a device, and then the TensorFlow Lite delegates.
MSStatus Model::ApplyDelegates() {
  if (adapter_ != nullptr && !adapter_->declined()) {
    if (const MSStatus status = ApplyDelegate(adapter_->delegate()); status != kMSStatusSuccess) {
      return status;
    }
  } else if (adapter_ == nullptr) {
    if (const MSStatus status = ApplyDeviceDelegate(); status != kMSStatusSuccess) return status;
  }
  for (TfLiteDelegate* delegate : context_->tflite_delegates) {
    if (const MSStatus status = ApplyDelegate(delegate); status != kMSStatusSuccess) return status;
  }
  if (const MSStatus status = ApplyRegisteredKernels(); status != kMSStatusSuccess) return status;
  reported_.clear();
  const TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter_.get());
  if (status == kTfLiteOk) return kMSStatusSuccess;
  return FailedCall("Build",
                    status == kTfLiteUnresolvedOps ? kMSStatusLiteNotFindOp : kMSStatusLiteError);
}

MSStatus Model::ApplyDelegate(TfLiteDelegate* delegate) {
  reported_.clear();
  ClearFailures();
  if (TfLiteInterpreterModifyGraphWithDelegate(interpreter_.get(), delegate) == kTfLiteOk) {
    return kMSStatusSuccess;
  }
  return FailedCall("Build", kMSStatusLiteError);
}

bool Model::MayUseRegisteredKernels() const {
  std::set<std::string> custom;
  const TfLiteInterpreter* interpreter = interpreter_.get();
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter, 0); ++node) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter, 0, node, &info) != kTfLiteOk) continue;
    if (std::strcmp(TypeNameOf(info.builtin_code), "Custom") == 0)
      custom.insert(info.operator_name);
  }
  return Registry::Get().MayMatch(*context_, custom);
}

// Replaces nodes that no delegate has claimed by registered kernels.
MSStatus Model::ApplyRegisteredKernels() {
  if (!MayUseRegisteredKernels()) return kMSStatusSuccess;
  if (registered_ == nullptr) registered_ = std::make_unique<RegisteredKernels>(context_.get());
  const MSStatus status = ApplyDelegate(registered_->resizable());
  if (status != kMSStatusSuccess || !registered_->needs_fixed()) return status;
  return ApplyDelegate(registered_->fixed());
}

void Model::ClearFailures() {
  if (adapter_ != nullptr) adapter_->ClearFailure();
  if (registered_ != nullptr) registered_->ClearFailure();
}

// Applies the delegate of an NPU or, if there is none, of a GPU. If the device or its library is
// not available, the model runs on the CPU.
MSStatus Model::ApplyDeviceDelegate() {
  for (const MSDeviceType type : {kMSDeviceTypeKirinNPU, kMSDeviceTypeGPU}) {
    for (const auto& device : context_->devices) {
      if (device->type != type) continue;
      const std::unique_ptr<DeputyPlugin, PluginDeleter> plugin(
          DeputyPluginLoadWithErrorReporter(LibraryOf(*device), DiscardError, nullptr));
      if (plugin != nullptr) device_delegate_.reset(CreateDeviceDelegate(plugin.get(), *device));
      if (device_delegate_ != nullptr) return ApplyDelegate(device_delegate_.get());
      Log(kDeputyMSLogWarning, "device %d: no delegate: %s", static_cast<int>(type),
          DeputyLastError());
    }
  }
  return kMSStatusSuccess;
}

// Checks the placement of the nodes: if the context has no CPU device, every node must run on a
// delegate.
MSStatus Model::CheckPlacement() {
  if (context_->HasDevice(kMSDeviceTypeCPU)) return kMSStatusSuccess;
  const TfLiteInterpreter* interpreter = interpreter_.get();
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter, 0); ++node) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter, 0, node, &info) != kTfLiteOk) continue;
    if (info.plan_position < 0 || info.builtin_code == kTfLiteBuiltinDelegate) continue;
    return Fail(kMSStatusLiteError,
                "Build: no delegate runs node %d %s, and the context has no CPU device", node,
                info.operator_name);
  }
  return kMSStatusSuccess;
}

MSStatus Model::FailedCall(const char* call, MSStatus otherwise) {
  MSStatus status = adapter_ == nullptr ? kMSStatusSuccess : adapter_->failure();
  if (status == kMSStatusSuccess && registered_ != nullptr) status = registered_->failure();
  return Fail(status == kMSStatusSuccess ? otherwise : status, "%s: %s", call, reported_.c_str());
}

void Model::MakeViews() {
  TfLiteInterpreter* const interpreter = interpreter_.get();
  tensors_ = std::make_unique<InterpreterTensors>(interpreter);
  table_ = std::make_unique<TensorTable>(tensors_.get());
  const int* first = TfLiteInterpreterInputTensorIndices(interpreter);
  inputs_ = table_->Handles(
      {first, static_cast<size_t>(TfLiteInterpreterGetInputTensorCount(interpreter))});
  first = TfLiteInterpreterOutputTensorIndices(interpreter);
  outputs_ = table_->Handles(
      {first, static_cast<size_t>(TfLiteInterpreterGetOutputTensorCount(interpreter))});
}

void Model::Clear() {
  views_.clear();
  inputs_.clear();
  outputs_.clear();
  table_.reset();
  tensors_.reset();
  interpreter_.reset();
  registered_.reset();
  device_delegate_.reset();
  adapter_.reset();
  model_.reset();
}

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
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const MSStatus status = CopyInput(i, inputs.handle_list[i]);
    if (status != kMSStatusSuccess) return status;
  }
  reported_.clear();
  ClearFailures();
  running_ = true;
  const bool has_callbacks = callbacks.before != nullptr || callbacks.after != nullptr;
  callbacks_ = has_callbacks ? &callbacks : nullptr;
  // A profiler that reports each node disables fusion in the interpreter, so that it is installed
  // only if needed.
  profiler_.ReportBeginOpInvokeEvent = has_callbacks ? begin_event_ : nullptr;
  const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_.get());
  callbacks_ = nullptr;
  running_ = false;
  if (status != kTfLiteOk) return FailedCall("Predict", kMSStatusLiteError);
  if (outputs != nullptr) *outputs = ArrayOf(outputs_);
  return kMSStatusSuccess;
}

MSStatus Model::CheckInput(size_t index, MSTensorHandle handle) {
  Tensor* const own = Tensor::Of(inputs_[index]);
  Tensor* const given = Tensor::Of(handle);
  if (given == nullptr) {
    return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu '%s' is NULL", index,
                own->name().c_str());
  }
  if (given == own) return kMSStatusSuccess;
  if (given->type() != own->type() || given->byte_size() != own->byte_size()) {
    return Fail(kMSStatusLiteInputTensorError,
                "Predict: input %zu '%s': expected type %d and %zu bytes, found type %d and %zu",
                index, own->name().c_str(), own->type(), own->byte_size(), given->type(),
                given->byte_size());
  }
  if (given->data() == nullptr && own->byte_size() > 0) {
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
  const void* data = handle == inputs_[index] ? given->given_data() : given->data();
  TfLiteTensor* tensor =
      TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(index));
  if (data == nullptr || tensor->bytes == 0) return kMSStatusSuccess;
  if (TfLiteTensorCopyFromBuffer(tensor, data, tensor->bytes) == kTfLiteOk) return kMSStatusSuccess;
  return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu cannot be copied", index);
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

// ---- The C API ----------------------------------------------------------------------------------

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

const TfLiteInterpreter* DeputyMSModelGetInterpreter(const MSModelHandle model) {
  return model == nullptr ? nullptr : Model::Of(model)->interpreter();
}
