// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/async_tasks.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/handles.h"

namespace deputy::gpu_cl {
namespace {

std::string InTensor(int tensor, const std::string& problem) {
  return "tensor " + std::to_string(tensor) + ": " + problem;
}

// Returns `waited`, or the failure of a client's event that has caused it.
ClStatus CauseOf(const ClApi& api, const std::vector<ClEvent>& events, ClStatus waited) {
  for (const ClEvent& event : events) {
    cl_int code = CL_COMPLETE;
    const cl_int found = api.GetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                          sizeof code, &code, nullptr);
    if (found != CL_SUCCESS || code >= 0) continue;
    return {CL_INVALID_EVENT, "the event of an input has failed: " + ClErrorName(code)};
  }
  return waited;
}

}  // namespace

std::optional<SyncType> SyncTypeOf(const DeputyAsyncRuntime& runtime,
                                   const TfLiteAttributeMap* attributes) {
  const char* given = nullptr;
  const auto key = kTfLiteSynchronizationAttrKeyObjectTypeName;
  if (!runtime.get_sync_string(attributes, key, &given) || given == nullptr) {
    return SyncType::kNone;
  }
  const std::string_view type = given;
  if (type == kNoSyncType) return SyncType::kNone;
  if (type == kClEventType) return SyncType::kClEvent;
  if (type == kEventFdType) return SyncType::kEventFd;
  return std::nullopt;
}

std::string BufferTypeOf(const DeputyAsyncRuntime& runtime, const TfLiteAttributeMap* attributes) {
  const char* type = nullptr;
  if (!runtime.get_string(attributes, kTfLiteBufferAttrKeyResourceTypeName, &type) ||
      type == nullptr) {
    return "";
  }
  return std::string_view(type) == kHostMemoryType || std::string_view(type) == kClMemType ? type
                                                                                           : "";
}

AsyncTasks::AsyncTasks(Partition* partition, const DeputyAsyncRuntime& runtime)
    : partition_(partition), runtime_(runtime) {
  const compiler::Graph& graph = partition->executor->graph();
  const auto tensor = [&](compiler::ValueId id) {
    return AsyncTensor{graph.value(id).tensor, graph.value(id).bytes()};
  };
  for (const compiler::ValueId id : graph.inputs) inputs_.push_back(tensor(id));
  for (const compiler::ValueId id : graph.outputs) outputs_.push_back(tensor(id));
}

AsyncTasks::~AsyncTasks() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
    if (stop_) SignalEvent(*stop_);
  }
  if (thread_.joinable()) thread_.join();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiters_ == 0; });
  }
  for (const auto& [task, execution] : executions_) {
    if (execution->state != Execution::State::kSubmitted) continue;
    cl_event done = execution->submission.done.get();
    End(ClCall("clWaitForEvents", api().WaitForEvents(1, &done)), execution.get());
  }
  // A callback must not run after the library is unloaded. A lost device may never call it.
  if (!owner().context->lost()) callbacks_.Await();
}

// ---- Buffers ------------------------------------------------------------------------------------

// Adds a buffer; `memory` is its OpenCL buffer or null.
std::string AsyncTasks::MakeBuffer(AsyncBuffer buffer, cl_mem memory, size_t offset,
                                   TfLiteBufferHandle handle) {
  if (memory != nullptr) {
    auto adopted = std::make_shared<DeviceBuffer>();
    adopted->offset = offset;
    adopted->bytes = buffer.bytes;
    adopted->from_client = true;
    std::string problem = Adopt(*owner().context, memory, adopted.get());
    if (!problem.empty()) return problem;
    buffer.device = std::move(adopted);
  }
  const std::lock_guard lock(mutex_);
  if (buffers_.emplace(handle, std::move(buffer)).second) return "";
  return "buffer handle " + std::to_string(handle) + " is in use";
}

