// SPDX-License-Identifier: Apache-2.0
//
// A test double of a vendor's dispatch plug-in. Its byte code has 12 bytes: "DLRT", a number and a
// float. Number 0 multiplies a float32 tensor by the float, number 1 adds two tensors.
//
// The environment variable LITERT_DOUBLE selects faults and properties, `key=value,key=value`:
//   fail=FUNCTION[:N]   the function returns kLiteRtStatusErrorRuntimeFailure, or status N
//   untouched=FUNCTION  the function returns kLiteRtStatusOk without a result
//   garbage=FUNCTION    the function returns kLiteRtStatusOk and a result that does not exist.
//                       Other names: `function` and `handlers` of the interface, `code` and `types`
//                       of the functions for buffers, `size` of requirements
//   repeated=FUNCTION   the function returns the result of its first call again
//   crash=FUNCTION, hang=FUNCTION  the function writes its name to stderr, and does not return
//   lacks=FUNCTION  the function is NULL: invoke
//   version=N       minor version of the interface
//   padding=N       bytes of a buffer beyond the tensor's
//   type=N          the only supported type of buffers is N, with functions of the double
//   requirements=0  no requirements, although the functions succeed
//   async=1         asynchronous runs: LitertDoubleRunTasks runs the tasks
//   fail=task       the tasks fail, and their events, too
//   metrics=1       functions for measurements
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "litert/c/internal/litert_runtime_context.h"
#include "litert/vendors/c/litert_dispatch_api.h"

enum { kMaxBuffers = 64, kMaxPorts = 4, kHeader = 12 };

static const LiteRtRuntimeContext* runtime;
static LiteRtTensorBuffer buffers[kMaxBuffers];  // by handle; handle 0 is none
static char calls[8192];                         // names of the calls, in their order
static int live_memories, live_contexts;

typedef struct {
  const char* code;  // of a handle, which Invoke reads; NULL: byte code
  uint32_t number;
  float factor;
  LiteRtTensorBufferHandle inputs[kMaxPorts], output;
  int events[kMaxPorts];  // of inputs, for the next task; 0: none
  int number_of_metrics;
} Program;

static Program* programs[kMaxBuffers];  // that exist

static void* const kGarbage = (void*)(uintptr_t)0x1234567;  // no mapped address

static const char* Setting(const char* key) {
  const size_t length = strlen(key);
  for (const char* text = getenv("LITERT_DOUBLE"); text != NULL; text = strchr(text, ',')) {
    text += *text == ',';
    if (strncmp(text, key, length) == 0 && text[length] == '=') return text + length + 1;
  }
  return NULL;
}

// Returns true if the setting is `key=name`, perhaps with a number.
static bool Is(const char* key, const char* name) {
  const char* const value = Setting(key);
  const size_t length = strlen(name);
  return value != NULL && strncmp(value, name, length) == 0 && strchr(",:", value[length]) != NULL;
}

// Crashes or hangs, or returns the status of a function.
static LiteRtStatus Behave(const char* name) {
  if (Is("crash", name) || Is("hang", name)) {
    fprintf(stderr, "double: %s\n", name);
    if (Is("crash", name)) raise(SIGSEGV);
    for (;;) pause();
  }
  if (!Is("fail", name)) return kLiteRtStatusOk;
  const char* const number = strchr(Setting("fail"), ':');
  return number == NULL ? kLiteRtStatusErrorRuntimeFailure : (LiteRtStatus)atoi(number + 1);
}

// Records a call and returns its status.
static LiteRtStatus Record(const char* name) {
  if (strlen(calls) + strlen(name) + 2 < sizeof(calls)) {
    strcat(calls, name);
    strcat(calls, " ");
  }
  return Behave(name);
}

// Returns true if a function shall not store its result, or stores another one.
static bool HasNoResult(const char* name, void** result) {
  if (Is("garbage", name)) *result = kGarbage;
  return Is("garbage", name) || Is("untouched", name);
}

static Program* ProgramOf(LiteRtDispatchInvocationContext context) {
  for (int i = 0; i < kMaxBuffers; ++i) {
    if (programs[i] != NULL && programs[i] == (Program*)context) return programs[i];
  }
  return NULL;
}

static LiteRtStatus Initialize(const LiteRtRuntimeContext* context, LiteRtEnvironment environment,
                               LiteRtOptions options) {
  (void)environment;
  (void)options;
  runtime = context;
  return Record("initialize");
}

