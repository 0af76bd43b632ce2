// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library: those of external delegates, deputy_plugin, and those of
// deputy_cpu.h.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "bridges/cpu/choose.h"
#include "bridges/cpu/delegate.h"
#include "bridges/cpu/options.h"
#include "c_api/include/deputy_cpu.h"
#include "c_api/include/deputy_plugin.h"
#include "c_api/include/deputy_plugin_entry.h"
#include "core/support/host_device.h"
#include "kernels/registry.h"

namespace deputy::cpu {
namespace {

using plugin_entry::Contain;

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  return error->empty() ? CreateDelegate(options) : nullptr;
}

void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  for (const std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& def : family) {
      if (def.invoke == nullptr || !CanBeClaimed(def.code)) continue;
      const bool custom = def.code == kTfLiteBuiltinCustom;
      const DeputyDelegateOperator op = {sizeof op, def.code, def.max_version,
                                         custom ? def.name : nullptr};
      if (callback != nullptr) callback(user_data, &op);
    }
  }
}

TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                         plugin_entry::ReportError report_error) {
  return Contain(kTfLiteError, report_error, [&](std::string*) {
    ListHostDevice("Deputy", DEPUTY_CPU_VERSION, callback, user_data);
    return kTfLiteOk;
  });
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = plugin_entry::Describe("cpu", DEPUTY_CPU_VERSION, "Deputy");
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.list_devices = &ListDevices;
    plugin.list_operators = plugin_entry::kContained<&ListOperators>;
    plugin.report = [](TfLiteDelegate*, DeputyDelegateReport* report, DeputyOptionUseCallback,
                       void*) {
      report->device = "CPU";
      report->precision = "as in the model";
      report->compile_ns = report->tune_ns =
          0;  // nothing is compiled: the kernels are part of the library
      return kTfLiteOk;
    };
    return plugin;
  }();
  return &kPlugin;
}

// Returns the buffer with the error message of the calling thread. Its size is fixed, so that "out
// of memory" can be stored, too.
char* LastError() {
  thread_local char text[1024] = "";
  return text;
}

void StoreError(const char* text) { std::snprintf(LastError(), 1024, "%s", text); }

TfLiteDelegate* CreatePublic(const DeputyCpuOptions* given) {
  return Contain<TfLiteDelegate*>(nullptr, &StoreError, [&](std::string* error) {
    Options options;
    if (given != nullptr) *error = FromPublic(*given, &options);
    return error->empty() ? CreateDelegate(options) : nullptr;
  });
}

}  // namespace
}  // namespace deputy::cpu

DEPUTY_PLUGIN_EXPORTS(deputy::cpu::Describe())

extern "C" {

TFL_CAPI_EXPORT const char* DeputyCpuLastError() { return deputy::cpu::LastError(); }

TFL_CAPI_EXPORT DeputyCpuOptions DeputyCpuOptionsDefault() { return deputy::cpu::PublicDefaults(); }

TFL_CAPI_EXPORT TfLiteDelegate* DeputyCpuDelegateCreate(const DeputyCpuOptions* options) {
  return deputy::cpu::CreatePublic(options);
}

TFL_CAPI_EXPORT void DeputyCpuDelegateDelete(TfLiteDelegate* delegate) {
  deputy::cpu::DestroyDelegate(delegate);
}

}  // extern "C"
