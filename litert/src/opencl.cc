// SPDX-License-Identifier: Apache-2.0
#include "litert/src/opencl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/client_objects.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/process.h"
#include "litert/src/log.h"

namespace deputy::litert {

using gpu_cl::ClApi;
using gpu_cl::ClCall;
using gpu_cl::ClQueue;
using gpu_cl::ClStatus;
using gpu_cl::Device;
using gpu_cl::SharedContext;

struct OpenCl::State {
  gpu_cl::ProcessMark process;
  std::shared_ptr<const ClApi> api;
  std::shared_ptr<SharedContext> context;
  ClQueue queue;
};

struct OpenClEvent::Api {
  gpu_cl::ProcessMark process;
  std::shared_ptr<const ClApi> api;
};

namespace {

// Kernels may read vectors beyond the end of a tensor.
constexpr size_t kExtraBytes = 128;

LiteRtStatus Report(const char* what, const ClStatus& status) {
  if (status.ok()) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorRuntimeFailure, "%s: %s", what, status.text.c_str());
}

LiteRtStatus CheckProcess(const char* what, const gpu_cl::ProcessMark& process) {
  if (!process.IsForked()) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorRuntimeFailure, "%s: %s", what, process.ForkError().c_str());
}

bool HasDevice(const ClApi& api, cl_context context, cl_device_id device) {
  size_t bytes = 0;
  if (api.GetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS) {
    return false;
  }
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (api.GetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr) !=
      CL_SUCCESS) {
    return false;
  }
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

// Finds or creates the context, and adopts the client's queue if there is one.
ClStatus FindContext(const std::shared_ptr<const ClApi>& api, const OpenClObjects& client,
                     std::shared_ptr<SharedContext>* out_context, ClQueue* out_queue) {
  const gpu_cl::ClientObjects objects = {static_cast<cl_context>(client.context),
                                         static_cast<cl_command_queue>(client.queue)};
  auto* const wanted = static_cast<cl_device_id>(client.device);
  ClStatus status;
  if (wanted != nullptr && objects.queue == nullptr) {
    const Device device = gpu_cl::DescribeDevice(*api, wanted);
    auto& registry = gpu_cl::ContextRegistry::Process();
    if (objects.context == nullptr) {
      *out_context = registry.Acquire(api, device, &status);
    } else if (HasDevice(*api, objects.context, wanted)) {
      *out_context = registry.Adopt(api, device, objects.context, &status);
    } else {
      return {CL_INVALID_DEVICE, "the client's context is not one of the client's device"};
    }
    return status;
  }
  if (objects.any()) {
    return gpu_cl::AdoptClientObjects(api, objects, "", false, out_context, out_queue);
  }
  std::vector<Device> devices;
  Device device;
  status = gpu_cl::ListDevices(*api, &devices);
  if (status.ok()) status = gpu_cl::ChooseDevice(devices, "", &device);
  if (status.ok()) {
    *out_context = gpu_cl::ContextRegistry::Process().Acquire(api, device, &status);
  }
  return status;
}

ClStatus Open(const OpenClObjects& client, OpenCl::State* state) {
  const std::string forked = gpu_cl::StartDrivers();
  if (!forked.empty()) return {CL_DEVICE_NOT_AVAILABLE, forked};
  const gpu_cl::LoadedCl loaded = gpu_cl::LoadCl();
  if (loaded.api == nullptr) return {CL_DEVICE_NOT_FOUND, "no OpenCL: " + loaded.tried};
  state->api = loaded.api;
  ClStatus status = FindContext(state->api, client, &state->context, &state->queue);
  if (!status.ok() || state->queue) return status;
  const SharedContext& context = *state->context;
  cl_int code = CL_SUCCESS;
  state->queue = ClQueue(state->api.get(), state->api->CreateCommandQueue(
                                               context.context(), context.device().id, 0, &code));
  return ClCall("clCreateCommandQueue", code);
}

template <typename Value>
ClStatus QueryMemory(const ClApi& api, cl_mem memory, cl_mem_info what, Value* out_value) {
  return ClCall("clGetMemObjectInfo",
                api.GetMemObjectInfo(memory, what, std::span<Value, 1>(out_value, 1).size_bytes(),
                                     out_value, nullptr));
}

// Returns the failure, or a text that says why the client's memory cannot be used.
ClStatus CheckMemory(const OpenCl& open_cl, cl_mem memory, size_t bytes) {
  const ClApi& api = *open_cl.state().api;
  cl_mem_object_type type = 0;
  cl_context context = nullptr;
  size_t size = 0;
  ClStatus status = QueryMemory(api, memory, CL_MEM_TYPE, &type);
  if (status.ok()) status = QueryMemory(api, memory, CL_MEM_CONTEXT, &context);
  if (status.ok()) status = QueryMemory(api, memory, CL_MEM_SIZE, &size);
  if (!status.ok()) return status;
  if (type != CL_MEM_OBJECT_BUFFER) {
    return {CL_INVALID_MEM_OBJECT, "expected a buffer, found an image or pipe"};
  }
  if (context != open_cl.objects().context) {
    return {CL_INVALID_CONTEXT, "the memory belongs to another context than the environment"};
  }
  if (size < bytes) {
    return {CL_INVALID_BUFFER_SIZE, "expected memory of at least " + std::to_string(bytes) +
                                        " bytes, found " + std::to_string(size)};
  }
  return {};
}