static LiteRtStatus GetVendorId(const char** vendor_id) {
  if (HasNoResult("get_vendor_id", (void**)(uintptr_t)vendor_id)) return kLiteRtStatusOk;
  *vendor_id = "double";
  return Behave("get_vendor_id");
}

static LiteRtStatus GetBuildId(const char** build_id) {
  if (HasNoResult("get_build_id", (void**)(uintptr_t)build_id)) return kLiteRtStatusOk;
  *build_id = "1";
  return Behave("get_build_id");
}

// ---- Asynchronous runs --------------------------------------------------------------------------

// A run on memory of the host, which waits for events.
typedef struct {
  uint32_t number;
  float factor;
  const float *first, *second;
  float* output;
  size_t bytes;
  int events[kMaxPorts];  // of inputs; 0: none
  int fence;              // the plug-in's end
} Task;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards the following variables
static Task tasks[kMaxBuffers];
static int task_count;

static void* MemoryOf(LiteRtTensorBufferHandle handle) {
  void* memory = NULL;
  if (handle == 0 || handle >= kMaxBuffers || buffers[handle] == NULL) return NULL;
  if (runtime->get_tensor_buffer_host_memory(buffers[handle], &memory) == kLiteRtStatusOk) {
    return memory;
  }
  (void)runtime->get_tensor_buffer_custom_tensor_buffer_handle(buffers[handle], &memory);
  return memory;
}

static LiteRtStatus AttachInputEvent(LiteRtDispatchInvocationContext context, int index,
                                     LiteRtEvent event) {
  const LiteRtStatus status = Record("attach_input_event");
  int fence = -1;
  if (status != kLiteRtStatusOk) return status;
  if (ProgramOf(context) == NULL ||
      runtime->get_event_sync_fence_fd(event, &fence) != kLiteRtStatusOk) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  ProgramOf(context)->events[index] = dup(fence);
  return kLiteRtStatusOk;
}

// The fence is one end of a pair of sockets. It becomes readable when the other end writes to it;
// it has an error if that is closed with data which was not read.
static LiteRtStatus InvokeAsync(LiteRtDispatchInvocationContext context, int count,
                                LiteRtEvent* events) {
  const LiteRtStatus status = Record("invoke_async");
  Program* const program = ProgramOf(context);
  int fences[2];
  if (status != kLiteRtStatusOk || HasNoResult("invoke_async", (void**)events)) return status;
  if (program == NULL || count != 1 || socketpair(AF_UNIX, SOCK_STREAM, 0, fences) != 0 ||
      write(fences[0], "", 1) != 1) {
    return kLiteRtStatusErrorRuntimeFailure;
  }
  pthread_mutex_lock(&mutex);
  Task* const task = &tasks[task_count++ % kMaxBuffers];
  *task = (Task){.number = program->number, .factor = program->factor, .fence = fences[1]};
  task->first = MemoryOf(program->inputs[0]);
  task->second = MemoryOf(program->inputs[1]);
  task->output = MemoryOf(program->output);
  (void)runtime->get_tensor_buffer_packed_size(buffers[program->output], &task->bytes);
  memcpy(task->events, program->events, sizeof(task->events));
  memset(program->events, 0, sizeof(program->events));
  pthread_mutex_unlock(&mutex);
  return runtime->create_event_from_sync_fence_fd(NULL, fences[0], true, events);
}

static int RunTasks(int count) {
  int done = 0;
  for (; done < count && task_count > 0; ++done) {
    const Task task = tasks[0];
    char byte = 0;
    for (int i = 0; i < kMaxPorts; ++i) {
      struct pollfd request = {task.events[i], POLLIN, 0};
      if (task.events[i] == 0) continue;
      if (poll(&request, 1, 0) == 0) return -1;
      close(task.events[i]);
    }
    memmove(tasks, tasks + 1, (size_t)--task_count * sizeof(*tasks));
    (void)Record("task");
    const bool fails = Is("fail", "task");
    for (size_t i = 0; i < task.bytes / sizeof(float) && !fails; ++i) {
      task.output[i] =
          task.number == 1 ? task.first[i] + task.second[i] : task.first[i] * task.factor;
    }
    if (!fails && (read(task.fence, &byte, 1) != 1 || write(task.fence, "", 1) != 1)) return -1;
    close(task.fence);
  }
  return done;
}

// Runs the oldest tasks, at most `count`. Returns their number, or -1 if one must wait for an
// event.
LITERT_CAPI_EXPORT int LitertDoubleRunTasks(int count);

