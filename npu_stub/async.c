/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/async.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const char kHostMemory[] = "host_memory";
static const char kEventFd[] = "eventfd";

/* A registered buffer or slice. */
typedef struct Buffer {
  TfLiteBufferHandle handle;
  char* data;
  size_t bytes;
  bool is_slice;
} Buffer;

/* The execution of a task. Arrays are indexed by the inputs of the partition, then its outputs. */
typedef struct Execution {
  struct Execution *next_waiting, *next;
  void** memory;
  int* events; /* -1: none; descriptors to wait for, then those to signal */
  bool is_done;
  TfLiteStatus status;
} Execution;

struct NpuAsync {
  DeputyAsyncKernel kernel; /* first, so that both have one address */
  const DeputyAsyncRuntime* runtime;
  NpuPartition* partition;
  const NpuCompiled* compiled;
  NpuRunFunction run;
  int stop_event; /* becomes readable when the kernel is destroyed */
  pthread_t thread;

  pthread_mutex_t mutex; /* guards the members below */
  pthread_cond_t changed;
  bool is_stopping;
  bool* uses_events; /* by tensor, as Execution.memory: the client has set the type "eventfd" */
  Buffer* buffers;
  size_t buffer_count;
  Execution *first_waiting, *last_waiting;
  Execution* executions; /* existing executions */
};

static NpuAsync* AsyncOf(const TfLiteAsyncKernel* kernel) { return (NpuAsync*)(uintptr_t)kernel; }

static int32_t TensorCount(const NpuAsync* async) {
  return async->compiled->input_count + async->compiled->output_count;
}

/* Returns the boundary tensor at a position of the arrays. */
static const NpuBoundaryTensor* BoundaryAt(const NpuAsync* async, int32_t i) {
  const int32_t inputs = async->compiled->input_count;
  return i < inputs ? &async->compiled->inputs[i] : &async->compiled->outputs[i - inputs];
}

