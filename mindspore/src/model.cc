// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/model.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "deputy/builtin_ops.h"
#include "deputy/c_api_experimental.h"
#include "mindspore/ms/convert.h"
#include "mindspore/ms/file.h"
#include "mindspore/ms/read.h"
#include "mindspore/src/affinity.h"
#include "mindspore/src/devices.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

constexpr uint32_t kMindIRLite = 4;  // kMindIR_Lite of the C++ API

// Converts a .ms file to a .tflite file in memory.
MSStatus ConvertMsFile(const std::vector<char>& ms, ms::Unmapped unmapped,
                       ms::ConvertedModel* out_model) {
  std::string error;
  const auto* first = reinterpret_cast<const uint8_t*>(ms.data());
  if (ms::ConvertMsModel({first, ms.size()}, {}, unmapped, out_model, &error)) {
    return kMSStatusSuccess;
  }
  return Fail(kMSStatusLiteGraphFileError, "Build: %s", error.c_str());
}

bool IsMs(const std::vector<char>& bytes) {
  return ms::IsMsModel({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
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

// Checks the arguments of a build. Takes ownership of the context, also if the build fails later,
// unless the model is built already.
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

int32_t Model::ThreadCount() const {
  const bool has_default = context_->thread_count == 0 && default_threads_ > 0;
  return has_default ? default_threads_ : context_->ThreadCount();
}

void Model::TakeCoresOfWorker() {
  const auto threads = static_cast<size_t>(ThreadCount());
  if (worker_count_ == 1 || cores_.size() != threads * worker_count_) return;
  const auto first = cores_.begin() + static_cast<ptrdiff_t>(worker_index_ * threads);
  cores_ = std::vector<int32_t>(first, first + static_cast<ptrdiff_t>(threads));
}

MSStatus Model::BuildSteps(Source source) {
  absent_device_.clear();
  tried_devices_.clear();
  if (const MSStatus status = FindCores(*context_, &cores_); status != kMSStatusSuccess) {
    return status;
  }
  TakeCoresOfWorker();
  const AffinityScope affinity(cores_);
  if (!affinity.ok()) {
    return Fail(kMSStatusLiteParamInvalid,
                "the context: SetThreadAffinity: the process may use none of the cores");
  }
  const bool is_first = source.loaded == nullptr;  // further workers of a runner log nothing
  if (is_first) config_.LogIgnored();
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
  if (is_first) LogUnusedDevices();
  CheckHalfPrecision();
  MakeViews();
  return kMSStatusSuccess;
}

// Creates the adapter and calls the delegate's init, which must precede the parsing of the model.
MSStatus Model::MakeAdapter() {
  if (context_->delegate == nullptr) return kMSStatusSuccess;
  adapter_ = std::make_unique<Adapter>(context_->delegate, context_.get(), true);
  const std::string before = DeputyMSLastError();
  const MSStatus status = adapter_->Init();
  if (status == kMSStatusSuccess || status == kMSStatusLiteNotSupport) return kMSStatusSuccess;
  const std::string why = DeputyMSLastError();
  return Fail(status, "Build: the delegate's Init returned %d (%s)%s%s", CodeOf(status),
              DeputyMSStatusText(status), why == before ? "" : ": ",
              why == before ? "" : why.c_str());
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
      ms::ConvertedModel converted;
      const MSStatus status = ConvertMsFile(
          source.bytes, MayBeClaimed() ? ms::Unmapped::kKeep : ms::Unmapped::kRefuse, &converted);
      if (status != kMSStatusSuccess) return status;
      ReadNodeNames(source.bytes);
      loaded->bytes.assign(converted.tflite.begin(), converted.tflite.end());
      loaded->unmapped = std::move(converted.unmapped);
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

// Reads the names of the nodes that compute outputs from a .ms file.
void Model::ReadNodeNames(const Bytes& ms) {
  // ReadModel requires an alignment that the caller's bytes need not have.
  const std::unique_ptr<void, decltype(&std::free)> aligned(
      std::aligned_alloc(16, (ms.size() + 15) / 16 * 16), std::free);
  if (aligned == nullptr) throw std::bad_alloc();
  std::memcpy(aligned.get(), ms.data(), ms.size());
  ms::Model model;
  std::string error;
  const auto* first = static_cast<const uint8_t*>(aligned.get());
  if (!ms::ReadModel({first, ms.size()}, {}, &model, &error)) return;
  std::map<uint32_t, std::string> producers;
  for (const ms::Node& node : model.nodes) {
    for (const uint32_t tensor : node.outputs) producers[tensor] = node.name;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const auto found = producers.find(model.outputs[i]);
    if (found != producers.end()) named_outputs_.emplace(found->second, i);
  }
}

MSStatus Model::MakeInterpreter() {
  const std::unique_ptr<TfLiteInterpreterOptions, ModelDeleter> options(
      TfLiteInterpreterOptionsCreate());
  if (options == nullptr) return Fail(kMSStatusLiteMemoryFailed, "out of memory");
  TfLiteInterpreterOptionsSetNumThreads(options.get(), ThreadCount());
  // The interpreter limits its own threads to the number of processors. A pool has the number of
  // threads that the context requests.
  std::unique_ptr<DeputyThreadPool, ModelDeleter> pool;
  if (context_->thread_count > static_cast<int32_t>(std::thread::hardware_concurrency())) {
    pool.reset(DeputyThreadPoolCreate(context_->thread_count));
    if (pool != nullptr) DeputyInterpreterOptionsSetThreadPool(options.get(), pool.get());
  }
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), ReportError, this);
  TfLiteInterpreterOptionsSetTelemetryProfiler(options.get(), &profiler_);
  if (context_->AllowsHalfOnCpu()) {
    DeputyInterpreterOptionsSetPrecision(options.get(), kDeputyPrecisionFloat16);
  }
  // A failing kernel must fail Predict, regardless of the policy in the environment.
  DeputyInterpreterOptionsSetDelegatePolicy(options.get(), kDeputyPolicyTfLite);
  reported_.clear();
  interpreter_.reset(TfLiteInterpreterCreate(model_->model.get(), options.get()));
  if (interpreter_ == nullptr) return FailedCall("the interpreter", kMSStatusLiteError);
  // Tensors are allocated now, because the delegate needs shapes. A delegate may still claim a
  // custom operator without a kernel.
  const TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter_.get());
  if (status == kTfLiteOk) return kMSStatusSuccess;
  if (status == kTfLiteUnresolvedOps && (MayBeClaimed() || MayUseRegisteredKernels())) {
    return kMSStatusSuccess;
  }
  return FailedCall(
      "Build", status == kTfLiteUnresolvedOps ? kMSStatusLiteNotFindOp : kMSStatusLiteInferError);
}

// Applies the context's delegate, or that of a device if the context has none, then the TensorFlow
// Lite delegates, and then the registered kernels.
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
  if (status != kTfLiteUnresolvedOps) return FailedCall("Build", kMSStatusLiteError);
  return model_->unmapped.empty() ? FailedCall("Build", kMSStatusLiteNotFindOp) : FailUnclaimed();
}