int LitertDoubleRunTasks(int count) {
  pthread_mutex_lock(&mutex);
  const int done = RunTasks(count);
  pthread_mutex_unlock(&mutex);
  return done;
}

// ---- Measurements -------------------------------------------------------------------------------

static LiteRtStatus StartMetrics(LiteRtDispatchInvocationContext context, int detail_level) {
  if (ProgramOf(context) == NULL) return kLiteRtStatusErrorInvalidArgument;
  ProgramOf(context)->number_of_metrics = 1 + detail_level;
  return Record("start_metrics_collection");
}

static LiteRtStatus StopMetrics(LiteRtDispatchInvocationContext context,
                                LiteRtDispatchMetrics* metrics) {
  if (HasNoResult("stop_metrics_collection", (void**)metrics)) return kLiteRtStatusOk;
  *metrics = (LiteRtDispatchMetrics)ProgramOf(context);
  return Record("stop_metrics_collection");
}

static LiteRtStatus GetNumMetrics(LiteRtDispatchMetrics metrics, int* count) {
  const Program* const program = ProgramOf((LiteRtDispatchInvocationContext)metrics);
  if (program == NULL) return kLiteRtStatusErrorInvalidArgument;
  *count = Is("garbage", "get_num_metrics") ? INT32_MAX : program->number_of_metrics;
  return Record("get_num_metrics");
}

static LiteRtStatus GetMetric(LiteRtDispatchMetrics metrics, int index, LiteRtMetric* metric) {
  (void)metrics;
  metric->name = Is("garbage", "get_metric") ? kGarbage : "runs";
  metric->value.type = index == 0 ? kLiteRtAnyTypeInt : kLiteRtAnyTypeString;
  if (index == 0) metric->value.int_value = 7;
  if (index != 0) metric->value.str_value = "detail";
  return Record("get_metric");
}

static LiteRtStatus DestroyMetrics(LiteRtDispatchMetrics metrics) {
  (void)metrics;
  return Record("destroy_metrics");
}

static void Hook(LiteRtHookType type, const void* payload, size_t payload_size, void* user_data) {
  (void)type;
  (void)payload;
  (void)payload_size;
  (void)user_data;
}

static LiteRtStatus GetHooks(LiteRtDispatchDeviceContext device, LiteRtHook* hook,
                             void** user_data) {
  *hook = Hook;
  *user_data = device;
  return Record("get_hooks");
}

static LiteRtStatus SetScheduling(LiteRtDispatchInvocationContext context,
                                  const LiteRtSchedulingInfo* info) {
  (void)context;
  return Record(info == NULL ? "set_scheduling_info(NULL)" : "set_scheduling_info");
}

static LiteRtStatus SetOptions(LiteRtDispatchInvocationContext context, LiteRtOptions options) {
  (void)context;
  return Record(options == NULL ? "set_options(NULL)" : "set_options");
}

// ---- Devices, buffers and synchronous runs ------------------------------------------------------

static LiteRtStatus GetCapabilities(int* capabilities) {
  if (Is("untouched", "get_capabilities")) return kLiteRtStatusOk;
  *capabilities = Is("garbage", "get_capabilities")
                      ? INT32_MAX
                      : (int)kLiteRtDispatchCapabilitiesBasic |
                            (Is("async", "1") ? (int)kLiteRtDispatchCapabilitiesAsync : 0);
  return Behave("get_capabilities");
}

static LiteRtStatus CheckCompatibility(LiteRtApiVersion version, LiteRtEnvironmentOptions env,
                                       LiteRtOptions options) {
  (void)version;
  (void)env;
  (void)options;
  return Record("check_runtime_compatibility");
}

static LiteRtStatus CreateDevice(const LiteRtRuntimeContext* context, LiteRtOptions options,
                                 LiteRtDispatchDeviceContext* device) {
  (void)context;
  (void)options;
  if (HasNoResult("device_context_create", (void**)device)) return kLiteRtStatusOk;
  *device = (LiteRtDispatchDeviceContext)&live_contexts;
  return Record("device_context_create");
}

static LiteRtStatus DestroyDevice(LiteRtDispatchDeviceContext device) {
  (void)device;
  return Record("device_context_destroy");
}

