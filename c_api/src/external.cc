// SPDX-License-Identifier: Apache-2.0
//
// Delegates from shared objects, under the original's names. The registry in plugin.cc provides
// more information about the shared objects.
#include "c_api/include/external_delegate.h"

#include "c_api/src/objects.h"
#include "core/plugin/plugin_delegate.h"

extern "C" {

TfLiteStatus TfLiteExternalDelegateOptionsInsert(TfLiteExternalDelegateOptions* options,
                                                 const char* key, const char* value) {
  if (options == nullptr || key == nullptr || value == nullptr || options->count < 0 ||
      options->count >= kExternalDelegateMaxOptions) {
    return kTfLiteError;
  }
  options->keys[options->count] = key;
  options->values[options->count] = value;
  ++options->count;
  return kTfLiteOk;
}

TfLiteExternalDelegateOptions TfLiteExternalDelegateOptionsDefault(const char* lib_path) {
  TfLiteExternalDelegateOptions options{};
  options.lib_path = lib_path;
  options.insert = TfLiteExternalDelegateOptionsInsert;
  return options;
}

TfLiteDelegate* TfLiteExternalDelegateCreate(const TfLiteExternalDelegateOptions* options) {
  return deputy::Guard(nullptr, [&]() -> TfLiteDelegate* {
    deputy::ErrorReporter reporter;
    if (options == nullptr || options->lib_path == nullptr) {
      reporter.Report("Unable to load external delegate from : (expected a path, found NULL)");
      return nullptr;
    }
    if (options->count < 0 || options->count > kExternalDelegateMaxOptions) {
      reporter.Report(
          "Unable to create external delegate from : %s (expected 0 to %d options, "
          "found %d)",
          options->lib_path, kExternalDelegateMaxOptions, options->count);
      return nullptr;
    }
    auto library = deputy::PluginLibrary::Load(options->lib_path, false, &reporter);
    if (library == nullptr) return nullptr;
    return deputy::CreatePluginDelegate(
        std::move(library), {options->keys, options->values, static_cast<size_t>(options->count)},
        &reporter);
  });
}

void TfLiteExternalDelegateDelete(TfLiteDelegate* delegate) {
  deputy::ErrorReporter reporter;
  deputy::DeletePluginDelegate(delegate, &reporter);
}

}  // extern "C"