std::string AsyncTasks::RegisterBuffer(const TfLiteBackendBuffer* backend,
                                       const TfLiteAttributeMap* attributes,
                                       TfLiteBufferHandle handle) {
  void* const pointer = runtime_.buffer_ptr(backend);
  const std::string type = BufferTypeOf(runtime_, attributes);
  AsyncBuffer buffer;
  size_t offset = 0;
  if (type.empty() || pointer == nullptr ||
      !runtime_.get_size(attributes, kTfLiteBufferAttrKeySize, &buffer.bytes)) {
    return "expected a buffer of the type host_memory or cl_mem with address and size";
  }
  (void)runtime_.get_size(attributes, kTfLiteBufferAttrKeyOffset, &offset);
  if (type == kClMemType) {
    return MakeBuffer(std::move(buffer), static_cast<cl_mem>(pointer), offset, handle);
  }
  buffer.host = static_cast<char*>(pointer) + offset;
  return MakeBuffer(std::move(buffer), nullptr, 0, handle);
}

std::string AsyncTasks::RegisterSlice(TfLiteBufferHandle pool, const TfLiteAttributeMap* attributes,
                                      TfLiteBufferHandle handle) {
  AsyncBuffer slice, whole;
  size_t offset = 0;
  const bool has_range = runtime_.get_size(attributes, kTfLiteBufferAttrKeyOffset, &offset) &&
                         runtime_.get_size(attributes, kTfLiteBufferAttrKeySize, &slice.bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(pool);
    if (!has_range || found == buffers_.end() || found->second.is_slice ||
        offset > found->second.bytes || slice.bytes > found->second.bytes - offset) {
      return "expected a slice within a registered buffer";
    }
    whole = found->second;
  }
  slice.is_slice = true;
  if (whole.device != nullptr) {
    return MakeBuffer(std::move(slice), whole.device->memory.get(), whole.device->offset + offset,
                      handle);
  }
  slice.host = whole.host + offset;
  return MakeBuffer(std::move(slice), nullptr, 0, handle);
}

std::string AsyncTasks::UnregisterBuffer(TfLiteBufferHandle handle) {
  AsyncBuffer removed;  // released after the mutex
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(handle);
  if (found == buffers_.end()) {
    return "expected a registered buffer, found handle " + std::to_string(handle);
  }
  removed = std::move(found->second);
  buffers_.erase(found);
  return "";
}

// ---- Attributes ---------------------------------------------------------------------------------

std::string AsyncTasks::SetAttributes(int tensor, const TfLiteAttributeMap* attributes) {
  const auto is_tensor = [&](const AsyncTensor& one) { return one.index == tensor; };
  if (std::none_of(inputs_.begin(), inputs_.end(), is_tensor) &&
      std::none_of(outputs_.begin(), outputs_.end(), is_tensor)) {
    return InTensor(tensor, "expected an input or output of the partition");
  }
  if (runtime_.is_buffer_map(attributes)) {
    return BufferTypeOf(runtime_, attributes).empty()
               ? InTensor(tensor, "expected the type host_memory or cl_mem")
               : "";
  }
  const std::optional<SyncType> type = SyncTypeOf(runtime_, attributes);
  if (!type) return InTensor(tensor, "expected the type no_sync_obj, cl_event or eventfd");
  const std::lock_guard lock(mutex_);
  syncs_[tensor] = *type;
  return "";
}

// ---- Tasks --------------------------------------------------------------------------------------

std::string AsyncTasks::FindBuffer(const TfLiteExecutionTask* task, const AsyncTensor& tensor,
                                   AsyncBuffer* out_buffer) const {
  if (tensor.bytes == 0) return "";
  const TfLiteBufferHandle handle = runtime_.task_buffer(task, tensor.index);
  const auto found = buffers_.find(handle);
  if (found == buffers_.end()) {
    return InTensor(tensor.index,
                    "expected a registered buffer, found handle " + std::to_string(handle));
  }
  if (found->second.bytes < tensor.bytes) {
    return InTensor(tensor.index, "expected a buffer of at least " + std::to_string(tensor.bytes) +
                                      " bytes, found " + std::to_string(found->second.bytes));
  }
  *out_buffer = found->second;
  return "";
}

std::string AsyncTasks::FindBuffers(const TfLiteExecutionTask* task, Execution* execution) const {
  std::string problem;
  for (size_t i = 0; i < inputs_.size() && problem.empty(); ++i) {
    AsyncBuffer buffer;
    problem = FindBuffer(task, inputs_[i], &buffer);
    execution->inputs.push_back({buffer.host, std::move(buffer.device)});
  }
  for (size_t i = 0; i < outputs_.size() && problem.empty(); ++i) {
    AsyncBuffer buffer;
    problem = FindBuffer(task, outputs_[i], &buffer);
    execution->outputs.push_back({buffer.host, std::move(buffer.device)});
  }
  return problem;
}