MSStatus Model::FailUnclaimed() {
  std::string text;
  for (const ms::UnmappedNode& node : model_->unmapped) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    const TfLiteStatus status = DeputyInterpreterGetNodeInfo(interpreter_.get(), 0, node.op, &info);
    if (status == kTfLiteOk && info.plan_position >= 0) text += "; " + node.text;
  }
  if (text.empty()) return FailedCall("Build", kMSStatusLiteNotFindOp);
  return Fail(kMSStatusLiteNotFindOp, "Build: no delegate has claimed a node without a kernel%s",
              text.c_str());
}

MSStatus Model::ApplyDelegate(TfLiteDelegate* delegate) {
  reported_.clear();
  ClearFailures();
  if (TfLiteInterpreterModifyGraphWithDelegate(interpreter_.get(), delegate) == kTfLiteOk) {
    return kMSStatusSuccess;
  }
  return FailedCall("Build", kMSStatusLiteError);
}

bool Model::MayBeClaimed() const {
  return adapter_ != nullptr || !context_->tflite_delegates.empty() ||
         Registry::Get().MayMatch(*context_, {});
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

// Applies the delegate of the first device that is available: an NPU, then a GPU, then other
// devices. If none is available, the model runs on the CPU.
MSStatus Model::ApplyDeviceDelegate() {
  std::vector<int> types = {kMSDeviceTypeKirinNPU, kMSDeviceTypeGPU};
  for (int type = kAscend; type < kAllDevices; ++type) types.push_back(type);
  for (const int type : types) {
    for (const auto& device : context_->devices) {
      if (static_cast<int>(device->type) != type) continue;
      std::string problem;
      device_delegate_.reset(CreateDeviceDelegate(*device, config_, &problem));
      tried_devices_.insert(device.get());
      if (device_delegate_ != nullptr) return ApplyDelegate(device_delegate_.get());
      absent_device_ = std::string("device ") + device->name() + ": " + problem;
      Log(kDeputyMSLogWarning, "device %s: not supported (-7): %s", device->name(),
          problem.c_str());
    }
  }
  return kMSStatusSuccess;
}

// Logs the settings of devices whose libraries are not used. Those of an absent device are not
// logged, since the device is.
void Model::LogUnusedDevices() const {
  const char* const reason = adapter_ == nullptr ? "another device of the context is used"
                                                 : "the context has a delegate, whose kernels "
                                                   "receive the context";
  for (const auto& device : context_->devices) {
    if (tried_devices_.count(device.get()) == 0) LogUnusedSettings(*device, reason);
  }
}

// Logs a warning if half precision is permitted, but no operator of the model uses it.
void Model::CheckHalfPrecision() const {
  if (!context_->AllowsHalfOnCpu()) return;
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter_.get(), 0); ++node) {
    DeputyNodeRun run = {};
    run.struct_size = sizeof run;
    if (DeputyInterpreterGetNodeRun(interpreter_.get(), 0, node, &run) != kTfLiteOk) continue;
    const std::string_view name = run.implementation == nullptr ? "" : run.implementation;
    if (name.ends_with("_bf16") || name.ends_with("_fp16")) return;
  }
  Log(kDeputyMSLogWarning,
      "device CPU: SetEnableFP16(true) has no effect: this processor computes no operator of the "
      "model in half precision");
}

