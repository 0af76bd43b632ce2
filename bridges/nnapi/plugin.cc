// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library: those of external delegates and deputy_plugin.
#include <memory>
#include <string>

#include "bridges/nnapi/delegate.h"
#include "bridges/nnapi/library.h"
#include "bridges/nnapi/operators.h"
#include "bridges/nnapi/options.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::nnapi {
namespace {

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  return error->empty() ? CreateDelegate(options, error) : nullptr;
}

TfLiteStatus ListPluginDevices(DeputyDeviceCallback callback, void* user_data,
                               plugin_entry::ReportError report_error) {
  return plugin_entry::Contain(kTfLiteError, report_error, [&](std::string* error) {
    const std::shared_ptr<const Library> library = OpenLibrary("", error);
    if (library != nullptr) *error = ListDevices(*library, callback, user_data);
    return error->empty() ? kTfLiteOk : kTfLiteError;
  });
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = plugin_entry::Describe("nnapi", DEPUTY_NNAPI_VERSION, "Deputy");
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
}  // namespace deputy::nnapi

DEPUTY_PLUGIN_EXPORTS(deputy::nnapi::Describe())
