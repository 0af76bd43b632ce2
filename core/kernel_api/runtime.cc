// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/runtime.h"

#include <cstdarg>
#include <cstdio>

#include "core/kernel_api/op_def.h"

namespace deputy {

void ReportContextError(TfLiteContext* context, const char* format, ...) {
  va_list args;
  va_start(args, format);
  static_cast<Runtime*>(context->impl_)->Report(format, args);
  va_end(args);
}

TfLiteStatus KernelError(TfLiteContext* context, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (Runtime* runtime = RuntimeOf(context)) {
    runtime->NoteFailure(text);
  } else if (context->ReportError != nullptr) {
    context->ReportError(context, "%s", text);
  }
  return kTfLiteError;
}

TfLiteStatus ReportKernelException(TfLiteContext* context) {
  return KernelError(context, "out of memory");
}

}  // namespace deputy
