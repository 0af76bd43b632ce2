// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_NAMESPACE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_NAMESPACE_H_

// Namespace for code whose types depend on which implementation of TensorFlow Lite is used.
#define TFLITE_CONDITIONAL_NAMESPACE regular_tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_NAMESPACE_H_
