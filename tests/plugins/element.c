// SPDX-License-Identifier: Apache-2.0
//
// The delegate of tests/support/element_delegate.c, which uses deputy/delegate_helper.h, as a
// library for any runtime with TensorFlow Lite's ABI. The options "half", "added" and "dynamic"
// with any value enable its variants; "max_partitions" and "min_nodes" are numbers; "log" names a
// file to which it writes what it claimed and ran.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/delegates/external/external_delegate_interface.h"
#include "tests/support/element_delegate.h"

typedef struct Plugin {
  ElementDelegate delegate;
  char log[1024];
} Plugin;

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char*)) {
  Plugin* plugin = (Plugin*)calloc(1, sizeof *plugin);
  if (plugin == NULL) return NULL;
  ElementDelegate* delegate = &plugin->delegate;
  ElementDelegateInit(delegate, kTfLiteDelegateFlagsNone);
  for (size_t i = 0; i < num_options; ++i) {
    const char* value = options_values[i];
    if (strcmp(options_keys[i], "half") == 0) {
      delegate->half_weights = true;
    } else if (strcmp(options_keys[i], "added") == 0) {
      delegate->added_tensors = true;
    } else if (strcmp(options_keys[i], "dynamic") == 0) {
      delegate->dynamic_outputs = true;
      delegate->base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    } else if (strcmp(options_keys[i], "max_partitions") == 0) {
      delegate->max_partitions = atoi(value);
    } else if (strcmp(options_keys[i], "min_nodes") == 0) {
      delegate->min_nodes = atoi(value);
    } else if (strcmp(options_keys[i], "log") == 0) {
      snprintf(plugin->log, sizeof plugin->log, "%s", value);
    } else {
      if (report_error != NULL) report_error("element: unknown option");
      free(plugin);
      return NULL;
    }
  }
  return &delegate->base;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* base) {
  if (base == NULL) return;
  Plugin* plugin = (Plugin*)base->data_;
  const ElementDelegate* delegate = &plugin->delegate;
  FILE* log = plugin->log[0] == '\0' ? NULL : fopen(plugin->log, "w");
  if (log != NULL) {
    fprintf(log, "supported %d, unsupported %d, partitions %d, taken %d, computed %d, halves %d\n",
            delegate->supported_nodes, delegate->unsupported_nodes, delegate->partitions,
            delegate->taken_nodes, delegate->nodes_computed, delegate->constants_read);
    fclose(log);
  }
  free(plugin);
}
