// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/error_texts.h"

#include <cstdarg>
#include <cstdio>

namespace deputy::layers {
namespace {

thread_local ErrorTexts* innermost = nullptr;

}  // namespace

ErrorTexts::ErrorTexts(TfLiteContext* context)
    : context_(context), function_(context->ReportError), outer_(innermost) {
  innermost = this;
  context_->ReportError = &Report;
}

ErrorTexts::~ErrorTexts() {
  context_->ReportError = function_;
  innermost = outer_;
}

void ErrorTexts::Report(TfLiteContext* context, const char* format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  ErrorTexts* collector = innermost;
  while (collector != nullptr && collector->context_ != context) collector = collector->outer_;
  if (collector == nullptr) return;
  if (!collector->text_.empty()) collector->text_ += '\n';
  collector->text_ += line;
  collector->function_(context, "%s", line);
}

}  // namespace deputy::layers
