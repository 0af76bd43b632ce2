// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/runner.h"

#include <algorithm>
#include <utility>

#include "deputy/deputy_process.h"
#include "mindspore/src/log.h"

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

// Returns the number of workers, or 0 after reporting an error.
int32_t WorkerCountOf(int32_t wanted, const Context& context) {
  if (wanted < 0 || wanted > DEPUTY_MS_RUNNER_MAX_WORKERS) {
    Fail(kMSStatusLiteParamInvalid, "Init: expected 0 to %d workers, found %d",
         DEPUTY_MS_RUNNER_MAX_WORKERS, wanted);
    return 0;
  }
  if (wanted > 0) return wanted;
  const auto processors = DeputyGetProcessorCount();
  return std::clamp(processors / std::max(context.ThreadCount(), 1), 1,
                    int{DEPUTY_MS_RUNNER_MAX_WORKERS});
}

// Writes a result to a tensor of the caller.
MSStatus CopyOutput(size_t index, Tensor* result, Tensor* out) {
  const std::string name = result->name();
  if (out->is_view() || out->type() != result->type()) {
    return Fail(kMSStatusLiteParamInvalid,
                "Predict: output %zu '%s': expected a tensor of the caller of type %d, found %s of "
                "type %d",
                index, name.c_str(), result->type(), out->is_view() ? "a model's tensor" : "one",
                out->type());
  }
  const size_t size = result->byte_size();
  if (out->is_borrowing() && out->byte_size() < size) {
    return Fail(kMSStatusLiteParamInvalid,
                "Predict: output %zu '%s': expected memory of %zu bytes, found %zu", index,
                name.c_str(), size, out->byte_size());
  }
  const std::span<const int64_t> shape = result->shape();
  out->set_shape(std::vector<int64_t>(shape.begin(), shape.end()));
  if (out->CopyIn(result->data(), size)) return kMSStatusSuccess;
  return Fail(kMSStatusLiteMemoryFailed, "Predict: output %zu '%s': no memory for %zu bytes", index,
              name.c_str(), size);
}

// Copies the results to `outputs`. New tensors are added to the array when all copies have
// succeeded.
MSStatus CopyOutputs(const std::vector<MSTensorHandle>& results,
                     std::span<MSTensorHandle> outputs) {
  std::vector<std::unique_ptr<Tensor>> created(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor* const result = Tensor::Of(results[i]);
    Tensor* out = Tensor::Of(outputs[i]);
    if (ElementSize(result->type()) == 0) {
      return Fail(kMSStatusLiteNotSupport,
                  "Predict: output %zu '%s' has type %d, which has no size", i,
                  result->name().c_str(), result->type());
    }
    if (out == nullptr) {
      created[i] = std::make_unique<Tensor>(result->name(), result->type(), std::vector<int64_t>());
      created[i]->set_format(result->format());
      created[i]->set_quantization(result->quantization());
      out = created[i].get();
    }
    const MSStatus status = CopyOutput(i, result, out);
    if (status != kMSStatusSuccess) return status;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (created[i] != nullptr) outputs[i] = created[i].release();
  }
  return kMSStatusSuccess;
}

// Resizes a worker if the shapes of its inputs are not those of the request.
MSStatus ResizeFor(Model* worker, const MSTensorHandleArray& inputs) {
  const std::vector<MSTensorHandle>& own = worker->inputs();
  if (inputs.handle_num != own.size()) return kMSStatusSuccess;  // Predict reports the error
  bool is_equal = true;
  std::vector<MSShapeInfo> shapes(own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    if (inputs.handle_list[i] == nullptr) return kMSStatusSuccess;
    const std::span<const int64_t> wanted = Tensor::Of(inputs.handle_list[i])->shape();
    const std::span<const int64_t> current = Tensor::Of(own[i])->shape();
    is_equal = is_equal && std::equal(wanted.begin(), wanted.end(), current.begin(), current.end());
    if (wanted.size() > MS_MAX_SHAPE_NUM) {
      return Fail(kMSStatusLiteInputTensorError, "Predict: input %zu has %zu dimensions", i,
                  wanted.size());
    }
    shapes[i].shape_num = wanted.size();
    std::copy(wanted.begin(), wanted.end(), shapes[i].shape);
  }
  return is_equal ? kMSStatusSuccess : worker->Resize(ArrayOf(own), shapes.data(), shapes.size());
}

