// SPDX-License-Identifier: Apache-2.0
//
// Context of a CPU library that custom operators of several interpreters share. The library's own
// kernels do not use it.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_EXTERNAL_CPU_BACKEND_CONTEXT_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_EXTERNAL_CPU_BACKEND_CONTEXT_H_

#include <memory>
#include <utility>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

class TfLiteInternalBackendContext {
 public:
  virtual ~TfLiteInternalBackendContext() {}

  // Called when the number of threads of an interpreter is set to another value than the default,
  // -1.
  virtual void SetMaxNumThreads(int max_num_threads) = 0;
  // Called when an interpreter that uses the context is deleted: its constants may no longer be
  // read.
  virtual void ClearCaches() = 0;
};

// Interpreters must not run at the same time while they share this object.
class ExternalCpuBackendContext : public TfLiteExternalContext {
 public:
  ExternalCpuBackendContext() {
    type = kTfLiteCpuBackendContext;
    Refresh = &UpdateThreads;
  }
  ExternalCpuBackendContext(const ExternalCpuBackendContext&) = delete;
  ExternalCpuBackendContext& operator=(const ExternalCpuBackendContext&) = delete;

  void set_internal_backend_context(
      std::unique_ptr<TfLiteInternalBackendContext> internal_backend_context) {
    internal_backend_context_ = std::move(internal_backend_context);
  }
  TfLiteInternalBackendContext* internal_backend_context() const {
    return internal_backend_context_.get();
  }

 private:
  static TfLiteStatus UpdateThreads(TfLiteContext* context) {
    const auto* const external = static_cast<ExternalCpuBackendContext*>(
        context->GetExternalContext(context, kTfLiteCpuBackendContext));
    if (external != nullptr && external->internal_backend_context() != nullptr &&
        context->recommended_num_threads != -1) {
      external->internal_backend_context()->SetMaxNumThreads(context->recommended_num_threads);
    }
    return kTfLiteOk;
  }

  std::unique_ptr<TfLiteInternalBackendContext> internal_backend_context_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_EXTERNAL_CPU_BACKEND_CONTEXT_H_
