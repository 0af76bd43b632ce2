// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_VERIFIER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_VERIFIER_H_

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite {

// A check of a model's bytes that a program adds to those of FlatBufferModel::VerifyAndBuild….
class TfLiteVerifier {
 public:
  virtual ~TfLiteVerifier() = default;

  // Returns false, after a report, for a model that must not be loaded.
  virtual bool Verify(const char* data, int length, ErrorReporter* reporter) = 0;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_API_VERIFIER_H_