// Runners whose requests are running on this thread, the innermost last.
thread_local std::vector<const DeputyMSRunner*> running_here;

}  // namespace

class DeputyMSRunner::Lease {
 public:
  explicit Lease(DeputyMSRunner* runner) : runner_(runner) {
    if (std::find(running_here.begin(), running_here.end(), runner) != running_here.end()) {
      status_ = Fail(kMSStatusLiteReentrantError, "Predict: called in a callback of this runner");
      return;
    }
    running_here.reserve(running_here.size() + 1);
    status_ = runner->Acquire(&worker_);
    if (worker_ != nullptr) running_here.push_back(runner);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (worker_ == nullptr) return;
    running_here.pop_back();
    runner_->Release(worker_);
  }

  MSStatus status() const { return status_; }
  Worker* worker() const { return worker_; }

 private:
  DeputyMSRunner* const runner_;
  Worker* worker_ = nullptr;
  MSStatus status_ = kMSStatusSuccess;
};

DeputyMSRunner::~DeputyMSRunner() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  for (Waiter* waiter : waiting_) waiter->ready.notify_one();
  waiting_.clear();
  no_calls_.wait(lock, [this] { return calls_ == 0; });
}

// ---- Init ---------------------------------------------------------------------------------------

MSStatus DeputyMSRunner::Init(const Source& source, MSContextHandle handle, int32_t worker_count) {
  const std::scoped_lock init_lock(init_mutex_);
  if (this->worker_count() > 0) {
    Log(kDeputyMSLogWarning, "Init: the runner has a model; the call has no effect");
    return kMSStatusSuccess;
  }
  std::unique_ptr<Context, ModelDeleter> context(handle == nullptr ? new Context
                                                                   : Context::Of(handle));
  context->Adopt();
  if (handle == nullptr) {
    context->devices.push_back(std::make_unique<DeviceInfo>(kMSDeviceTypeCPU));
  }
  workers_.clear();
  context_ = std::move(context);
  const int32_t count = WorkerCountOf(worker_count, *context_);
  if (count == 0) return kMSStatusLiteParamInvalid;
  if (count > 1 && !context_->tflite_delegates.empty()) {
    return Fail(kMSStatusLiteNotSupport,
                "Init: the context has a TensorFlow Lite delegate, which %d workers cannot share; "
                "use 1 worker, or a delegate of MindSpore's interface",
                count);
  }
  const MSStatus status = BuildWorkers(source, count);
  if (status != kMSStatusSuccess) workers_.clear();
  return status;
}

MSStatus DeputyMSRunner::BuildWorkers(const Source& source, int32_t count) {
  const auto processors = DeputyGetProcessorCount();
  for (int32_t i = 0; i < count; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->set_config(config_);
    worker->set_worker(static_cast<size_t>(i), static_cast<size_t>(count));
    worker->set_default_threads(std::max(processors / count, 1));
    MSStatus status = kMSStatusSuccess;
    if (i > 0) {
      status = worker->BuildLike(*workers_[0]);
    } else if (source.path != nullptr) {
      status = worker->BuildFromFile(source.path, kMSModelTypeMindIR, context_.get());
    } else {
      status = worker->Build(source.data, source.size, kMSModelTypeMindIR, context_.get());
    }
    if (status != kMSStatusSuccess) {
      const std::string text = DeputyMSLastError();
      return Fail(status, "Init: worker %d of %d: %s", i + 1, count, text.c_str());
    }
    workers_.push_back(std::move(worker));
  }
  const std::scoped_lock lock(mutex_);
  inputs_ = InfosOf(workers_[0]->inputs());
  outputs_ = InfosOf(workers_[0]->outputs());
  idle_.clear();
  for (const auto& worker : workers_) idle_.push_back(worker.get());
  initialized_ = true;
  return kMSStatusSuccess;
}

