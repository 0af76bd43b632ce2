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
#include "c_api/include/external_delegate_interface.h"
#include "core/base/guard.h"
#include "kernels/registry.h"

namespace deputy::cpu {
namespace {

using Report = void (*)(const char* text);

void SendReport(Report report, const char* text) {
  if (report != nullptr) report(text);
}

// Creates a delegate with the options that `read(&options)` sets; `read` returns "" or an error
// message.
template <typename Read>
TfLiteDelegate* CreateFrom(Report report, const Read& read) {
  const auto out_of_memory = [&]() -> TfLiteDelegate* {
    SendReport(report, "out of memory");
    return nullptr;
  };
  return Guard(out_of_memory, [&]() -> TfLiteDelegate* {
    Options options;
    const std::string problem = read(&options);
    if (problem.empty()) return CreateDelegate(options);
    SendReport(report, problem.c_str());
    return nullptr;
  });
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       Report report) {
  return CreateFrom(report,
                    [&](Options* options) { return ParseOptions(keys, values, count, options); });
}

TfLiteStatus ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  return Guard(kTfLiteError, [&] {
    for (const std::span<const OpDef> family : AllFamilies()) {
      for (const OpDef& def : family) {
        if (def.invoke == nullptr || !CanBeClaimed(def.code)) continue;
        const bool custom = def.code == kTfLiteBuiltinCustom;
        const DeputyDelegateOperator op = {sizeof op, def.code, def.max_version,
                                           custom ? def.name : nullptr};
        if (callback != nullptr) callback(user_data, &op);
      }
    }
    return kTfLiteOk;
  });
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
    plugin.preferred_layout = kDeputyLayoutNhwc;
    plugin.name = "cpu";
    plugin.version = DEPUTY_CPU_VERSION;
    plugin.vendor = "Deputy";
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &Create;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.list_operators = &ListOperators;
    plugin.report = [](TfLiteDelegate*, DeputyDelegateReport* report, DeputyOptionUseCallback,
                       void*) {
      report->device = "CPU";
      report->precision = "as in the model";
      report->compile_ns = report->tune_ns = 0;  // its kernels are part of the library
      return kTfLiteOk;
    };
    return plugin;
  }();
  return &kPlugin;
}

// Error message of the calling thread. The buffer is static, so that "out of memory" can be stored.
char* LastError() {
  thread_local char text[1024] = "";
  return text;
}

void StoreError(const char* text) { std::snprintf(LastError(), 1024, "%s", text); }

}  // namespace
}  // namespace deputy::cpu

extern "C" {

TFL_CAPI_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* text)) {
  return deputy::cpu::Create(keys, values, count, report_error);
}

TFL_CAPI_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  deputy::cpu::DestroyDelegate(delegate);
}

TFL_CAPI_EXPORT const DeputyDelegatePlugin* deputy_plugin() { return deputy::cpu::Describe(); }

TFL_CAPI_EXPORT const char* DeputyCpuLastError() { return deputy::cpu::LastError(); }

TFL_CAPI_EXPORT DeputyCpuOptions DeputyCpuOptionsDefault() { return deputy::cpu::PublicDefaults(); }

TFL_CAPI_EXPORT TfLiteDelegate* DeputyCpuDelegateCreate(const DeputyCpuOptions* options) {
  return deputy::cpu::CreateFrom(&deputy::cpu::StoreError, [&](deputy::cpu::Options* read) {
    return options == nullptr ? std::string() : deputy::cpu::FromPublic(*options, read);
  });
}

TFL_CAPI_EXPORT void DeputyCpuDelegateDelete(TfLiteDelegate* delegate) {
  deputy::cpu::DestroyDelegate(delegate);
}

}  // extern "C"
