// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library of delegates in a process of their own.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "bridges/sandbox/delegate.h"
#include "bridges/sandbox/options.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::sandbox {
namespace {

constexpr const char* kProgram = "deputy-delegate-host";

// Returns the path of the program in the folder of this library or in the folder above; "" if there
// is none.
std::string FindProgram(std::string* error) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&FindProgram), &info) == 0 || info.dli_fname == nullptr) {
    *error = "the path of this library is unknown; set the option 'program'";
    return "";
  }
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  for (const char* const between : {"/", "/../"}) {
    std::string program = folder + between + kProgram;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  *error = "there is no " + std::string(kProgram) + " in " + folder + " or above it";
  return "";
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  if (!error->empty()) return nullptr;
  if (options.program.empty()) options.program = FindProgram(error);
  return options.program.empty() ? nullptr : CreateDelegate(options);
}

TfLiteStatus ListDevices(DeputyDeviceCallback, void*, plugin_entry::ReportError report_error) {
  if (report_error != nullptr)
    report_error("the devices are those of the library that a delegate runs in a process");
  return kTfLiteError;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin =
        plugin_entry::Describe("sandbox", DEPUTY_SANDBOX_VERSION, "Deputy");
    plugin.preferred_layout = kDeputyLayoutAny;
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.list_devices = &ListDevices;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.describe_partitions = &DescribePartitions;
    plugin.take_events = &TakeEvents;
    plugin.node_events = &NodeEvents;
    plugin.report = &ReportDelegate;
    plugin.set_model = &SetModel;
    plugin.set_cancellation = &SetCancellation;
    plugin.set_memory_provider = &SetMemoryProvider;
    plugin.set_options = &SetOptions;
    plugin.async_kernel = &RefuseAsyncKernel;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::sandbox

DEPUTY_PLUGIN_EXPORTS(deputy::sandbox::Describe())