// Returns the type of the task's object for a tensor; kNone without an object.
SyncType AsyncTasks::SyncOf(const TfLiteExecutionTask* task, const AsyncTensor& tensor,
                            TfLiteSynchronization** out_sync) const {
  const auto type = syncs_.find(tensor.index);
  *out_sync = runtime_.task_sync(task, tensor.index);
  return *out_sync == nullptr || type == syncs_.end() ? SyncType::kNone : type->second;
}

// Adds references to the events and descriptors of inputs, whose objects stay unchanged.
std::string AsyncTasks::AddInputSyncs(const TfLiteExecutionTask* task, Execution* execution) const {
  execution->eventfds.reserve(inputs_.size());
  execution->events.reserve(inputs_.size());
  TfLiteSynchronization* sync = nullptr;
  for (const AsyncTensor& tensor : inputs_) {
    const SyncType type = SyncOf(task, tensor, &sync);
    void* const pointer = type == SyncType::kNone ? nullptr : runtime_.sync_ptr(sync);
    if (pointer == nullptr) continue;
    if (type == SyncType::kEventFd) {
      const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(pointer));
      execution->eventfds.push_back(CopyOf(descriptor));
      if (execution->eventfds.back().get() >= 0) continue;
      return InTensor(tensor.index,
                      "expected an eventfd, found descriptor " + std::to_string(descriptor));
    }
    auto* const event = static_cast<cl_event>(pointer);
    const ClStatus status = ClCall("clRetainEvent", api().RetainEvent(event));
    if (!status.ok()) return InTensor(tensor.index, status.text);
    execution->events.emplace_back(&api(), event);
  }
  return "";
}

// Stores descriptors in the objects of outputs. The client owns them, also if a later object fails.
std::string AsyncTasks::AddOutputSyncs(const TfLiteExecutionTask* task,
                                       Execution* execution) const {
  execution->event_outputs.reserve(outputs_.size());
  TfLiteSynchronization* sync = nullptr;
  for (const AsyncTensor& tensor : outputs_) {
    const SyncType type = SyncOf(task, tensor, &sync);
    if (type == SyncType::kClEvent) execution->event_outputs.push_back(sync);
    if (type != SyncType::kEventFd) continue;
    const int descriptor = execution->signal->Add();
    if (descriptor < 0) return InTensor(tensor.index, "no descriptor for an eventfd");
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    runtime_.set_sync_ptr(sync, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)));
  }
  const bool must_wait = !execution->eventfds.empty() || !waiting_.empty();
  if (execution->event_outputs.empty() || !must_wait) return "";
  return "a cl_event of an output requires that this and all earlier tasks do not wait for an "
         "eventfd";
}

// Removes the events and descriptors from the objects of inputs, when the task has started.
void AsyncTasks::TakeInputSyncs(const TfLiteExecutionTask* task) const {
  TfLiteSynchronization* sync = nullptr;
  for (const AsyncTensor& tensor : inputs_) {
    const SyncType type = SyncOf(task, tensor, &sync);
    void* const pointer = type == SyncType::kNone ? nullptr : runtime_.sync_ptr(sync);
    if (pointer == nullptr) continue;
    runtime_.set_sync_ptr(sync, nullptr);
    if (type == SyncType::kClEvent) {
      (void)api().ReleaseEvent(static_cast<cl_event>(pointer));
    } else {
      (void)Descriptor(static_cast<int>(reinterpret_cast<intptr_t>(pointer)));
    }
  }
}

// Enqueues the commands. After a failure none of them uses the task's memory.
ClStatus AsyncTasks::Submit(Execution* execution) {
  std::vector<cl_event> waits;
  for (const ClEvent& event : execution->events) waits.push_back(event.get());
  ClStatus status =
      SubmitRun(partition_, execution->inputs, execution->outputs, waits, &execution->submission);
  if (!status.ok()) return status;
  execution->state = Execution::State::kSubmitted;
  cl_event done = execution->submission.done.get();
  if (!execution->signal->empty()) status = callbacks_.SendAfter(api(), done, execution->signal);
  for (TfLiteSynchronization* const sync : execution->event_outputs) {
    if (status.ok()) status = ClCall("clRetainEvent", api().RetainEvent(done));
    if (status.ok()) runtime_.set_sync_ptr(sync, done);
  }
  if (status.ok()) return status;
  End(status, execution);
  return execution->status;
}