ClStatus WaitFor(const ClApi& api, cl_int code, const char* call, cl_event event) {
  ClStatus status = ClCall(call, code);
  if (!status.ok()) return status;
  status = ClCall("clWaitForEvents", api.WaitForEvents(1, &event));
  api.ReleaseEvent(event);
  return status;
}

}  // namespace

// ---- Environments -------------------------------------------------------------------------------

OpenCl::OpenCl() : state_(std::make_unique<State>()) {}

OpenCl::~OpenCl() {
  if (state_->process.IsForked()) (void)state_.release();  // a release might block
}

std::shared_ptr<OpenCl> OpenCl::Open(const OpenClObjects& client, std::string* out_reason) {
  std::shared_ptr<OpenCl> created(new OpenCl());
  State& state = *created->state_;
  const ClStatus status = litert::Open(client, &state);
  if (!status.ok()) {
    *out_reason = status.text;
    return nullptr;
  }
  const Device& device = state.context->device();
  created->objects_ = {device.platform, device.id, state.context->context(), state.queue.get()};
  created->delegate_option_ =
      std::to_string(getpid()) + ":" +
      std::to_string(reinterpret_cast<uintptr_t>(state.context->context())) + ":" +
      std::to_string(reinterpret_cast<uintptr_t>(client.queue));
  return created;
}

// ---- Buffers ------------------------------------------------------------------------------------

OpenClBuffer::OpenClBuffer(std::shared_ptr<OpenCl> open_cl, LiteRtClMem memory, size_t bytes)
    : open_cl_(std::move(open_cl)), memory_(memory), bytes_(bytes) {}

OpenClBuffer::~OpenClBuffer() {
  if (open_cl_->state().process.IsForked()) return;
  if (mapped_ != nullptr) (void)Unlock();
  open_cl_->state().api->ReleaseMemObject(memory_);
}

