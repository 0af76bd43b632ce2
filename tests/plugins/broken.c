// SPDX-License-Identifier: Apache-2.0
//
// Plug-ins that cannot be used. By default the destroy function is missing. NO_CREATE omits both
// functions. NULL_RESULT returns NULL without a message. NEEDS calls the function with that name
// from another library; UNDEFINED is a function that need not exist when the library is loaded.
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

#ifdef NEEDS
int NEEDS(void);
#endif
#ifdef UNDEFINED
void UNDEFINED(void);
#endif

#ifndef NO_CREATE
TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_keys;
  (void)options_values;
  (void)num_options;
  (void)report_error;
#ifdef NEEDS
  if (NEEDS() == 0) return NULL;
#endif
#ifdef UNDEFINED
  if (num_options > 1000) UNDEFINED();
#endif
  return NULL;
}
#endif

#if defined(NULL_RESULT) || defined(NEEDS) || defined(UNDEFINED)
void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { (void)delegate; }
#endif

// This function ensures that the library is never empty.
int broken_plugin_value(void);
int broken_plugin_value(void) { return 1; }
