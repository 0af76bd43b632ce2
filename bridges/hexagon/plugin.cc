// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library.
#include <exception>
#include <memory>
#include <string>

#include "bridges/hexagon/delegate.h"
#include "bridges/hexagon/library.h"
#include "bridges/hexagon/operators.h"
#include "bridges/hexagon/options.h"
#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

namespace deputy::hexagon {
namespace {

using Report = void (*)(const char* text);

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       Report report) {
  const auto say = [&](const char* text) -> TfLiteDelegate* {
    if (report != nullptr) report(text);
    return nullptr;
  };
  try {
    Options options;
    std::string problem = ParseOptions(keys, values, count, &options);
    if (!problem.empty()) return say(problem.c_str());
    std::shared_ptr<const Library> library =
        Library::Connect(options.interface_library, options.library_folder, &problem);
    if (library == nullptr) return say(problem.c_str());
    return CreateDelegate(options, std::move(library));
  } catch (const std::exception& exception) {
    return say(exception.what());
  }
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

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
    plugin.preferred_layout = kDeputyLayoutNhwc;
    plugin.name = "hexagon";
    plugin.version = DEPUTY_HEXAGON_VERSION;
    plugin.vendor = "Deputy";
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &Create;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.describe_partitions = &DescribePartitions;
    plugin.list_operators = &ListOperators;
    plugin.report = &ReportDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::hexagon

extern "C" {

TFL_CAPI_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* text)) {
  return deputy::hexagon::Create(keys, values, count, report_error);
}

TFL_CAPI_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  deputy::hexagon::DestroyDelegate(delegate);
}

TFL_CAPI_EXPORT const DeputyDelegatePlugin* deputy_plugin() { return deputy::hexagon::Describe(); }

}  // extern "C"
