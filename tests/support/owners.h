// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_SUPPORT_OWNERS_H_
#define DEPUTY_TESTS_SUPPORT_OWNERS_H_

#include <memory>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"

namespace deputy {

struct TfLiteDeleter {
  void operator()(TfLiteModel* model) const { TfLiteModelDelete(model); }
  void operator()(TfLiteInterpreterOptions* options) const {
    TfLiteInterpreterOptionsDelete(options);
  }
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
  void operator()(TfLiteSignatureRunner* runner) const { TfLiteSignatureRunnerDelete(runner); }
};

// Owns an object of TensorFlow Lite's C API and deletes it by the API's function for the type.
template <typename T>
using Owned = std::unique_ptr<T, TfLiteDeleter>;

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_OWNERS_H_
