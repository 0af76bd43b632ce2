// SPDX-License-Identifier: Apache-2.0
//
// Buffers and tasks of an asynchronous kernel (async.h).
#ifndef DEPUTY_GPU_CL_ASYNC_TASKS_H_
#define DEPUTY_GPU_CL_ASYNC_TASKS_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "deputy/deputy_plugin_async.h"
#include "gpu_cl/async_events.h"
#include "gpu_cl/partition.h"

namespace deputy::gpu_cl {

// Types of buffers and of synchronisation objects.
inline constexpr const char* kHostMemoryType = "host_memory";
inline constexpr const char* kClMemType = "cl_mem";
inline constexpr const char* kNoSyncType = "no_sync_obj";
inline constexpr const char* kClEventType = "cl_event";
inline constexpr const char* kEventFdType = "eventfd";

enum class SyncType { kNone, kClEvent, kEventFd };

// Returns the type of synchronisation objects in the attributes; kNone if they have none; nullopt
// if the type is not supported.
std::optional<SyncType> SyncTypeOf(const DeputyAsyncRuntime& runtime,
                                   const TfLiteAttributeMap* attributes);
// Returns the type of buffers in the attributes; "" if they have no supported one.
std::string BufferTypeOf(const DeputyAsyncRuntime& runtime, const TfLiteAttributeMap* attributes);

// An input or output of the partition.
struct AsyncTensor {
  int index = -1;
  size_t bytes = 0;
};

// A registered buffer or slice: host memory or a range of an OpenCL buffer.
struct AsyncBuffer {
  char* host = nullptr;
  std::shared_ptr<const DeviceBuffer> device;
  size_t bytes = 0;
  bool is_slice = false;
};

// The execution of a task.
struct Execution {
  enum class State { kWaiting, kSubmitted, kEnded };

  std::vector<InputLocation> inputs;
  std::vector<OutputLocation> outputs;
  std::vector<Descriptor> eventfds;                   // copies of those of inputs
  std::vector<ClEvent> events;                        // of inputs
  std::vector<TfLiteSynchronization*> event_outputs;  // objects of outputs that get `done`
  std::shared_ptr<EndSignal> signal = std::make_shared<EndSignal>();
  Submission submission;
  State state = State::kWaiting;
  ClStatus status;
  bool is_reported = false;
};

// Functions that return a text return "" or an error message. Thread-safe.
class AsyncTasks {
 public:
  // `partition` and `runtime` must outlive the object.
  AsyncTasks(Partition* partition, const DeputyAsyncRuntime& runtime);
  // Ends all tasks; those that wait for a descriptor are not computed.
  ~AsyncTasks();
  AsyncTasks(const AsyncTasks&) = delete;
  AsyncTasks& operator=(const AsyncTasks&) = delete;

  const GpuDelegate& owner() const { return *partition_->owner; }
  const DeputyAsyncRuntime& runtime() const { return runtime_; }

  std::string RegisterBuffer(const TfLiteBackendBuffer* backend,
                             const TfLiteAttributeMap* attributes, TfLiteBufferHandle handle);
  std::string RegisterSlice(TfLiteBufferHandle pool, const TfLiteAttributeMap* attributes,
                            TfLiteBufferHandle handle);
  std::string UnregisterBuffer(TfLiteBufferHandle handle);
  std::string SetAttributes(int tensor, const TfLiteAttributeMap* attributes);
  std::string Eval(TfLiteExecutionTask* task);
  // Waits for the end of the task's execution, and deletes the execution if `deletes`. Returns its
  // status, with the text only once; CL_INVALID_OPERATION if the task was not started.
  ClStatus Await(TfLiteExecutionTask* task, bool deletes);

 private:
  const ClApi& api() const { return owner().context->api(); }
  std::string MakeBuffer(AsyncBuffer buffer, cl_mem memory, size_t offset,
                         TfLiteBufferHandle handle);
  // Require the mutex.
  std::string FindBuffer(const TfLiteExecutionTask* task, const AsyncTensor& tensor,
                         AsyncBuffer* out_buffer) const;
  std::string FindBuffers(const TfLiteExecutionTask* task, Execution* execution) const;
  SyncType SyncOf(const TfLiteExecutionTask* task, const AsyncTensor& tensor,
                  TfLiteSynchronization** out_sync) const;
  std::string AddInputSyncs(const TfLiteExecutionTask* task, Execution* execution) const;
  std::string AddOutputSyncs(const TfLiteExecutionTask* task, Execution* execution) const;
  void TakeInputSyncs(const TfLiteExecutionTask* task) const;
  ClStatus AwaitStarted(Execution* execution, std::unique_lock<std::mutex>* lock);
  ClStatus Submit(Execution* execution);
  void End(ClStatus waited, Execution* execution);
  std::string StartThread();
  void SubmitWaiting();  // runs on the thread; acquires the mutex

  Partition* const partition_;
  const DeputyAsyncRuntime& runtime_;
  std::vector<AsyncTensor> inputs_, outputs_;
  EventCallbacks callbacks_;

  std::mutex mutex_;  // guards the members below; acquired before that of the partition
  std::condition_variable changed_;
  std::map<int, SyncType> syncs_;  // by tensor
  std::map<TfLiteBufferHandle, AsyncBuffer> buffers_;
  std::map<const TfLiteExecutionTask*, std::shared_ptr<Execution>> executions_;
  // Tasks that wait for a descriptor, and all that were started later.
  std::deque<std::shared_ptr<Execution>> waiting_;
  int waiters_ = 0;  // number of threads in Await
  bool is_stopping_ = false;
  std::optional<Descriptor> stop_;  // readable when is_stopping_; exists while the thread does
  std::thread thread_;              // submits the tasks of waiting_; started on demand
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_ASYNC_TASKS_H_
