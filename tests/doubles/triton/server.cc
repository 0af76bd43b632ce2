// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/triton/server.h"

#include <algorithm>
#include <cstdlib>

using deputy::triton_double::Server;

namespace deputy::triton_double {

Server& Server::Get() {
  static Server server;
  return server;
}

void Server::Reset() {
  const std::lock_guard<std::mutex> lock(mutex);
  calls = fail_at = 0;
  failed.clear();
  server_major = backend_major = 1;
  has_metrics = true;
  metrics.clear();
  batches.clear();
  log.clear();
}

void Server::AddAlive(int count) {
  const std::lock_guard<std::mutex> lock(mutex);
  alive_ += count;
}

TRITONSERVER_Error* Server::Call(const char* function) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (++calls != fail_at) return nullptr;
    failed = function;
  }
  return TRITONSERVER_ErrorNew(triton::kErrorInternal, (std::string(function) + " failed").c_str());
}

namespace {

template <typename T>
T* New() {
  Server::Get().AddAlive(1);
  return new T;
}

template <typename T>
void Delete(T* object) {
  if (object == nullptr) std::abort();  // the ABI does not allow it
  Server::Get().AddAlive(-1);
  delete object;
}

TRITONSERVER_Error* InvalidCall(const std::string& text) {
  return TRITONSERVER_ErrorNew(triton::kErrorInvalidArgument, text.c_str());
}

}  // namespace
}  // namespace deputy::triton_double

using deputy::triton_double::Delete;
using deputy::triton_double::InvalidCall;
using deputy::triton_double::New;

// Returns the error that the test requests for this call.
#define MAY_FAIL() \
  if (TRITONSERVER_Error* failure = Server::Get().Call(__func__); failure != nullptr) return failure