static LiteRtStatus CreateRequirements(const char* name, const LiteRtRankedTensorType* type,
                                       LiteRtTensorBufferRequirements* requirements) {
  const LiteRtStatus status = Record(name);
  if (status != kLiteRtStatusOk || Setting("requirements") != NULL ||
      HasNoResult(name, (void**)requirements)) {
    return status;
  }
  static LiteRtTensorBufferRequirements first;
  if (first != NULL && Is("repeated", name)) {
    *requirements = first;
    return status;
  }
  size_t bytes = sizeof(float);
  for (unsigned i = 0; i < type->layout.rank; ++i) bytes *= (size_t)type->layout.dimensions[i];
  if (Setting("padding") != NULL) bytes += (size_t)atoi(Setting("padding"));
  const LiteRtTensorBufferType supported = Setting("type") != NULL
                                               ? (LiteRtTensorBufferType)atoi(Setting("type"))
                                               : kLiteRtTensorBufferTypeHostMemory;
  if (Is("garbage", "size")) bytes = SIZE_MAX - 3;
  const LiteRtStatus created =
      runtime->create_tensor_buffer_requirements(1, &supported, bytes, 0, NULL, requirements);
  first = *requirements;
  return created;
}

static LiteRtStatus GetInputRequirements(LiteRtDispatchInvocationContext context, int index,
                                         const LiteRtRankedTensorType* type,
                                         LiteRtTensorBufferRequirements* requirements) {
  (void)context;
  (void)index;
  return CreateRequirements("get_input_requirements", type, requirements);
}

static LiteRtStatus GetOutputRequirements(LiteRtDispatchInvocationContext context, int index,
                                          const LiteRtRankedTensorType* type,
                                          LiteRtTensorBufferRequirements* requirements) {
  (void)context;
  (void)index;
  return CreateRequirements("get_output_requirements", type, requirements);
}

static LiteRtStatus RegisterBuffer(LiteRtDispatchDeviceContext device, LiteRtTensorBuffer buffer,
                                   LiteRtTensorBufferHandle* handle) {
  (void)device;
  const LiteRtStatus status = Record("register_tensor_buffer");
  if (status != kLiteRtStatusOk || Is("untouched", "register_tensor_buffer")) return status;
  if (Is("garbage", "register_tensor_buffer")) {
    *handle = UINT64_MAX - 1;
    return kLiteRtStatusOk;
  }
  size_t bytes = 0, packed_bytes = 0;
  runtime->get_tensor_buffer_size(buffer, &bytes);
  runtime->get_tensor_buffer_packed_size(buffer, &packed_bytes);
  if (Setting("padding") != NULL && bytes < packed_bytes + (size_t)atoi(Setting("padding"))) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  for (LiteRtTensorBufferHandle i = 1; i < kMaxBuffers; ++i) {
    if (buffers[i] != NULL) continue;
    buffers[i] = buffer;
    *handle = i;
    return kLiteRtStatusOk;
  }
  return kLiteRtStatusErrorRuntimeFailure;
}

static LiteRtStatus UnregisterBuffer(LiteRtDispatchDeviceContext device,
                                     LiteRtTensorBufferHandle handle) {
  (void)device;
  if (handle < kMaxBuffers) buffers[handle] = NULL;
  return Record("unregister_tensor_buffer");
}

static LiteRtStatus CreateContext(const LiteRtRuntimeContext* context,
                                  LiteRtDispatchDeviceContext device,
                                  LiteRtDispatchExecutableType type, const LiteRtMemBuffer* memory,
                                  const char* function_name, int num_inputs, int num_outputs,
                                  LiteRtDispatchInvocationContext* created) {
  (void)context;
  (void)num_outputs;
  const LiteRtStatus status = Record("invocation_context_create");
  if (status != kLiteRtStatusOk || HasNoResult("invocation_context_create", (void**)created)) {
    return status;
  }
  if ((void*)device != (void*)&live_contexts) return kLiteRtStatusErrorInvalidArgument;
  const char* const code = (const char*)memory->base_addr + memory->offset;
  const bool is_handle = type == kLiteRtDispatchExecutableTypeJitHandle;
  if ((!is_handle && type != kLiteRtDispatchExecutableTypeMlModel) ||
      memory->size != (is_handle ? 0 : kHeader) || memcmp(code, "DLRT", 4) != 0 ||
      strncmp(function_name, "entr", 4) != 0 || num_inputs > kMaxPorts) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  int free_index = 0;
  while (free_index < kMaxBuffers && programs[free_index] != NULL) ++free_index;
  if (free_index == kMaxBuffers) return kLiteRtStatusErrorMemoryAllocationFailure;
  Program* const program = programs[free_index] = calloc(1, sizeof(Program));
  memcpy(&program->number, code + 4, sizeof(program->number));
  memcpy(&program->factor, code + 8, sizeof(program->factor));
  if (is_handle) program->code = code;
  ++live_contexts;
  *created = (LiteRtDispatchInvocationContext)program;
  return kLiteRtStatusOk;
}

