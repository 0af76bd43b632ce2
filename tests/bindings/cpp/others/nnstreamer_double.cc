// SPDX-License-Identifier: Apache-2.0
//
// Test double of nnstreamer's registry of filters and its choice of accelerators. The functions of
// tensor information are nnstreamer's own.
#include "nnstreamer_double.h"

#include <cstring>

const GstTensorFilterFramework* registered_filter = nullptr;

extern "C" {

int nnstreamer_filter_probe(GstTensorFilterFramework* filter) {
  registered_filter = filter;
  return 1;
}

void nnstreamer_filter_exit(const char*) { registered_filter = nullptr; }

void nnstreamer_filter_set_custom_property_desc(const char*, const char*, ...) {}

const char* get_accl_hw_str(const accl_hw key) { return key == ACCL_CPU ? "cpu" : ""; }

accl_hw parse_accl_hw_fill(parse_accl_args) { return ACCL_CPU; }

// No filter of the test shares its model.
void* nnstreamer_filter_shared_model_get(void*, const char*) { return nullptr; }

void* nnstreamer_filter_shared_model_insert_and_get(void*, char*, void*) { return nullptr; }

int nnstreamer_filter_shared_model_remove(void*, const char*, void (*)(void*)) { return 0; }

void nnstreamer_filter_shared_model_replace(void*, const char*, void*, void (*)(void*, void*),
                                            void (*)(void*)) {}

}  // extern "C"
