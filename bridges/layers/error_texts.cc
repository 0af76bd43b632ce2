// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/error_texts.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

namespace deputy::layers {
namespace {

using ReportFunction = decltype(TfLiteContext::ReportError);

// The objects of a context, and the function that it had before the first of them.
struct Collectors {
  ReportFunction function = nullptr;
  std::vector<ErrorTexts*> all;  // the innermost one is the last
};

std::mutex mutex;  // guards `contexts` and the texts

std::map<const TfLiteContext*, Collectors>& Contexts() {
  static auto* const contexts = new std::map<const TfLiteContext*, Collectors>;
  return *contexts;
}

}  // namespace

ErrorTexts::ErrorTexts(TfLiteContext* context)
    : context_(context), function_(context->ReportError) {
  const std::lock_guard lock(mutex);
  Collectors& collectors = Contexts()[context];
  if (collectors.all.empty()) collectors.function = function_;
  collectors.all.push_back(this);
  context_->ReportError = &Report;
}

ErrorTexts::~ErrorTexts() {
  const std::lock_guard lock(mutex);
  context_->ReportError = function_;
  const auto found = Contexts().find(context_);
  found->second.all.pop_back();
  if (found->second.all.empty()) Contexts().erase(found);
}

std::string ErrorTexts::text() const {
  const std::lock_guard lock(mutex);
  return text_;
}

void ErrorTexts::Report(TfLiteContext* context, const char* format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  ReportFunction function = nullptr;
  {
    const std::lock_guard lock(mutex);
    const auto found = Contexts().find(context);
    if (found == Contexts().end()) return;  // the call has returned meanwhile
    function = found->second.function;
    std::string& text = found->second.all.back()->text_;
    if (!text.empty()) text += '\n';
    text += line;
  }
  function(context, "%s", line);
}

ErrorTexts::Suspended::Suspended(TfLiteContext* context)
    : context_(context), function_(context->ReportError) {
  const std::lock_guard lock(mutex);
  const auto found = Contexts().find(context);
  if (found != Contexts().end()) context_->ReportError = found->second.function;
}

ErrorTexts::Suspended::~Suspended() { context_->ReportError = function_; }

}  // namespace deputy::layers
