// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_interpreter.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "c_api/include/c_api_experimental.h"

namespace deputy {
namespace {

void Keep(void* log, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(log)->append(line).append("\n");
}

// ---- Backwards ----------------------------------------------------------------------------------

const TfLiteTensor& TensorOf(const TfLiteContext& context, const TfLiteIntArray& indices) {
  return context.tensors[indices.data[0]];
}

TfLiteStatus PrepareBackwards(TfLiteContext* context, TfLiteNode* node) {
  TfLiteIntArray* dims = TfLiteIntArrayCopy(TensorOf(*context, *node->inputs).dims);
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], dims);
}

TfLiteStatus InvokeBackwards(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& from = TensorOf(*context, *node->inputs);
  const TfLiteTensor& to = TensorOf(*context, *node->outputs);
  std::reverse_copy(from.data.f, from.data.f + from.bytes / sizeof(float), to.data.f);
  return kTfLiteOk;
}

void AddBackwards(TfLiteInterpreterOptions* options) {
  static const TfLiteRegistration kBackwards = [] {
    TfLiteRegistration registration{};
    registration.prepare = &PrepareBackwards;
    registration.invoke = &InvokeBackwards;
    return registration;
  }();
  TfLiteInterpreterOptionsAddCustomOp(options, "Backwards", &kBackwards, 1, 1);
}

}  // namespace

TestInterpreter::TestInterpreter(std::vector<uint8_t> model, const Configure& configure)
    : bytes_(std::move(model)) {
  model_ = TfLiteModelCreateWithErrorReporter(bytes_.data(), bytes_.size(), &Keep, &log_);
  if (model_ == nullptr) return;
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, &Keep, &log_);
  AddBackwards(options);
  if (configure) configure(options);
  interpreter_ = TfLiteInterpreterCreate(model_, options);
  TfLiteInterpreterOptionsDelete(options);
}

TestInterpreter::~TestInterpreter() {
  TfLiteInterpreterDelete(interpreter_);
  TfLiteModelDelete(model_);
}

}  // namespace deputy
