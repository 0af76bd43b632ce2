// SPDX-License-Identifier: Apache-2.0
//
// Functions of the back end that the server calls.
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "bridges/triton/error.h"
#include "bridges/triton/instance.h"
#include "bridges/triton/metrics.h"
#include "bridges/triton/model.h"

namespace deputy::triton {
namespace {

// Calls a function that returns an Error, and converts exceptions.
template <typename Function>
TRITONSERVER_Error* Guard(const Function& function) noexcept {
  try {
    return function().release();
  } catch (const std::exception& exception) {
    return TRITONSERVER_ErrorNew(kErrorInternal, exception.what());
  }
}

// Logs messages of libdeputy at the verbose level, because errors for the server contain them.
void LogMessage(void*, const char* format, va_list args) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, args);
  const Error ignored(TRITONSERVER_LogMessage(kLogVerbose, "deputy", 0, text));
}

Error CheckVersion(const char* api, TRITONSERVER_Error* (*get_version)(uint32_t*, uint32_t*)) {
  uint32_t major = 0, minor = 0;
  DEPUTY_TRY(get_version(&major, &minor));
  if (major == kApiMajor) return nullptr;
  return MakeError(kErrorUnsupported, "the back end 'deputy' needs version " +
                                          std::to_string(kApiMajor) + " of the API " + api +
                                          ", the server has version " + std::to_string(major) +
                                          "." + std::to_string(minor));
}

Error Initialize(TRITONBACKEND_Backend* backend) {
  DEPUTY_TRY(CheckVersion("TRITONSERVER", &TRITONSERVER_ApiVersion));
  DEPUTY_TRY(CheckVersion("TRITONBACKEND", &TRITONBACKEND_ApiVersion));
  auto families = std::make_unique<MetricFamilies>();
  DEPUTY_TRY(TRITONBACKEND_BackendSetState(backend, families.get()));
  static_cast<void>(families.release());  // the server owns it until Finalize
  DeputySetDefaultReporter(&LogMessage, nullptr);
  return nullptr;
}

Error Finalize(TRITONBACKEND_Backend* backend) {
  void* state = nullptr;
  DEPUTY_TRY(TRITONBACKEND_BackendState(backend, &state));
  delete static_cast<MetricFamilies*>(state);
  DeputySetDefaultReporter(nullptr, nullptr);
  return nullptr;
}

Error InitializeModel(TRITONBACKEND_Model* triton) {
  TRITONBACKEND_Backend* backend = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelBackend(triton, &backend));
  void* families = nullptr;
  DEPUTY_TRY(TRITONBACKEND_BackendState(backend, &families));
  std::unique_ptr<Model> model;
  DEPUTY_TRY(Model::Load(triton, static_cast<MetricFamilies*>(families), &model));
  DEPUTY_TRY(TRITONBACKEND_ModelSetState(triton, model.get()));
  static_cast<void>(model.release());  // the server owns it until FinalizeModel
  return nullptr;
}

Error FinalizeModel(TRITONBACKEND_Model* triton) {
  void* state = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelState(triton, &state));
  delete static_cast<Model*>(state);
  return nullptr;
}

Error InitializeInstance(TRITONBACKEND_ModelInstance* triton) {
  TRITONBACKEND_Model* model = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelInstanceModel(triton, &model));
  void* state = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelState(model, &state));
  std::unique_ptr<Instance> instance;
  DEPUTY_TRY(Instance::Create(*static_cast<Model*>(state), &instance));
  DEPUTY_TRY(TRITONBACKEND_ModelInstanceSetState(triton, instance.get()));
  static_cast<void>(instance.release());  // the server owns it until FinalizeInstance
  return nullptr;
}

Error FinalizeInstance(TRITONBACKEND_ModelInstance* triton) {
  void* state = nullptr;
  DEPUTY_TRY(TRITONBACKEND_ModelInstanceState(triton, &state));
  delete static_cast<Instance*>(state);
  return nullptr;
}

}  // namespace
}  // namespace deputy::triton

using deputy::triton::Error;
using deputy::triton::Guard;

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard([&] { return deputy::triton::Initialize(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return Guard([&] { return deputy::triton::Finalize(backend); });
}

// Instances are for the CPU, also on machines with GPUs, unless the configuration says otherwise.
TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend* /*backend*/,
                                                      TRITONBACKEND_BackendAttribute* attributes) {
  return TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
      attributes, deputy::triton::kInstanceCpu, 1, nullptr, 0);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard([&] { return deputy::triton::InitializeModel(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard([&] { return deputy::triton::FinalizeModel(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard([&] { return deputy::triton::InitializeInstance(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard([&] { return deputy::triton::FinalizeInstance(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       uint32_t count) {
  return Guard([&]() -> Error {
    void* state = nullptr;
    DEPUTY_TRY(TRITONBACKEND_ModelInstanceState(instance, &state));
    static_cast<deputy::triton::Instance*>(state)->Execute(instance, requests, count);
    return nullptr;
  });
}
