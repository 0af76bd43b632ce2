// SPDX-License-Identifier: Apache-2.0
#include "c_api/noop_delegate_internal.h"

namespace deputy {

TfLiteStatus NoOpPrepare(TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; }

TfLiteStatus ApplyDelegate(Interpreter* interpreter, TfLiteDelegate* delegate) {
  if (delegate == nullptr) {
    return Fail(interpreter->reporter(), kTfLiteDelegateError, "Null delegate.");
  }
  if (delegate->Prepare == &NoOpPrepare) return kTfLiteOk;
  return Fail(interpreter->reporter(), kTfLiteError,
              "Cannot apply the delegate: this version of Deputy runs models on the CPU only");
}

}  // namespace deputy