std::vector<DeputyMSRunner::TensorInfo> DeputyMSRunner::InfosOf(
    const std::vector<MSTensorHandle>& tensors) {
  std::vector<TensorInfo> infos;
  for (MSTensorHandle handle : tensors) {
    Tensor* const tensor = Tensor::Of(handle);
    const std::span<const int64_t> shape = tensor->shape();
    infos.push_back({tensor->name(), tensor->type(), tensor->format(),
                     std::vector<int64_t>(shape.begin(), shape.end()), tensor->quantization()});
  }
  return infos;
}

void DeputyMSRunner::SetConfig(const Config& config) {
  const std::scoped_lock init_lock(init_mutex_);
  config_ = config;
}

size_t DeputyMSRunner::worker_count() const {
  const std::scoped_lock lock(mutex_);
  return initialized_ ? workers_.size() : 0;
}

size_t DeputyMSRunner::input_count() const {
  const std::scoped_lock lock(mutex_);
  return inputs_.size();
}

size_t DeputyMSRunner::output_count() const {
  const std::scoped_lock lock(mutex_);
  return outputs_.size();
}

MSTensorHandle DeputyMSRunner::CreateInput(size_t index) const {
  const std::scoped_lock lock(mutex_);
  return CreateTensor(inputs_, index);
}

MSTensorHandle DeputyMSRunner::CreateOutput(size_t index) const {
  const std::scoped_lock lock(mutex_);
  return CreateTensor(outputs_, index);
}

MSTensorHandle DeputyMSRunner::CreateTensor(const std::vector<TensorInfo>& infos, size_t index) {
  if (index >= infos.size()) {
    Fail(kMSStatusLiteOutOfTensorRange, "tensor %zu: the runner has %zu of this kind", index,
         infos.size());
    return nullptr;
  }
  const TensorInfo& info = infos[index];
  auto tensor = std::make_unique<Tensor>(info.name, info.type, info.shape);
  tensor->set_format(info.format);
  tensor->set_quantization(info.quantization);
  return tensor.release();
}

// ---- Predict ------------------------------------------------------------------------------------

MSStatus DeputyMSRunner::Predict(const MSTensorHandleArray& inputs,
                                 std::span<MSTensorHandle> outputs, const Callbacks& callbacks) {
  const Lease lease(this);
  if (lease.status() != kMSStatusSuccess) return lease.status();
  Worker* const worker = lease.worker();
  const std::vector<MSTensorHandle>& results = worker->outputs();
  if (outputs.size() != results.size()) {
    return Fail(kMSStatusLiteParamInvalid, "Predict: expected %zu outputs, found %zu",
                results.size(), outputs.size());
  }
  if (const MSStatus status = ResizeFor(worker, inputs); status != kMSStatusSuccess) return status;
  const MSStatus status = worker->Predict(inputs, nullptr, callbacks);
  return status == kMSStatusSuccess ? CopyOutputs(results, outputs) : status;
}

MSStatus DeputyMSRunner::Acquire(Worker** out_worker) {
  std::unique_lock lock(mutex_);
  if (!initialized_) {
    return Fail(kMSStatusLiteUninitializedObj, "Predict: the runner has no model; call Init first");
  }
  if (idle_.empty() && waiting_.size() >= DEPUTY_MS_RUNNER_MAX_WAITING) {
    return Fail(kMSStatusLiteServiceDeny, "Predict: %zu requests are waiting", waiting_.size());
  }
  ++calls_;
  if (!idle_.empty()) {
    *out_worker = idle_.back();
    idle_.pop_back();
    return kMSStatusSuccess;
  }
  Waiter self;
  waiting_.push_back(&self);
  self.ready.wait(lock, [&] { return self.worker != nullptr || closing_; });
  *out_worker = self.worker;
  if (self.worker != nullptr) return kMSStatusSuccess;
  const MSStatus status =
      Fail(kMSStatusLiteServiceDeny, "Predict: the runner was destroyed while the request waited");
  if (--calls_ == 0) no_calls_.notify_one();
  return status;
}