static LiteRtStatus DestroyContext(LiteRtDispatchInvocationContext context) {
  const LiteRtStatus status = Record("invocation_context_destroy");
  for (int i = 0; i < kMaxBuffers; ++i) {
    if (programs[i] == NULL || programs[i] != (Program*)context) continue;
    programs[i] = NULL;
    --live_contexts;
    free(context);
  }
  return status;
}

static LiteRtStatus AttachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  if (ProgramOf(context) == NULL) return kLiteRtStatusErrorInvalidArgument;
  ((Program*)context)->inputs[index] = handle;
  return Record("attach_input");
}

static LiteRtStatus AttachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  (void)index;
  if (ProgramOf(context) == NULL) return kLiteRtStatusErrorInvalidArgument;
  ((Program*)context)->output = handle;
  return Record("attach_output");
}

static LiteRtStatus DetachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  (void)handle;
  if (ProgramOf(context) == NULL) return kLiteRtStatusErrorInvalidArgument;
  ((Program*)context)->inputs[index] = 0;
  return Record("detach_input");
}

static LiteRtStatus DetachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  (void)index;
  (void)handle;
  if (ProgramOf(context) == NULL) return kLiteRtStatusErrorInvalidArgument;
  ((Program*)context)->output = 0;
  return Record("detach_output");
}

static float* Lock(LiteRtTensorBufferHandle handle, LiteRtTensorBufferLockMode mode) {
  void* memory = NULL;
  if (handle == 0 || handle >= kMaxBuffers || buffers[handle] == NULL) return NULL;
  return runtime->lock_tensor_buffer(buffers[handle], &memory, mode) == kLiteRtStatusOk ? memory
                                                                                        : NULL;
}

static LiteRtStatus Invoke(LiteRtDispatchInvocationContext context) {
  const LiteRtStatus status = Record("invoke");
  if (status != kLiteRtStatusOk) return status;
  Program* const program = ProgramOf(context);
  if (program == NULL) return kLiteRtStatusErrorInvalidArgument;
  if (Is("untouched", "invoke")) return kLiteRtStatusOk;
  if (program->code != NULL) memcpy(&program->factor, program->code + 8, sizeof(program->factor));
  const float* const first = Lock(program->inputs[0], kLiteRtTensorBufferLockModeRead);
  const float* const second =
      program->number == 1 ? Lock(program->inputs[1], kLiteRtTensorBufferLockModeRead) : NULL;
  float* const output = Lock(program->output, kLiteRtTensorBufferLockModeWrite);
  size_t bytes = 0;
  if (first == NULL || output == NULL || (program->number == 1 && second == NULL) ||
      runtime->get_tensor_buffer_packed_size(buffers[program->output], &bytes) != kLiteRtStatusOk) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    output[i] = second != NULL ? first[i] + second[i] : first[i] * program->factor;
  }
  runtime->unlock_tensor_buffer(buffers[program->inputs[0]]);
  if (second != NULL) runtime->unlock_tensor_buffer(buffers[program->inputs[1]]);
  runtime->unlock_tensor_buffer(buffers[program->output]);
  return kLiteRtStatusOk;
}

// ---- Buffers of the double ----------------------------------------------------------------------

static LiteRtStatus CreateMemory(LiteRtGpuDeviceId device, LiteRtGpuQueueId queue,
                                 const LiteRtRankedTensorType* type,
                                 LiteRtTensorBufferType buffer_type, size_t bytes,
                                 size_t packed_bytes, HwMemoryInfoPtr* memory) {
  (void)device;
  (void)queue;
  (void)type;
  (void)buffer_type;
  (void)packed_bytes;
  const LiteRtStatus status = Record("create_memory");
  if (status != kLiteRtStatusOk || HasNoResult("create_memory", (void**)memory)) return status;
  *memory = calloc(1, sizeof(**memory));
  (*memory)->memory_handle = calloc(1, bytes);
  ++live_memories;
  return kLiteRtStatusOk;
}

static LiteRtStatus DestroyMemory(HwMemoryInfoPtr memory) {
  free(memory->memory_handle);
  free(memory);
  --live_memories;
  return Behave("destroy_memory");
}

