// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/triton/host.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::triton_double {
namespace {

// Loads the library as the server does, and keeps it loaded. This program defines its undefined
// symbols.
void* FunctionOf(const char* name) {
  static void* const library =
      dlopen(BuildPath("triton/deputy/libtriton_deputy.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::abort();
  }
  return function;
}

// Calls a function that ends an object, and again if it fails, since the object exists until then.
void End(const char* function, void* object) {
  const std::string error = Take(CallBackend(function, object));
  if (!error.empty()) Take(CallBackend(function, object));
}

}  // namespace

std::string Take(TRITONSERVER_Error* error, int* code) {
  if (error == nullptr) return "";
  if (code != nullptr) *code = error->code;
  std::string text = error->text;
  TRITONSERVER_ErrorDelete(error);
  return text;
}

TRITONSERVER_Error* CallBackend(const char* name, void* argument) {
  return reinterpret_cast<TRITONSERVER_Error* (*)(void*)>(FunctionOf(name))(argument);
}

TRITONSERVER_Error* CallBackend(const char* name, void* first, void* second) {
  return reinterpret_cast<TRITONSERVER_Error* (*)(void*, void*)>(FunctionOf(name))(first, second);
}

Host::Host() : error_(Take(CallBackend("TRITONBACKEND_Initialize", &backend_))) {}

Host::~Host() {
  if (error_.empty()) End("TRITONBACKEND_Finalize", &backend_);
}

HostedModel::HostedModel(Host* host, const std::vector<uint8_t>& file, const std::string& config,
                         const std::string& file_name) {
  static int count = 0;
  model_.backend = host->backend();
  model_.folder = ScratchFile("triton_" + std::to_string(++count));
  model_.config = config;
  std::filesystem::create_directories(model_.folder + "/1");
  WriteBytes(model_.folder + "/1/" + file_name, file);
}

HostedModel::~HostedModel() {
  Unload();
  std::error_code ignored;
  std::filesystem::remove_all(model_.folder, ignored);
}

std::string HostedModel::Load() {
  std::string error = Take(CallBackend("TRITONBACKEND_ModelInitialize", &model_), &code_);
  is_loaded_ = error.empty();
  return error;
}

std::string HostedModel::AddInstance() {
  auto instance = std::make_unique<TRITONBACKEND_ModelInstance>();
  instance->model = &model_;
  std::string error =
      Take(CallBackend("TRITONBACKEND_ModelInstanceInitialize", instance.get()), &code_);
  if (error.empty()) instances_.push_back(std::move(instance));
  return error;
}

std::string HostedModel::LoadWithInstance() {
  std::string error = Load();
  return error.empty() ? AddInstance() : error;
}

void HostedModel::Unload() {
  for (const auto& instance : instances_) {
    End("TRITONBACKEND_ModelInstanceFinalize", instance.get());
  }
  instances_.clear();
  if (is_loaded_) End("TRITONBACKEND_ModelFinalize", &model_);
  is_loaded_ = false;
}

std::string HostedModel::Execute(std::vector<TRITONBACKEND_Request>* requests, size_t instance) {
  std::vector<TRITONBACKEND_Request*> pointers;
  for (TRITONBACKEND_Request& request : *requests) pointers.push_back(&request);
  using Function =
      TRITONSERVER_Error* (*)(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, uint32_t);
  const auto execute = reinterpret_cast<Function>(FunctionOf("TRITONBACKEND_ModelInstanceExecute"));
  return Take(execute(instances_.at(instance).get(), pointers.data(),
                      static_cast<uint32_t>(pointers.size())));
}

TRITONBACKEND_Request HostedModel::Infer(std::vector<TRITONBACKEND_Input> inputs,
                                         std::vector<std::string> names, uint32_t flags,
                                         size_t instance) {
  std::vector<TRITONBACKEND_Request> requests(1);
  requests[0].inputs = std::move(inputs);
  requests[0].outputs = std::move(names);
  requests[0].flags = flags;
  const std::string error = Execute(&requests, instance);
  if (!error.empty()) requests[0].error = "Execute: " + error;
  return requests[0];
}

}  // namespace deputy::triton_double