// Passes the worker to the request that has waited longest, if there is one. Notifies under the
// lock, because the waiter and the runner may be destroyed once it is free.
void DeputyMSRunner::Release(Worker* worker) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.empty()) {
    idle_.push_back(worker);
  } else {
    waiting_.front()->worker = worker;
    waiting_.front()->ready.notify_one();
    waiting_.pop_front();
  }
  if (--calls_ == 0) no_calls_.notify_one();
}

// ---- The C API ----------------------------------------------------------------------------------

DeputyMSRunner* DeputyMSRunnerCreate() { return new (std::nothrow) DeputyMSRunner; }

void DeputyMSRunnerDestroy(DeputyMSRunner** runner) {
  if (runner == nullptr) return;
  delete *runner;  // before the pointer changes, which requests may still be reading
  *runner = nullptr;
}

namespace {

MSStatus InitRunner(DeputyMSRunner* runner, const DeputyMSRunner::Source& source,
                    MSContextHandle context, int32_t workers) {
  if (runner == nullptr) return Fail(kMSStatusLiteNullptr, "Init: the runner is NULL");
  return Guard([&] { return runner->Init(source, context, workers); });
}

}  // namespace

MSStatus DeputyMSRunnerInit(DeputyMSRunner* runner, const void* model_data, size_t data_size,
                            MSContextHandle context, int32_t workers) {
  return InitRunner(runner, {.data = model_data, .size = data_size}, context, workers);
}

MSStatus DeputyMSRunnerInitFromFile(DeputyMSRunner* runner, const char* model_path,
                                    MSContextHandle context, int32_t workers) {
  return InitRunner(runner, {.path = model_path == nullptr ? "" : model_path}, context, workers);
}

MSStatus DeputyMSRunnerSetConfig(DeputyMSRunner* runner, const MSModelHandle model) {
  if (runner == nullptr || model == nullptr) {
    return Fail(kMSStatusLiteNullptr, "SetConfig: the runner or the model is NULL");
  }
  return Guard([&] { return runner->SetConfig(Model::Of(model)->config()), kMSStatusSuccess; });
}

size_t DeputyMSRunnerWorkerCount(DeputyMSRunner* runner) {
  return runner == nullptr ? 0 : runner->worker_count();
}

size_t DeputyMSRunnerInputCount(DeputyMSRunner* runner) {
  return runner == nullptr ? 0 : runner->input_count();
}

size_t DeputyMSRunnerOutputCount(DeputyMSRunner* runner) {
  return runner == nullptr ? 0 : runner->output_count();
}

MSTensorHandle DeputyMSRunnerCreateInput(DeputyMSRunner* runner, size_t index) {
  if (runner == nullptr) return nullptr;
  return Contain<MSTensorHandle>(nullptr, nullptr, [&] { return runner->CreateInput(index); });
}

MSTensorHandle DeputyMSRunnerCreateOutput(DeputyMSRunner* runner, size_t index) {
  if (runner == nullptr) return nullptr;
  return Contain<MSTensorHandle>(nullptr, nullptr, [&] { return runner->CreateOutput(index); });
}

MSStatus DeputyMSRunnerPredict(DeputyMSRunner* runner, const MSTensorHandleArray inputs,
                               MSTensorHandle* outputs, size_t output_num,
                               DeputyMSKernelCallBack before, DeputyMSKernelCallBack after,
                               void* user_data) {
  if (runner == nullptr || (outputs == nullptr && output_num > 0)) {
    return Fail(kMSStatusLiteNullptr, "Predict: the runner or the array of outputs is NULL");
  }
  return Guard([&] {
    return runner->Predict(inputs, {outputs, output_num}, {before, after, user_data});
  });
}
