// SPDX-License-Identifier: Apache-2.0
//
// Collects the errors that are reported through a context.
#ifndef DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_
#define DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_

#include <string>

#include "deputy/common.h"

namespace deputy::layers {

// RAII guard: collects the errors that any thread reports, and passes them on to the context's own
// function. Of nested objects for a context, which are those of nested calls, the innermost one
// collects.
class ErrorTexts {
 public:
  explicit ErrorTexts(TfLiteContext* context);
  ~ErrorTexts();
  ErrorTexts(const ErrorTexts&) = delete;
  ErrorTexts& operator=(const ErrorTexts&) = delete;

  // Returns the errors, one per line.
  std::string text() const;

  // RAII guard: the context has its own function, as a runtime may require while it runs itself.
  class Suspended {
   public:
    explicit Suspended(TfLiteContext* context);
    ~Suspended();
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;

   private:
    TfLiteContext* const context_;
    void (*const function_)(TfLiteContext*, const char*, ...);
  };

 private:
  static void Report(TfLiteContext* context, const char* format, ...);

  TfLiteContext* const context_;
  void (*const function_)(TfLiteContext*, const char*, ...);
  std::string text_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_