static LiteRtStatus LockMemory(HwMemoryInfoPtr memory, LiteRtTensorBufferLockMode mode,
                               void** address) {
  (void)mode;
  if (HasNoResult("lock_memory", address)) return kLiteRtStatusOk;
  *address = memory->memory_handle;
  return Record("lock_memory");
}

static LiteRtStatus UnlockMemory(HwMemoryInfoPtr memory) {
  (void)memory;
  return Behave("unlock_memory");
}

static LiteRtCustomTensorBufferHandlersDef handlers = {
    .abi_header = {sizeof(LiteRtCustomTensorBufferHandlersDef), 1, 0, 0},
    .create_func = CreateMemory,
    .destroy_func = DestroyMemory,
    .lock_func = LockMemory,
    .unlock_func = UnlockMemory,
    .device_tag = kLiteRtEnvOptionTagNull,
    .queue_tag = kLiteRtEnvOptionTagNull,
    .num_supported_buffer_types = 1,
    .supported_buffer_types = {kLiteRtTensorBufferTypeUserCustomBuffer},
};

static LiteRtDispatchInterface interface = {
    .initialize = Initialize,
    .get_vendor_id = GetVendorId,
    .get_build_id = GetBuildId,
    .get_capabilities = GetCapabilities,
    .device_context_create = CreateDevice,
    .device_context_destroy = DestroyDevice,
    .get_input_requirements = GetInputRequirements,
    .get_output_requirements = GetOutputRequirements,
    .register_tensor_buffer = RegisterBuffer,
    .unregister_tensor_buffer = UnregisterBuffer,
    .invocation_context_create = CreateContext,
    .invocation_context_destroy = DestroyContext,
    .attach_input = AttachInput,
    .attach_output = AttachOutput,
    .detach_input = DetachInput,
    .detach_output = DetachOutput,
    .invoke = Invoke,
    .check_runtime_compatibility = CheckCompatibility,
};

static LiteRtDispatchAsyncInterface async_interface = {
    .attach_input_event = AttachInputEvent,
    .invoke_async = InvokeAsync,
};

LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetApi(LiteRtDispatchApi* api) {
  if (Is("lacks", "invoke")) interface.invoke = NULL;
  api->version.major = LITERT_API_VERSION_MAJOR;
  api->version.minor =
      Setting("version") != NULL ? atoi(Setting("version")) : LITERT_API_VERSION_MINOR;
  api->version.patch = LITERT_API_VERSION_PATCH;
  api->interface = &interface;
  api->async_interface = Is("async", "1") ? &async_interface : NULL;
  if (Is("garbage", "async_interface")) api->async_interface = kGarbage;
  if (Is("metrics", "1")) {
    interface.start_metrics_collection = StartMetrics;
    interface.stop_metrics_collection = StopMetrics;
    interface.get_num_metrics = GetNumMetrics;
    interface.get_metric = GetMetric;
    interface.destroy_metrics = DestroyMetrics;
    interface.get_hooks = GetHooks;
    interface.invocation_context_set_scheduling_info = SetScheduling;
    interface.invocation_context_set_options = SetOptions;
  }
  api->graph_interface = NULL;
  api->tensor_buffer_handlers_def = &handlers;
  if (Is("untouched", "LiteRtDispatchGetApi")) memset(api, 0, sizeof(*api));
  if (Is("garbage", "LiteRtDispatchGetApi")) api->interface = kGarbage;
  if (Is("garbage", "handlers")) api->tensor_buffer_handlers_def = kGarbage;
  if (Is("garbage", "function")) memcpy(&interface.invoke, &kGarbage, sizeof(kGarbage));
  if (Is("garbage", "code")) memcpy(&handlers.lock_func, &kGarbage, sizeof(kGarbage));
  if (Is("garbage", "types")) {
    handlers.num_supported_buffer_types = SIZE_MAX;
    memset(handlers.supported_buffer_types, 0x7f, sizeof(handlers.supported_buffer_types));
  }
  return Record("LiteRtDispatchGetApi");
}

// Returns the names of the calls, and the numbers of objects that were not destroyed.
LITERT_CAPI_EXPORT const char* LitertDoubleCalls(int* memories, int* contexts, int* registered);

const char* LitertDoubleCalls(int* memories, int* contexts, int* registered) {
  *memories = live_memories;
  *contexts = live_contexts;
  *registered = 0;
  for (int i = 0; i < kMaxBuffers; ++i) *registered += buffers[i] != NULL;
  return calls;
}