// Checks the placement of the nodes: if the context has no CPU device, every node must run on a
// delegate.
MSStatus Model::CheckPlacement() {
  if (context_->HasCpu()) return kMSStatusSuccess;
  const TfLiteInterpreter* interpreter = interpreter_.get();
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter, 0); ++node) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter, 0, node, &info) != kTfLiteOk) continue;
    if (info.plan_position < 0 || info.builtin_code == kTfLiteBuiltinDelegate) continue;
    return Fail(absent_device_.empty() ? kMSStatusLiteError : kMSStatusLiteNotSupport,
                "Build: no delegate runs node %d %s, and the context has no CPU device%s%s", node,
                info.operator_name, absent_device_.empty() ? "" : "; ", absent_device_.c_str());
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
  tensors_ = std::make_unique<InterpreterTensors>(
      interpreter,
      adapter_ == nullptr ? std::make_shared<DeviceAddresses>() : adapter_->addresses());
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
  named_outputs_.clear();
  found_outputs_.clear();
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

const std::vector<MSTensorHandle>& Model::OutputsOfNode(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  static const std::vector<MSTensorHandle> none;
  if (interpreter_ == nullptr) return none;
  const auto known = found_outputs_.find(name);
  if (known != found_outputs_.end()) return known->second;
  std::vector<MSTensorHandle> found;
  const auto [first, last] = named_outputs_.equal_range(name);
  for (auto row = first; row != last; ++row) found.push_back(outputs_[row->second]);
  for (int node = 0; node < DeputyInterpreterGetNodeCount(interpreter_.get(), 0); ++node) {
    if (ViewOf(node).name != name) continue;
    for (const MSTensorHandle tensor : ViewOf(node).outputs) {
      const bool is_output = std::find(outputs_.begin(), outputs_.end(), tensor) != outputs_.end();
      if (is_output && std::find(found.begin(), found.end(), tensor) == found.end()) {
        found.push_back(tensor);
      }
    }
  }
  return found.empty() ? none : found_outputs_.emplace(name, std::move(found)).first->second;
}

// ---- Configuration ------------------------------------------------------------------------------

MSStatus Model::LoadConfig(const char* path) {
  const std::scoped_lock lock(mutex_);
  if (interpreter_ != nullptr) return Fail(kMSStatusLiteError, "LoadConfig: the model is built");
  return config_.Load(path);
}

MSStatus Model::UpdateConfig(const char* section, const char* key, const char* value) {
  const std::scoped_lock lock(mutex_);
  if (interpreter_ != nullptr) return Fail(kMSStatusLiteError, "UpdateConfig: the model is built");
  if (section == nullptr || key == nullptr || value == nullptr) {
    return Fail(kMSStatusLiteNullptr, "UpdateConfig: an argument is NULL");
  }
  return config_.Update(section, key, value);
}

}  // namespace deputy::ms_api
