// SPDX-License-Identifier: Apache-2.0
//
// A plug-in in C++ that throws an exception across the C interface, in the function that its option
// "in" names: create, prepare, init (of its kernel, which claims the first node) or destroy.
#include <cstring>
#include <stdexcept>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

namespace {

struct Delegate {
  TfLiteDelegate base = {};
  bool in_prepare = false, in_init = false, in_destroy = false;
};

void* Init(TfLiteContext*, const char*, size_t) { throw std::runtime_error("no device 7"); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* base) {
  const auto& self = *static_cast<Delegate*>(base->data_);
  if (self.in_prepare) throw std::runtime_error("prepare");
  if (!self.in_init) return kTfLiteOk;
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  // The array has the layout of a TfLiteIntArray with one element.
  int claimed[] = {1, plan->data[0]};
  TfLiteRegistration kernel = {};
  kernel.init = Init;
  kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
  kernel.custom_name = "Throwing";
  kernel.version = 1;
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, kernel, reinterpret_cast<TfLiteIntArray*>(claimed), base);
}

}  // namespace

extern "C" TfLiteDelegate* tflite_plugin_create_delegate(const char* const*,
                                                         const char* const* values, size_t count,
                                                         void (*report_error)(const char*)) {
  const char* in = count > 0 ? values[0] : "";
  if (std::strcmp(in, "create") == 0) {
    report_error("about to throw");
    throw std::runtime_error("create");
  }
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = Prepare;
  delegate->in_prepare = std::strcmp(in, "prepare") == 0;
  delegate->in_init = std::strcmp(in, "init") == 0;
  delegate->in_destroy = std::strcmp(in, "destroy") == 0;
  return &delegate->base;
}

extern "C" void tflite_plugin_destroy_delegate(TfLiteDelegate* base) {
  auto* delegate = static_cast<Delegate*>(base->data_);
  const bool throws = delegate->in_destroy;
  delete delegate;
  if (throws) throw std::runtime_error("destroy");
}