extern "C" {

// ---- The server ---------------------------------------------------------------------------------

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor) {
  MAY_FAIL();
  *major = Server::Get().server_major;
  *minor = 34;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ErrorNew(int code, const char* text) {
  auto* const error = New<TRITONSERVER_Error>();
  error->code = code;
  error->text = text;
  return error;
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { Delete(error); }

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->text.c_str(); }

TRITONSERVER_Error* TRITONSERVER_LogMessage(int level, const char*, int, const char* text) {
  MAY_FAIL();
  const std::lock_guard<std::mutex> lock(Server::Get().mutex);
  Server::Get().log.emplace_back(level, text);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* json, size_t size) {
  MAY_FAIL();
  *message = New<TRITONSERVER_Message>();
  (*message)->json.assign(json, size);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** json, size_t* size) {
  MAY_FAIL();
  *json = message->json.data();
  *size = message->json.size();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  Delete(message);  // a failure would leave the object
  MAY_FAIL();
  return nullptr;
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(const char* name, int type, const void* value) {
  if (type != deputy::triton::kParameterString) std::abort();
  if (TRITONSERVER_Error* failure = Server::Get().Call(__func__); failure != nullptr) {
    TRITONSERVER_ErrorDelete(failure);
    return nullptr;
  }
  auto* const parameter = New<TRITONSERVER_Parameter>();
  parameter->name = name;
  parameter->value = static_cast<const char*>(value);
  return parameter;
}

void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter) { Delete(parameter); }

TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(TRITONSERVER_MetricFamily** family, int kind,
                                                 const char* name, const char*) {
  MAY_FAIL();
  if (!Server::Get().has_metrics) return InvalidCall("metrics are disabled");
  *family = New<TRITONSERVER_MetricFamily>();
  (*family)->kind = kind;
  (*family)->name = name;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(TRITONSERVER_MetricFamily* family) {
  if (family->metrics != 0) std::abort();  // metrics must be deleted first
  Delete(family);
  MAY_FAIL();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricNew(TRITONSERVER_Metric** metric,
                                           TRITONSERVER_MetricFamily* family,
                                           const TRITONSERVER_Parameter** labels, uint64_t count) {
  MAY_FAIL();
  auto* const made = New<TRITONSERVER_Metric>();
  made->family = family;
  ++family->metrics;
  made->key = family->name + "{";
  for (uint64_t i = 0; i < count; ++i) {
    made->key += (i == 0 ? "" : ",") + labels[i]->name + "=" + labels[i]->value;
  }
  made->key += "}";
  *metric = made;
  const std::lock_guard<std::mutex> lock(Server::Get().mutex);
  Server::Get().metrics.try_emplace(made->key, 0.0);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric) {
  --metric->family->metrics;
  Delete(metric);
  MAY_FAIL();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric, double value) {
  MAY_FAIL();
  const std::lock_guard<std::mutex> lock(Server::Get().mutex);
  Server::Get().metrics[metric->key] += value;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric, double value) {
  MAY_FAIL();
  if (metric->family->kind != deputy::triton::kMetricGauge) return InvalidCall("not a gauge");
  const std::lock_guard<std::mutex> lock(Server::Get().mutex);
  Server::Get().metrics[metric->key] = value;
  return nullptr;
}

// ---- The back end and its models ----------------------------------------------------------------

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  MAY_FAIL();
  *major = Server::Get().backend_major;
  *minor = 19;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  MAY_FAIL();
  *state = backend->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) {
  MAY_FAIL();
  backend->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* attributes, int kind, uint64_t count, const uint64_t*,
    uint64_t) {
  MAY_FAIL();
  attributes->groups.emplace_back(kind, count);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  MAY_FAIL();
  *name = model->name.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  MAY_FAIL();
  *version = model->version;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model, int* artifact_type,
                                                  const char** location) {
  MAY_FAIL();
  *artifact_type = model->artifact_type;
  *location = model->folder.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, uint32_t version,
                                              TRITONSERVER_Message** config) {
  if (version != 1) return InvalidCall("version");
  MAY_FAIL();
  *config = New<TRITONSERVER_Message>();
  (*config)->json = model->config;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* requested) {
  MAY_FAIL();
  *requested = model->completes;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model, uint32_t version,
                                                 TRITONSERVER_Message* config) {
  if (version != 1) return InvalidCall("version");
  MAY_FAIL();
  model->config = config->json;
  ++model->set_configs;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  MAY_FAIL();
  *backend = model->backend;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  MAY_FAIL();
  *state = model->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  MAY_FAIL();
  model->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  MAY_FAIL();
  *model = instance->model;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  MAY_FAIL();
  *state = instance->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  MAY_FAIL();
  instance->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request* request, bool success, uint64_t begin,
    uint64_t compute_begin, uint64_t compute_end, uint64_t end) {
  if (request->releases != 0) std::abort();
  MAY_FAIL();
  ++request->reports;
  request->success = success;
  const uint64_t times[4] = {begin, compute_begin, compute_end, end};
  std::copy(times, times + 4, request->times);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance*, uint64_t batch_size, uint64_t begin, uint64_t compute_begin,
    uint64_t compute_end, uint64_t end) {
  MAY_FAIL();
  const std::lock_guard<std::mutex> lock(Server::Get().mutex);
  Server::Get().batches.push_back({batch_size, {begin, compute_begin, compute_end, end}});
  return nullptr;
}

// ---- Requests and responses ---------------------------------------------------------------------

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  MAY_FAIL();
  *flags = request->flags;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  MAY_FAIL();
  for (TRITONBACKEND_Input& each : request->inputs) {
    if (each.name != name) continue;
    *input = &each;
    return nullptr;
  }
  return InvalidCall(std::string("no input ") + name);
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  MAY_FAIL();
  *count = static_cast<uint32_t>(request->outputs.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request, uint32_t index,
                                                    const char** name) {
  MAY_FAIL();
  *name = request->outputs.at(index).c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags) {
  if (flags != deputy::triton::kReleaseAll) return InvalidCall("flags");
  MAY_FAIL();
  ++request->releases;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  int* type, const int64_t** shape, uint32_t* rank,
                                                  uint64_t* bytes, uint32_t* buffer_count) {
  MAY_FAIL();
  if (name != nullptr) *name = input->name.c_str();
  *type = input->type;
  *shape = input->shape.data();
  *rank = static_cast<uint32_t>(input->shape.size());
  *bytes = 0;
  for (const std::string& buffer : input->buffers) *bytes += buffer.size();
  *buffer_count = static_cast<uint32_t>(input->buffers.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index,
                                              const void** buffer, uint64_t* bytes,
                                              int* memory_type, int64_t* memory_id) {
  MAY_FAIL();
  *buffer = input->buffers.at(index).data();
  *bytes = input->buffers.at(index).size();
  *memory_type = input->memory;
  *memory_id = 0;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  MAY_FAIL();
  *response = New<TRITONBACKEND_Response>();
  (*response)->request = request;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 int type, const int64_t* shape, uint32_t rank) {
  MAY_FAIL();
  auto made = std::make_unique<TRITONBACKEND_Output>();
  made->name = name;
  made->type = type;
  made->shape.assign(shape, shape + rank);
  *output = made.get();
  response->outputs.push_back(std::move(made));
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               uint64_t bytes, int* memory_type,
                                               int64_t* memory_id) {
  MAY_FAIL();
  output->bytes.assign(bytes, '\xEE');
  *buffer = bytes == 0 ? nullptr : output->bytes.data();
  *memory_type = *memory_id == 0 && output->name == "on_gpu" ? deputy::triton::kMemoryGpu
                                                             : deputy::triton::kMemoryCpu;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error) {
  if (flags != deputy::triton::kResponseFinal) std::abort();
  TRITONBACKEND_Request* const request = response->request;
  if (request->releases != 0) std::abort();
  ++request->responses;
  if (error != nullptr) {
    request->code = error->code;
    request->error = error->text;
  } else {
    for (const auto& output : response->outputs) request->results.push_back(*output);
  }
  Delete(response);  // also if the call fails
  MAY_FAIL();
  return nullptr;
}

}  // extern "C"
