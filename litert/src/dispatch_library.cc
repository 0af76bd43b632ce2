// SPDX-License-Identifier: Apache-2.0
#include "litert/src/dispatch_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "litert/src/environment.h"
#include "litert/src/log.h"
#include "litert/src/plugin_files.h"
#include "litert/src/runtime_context.h"

namespace deputy::litert {
namespace {

// Returns the first plug-in below a folder in the order of names, or "".
std::string FindFile(const std::string& folder) {
  const std::vector<std::string> found = FindPlugins(folder, "libLiteRtDispatch");
  if (found.size() > 1) {
    Log(kLiteRtLogSeverityWarning, "dispatch: %s has %zu plug-ins; %s is used", folder.c_str(),
        found.size(), found.front().c_str());
  }
  return found.empty() ? "" : found.front();
}

// Returns the name of a required function that the plug-in lacks, or null.
const char* FindMissing(const LiteRtDispatchInterface& calls) {
#define DEPUTY_REQUIRE(member) \
  if (calls.member == nullptr) return #member
  DEPUTY_REQUIRE(initialize);
  DEPUTY_REQUIRE(device_context_create);
  DEPUTY_REQUIRE(device_context_destroy);
  DEPUTY_REQUIRE(get_input_requirements);
  DEPUTY_REQUIRE(get_output_requirements);
  DEPUTY_REQUIRE(register_tensor_buffer);
  DEPUTY_REQUIRE(unregister_tensor_buffer);
  DEPUTY_REQUIRE(invocation_context_create);
  DEPUTY_REQUIRE(invocation_context_destroy);
  DEPUTY_REQUIRE(attach_input);
  DEPUTY_REQUIRE(attach_output);
  DEPUTY_REQUIRE(detach_input);
  DEPUTY_REQUIRE(detach_output);
  DEPUTY_REQUIRE(invoke);
#undef DEPUTY_REQUIRE
  return nullptr;
}

// Reads the plug-in's functions; returns the reason why it does not fit, or "".
std::string ReadApi(void* library, DispatchLibrary* out_library) {
  using GetApi = LiteRtStatus (*)(LiteRtDispatchApi*);
  const auto get_api = reinterpret_cast<GetApi>(dlsym(library, "LiteRtDispatchGetApi"));
  if (get_api == nullptr) return "it has no function LiteRtDispatchGetApi";
  LiteRtDispatchApi api = {};
  api.abi_header = {
      .struct_size = sizeof(api), .major_version = 1, .minor_version = 0, .reserved = 0};
  const LiteRtStatus status = Guard([&] { return get_api(&api); });
  if (status != kLiteRtStatusOk) {
    return std::string("LiteRtDispatchGetApi failed: ") + LiteRtGetStatusString(status);
  }
  if (LiteRtCompareApiVersion(api.version, kPluginVersion) != 0) {
    return "expected version " + TextOf(kPluginVersion) + " of the interface, found " +
           TextOf(api.version);
  }
  if (api.interface == nullptr) return "it has no interface";
  out_library->calls = *api.interface;
  if (const char* const missing = FindMissing(out_library->calls)) {
    return std::string("it has no function ") + missing;
  }
  out_library->buffer_handlers = api.tensor_buffer_handlers_def;
  return "";
}

// Initialises the plug-in; returns the reason of a failure, or "".
std::string Initialize(LiteRtEnvironment environment, LiteRtOptions options,
                       DispatchLibrary* library) {
  const LiteRtDispatchInterface& calls = library->calls;
  LiteRtStatus status =
      Guard([&] { return calls.initialize(RuntimeContext(), environment, options); });
  if (status != kLiteRtStatusOk) {
    return std::string("initialize failed: ") + LiteRtGetStatusString(status);
  }
  if (calls.check_runtime_compatibility != nullptr) {
    status = Guard([&] {
      return calls.check_runtime_compatibility(kPluginVersion, &environment->options(), options);
    });
    if (status != kLiteRtStatusOk) {
      return "it refuses version " + TextOf(kPluginVersion) +
             " of the runtime: " + LiteRtGetStatusString(status);
    }
  }
  const char* vendor = nullptr;
  if (calls.get_vendor_id != nullptr && calls.get_vendor_id(&vendor) == kLiteRtStatusOk &&
      vendor != nullptr) {
    library->vendor = vendor;
  }
  return "";
}

// Registers the functions for the plug-in's own buffers.
void RegisterHandlers(LiteRtEnvironment environment, const DispatchLibrary& library) {
  const LiteRtCustomTensorBufferHandlersDef* const from = library.buffer_handlers;
  if (from == nullptr) return;
  const size_t types =
      std::min<size_t>(from->num_supported_buffer_types,
                       LITERT_CUSTOM_BUFFER_HANDLERS_DEF_MAX_SUPPORTED_BUFFER_TYPES);
  for (size_t i = 0; i < types; ++i) {
    (void)environment->AddHandlers(from->supported_buffer_types[i], {.create = from->create_func,
                                                                     .destroy = from->destroy_func,
                                                                     .lock = from->lock_func,
                                                                     .unlock = from->unlock_func,
                                                                     .clear = from->clear_func,
                                                                     .import = from->import_func,
                                                                     .device_tag = from->device_tag,
                                                                     .queue_tag = from->queue_tag});
  }
}

}  // namespace

const DispatchLibrary* OpenDispatchLibrary(LiteRtEnvironment environment, LiteRtOptions options,
                                           std::string* out_reason) {
  const char* const folder = environment->TextOption(kLiteRtEnvOptionTagDispatchLibraryDir);
  if (folder == nullptr) {
    *out_reason = "the environment has no option DispatchLibraryDir";
    return nullptr;
  }
  const std::string path = FindFile(folder);
  if (path.empty()) {
    *out_reason = std::string(folder) + " has no file libLiteRtDispatch*.so";
    return nullptr;
  }
  static std::mutex mutex;
  // By path; an empty pointer for a plug-in that does not fit. Never destroyed.
  static auto* const libraries = new std::map<std::string, std::unique_ptr<DispatchLibrary>>();
  static auto* const reasons = new std::map<std::string, std::string>();
  const std::scoped_lock lock(mutex);
  if (const auto found = libraries->find(path); found == libraries->end()) {
    auto library = std::make_unique<DispatchLibrary>();
    library->path = path;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    std::string reason = handle == nullptr ? dlerror() : ReadApi(handle, library.get());
    if (reason.empty()) reason = Initialize(environment, options, library.get());
    if (!reason.empty()) library.reset();
    (*reasons)[path] = path + ": " + reason;
    (*libraries)[path] = std::move(library);
  }
  const DispatchLibrary* const library = (*libraries)[path].get();
  if (library == nullptr) {
    *out_reason = (*reasons)[path];
  } else {
    RegisterHandlers(environment, *library);
  }
  return library;
}

}  // namespace deputy::litert
