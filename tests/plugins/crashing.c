// SPDX-License-Identifier: Apache-2.0
//
// A plug-in that is a valid library but ends the process when it is loaded: by a signal, or, with
// EXIT_CODE, by calling _Exit.
#include <signal.h>
#include <stdlib.h>

#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static void __attribute__((constructor)) Crash(void) {
#ifdef EXIT_CODE
  _Exit(EXIT_CODE);
#else
  raise(SIGSEGV);
#endif
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_keys;
  (void)options_values;
  (void)num_options;
  (void)report_error;
  return NULL;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { (void)delegate; }
