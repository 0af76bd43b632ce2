// SPDX-License-Identifier: Apache-2.0
//
// Collects the errors that are reported through a context.
#ifndef DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_
#define DEPUTY_BRIDGES_LAYERS_ERROR_TEXTS_H_

#include <string>

#include "deputy/common.h"

namespace deputy::layers {

// RAII guard: collects the errors that any thread reports to the context, and passes them on to the
// function that the context had before its first object. If several objects for a context exist,
// since calls are nested, only the innermost one collects.
class ErrorTexts {
 public:
  explicit ErrorTexts(TfLiteContext* context);
  ~ErrorTexts();
  ErrorTexts(const ErrorTexts&) = delete;
  ErrorTexts& operator=(const ErrorTexts&) = delete;

  // Returns the errors, one per line.
  std::string text() const;

  // RAII guard: restores the context's own function while the runtime runs, which may recognise its
  // contexts by it.
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