LiteRtStatus OpenClBuffer::Create(std::shared_ptr<OpenCl> open_cl, size_t bytes,
                                  std::unique_ptr<OpenClBuffer>* out_buffer) {
  constexpr const char* kWhat = "tensor buffer: OpenCL memory";
  const OpenCl::State& state = open_cl->state();
  LITERT_TRY(CheckProcess(kWhat, state.process));
  size_t padded = 0;
  if (__builtin_add_overflow(bytes, kExtraBytes, &padded)) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "%s: no memory for %zu bytes", kWhat, bytes);
  }
  cl_int code = CL_SUCCESS;
  cl_mem memory =
      state.api->CreateBuffer(state.context->context(), CL_MEM_READ_WRITE, padded, nullptr, &code);
  LITERT_TRY(Report(kWhat, ClCall("clCreateBuffer", code)));
  out_buffer->reset(new OpenClBuffer(std::move(open_cl), memory, bytes));
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClBuffer::Wrap(std::shared_ptr<OpenCl> open_cl, LiteRtClMem memory, size_t bytes,
                                std::unique_ptr<OpenClBuffer>* out_buffer) {
  constexpr const char* kWhat = "tensor buffer: the client's OpenCL memory";
  const OpenCl::State& state = open_cl->state();
  LITERT_TRY(CheckProcess(kWhat, state.process));
  LITERT_TRY(Report(kWhat, CheckMemory(*open_cl, memory, bytes)));
  LITERT_TRY(Report(kWhat, ClCall("clRetainMemObject", state.api->RetainMemObject(memory))));
  out_buffer->reset(new OpenClBuffer(std::move(open_cl), memory, bytes));
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClBuffer::Lock(LiteRtTensorBufferLockMode mode, void** out_address) {
  constexpr const char* kWhat = "tensor buffer: lock";
  const OpenCl::State& state = open_cl_->state();
  LITERT_TRY(CheckProcess(kWhat, state.process));
  cl_map_flags flags = CL_MAP_READ | CL_MAP_WRITE;
  if (mode == kLiteRtTensorBufferLockModeRead) flags = CL_MAP_READ;
  if (mode == kLiteRtTensorBufferLockModeWrite) flags = CL_MAP_WRITE_INVALIDATE_REGION;
  cl_int code = CL_SUCCESS;
  void* const address =
      state.api->EnqueueMapBuffer(state.queue.get(), memory_, CL_TRUE, flags, 0,
                                  std::max<size_t>(bytes_, 1), 0, nullptr, nullptr, &code);
  LITERT_TRY(Report(kWhat, ClCall("clEnqueueMapBuffer", code)));
  *out_address = mapped_ = address;
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClBuffer::Unlock() {
  constexpr const char* kWhat = "tensor buffer: unlock";
  const OpenCl::State& state = open_cl_->state();
  LITERT_TRY(CheckProcess(kWhat, state.process));
  cl_event event = nullptr;
  const cl_int code = state.api->EnqueueUnmapMemObject(
      state.queue.get(), memory_, std::exchange(mapped_, nullptr), 0, nullptr, &event);
  return Report(kWhat, WaitFor(*state.api, code, "clEnqueueUnmapMemObject", event));
}

LiteRtStatus OpenClBuffer::Clear() {
  constexpr const char* kWhat = "tensor buffer: clear";
  const OpenCl::State& state = open_cl_->state();
  LITERT_TRY(CheckProcess(kWhat, state.process));
  if (bytes_ == 0) return kLiteRtStatusOk;
  const cl_uchar zero = 0;
  cl_event event = nullptr;
  const cl_int code = state.api->EnqueueFillBuffer(state.queue.get(), memory_, &zero, sizeof zero,
                                                   0, bytes_, 0, nullptr, &event);
  return Report(kWhat, WaitFor(*state.api, code, "clEnqueueFillBuffer", event));
}

// ---- Events -------------------------------------------------------------------------------------

OpenClEvent::OpenClEvent(std::shared_ptr<const Api> api, LiteRtClEvent event)
    : api_(std::move(api)), event_(event) {}

OpenClEvent::~OpenClEvent() {
  if (!api_->process.IsForked()) api_->api->ReleaseEvent(event_);
}

LiteRtStatus OpenClEvent::Retain(LiteRtClEvent event, std::unique_ptr<OpenClEvent>* out_event) {
  if (event == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: expected an OpenCL event, found NULL");
  }
  const gpu_cl::LoadedCl loaded = gpu_cl::LoadCl();
  if (loaded.api == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: no OpenCL: %s", loaded.tried.c_str());
  }
  LITERT_TRY(Report("event", ClCall("clRetainEvent", loaded.api->RetainEvent(event))));
  out_event->reset(
      new OpenClEvent(std::make_shared<const Api>(Api{.process = {}, .api = loaded.api}), event));
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClEvent::CreateUser(const OpenCl& open_cl,
                                     std::unique_ptr<OpenClEvent>* out_event) {
  const OpenCl::State& state = open_cl.state();
  LITERT_TRY(CheckProcess("event", state.process));
  if (state.api->CreateUserEvent == nullptr || state.api->SetUserEventStatus == nullptr) {
    return Fail(kLiteRtStatusErrorUnsupported,
                "event: the OpenCL library lacks clCreateUserEvent or clSetUserEventStatus");
  }
  cl_int code = CL_SUCCESS;
  cl_event event = state.api->CreateUserEvent(state.context->context(), &code);
  LITERT_TRY(Report("event", ClCall("clCreateUserEvent", code)));
  out_event->reset(
      new OpenClEvent(std::make_shared<const Api>(Api{.process = {}, .api = state.api}), event));
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClEvent::IsSignaled(bool* out_signaled) const {
  LITERT_TRY(CheckProcess("event", api_->process));
  cl_int status = CL_QUEUED;
  LITERT_TRY(Report("event", ClCall("clGetEventInfo", api_->api->GetEventInfo(
                                                          event_, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                          sizeof status, &status, nullptr))));
  if (status < 0) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "event: the OpenCL command failed: %s",
                gpu_cl::ClErrorName(status).c_str());
  }
  *out_signaled = status == CL_COMPLETE;
  return kLiteRtStatusOk;
}

LiteRtStatus OpenClEvent::Wait(int64_t timeout_ms) const {
  using Clock = std::chrono::steady_clock;
  LITERT_TRY(CheckProcess("event", api_->process));
  const ClApi& api = *api_->api;
  if (timeout_ms < 0)
    return Report("event", ClCall("clWaitForEvents", api.WaitForEvents(1, &event_)));
  // OpenCL cannot wait with a timeout. A command starts when its queue is flushed; user events have
  // no queue.
  cl_command_queue queue = nullptr;
  if (api.GetEventInfo(event_, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue, nullptr) ==
          CL_SUCCESS &&
      queue != nullptr) {
    LITERT_TRY(Report("event", ClCall("clFlush", api.Flush(queue))));
  }
  constexpr int64_t kMaxTimeoutMs = int64_t{1} << 40;
  const Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(std::min(timeout_ms, kMaxTimeoutMs));
  constexpr std::chrono::microseconds kLongestPause(1000);
  for (std::chrono::microseconds pause(20);; pause = std::min(2 * pause, kLongestPause)) {
    bool is_signaled = false;
    LITERT_TRY(IsSignaled(&is_signaled));
    if (is_signaled) return kLiteRtStatusOk;
    if (Clock::now() >= end) return kLiteRtStatusErrorTimeoutExpired;
    std::this_thread::sleep_for(pause);
  }
}

LiteRtStatus OpenClEvent::Signal() const {
  LITERT_TRY(CheckProcess("event", api_->process));
  if (api_->api->SetUserEventStatus == nullptr) {
    return Fail(kLiteRtStatusErrorUnsupported,
                "event: the OpenCL library lacks clSetUserEventStatus");
  }
  return Report("event",
                ClCall("clSetUserEventStatus", api_->api->SetUserEventStatus(event_, CL_COMPLETE)));
}

}  // namespace deputy::litert
