// SPDX-License-Identifier: Apache-2.0
//
// Collects the errors that are reported through a context.
#ifndef DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_
#define DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_

#include <string>

#include "deputy/common.h"

namespace deputy::layers {

// RAII guard: collects the errors that are reported on this thread, and passes them to the
// context's previous function. Errors that other threads report meanwhile are dropped.
class ErrorTexts {
 public:
  explicit ErrorTexts(TfLiteContext* context);
  ~ErrorTexts();
  ErrorTexts(const ErrorTexts&) = delete;
  ErrorTexts& operator=(const ErrorTexts&) = delete;

  // Returns the errors, one per line.
  const std::string& text() const { return text_; }

 private:
  static void Report(TfLiteContext* context, const char* format, ...);

  TfLiteContext* const context_;
  void (*const function_)(TfLiteContext*, const char*, ...);
  ErrorTexts* const outer_;
  std::string text_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_