static TfLiteStatus Report(TfLiteOpaqueContext* opaque, const char* problem, int tensor) {
  TfLiteContext* context = (TfLiteContext*)opaque;
  context->ReportError(context, "NPU delegate: asynchronous execution: tensor %d: %s", tensor,
                       problem);
  return kTfLiteError;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* The following functions on buffers are called with the mutex locked. */

static Buffer* FindBuffer(NpuAsync* async, TfLiteBufferHandle handle) {
  for (size_t i = 0; i < async->buffer_count; ++i) {
    if (async->buffers[i].handle == handle) return &async->buffers[i];
  }
  return NULL;
}

static TfLiteStatus AddBuffer(NpuAsync* async, const Buffer* buffer) {
  if (FindBuffer(async, buffer->handle) != NULL) return kTfLiteError;
  Buffer* grown = realloc(async->buffers, (async->buffer_count + 1) * sizeof *grown);
  if (grown == NULL) return kTfLiteError;
  async->buffers = grown;
  grown[async->buffer_count++] = *buffer;
  return kTfLiteOk;
}

static bool HasHostMemory(const NpuAsync* async, const TfLiteAttributeMap* attributes) {
  const char* type = NULL;
  return async->runtime->get_string(attributes, kTfLiteBufferAttrKeyResourceTypeName, &type) &&
         type != NULL && strcmp(type, kHostMemory) == 0;
}

static TfLiteStatus RegisterBuffer(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                   TfLiteIoType io_type, const TfLiteBackendBuffer* backend,
                                   const TfLiteAttributeMap* attributes,
                                   TfLiteBufferHandle handle) {
  NpuAsync* async = AsyncOf(kernel);
  const DeputyAsyncRuntime* runtime = async->runtime;
  size_t size = 0, offset = 0;
  (void)io_type;
  char* data = runtime->buffer_ptr(backend);
  if (!HasHostMemory(async, attributes) || data == NULL ||
      !runtime->get_size(attributes, kTfLiteBufferAttrKeySize, &size)) {
    return Report(context, "expected a buffer of the type host_memory with address and size", -1);
  }
  (void)runtime->get_size(attributes, kTfLiteBufferAttrKeyOffset, &offset);
  const Buffer buffer = {handle, data + offset, size, false};
  pthread_mutex_lock(&async->mutex);
  const TfLiteStatus status = AddBuffer(async, &buffer);
  pthread_mutex_unlock(&async->mutex);
  return status;
}

static TfLiteStatus RegisterSlice(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  TfLiteBufferHandle pool, const TfLiteAttributeMap* attributes,
                                  TfLiteBufferHandle handle) {
  NpuAsync* async = AsyncOf(kernel);
  const DeputyAsyncRuntime* runtime = async->runtime;
  size_t offset = 0, size = 0;
  const bool has_range = runtime->get_size(attributes, kTfLiteBufferAttrKeyOffset, &offset) &&
                         runtime->get_size(attributes, kTfLiteBufferAttrKeySize, &size);
  TfLiteStatus status = kTfLiteError;
  pthread_mutex_lock(&async->mutex);
  const Buffer* whole = FindBuffer(async, pool);
  if (has_range && whole != NULL && !whole->is_slice && offset <= whole->bytes &&
      size <= whole->bytes - offset) {
    const Buffer slice = {handle, whole->data + offset, size, true};
    status = AddBuffer(async, &slice);
  }
  pthread_mutex_unlock(&async->mutex);
  return status == kTfLiteOk ? status : Report(context, "expected a slice within a buffer", -1);
}

static TfLiteStatus UnregisterBuffer(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                     TfLiteBufferHandle handle) {
  NpuAsync* async = AsyncOf(kernel);
  pthread_mutex_lock(&async->mutex);
  Buffer* buffer = FindBuffer(async, handle);
  const bool is_found = buffer != NULL;
  if (is_found) *buffer = async->buffers[--async->buffer_count];
  pthread_mutex_unlock(&async->mutex);
  return is_found ? kTfLiteOk : Report(context, "expected a registered buffer", -1);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static void BufferTypes(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                        const char* const** types, size_t* count) {
  static const char* const kTypes[] = {kHostMemory};
  (void)kernel, (void)io_type;
  *types = kTypes;
  *count = 1;
}

static void SyncTypes(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                      const char* const** types, size_t* count) {
  static const char* const kTypes[] = {"no_sync_obj", kEventFd};
  (void)kernel, (void)io_type;
  *types = kTypes;
  *count = 2;
}

/* Returns false for a type of synchronisation object that is not supported. No type means no
 * object. */
static bool ReadSyncType(const NpuAsync* async, const TfLiteAttributeMap* attributes,
                         bool* out_uses_events) {
  const char* type = NULL;
  *out_uses_events = false;
  if (!async->runtime->get_sync_string(attributes, kTfLiteSynchronizationAttrKeyObjectTypeName,
                                       &type) ||
      type == NULL || strcmp(type, "no_sync_obj") == 0) {
    return true;
  }
  *out_uses_events = strcmp(type, kEventFd) == 0;
  return *out_uses_events;
}

static bool Reconcile(const TfLiteAsyncKernel* kernel, const TfLiteOpaqueContext* context,
                      const TfLiteOpaqueNode* node, int tensor, const TfLiteAttributeMap* user,
                      TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict) {
  const NpuAsync* async = AsyncOf(kernel);
  const DeputyAsyncRuntime* runtime = async->runtime;
  bool uses_events = false;
  (void)context, (void)node, (void)tensor;
  runtime->copy_map(user, merged);
  if (!runtime->is_buffer_map(user)) {
    if (ReadSyncType(async, user, &uses_events)) return true;
    if (conflict != NULL) {
      runtime->set_sync_string(conflict, kTfLiteSynchronizationAttrKeyObjectTypeName, kEventFd);
    }
    return false;
  }
  if (HasHostMemory(async, user)) return true;
  if (conflict != NULL) {
    runtime->set_string(conflict, kTfLiteBufferAttrKeyResourceTypeName, kHostMemory);
  }
  return false;
}

/* Returns the position of a tensor in the arrays, -1 if it is no input or output. */
static int32_t PositionOf(const NpuAsync* async, int tensor) {
  for (int32_t i = 0; i < TensorCount(async); ++i) {
    if (BoundaryAt(async, i)->tensor == tensor) return i;
  }
  return -1;
}

static TfLiteStatus SetAttributes(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  TfLiteOpaqueNode* node, int tensor,
                                  const TfLiteAttributeMap* attributes) {
  NpuAsync* async = AsyncOf(kernel);
  const int32_t position = PositionOf(async, tensor);
  bool uses_events = false;
  (void)node;
  if (position < 0) return Report(context, "expected an input or output of the NPU", tensor);
  if (async->runtime->is_buffer_map(attributes)) {
    if (HasHostMemory(async, attributes)) return kTfLiteOk;
    return Report(context, "expected the type host_memory", tensor);
  }
  if (!ReadSyncType(async, attributes, &uses_events)) {
    return Report(context, "expected the type no_sync_obj or eventfd", tensor);
  }
  pthread_mutex_lock(&async->mutex);
  async->uses_events[position] = uses_events;
  pthread_mutex_unlock(&async->mutex);
  return kTfLiteOk;
}

static TfLiteStatus Prepare(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                            TfLiteOpaqueNode* node) {
  (void)kernel, (void)context, (void)node;
  return kTfLiteOk;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Waits until an input's event is signalled. Returns false if the kernel is destroyed. */
static bool WaitForEvent(const NpuAsync* async, int event) {
  struct pollfd entries[2] = {{event, POLLIN, 0}, {async->stop_event, POLLIN, 0}};
  while (poll(entries, 2, -1) < 0) {
    if (errno != EINTR) return false;
  }
  return entries[1].revents == 0 && (entries[0].revents & POLLIN) != 0;
}

static void Signal(int event) {
  const uint64_t one = 1;
  while (write(event, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

static TfLiteStatus Run(const NpuAsync* async, const Execution* execution) {
  const int32_t inputs = async->compiled->input_count;
  for (int32_t i = 0; i < inputs; ++i) {
    if (execution->events[i] >= 0 && !WaitForEvent(async, execution->events[i])) {
      return kTfLiteError;
    }
  }
  char error[256];
  return async->run(async->partition, execution->memory, execution->memory + inputs, error,
                    sizeof error) == kNpuOk
             ? kTfLiteOk
             : kTfLiteError;
}

/* Closes the descriptors of inputs, signals and closes those of outputs. */
static void EndEvents(const NpuAsync* async, const Execution* execution) {
  for (int32_t i = 0; i < TensorCount(async); ++i) {
    if (execution->events[i] < 0) continue;
    if (i >= async->compiled->input_count) Signal(execution->events[i]);
    close(execution->events[i]);
    execution->events[i] = -1;
  }
}

/* Function of the thread. */
static void* RunTasks(void* data) {
  NpuAsync* async = data;
  pthread_mutex_lock(&async->mutex);
  for (;;) {
    while (!async->is_stopping && async->first_waiting == NULL) {
      pthread_cond_wait(&async->changed, &async->mutex);
    }
    if (async->is_stopping) break;
    Execution* execution = async->first_waiting;
    async->first_waiting = execution->next_waiting;
    pthread_mutex_unlock(&async->mutex);
    const TfLiteStatus status = Run(async, execution);
    EndEvents(async, execution);
    pthread_mutex_lock(&async->mutex);
    execution->status = status;
    execution->is_done = true;
    pthread_cond_broadcast(&async->changed);
  }
  pthread_mutex_unlock(&async->mutex);
  return NULL;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void FreeExecution(const NpuAsync* async, Execution* execution) {
  if (execution == NULL) return;
  if (execution->events != NULL) EndEvents(async, execution);
  free(execution->events);
  free(execution->memory);
  free(execution);
}

static Execution* NewExecution(const NpuAsync* async) {
  const size_t count = (size_t)TensorCount(async);
  Execution* execution = calloc(1, sizeof *execution);
  if (execution == NULL) return NULL;
  execution->memory = calloc(count + 1, sizeof *execution->memory);
  execution->events = malloc((count + 1) * sizeof *execution->events);
  if (execution->memory == NULL || execution->events == NULL) {
    free(execution->memory);
    free(execution->events);
    free(execution);
    return NULL;
  }
  for (size_t i = 0; i < count; ++i) execution->events[i] = -1;
  return execution;
}

/* Finds the memory of a tensor. Called with the mutex locked. */
static const char* FindMemory(NpuAsync* async, const TfLiteExecutionTask* task, int32_t i,
                              Execution* execution) {
  const NpuBoundaryTensor* boundary = BoundaryAt(async, i);
  const Buffer* buffer = FindBuffer(async, async->runtime->task_buffer(task, boundary->tensor));
  if (buffer == NULL) return "expected a registered buffer";
  if (buffer->bytes < boundary->bytes) return "expected a buffer that is not smaller";
  execution->memory[i] = buffer->data;
  return NULL;
}

/* Reads the descriptor of an input's object, or creates one for an output's object. Called with the
 * mutex locked. */
static const char* FindEvent(const NpuAsync* async, const TfLiteExecutionTask* task, int32_t i,
                             Execution* execution) {
  const DeputyAsyncRuntime* runtime = async->runtime;
  TfLiteSynchronization* sync = runtime->task_sync(task, BoundaryAt(async, i)->tensor);
  if (sync == NULL || !async->uses_events[i]) return NULL;
  if (i < async->compiled->input_count) {
    void* pointer = runtime->sync_ptr(sync);
    if (pointer != NULL) execution->events[i] = (int)(intptr_t)pointer;
    return pointer != NULL && execution->events[i] < 0 ? "expected an eventfd" : NULL;
  }
  execution->events[i] = eventfd(0, EFD_CLOEXEC);
  const int client = execution->events[i] < 0 ? -1 : dup(execution->events[i]);
  if (client < 0) return "no descriptor for an event";
  runtime->set_sync_ptr(sync, (void*)(intptr_t)client);
  return NULL;
}

/* Removes the descriptors from the objects of inputs if the execution takes them, otherwise from
 * the execution. Called with the mutex locked. */
static void TakeEvents(const NpuAsync* async, const TfLiteExecutionTask* task, bool takes,
                       Execution* execution) {
  for (int32_t i = 0; i < async->compiled->input_count; ++i) {
    if (execution->events[i] < 0) continue;
    TfLiteSynchronization* sync = async->runtime->task_sync(task, BoundaryAt(async, i)->tensor);
    /* Two inputs may have one object. */
    if (!takes || async->runtime->sync_ptr(sync) == NULL) {
      execution->events[i] = -1;
    } else {
      async->runtime->set_sync_ptr(sync, NULL);
    }
  }
}

/* Waits for the end of the task's execution, and frees it if `frees`. Returns its status. */
static TfLiteStatus Await(NpuAsync* async, TfLiteExecutionTask* task, bool frees) {
  TfLiteAsyncKernel* kernel = NpuKernelOf(async);
  pthread_mutex_lock(&async->mutex);
  Execution* execution = async->runtime->task_data(task, kernel);
  TfLiteStatus status = kTfLiteError; /* the task has not started */
  if (execution != NULL) {
    while (!execution->is_done) pthread_cond_wait(&async->changed, &async->mutex);
    status = execution->status;
    if (frees) {
      Execution** link = &async->executions;
      while (*link != execution) link = &(*link)->next;
      *link = execution->next;
      async->runtime->set_task_data(task, kernel, NULL);
      FreeExecution(async, execution);
    }
  }
  pthread_mutex_unlock(&async->mutex);
  return status;
}

/* Descriptors of outputs that were stored in synchronisation objects before a failure remain with
 * the client, where they are readable. */
static TfLiteStatus Eval(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteOpaqueNode* node, TfLiteExecutionTask* task) {
  NpuAsync* async = AsyncOf(kernel);
  (void)node;
  (void)Await(async, task, true);
  Execution* execution = NewExecution(async);
  if (execution == NULL) return Report(context, "out of memory", -1);
  const char* problem = NULL;
  int tensor = -1;
  pthread_mutex_lock(&async->mutex);
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < TensorCount(async) && problem == NULL; ++i) {
      tensor = BoundaryAt(async, i)->tensor;
      problem =
          pass == 0 ? FindMemory(async, task, i, execution) : FindEvent(async, task, i, execution);
    }
  }
  TakeEvents(async, task, problem == NULL, execution);
  if (problem == NULL) {
    execution->next = async->executions;
    async->executions = execution;
    if (async->first_waiting == NULL) {
      async->first_waiting = execution;
    } else {
      async->last_waiting->next_waiting = execution;
    }
    async->last_waiting = execution;
    async->runtime->set_task_data(task, kernel, execution);
    pthread_cond_broadcast(&async->changed);
  }
  pthread_mutex_unlock(&async->mutex);
  if (problem == NULL) return kTfLiteOk;
  FreeExecution(async, execution);
  return Report(context, problem, tensor);
}

static TfLiteStatus Wait(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteExecutionTask* task) {
  (void)context;
  return Await(AsyncOf(kernel), task, false);
}

static TfLiteStatus Finish(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                           TfLiteExecutionTask* task) {
  (void)context;
  (void)Await(AsyncOf(kernel), task, true);
  return kTfLiteOk;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const DeputyAsyncKernel kFunctions = {
    .register_buffer = RegisterBuffer,
    .register_buffer_slice = RegisterSlice,
    .unregister_buffer = UnregisterBuffer,
    .supported_buffer_types = BufferTypes,
    .supported_synchronizations = SyncTypes,
    .reconcile_restrictions = Reconcile,
    .set_attributes = SetAttributes,
    .prepare = Prepare,
    .eval = Eval,
    .wait = Wait,
    .finish = Finish,
};

TfLiteAsyncKernel* NpuKernelOf(NpuAsync* async) { return (TfLiteAsyncKernel*)(void*)async; }

NpuAsync* NpuCreateAsync(NpuPartition* partition, const NpuCompiled* compiled, NpuRunFunction run,
                         const DeputyAsyncRuntime* runtime) {
  NpuAsync* async = calloc(1, sizeof *async);
  if (async == NULL) return NULL;
  async->kernel = kFunctions;
  async->runtime = runtime;
  async->partition = partition;
  async->compiled = compiled;
  async->run = run;
  async->uses_events = calloc((size_t)TensorCount(async) + 1, sizeof *async->uses_events);
  async->stop_event = eventfd(0, EFD_CLOEXEC);
  pthread_mutex_init(&async->mutex, NULL);
  pthread_cond_init(&async->changed, NULL);
  if (async->uses_events != NULL && async->stop_event >= 0 &&
      pthread_create(&async->thread, NULL, RunTasks, async) == 0) {
    return async;
  }
  if (async->stop_event >= 0) close(async->stop_event);
  pthread_cond_destroy(&async->changed);
  pthread_mutex_destroy(&async->mutex);
  free(async->uses_events);
  free(async);
  return NULL;
}

void NpuDestroyAsync(NpuAsync* async) {
  pthread_mutex_lock(&async->mutex);
  async->is_stopping = true;
  pthread_cond_broadcast(&async->changed);
  pthread_mutex_unlock(&async->mutex);
  Signal(async->stop_event);
  pthread_join(async->thread, NULL);
  while (async->executions != NULL) {
    Execution* execution = async->executions;
    async->executions = execution->next;
    FreeExecution(async, execution);
  }
  close(async->stop_event);
  pthread_cond_destroy(&async->changed);
  pthread_mutex_destroy(&async->mutex);
  free(async->uses_events);
  free(async->buffers);
  free(async);
}