// Ends a submitted execution, for whose event the caller has waited.
void AsyncTasks::End(ClStatus waited, Execution* execution) {
  if (!waited.ok()) waited = CauseOf(api(), execution->events, std::move(waited));
  {
    const std::lock_guard lock(partition_->run_mutex);
    execution->status = partition_->executor->Complete(waited, &execution->submission);
  }
  execution->state = Execution::State::kEnded;
  execution->events.clear();
  execution->signal->Send();
}

std::string AsyncTasks::Eval(TfLiteExecutionTask* task) {
  (void)Await(task, true);
  auto execution = std::make_shared<Execution>();
  const std::lock_guard lock(mutex_);
  std::string problem = FindBuffers(task, execution.get());
  if (problem.empty()) problem = AddInputSyncs(task, execution.get());
  if (problem.empty()) problem = AddOutputSyncs(task, execution.get());
  if (problem.empty() && !execution->eventfds.empty()) problem = StartThread();
  if (!problem.empty()) return problem;
  executions_[task] = execution;
  if (!execution->eventfds.empty() || !waiting_.empty()) {
    waiting_.push_back(std::move(execution));
    changed_.notify_all();
    TakeInputSyncs(task);
    return "";
  }
  const ClStatus status = Submit(execution.get());
  if (status.ok()) {
    TakeInputSyncs(task);
  } else {
    executions_.erase(task);
  }
  return status.text;
}

ClStatus AsyncTasks::Await(TfLiteExecutionTask* task, bool deletes) {
  std::unique_lock lock(mutex_);
  const auto found = executions_.find(task);
  if (found == executions_.end()) return {CL_INVALID_OPERATION, ""};
  const std::shared_ptr<Execution> execution = found->second;
  ++waiters_;
  changed_.wait(lock,
                [&] { return is_stopping_ || execution->state != Execution::State::kWaiting; });
  ClStatus status = AwaitStarted(execution.get(), &lock);
  if (deletes) executions_.erase(task);
  --waiters_;
  changed_.notify_all();
  return status;
}

// Waits for the end of an execution that does not wait for a descriptor, and returns its status.
ClStatus AsyncTasks::AwaitStarted(Execution* execution, std::unique_lock<std::mutex>* lock) {
  if (execution->state == Execution::State::kWaiting) {
    return {CL_INVALID_EVENT, "the delegate was removed before an input's eventfd was signalled"};
  }
  if (execution->state == Execution::State::kSubmitted) {
    cl_event done = execution->submission.done.get();
    lock->unlock();
    ClStatus waited = ClCall("clWaitForEvents", api().WaitForEvents(1, &done));
    lock->lock();
    // Another thread may have waited, too.
    if (execution->state == Execution::State::kSubmitted) End(std::move(waited), execution);
  }
  ClStatus status = execution->status;
  if (std::exchange(execution->is_reported, true)) status.text.clear();
  return status;
}

// ---- Tasks that wait for descriptors ------------------------------------------------------------

std::string AsyncTasks::StartThread() {
  if (thread_.joinable()) return "";
  stop_.emplace(NewEvent());
  if (stop_->get() < 0) return "no descriptor for an eventfd";
  thread_ = std::thread([this] { SubmitWaiting(); });
  return "";
}

void AsyncTasks::SubmitWaiting() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::shared_ptr<Execution> execution = waiting_.front();
    lock.unlock();
    const bool is_ready = AwaitEvents(execution->eventfds, *stop_);
    lock.lock();
    if (is_stopping_) return;
    try {
      execution->status = is_ready
                              ? Submit(execution.get())
                              : ClStatus{CL_INVALID_EVENT, "cannot wait for an input's eventfd"};
    } catch (const std::exception& error) {
      execution->status = {CL_OUT_OF_HOST_MEMORY, error.what()};
    }
    if (!execution->status.ok()) {
      execution->state = Execution::State::kEnded;
      execution->signal->Send();
    }
    execution->eventfds.clear();
    waiting_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace deputy::gpu_cl
