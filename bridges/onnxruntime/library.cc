// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace deputy::onnxruntime {
namespace {

constexpr const char* kDefaultNames[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

struct Opened {
  void* handle = nullptr;
  std::string name;
  std::string origin;  // for messages: "which the options name"
};

// Opens `name`, or stores the loader's message in `out_error`.
void* Open(const std::string& name, std::string* out_error) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* const message = dlerror();
  out_error->append(out_error->empty() ? "" : "; ").append(message == nullptr ? name : message);
  return nullptr;
}

Opened OpenFirst(const std::string& option, std::string* out_error) {
  const char* const variable = std::getenv("DEPUTY_ONNXRUNTIME_LIBRARY");
  Opened opened = {nullptr, option, "which the options name"};
  if (option.empty() && variable != nullptr) {
    opened = {nullptr, variable, "which DEPUTY_ONNXRUNTIME_LIBRARY names"};
  }
  if (!opened.name.empty()) {
    opened.handle = Open(opened.name, out_error);
    return opened;
  }
  opened.origin = "its default name";
  for (const char* name : kDefaultNames) {
    opened.name = name;
    opened.handle = Open(name, out_error);
    if (opened.handle != nullptr) break;
  }
  return opened;
}

// Loads the function table. Returns the names of missing functions.
std::string LoadFunctions(const void* api, Functions* functions) {
  std::string missing;
  const auto* const table = static_cast<const char*>(api);
#define DEPUTY_ORT_LOAD(name, index, result, parameters)                                      \
  memcpy(&functions->name, table + (index) * sizeof functions->name, sizeof functions->name); \
  if (functions->name == nullptr) missing.append(missing.empty() ? "" : ", ").append(#name);
  DEPUTY_ORT_FUNCTIONS(DEPUTY_ORT_LOAD)
#undef DEPUTY_ORT_LOAD
  return missing;
}

// Gets the functions of a loaded library and creates the objects that all sessions share. Returns
// "" or the reason why the library cannot be used.
std::string Initialize(void* handle, Library* library) {
  const auto get_base = reinterpret_cast<GetApiBaseFunction>(dlsym(handle, "OrtGetApiBase"));
  const ApiBase* const base = get_base == nullptr ? nullptr : get_base();
  if (base == nullptr) return "has no OrtGetApiBase";
  const char* const version =
      base->GetVersionString == nullptr ? nullptr : base->GetVersionString();
  library->version = version == nullptr ? "" : version;
  const void* const api = base->GetApi == nullptr ? nullptr : base->GetApi(kApiVersion);
  if (api == nullptr) {
    return "is too old: expected version 1." + std::to_string(kApiVersion) + " or later, found " +
           (library->version.empty() ? "none" : library->version);
  }
  const std::string missing = LoadFunctions(api, &library->functions);
  if (!missing.empty()) return "lacks " + missing;
  const Functions& functions = library->functions;
  std::string problem =
      TakeError(functions, "CreateEnv", functions.CreateEnv(kLogFatal, "deputy", &library->env));
  if (problem.empty()) {
    problem = TakeError(
        functions, "CreateCpuMemoryInfo",
        functions.CreateCpuMemoryInfo(kDeviceAllocator, kMemoryDefault, &library->memory));
  }
  return problem.empty() ? "" : "fails: " + problem;
}

}  // namespace

Library::~Library() {
  if (memory != nullptr) functions.ReleaseMemoryInfo(memory);
  if (env != nullptr) functions.ReleaseEnv(env);
}

std::shared_ptr<const Library> OpenLibrary(const std::string& path, std::string* out_error) {
  std::string problem;
  const Opened opened = OpenFirst(path, &problem);
  const std::string subject =
      "ONNX Runtime's library, '" + opened.name + "', " + opened.origin + ", ";
  if (opened.handle == nullptr) {
    *out_error = subject + "cannot be opened: " + problem;
    return nullptr;
  }
  auto library = std::make_shared<Library>();
  library->path = opened.name;
  problem = Initialize(opened.handle, library.get());
  if (problem.empty()) return library;
  *out_error = subject + problem;
  return nullptr;
}

std::string TakeError(const Functions& functions, const char* function, OrtStatus* status) {
  if (status == nullptr) return "";
  const char* const message = functions.GetErrorMessage(status);
  std::string text = std::string(function) + ": " + (message == nullptr ? "" : message) + " (" +
                     std::to_string(functions.GetErrorCode(status)) + ")";
  functions.ReleaseStatus(status);
  return text;
}

}  // namespace deputy::onnxruntime
