// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library: those of external delegates and deputy_plugin.
#include <memory>
#include <string>

#include "bridges/onnxruntime/delegate.h"
#include "bridges/onnxruntime/library.h"
#include "bridges/onnxruntime/operators.h"
#include "bridges/onnxruntime/options.h"
#include "core/support/host_device.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::onnxruntime {
namespace {

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  return error->empty() ? CreateDelegate(options) : nullptr;
}

TfLiteStatus ListPluginDevices(DeputyDeviceCallback callback, void* user_data,
                               plugin_entry::ReportError report_error) {
  return plugin_entry::Contain(kTfLiteError, report_error, [&](std::string* error) {
    const std::shared_ptr<const Library> library = OpenLibrary("", error);
    if (library == nullptr) return kTfLiteError;
    ListHostDevice("ONNX Runtime", library->version.c_str(), callback, user_data);
    return kTfLiteOk;
  });
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin =
        plugin_entry::Describe("onnxruntime", DEPUTY_ONNXRUNTIME_VERSION, "Deputy");
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.list_devices = &ListPluginDevices;
    plugin.list_operators = plugin_entry::kContained<&ListOperators>;
    plugin.report = &ReportDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::onnxruntime

DEPUTY_PLUGIN_EXPORTS(deputy::onnxruntime::Describe())
