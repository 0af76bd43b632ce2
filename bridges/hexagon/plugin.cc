// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the Hexagon delegate's library.
#include <memory>
#include <string>
#include <utility>

#include "bridges/hexagon/delegate.h"
#include "bridges/hexagon/library.h"
#include "bridges/hexagon/operators.h"
#include "bridges/hexagon/options.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::hexagon {
namespace {

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  if (!error->empty()) return nullptr;
  std::shared_ptr<const Library> library =
      Library::Connect(options.interface_library, options.library_folder, error);
  return library == nullptr ? nullptr : CreateDelegate(options, std::move(library));
}

TfLiteStatus ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  struct Listener {
    DeputyDelegateOperatorCallback callback;
    void* user_data;
  } listener = {callback, user_data};
  ForEachOperator(
      [](const OperatorRow& row, void* data) {
        const auto* to = static_cast<Listener*>(data);
        const DeputyDelegateOperator op = {sizeof op, row.code, row.max_version, nullptr};
        to->callback(to->user_data, &op);
      },
      &listener);
  return kTfLiteOk;
}

// Lists the DSP if the library can be loaded and connects to it.
TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                         plugin_entry::ReportError report_error) {
  return plugin_entry::Contain(kTfLiteError, report_error, [&](std::string* error) {
    if (Library::Connect("", "", error) == nullptr) return kTfLiteError;
    DeputyDeviceInfo info = {};
    info.struct_size = sizeof info;
    info.usable = 1;
    info.platform = "Hexagon NN";
    info.name = "Hexagon DSP";
    info.vendor = "Qualcomm";
    info.type = "NPU";
    info.device_class = "mobile";
    info.platform_version = info.version = info.driver_version = info.extensions = "";
    info.compute_units = 1;
    info.power_class = kDeputyPowerLow;
    info.preferred_layout = kDeputyLayoutNhwc;
    info.preferred_precision = "int8";
    info.options = "";
    if (callback != nullptr) callback(user_data, &info);
    return kTfLiteOk;
  });
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin =
        plugin_entry::Describe("hexagon", DEPUTY_HEXAGON_VERSION, "Deputy");
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.list_devices = &ListDevices;
    plugin.describe_partitions = &DescribePartitions;
    plugin.list_operators = &ListOperators;
    plugin.report = &ReportDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::hexagon

DEPUTY_PLUGIN_EXPORTS(deputy::hexagon::Describe())
