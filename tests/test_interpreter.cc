// SPDX-License-Identifier: Apache-2.0
#include "tests/test_interpreter.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

namespace deputy {
namespace {

void Keep(void* log, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(log)->append(line).append("\n");
}

}  // namespace

TestInterpreter::TestInterpreter(std::vector<uint8_t> model, const Configure& configure)
    : bytes_(std::move(model)) {
  model_ = TfLiteModelCreateWithErrorReporter(bytes_.data(), bytes_.size(), &Keep, &log_);
  if (model_ == nullptr) return;
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, &Keep, &log_);
  if (configure) configure(options);
  interpreter_ = TfLiteInterpreterCreate(model_, options);
  TfLiteInterpreterOptionsDelete(options);
}

TestInterpreter::~TestInterpreter() {
  TfLiteInterpreterDelete(interpreter_);
  TfLiteModelDelete(model_);
}

}  // namespace deputy
