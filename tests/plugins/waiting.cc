// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims node 0, which must add a float32 tensor to itself. The first `waits` calls
// of its node wait for a cancellation, at most `wait_ms` milliseconds, if the runtime has
// set_cancellation. After a cancellation the node returns kTfLiteCancelled, or with `finishes`
// computes its result nevertheless.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Delegate {
  TfLiteDelegate base{};
  int waits = 1, wait_ms = 20000;
  bool finishes = false;
  bool (*is_cancelled)(TfLiteContext* context) = nullptr;
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

// Returns true if the inference was cancelled before the time was over.
bool Wait(TfLiteContext* context, Delegate* delegate) {
  if (delegate->waits == 0 || delegate->is_cancelled == nullptr) return false;
  --delegate->waits;
  const auto end = Clock::now() + std::chrono::milliseconds(delegate->wait_ms);
  while (Clock::now() < end) {
    if (delegate->is_cancelled(context)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Delegate& delegate = Of(node->delegate);
  if (Wait(context, &delegate) && !delegate.finishes) return kTfLiteCancelled;
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& output = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < output.bytes / sizeof(float); ++i) output.data.f[i] = 2 * input.data.f[i];
  return kTfLiteOk;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration{};
  registration.invoke = &Invoke;
  registration.custom_name = "Waiting";
  const int first[] = {1, 0};  // laid out as a TfLiteIntArray
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, reinterpret_cast<const TfLiteIntArray*>(first), delegate);
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &Apply;
  for (size_t i = 0; i < count; ++i) {
    const std::string key = keys[i];
    const int value = std::atoi(values[i]);
    if (key == "waits") delegate->waits = value;
    if (key == "wait_ms") delegate->wait_ms = value;
    if (key == "finishes") delegate->finishes = value != 0;
  }
  return &delegate->base;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("waiting", "1", "Deputy");
    plugin.create = &Create;
    plugin.destroy = [](TfLiteDelegate* delegate) { delete &Of(delegate); };
    plugin.set_cancellation = [](TfLiteDelegate* delegate, bool (*function)(TfLiteContext*)) {
      Of(delegate).is_cancelled = function;
    };
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
