// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_NNSTREAMER_DOUBLE_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_NNSTREAMER_DOUBLE_H_

#include <nnstreamer_plugin_api_util.h>
#define NO_ANONYMOUS_NESTED_STRUCT
#include <nnstreamer_plugin_api_filter.h>

// The filter that has registered itself, or null.
extern const GstTensorFilterFramework* registered_filter;

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_NNSTREAMER_DOUBLE_H_
