// SPDX-License-Identifier: Apache-2.0
//
// Delegates from shared objects. Options work; loading does not yet.
#include "c_api/external_delegate.h"

#include "core/error.h"

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

// TODO: load the plug-in when delegates can be applied.
TfLiteDelegate* TfLiteExternalDelegateCreate(const TfLiteExternalDelegateOptions* options) {
  const bool has_path = options != nullptr && options->lib_path != nullptr;
  deputy::ErrorReporter().Report("External delegate '%s': loading delegates is not supported yet.",
                                 has_path ? options->lib_path : "");
  return nullptr;
}

// Nothing can have been created.
void TfLiteExternalDelegateDelete(TfLiteDelegate*) {}

}  // extern "C"
