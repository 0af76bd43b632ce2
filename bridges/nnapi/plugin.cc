// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library: those of external delegates and deputy_plugin.
#include <exception>
#include <string>

#include "bridges/nnapi/delegate.h"
#include "bridges/nnapi/operators.h"
#include "bridges/nnapi/options.h"
#include "deputy/deputy_plugin.h"
#include "deputy/external_delegate_interface.h"

namespace deputy::nnapi {
namespace {

using Report = void (*)(const char* text);

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       Report report) {
  try {
    Options options;
    std::string problem = ParseOptions(keys, values, count, &options);
    TfLiteDelegate* const delegate = problem.empty() ? CreateDelegate(options, &problem) : nullptr;
    if (delegate == nullptr && report != nullptr) report(problem.c_str());
    return delegate;
  } catch (const std::exception& exception) {
    if (report != nullptr) report(exception.what());
    return nullptr;
  }
}

TfLiteStatus ListOperatorsContained(DeputyDelegateOperatorCallback callback, void* user_data) {
  try {
    ListOperators(callback, user_data);
    return kTfLiteOk;
  } catch (const std::exception&) {
    return kTfLiteError;
  }
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
    plugin.preferred_layout = kDeputyLayoutNhwc;
    plugin.name = "nnapi";
    plugin.version = DEPUTY_NNAPI_VERSION;
    plugin.vendor = "Deputy";
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &Create;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.list_operators = &ListOperatorsContained;
    plugin.report = &ReportDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::nnapi

extern "C" {

TFL_EXTERNAL_DELEGATE_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* text)) {
  return deputy::nnapi::Create(keys, values, count, report_error);
}

TFL_EXTERNAL_DELEGATE_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  deputy::nnapi::DestroyDelegate(delegate);
}

TFL_EXTERNAL_DELEGATE_EXPORT const DeputyDelegatePlugin* deputy_plugin() {
  return deputy::nnapi::Describe();
}

}  // extern "C"
