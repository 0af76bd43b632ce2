// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims no node and stores the texts of its reasons in the delegate, without a
// lock, as deputy_plugin.h allows: each call of get_support overwrites those of the previous call.
// A text contains the context of the call, and whether another call on this delegate ran at the
// same time.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

constexpr size_t kTexts = 8, kTextBytes = 64;

struct Delegate {
  TfLiteDelegate base{};
  std::atomic<int> calls = 0;  // number of running calls of get_support
  char texts[kTexts][kTextBytes] = {};
};

TfLiteStatus ClaimNothing(TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; }

TfLiteDelegate* Create(const char* const*, const char* const*, size_t, void (*)(const char*)) {
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &ClaimNothing;
  return &delegate->base;
}

void Destroy(TfLiteDelegate* delegate) { delete static_cast<Delegate*>(delegate->data_); }

TfLiteStatus GetSupport(TfLiteDelegate* base, TfLiteContext* context, DeputySupportResult* result) {
  auto& delegate = *static_cast<Delegate*>(base->data_);
  const bool overlaps = delegate.calls.fetch_add(1) != 0;
  for (size_t i = 0; i < result->node_count && i < kTexts; ++i) {
    snprintf(delegate.texts[i], kTextBytes, "%s %p", overlaps ? "overlapping" : "alone",
             static_cast<void*>(context));
    result->reason_of_node[i] = kDeputyReasonOther;
    result->text_of_node[i] = delegate.texts[i];
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  delegate.calls.fetch_sub(1);
  return kTfLiteOk;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("shared_texts", "1", "Deputy");
    plugin.create = &Create;
    plugin.destroy = &Destroy;
    plugin.get_support = &GetSupport;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
