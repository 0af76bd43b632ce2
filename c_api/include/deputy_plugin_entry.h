// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the exported functions of a delegate plug-in (deputy_plugin.h). Header only: they
// need no library, so that the plug-in loads into TensorFlow Lite, too.
//
// In C and C++, a macro defines the three exported functions:
//
//     static const DeputyDelegatePlugin kPlugin = {sizeof kPlugin, DEPUTY_PLUGIN_ABI_VERSION, ...};
//     DEPUTY_PLUGIN_EXPORTS(&kPlugin)
//
// From C++17 on, templates contain exceptions, which must not leave a plug-in:
//
//     TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
//                            std::string* error);  // may throw
//     plugin.create = &deputy::plugin_entry::Create<&Create>;
//     plugin.list_operators = deputy::plugin_entry::kContained<&ListOperators>;
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ENTRY_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ENTRY_H_

#include "deputy_plugin.h"
#include "external_delegate_interface.h"

#ifdef __cplusplus
#define DEPUTY_PLUGIN_ENTRY extern "C" TFL_CAPI_EXPORT
#else
#define DEPUTY_PLUGIN_ENTRY TFL_CAPI_EXPORT
#endif

// Defines tflite_plugin_create_delegate, tflite_plugin_destroy_delegate and deputy_plugin. `plugin`
// is an expression for a pointer to the DeputyDelegatePlugin, whose `create` and `destroy` are set.
// It is evaluated in each call and must always be the same.
#define DEPUTY_PLUGIN_EXPORTS(plugin)                                                         \
  DEPUTY_PLUGIN_ENTRY const DeputyDelegatePlugin* deputy_plugin(void) { return plugin; }      \
  DEPUTY_PLUGIN_ENTRY TfLiteDelegate* tflite_plugin_create_delegate(                          \
      const char* const* options_keys, const char* const* options_values, size_t num_options, \
      void (*report_error)(const char* message)) {                                            \
    return (plugin)->create(options_keys, options_values, num_options, report_error);         \
  }                                                                                           \
  DEPUTY_PLUGIN_ENTRY void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {         \
    (plugin)->destroy(delegate);                                                              \
  }

#if defined(__cplusplus) && __cplusplus >= 201703L
#include <exception>
#include <string>
#include <type_traits>

namespace deputy::plugin_entry {

// Function that receives an error message, which is valid during the call. May be null.
using ReportError = void (*)(const char* text);

// Returns function(&error), or `failure` if it throws. The text that the function leaves in
// `error`, or else that of the exception, is passed to `report_error`.
template <typename Result, typename Function>
Result Contain(Result failure, ReportError report_error, const Function& function) {
  const auto report = [report_error](const char* text) {
    if (report_error != nullptr) report_error(text);
  };
  try {
    std::string error;
    const Result result = function(&error);
    if (!error.empty()) report(error.c_str());
    return result;
  } catch (const std::exception& exception) {
    report(exception.what());
  } catch (...) {
    report("the plug-in threw an exception that is not a std::exception");
  }
  return failure;
}

// Implements DeputyDelegatePlugin::create by a function create(keys, values, count, &error), which
// returns null, and the reason in `error`, on failure.
template <auto create>
TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       ReportError report_error) {
  return Contain<TfLiteDelegate*>(nullptr, report_error, [&](std::string* error) {
    return create(keys, values, count, error);
  });
}

template <auto function, typename Type = decltype(function)>
struct Containment;

template <auto function, typename Result, typename... Arguments>
struct Containment<function, Result (*)(Arguments...)> {
  static TfLiteStatus Call(Arguments... arguments) {
    return Contain(kTfLiteError, nullptr, [&](std::string*) -> TfLiteStatus {
      if constexpr (std::is_void_v<Result>) {
        function(arguments...);
        return kTfLiteOk;
      } else {
        return function(arguments...);
      }
    });
  }
};

// A function that calls `function`, which returns TfLiteStatus or void, and returns kTfLiteError if
// it throws.
template <auto function>
inline constexpr auto* kContained = &Containment<function>::Call;

// Returns a description with these members, the size and version of this header, and NHWC as its
// layout; all other members are null.
inline DeputyDelegatePlugin Describe(const char* name, const char* version, const char* vendor) {
  DeputyDelegatePlugin plugin = {};
  plugin.struct_size = sizeof plugin;
  plugin.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
  plugin.preferred_layout = kDeputyLayoutNhwc;
  plugin.name = name;
  plugin.version = version;
  plugin.vendor = vendor;
  return plugin;
}

}  // namespace deputy::plugin_entry
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ENTRY_H_
