// SPDX-License-Identifier: Apache-2.0
#include "litert/src/dispatch_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "litert/src/environment.h"
#include "litert/src/layout.h"
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

// Returns the reason why a required function of the plug-in cannot be called, or "". Removes
// optional functions that are not code.
std::string CheckFunctions(const CodeRanges& code, LiteRtDispatchInterface* calls) {
#define DEPUTY_REQUIRE(member)                                        \
  if (calls->member == nullptr) return "it has no function " #member; \
  if (!code.Contains(calls->member)) return "its function " #member " is not a function"
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
  const auto check = [&](auto* function) {
    if (!code.Contains(*function)) *function = nullptr;
  };
  check(&calls->get_vendor_id);
  check(&calls->get_build_id);
  check(&calls->get_capabilities);
  check(&calls->check_runtime_compatibility);
  check(&calls->invocation_context_set_scheduling_info);
  check(&calls->invocation_context_set_options);
  check(&calls->start_metrics_collection);
  check(&calls->stop_metrics_collection);
  check(&calls->get_num_metrics);
  check(&calls->get_metric);
  check(&calls->destroy_metrics);
  check(&calls->get_hooks);
  return "";
}

// Copies a table of the plug-in, whose address is not trusted. Returns false if it is not readable.
template <typename Table>
bool CopyTable(const Table* from, Table* out_table) {
  std::vector<uint8_t> bytes;
  if (!CopyReadable(from, sizeof(*from), &bytes)) return false;
  std::memcpy(out_table, bytes.data(), sizeof(*out_table));
  return true;
}

// Reads the functions for the plug-in's own buffers. Returns the reason why they cannot be called,
// or "".
std::string ReadHandlers(const CodeRanges& code, const LiteRtCustomTensorBufferHandlersDef* from,
                         LiteRtCustomTensorBufferHandlersDef* out_handlers) {
  if (from == nullptr) return "";
  if (!CopyTable(from, out_handlers)) return "its functions for buffers are not readable";
  const auto is_callable = [&](auto function) {
    return function == nullptr || code.Contains(function);
  };
  if (is_callable(out_handlers->create_func) && is_callable(out_handlers->destroy_func) &&
      is_callable(out_handlers->lock_func) && is_callable(out_handlers->unlock_func) &&
      is_callable(out_handlers->clear_func) && is_callable(out_handlers->import_func)) {
    return "";
  }
  return "its functions for buffers are not functions";
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
  if (!CopyTable(api.interface, &out_library->calls)) return "its interface is not readable";
  const CodeRanges code;
  std::string reason = CheckFunctions(code, &out_library->calls);
  if (!reason.empty()) return reason;
  LiteRtDispatchAsyncInterface& async = out_library->async_calls;
  out_library->is_async =
      api.async_interface != nullptr && CopyTable(api.async_interface, &async) &&
      async.attach_input_event != nullptr && async.invoke_async != nullptr &&
      code.Contains(async.attach_input_event) && code.Contains(async.invoke_async);
  return ReadHandlers(code, api.tensor_buffer_handlers_def, &out_library->buffer_handlers);
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
  int capabilities = 0;
  const bool has_capabilities =
      calls.get_capabilities != nullptr &&
      Guard([&] { return calls.get_capabilities(&capabilities); }) == kLiteRtStatusOk;
  const bool claims_async =
      has_capabilities && (capabilities & kLiteRtDispatchCapabilitiesAsync) != 0;
  if (claims_async && !library->is_async) {
    Log(kLiteRtLogSeverityWarning,
        "dispatch: plug-in %s: it claims asynchronous runs, for which it has no functions",
        library->path.c_str());
  }
  library->is_async = library->is_async && claims_async;
  const char* vendor = nullptr;
  status = calls.get_vendor_id == nullptr ? kLiteRtStatusErrorUnsupported
                                          : Guard([&] { return calls.get_vendor_id(&vendor); });
  if (status != kLiteRtStatusOk || !CopyText(vendor, &library->vendor)) {
    Log(kLiteRtLogSeverityWarning, "dispatch: plug-in %s: get_vendor_id returned no readable name",
        library->path.c_str());
  }
  return "";
}

// Registers the functions for the plug-in's own buffers.
void RegisterHandlers(LiteRtEnvironment environment, const DispatchLibrary& library) {
  const LiteRtCustomTensorBufferHandlersDef& from = library.buffer_handlers;
  const size_t types =
      std::min<size_t>(from.num_supported_buffer_types,
                       LITERT_CUSTOM_BUFFER_HANDLERS_DEF_MAX_SUPPORTED_BUFFER_TYPES);
  for (size_t i = 0; i < types; ++i) {
    const int type = NumberOf(from.supported_buffer_types[i]);
    if (type < 0 || type > kLiteRtTensorBufferTypeUserCustomBufferEnd) {
      Log(kLiteRtLogSeverityWarning,
          "dispatch: plug-in '%s' (%s): its functions for buffers of the unknown type %d have no "
          "effect",
          library.vendor.c_str(), library.path.c_str(), type);
      continue;
    }
    (void)environment->AddHandlers(from.supported_buffer_types[i], {.create = from.create_func,
                                                                    .destroy = from.destroy_func,
                                                                    .lock = from.lock_func,
                                                                    .unlock = from.unlock_func,
                                                                    .clear = from.clear_func,
                                                                    .import = from.import_func,
                                                                    .device_tag = from.device_tag,
                                                                    .queue_tag = from.queue_tag});
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
