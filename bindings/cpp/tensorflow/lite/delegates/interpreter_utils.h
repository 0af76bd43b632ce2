// SPDX-License-Identifier: Apache-2.0
//
// An inference that is repeated without delegates if it fails with them. Deputy's policy Hot does
// this per partition, without any call of the program; see docs/delegates.md.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_INTERPRETER_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_INTERPRETER_UTILS_H_

#include <cstddef>
#include <cstring>
#include <vector>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/interpreter.h"

namespace tflite {
namespace delegates {

class InterpreterUtils {
 public:
  // Invokes the interpreter. After a failure with delegates that is no cancellation, removes all
  // delegates and repeats the inference with the same inputs: kTfLiteDelegateError if that
  // succeeds; the addresses of tensors have changed then.
  static TfLiteStatus InvokeWithCPUFallback(Interpreter* interpreter) {
    const TfLiteStatus status = interpreter->Invoke();
    if (status == kTfLiteOk || status == kTfLiteCancelled || !interpreter->HasDelegates()) {
      return status;
    }
    TF_LITE_REPORT_ERROR(interpreter->error_reporter(),
                         "Invoke() failed in the presence of delegation. Retrying without.");
    std::vector<std::vector<char>> inputs;
    for (const int index : interpreter->inputs()) {
      TF_LITE_ENSURE_STATUS(interpreter->EnsureTensorDataIsReadable(index));
      const TfLiteTensor* tensor = interpreter->tensor(index);
      inputs.emplace_back(tensor->data.raw, tensor->data.raw + tensor->bytes);
    }
    TF_LITE_ENSURE_STATUS(interpreter->RemoveAllDelegates());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      TfLiteTensor* tensor = interpreter->tensor(interpreter->inputs()[i]);
      if (tensor->bytes != inputs[i].size()) return kTfLiteError;
      if (tensor->bytes > 0) std::memcpy(tensor->data.raw, inputs[i].data(), tensor->bytes);
    }
    TF_LITE_ENSURE_STATUS(interpreter->Invoke());
    return kTfLiteDelegateError;
  }
};

}  // namespace delegates
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_INTERPRETER_UTILS_H_
