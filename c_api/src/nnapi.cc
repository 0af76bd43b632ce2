// SPDX-License-Identifier: Apache-2.0
//
// C functions of the NNAPI delegate. They create a delegate of the plug-in "nnapi" if
// DEPUTY_NNAPI_LIBRARY is set, else a delegate that claims no node; see
// core/plugin/noop_delegate.h.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/nnapi_delegate_c_api.h"
#include "c_api/src/objects.h"
#include "core/plugin/noop_delegate.h"
#include "core/plugin/plugin_delegate.h"

namespace {

using Pairs = std::vector<std::pair<const char*, std::string>>;

const char* PreferenceName(int preference) {
  switch (preference) {
    case TfLiteNnapiDelegateOptions::kLowPower:
      return "low_power";
    case TfLiteNnapiDelegateOptions::kFastSingleAnswer:
      return "fast_single_answer";
    case TfLiteNnapiDelegateOptions::kSustainedSpeed:
      return "sustained_speed";
    default:
      return "undefined";
  }
}

// Converts the options to those of the plug-in, which docs/nnapi.md describes.
Pairs ToPairs(const TfLiteNnapiDelegateOptions& options) {
  Pairs pairs = {
      {"execution_preference", PreferenceName(options.execution_preference)},
      {"disable_cpu", options.disallow_nnapi_cpu != 0 ? "true" : "false"},
      {"allow_fp16", options.allow_fp16 != 0 ? "true" : "false"},
      {"max_number_delegated_partitions",
       std::to_string(std::max(options.max_number_delegated_partitions, 0))},
  };
  if (options.accelerator_name != nullptr) {
    pairs.emplace_back("accelerator_name", options.accelerator_name);
  }
  // The cache needs both options.
  if (options.cache_dir != nullptr && options.model_token != nullptr) {
    pairs.emplace_back("cache_dir", options.cache_dir);
    pairs.emplace_back("model_token", options.model_token);
  }
  return pairs;
}

// Returns null, with the reason reported, if the plug-in cannot be loaded or creates no delegate.
TfLiteDelegate* CreateFromPlugin(const TfLiteNnapiDelegateOptions& options) {
  return deputy::Guard(nullptr, [&]() -> TfLiteDelegate* {
    deputy::ErrorReporter reporter;
    auto library = deputy::PluginLibrary::Load("nnapi", false, &reporter);
    if (library == nullptr) return nullptr;
    const Pairs pairs = ToPairs(options);
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : pairs) {
      keys.push_back(key);
      values.push_back(value.c_str());
    }
    return deputy::CreatePluginDelegate(std::move(library),
                                        {keys.data(), values.data(), keys.size()}, &reporter);
  });
}

}  // namespace

extern "C" {

TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void) {
  TfLiteNnapiDelegateOptions options{};
  options.execution_preference = TfLiteNnapiDelegateOptions::kUndefined;
  options.disallow_nnapi_cpu = 1;
  options.max_number_delegated_partitions = 3;
  return options;
}

TfLiteDelegate* TfLiteNnapiDelegateCreate(const TfLiteNnapiDelegateOptions* options) {
  const char* const library = std::getenv("DEPUTY_NNAPI_LIBRARY");
  const bool is_named = library != nullptr && *library != '\0';
  if (is_named) {
    TfLiteDelegate* const from_plugin =
        CreateFromPlugin(options == nullptr ? TfLiteNnapiDelegateOptionsDefault() : *options);
    if (from_plugin != nullptr) return from_plugin;
  }
  auto* delegate = new (std::nothrow) deputy::NoOpDelegate();
  if (delegate == nullptr) return nullptr;
  delegate->base.Prepare = deputy::NoOpPrepare;
  delegate->name = "TfLiteNnapiDelegate";
  delegate->reason =
      is_named ? "claims no node: the plug-in 'nnapi' or its NNAPI library cannot be loaded"
               : "claims no node: DEPUTY_NNAPI_LIBRARY names no NNAPI library";
  return &delegate->base;
}

void TfLiteNnapiDelegateDelete(TfLiteDelegate* delegate) {
  if (const deputy::NoOpDelegate* noop = deputy::AsNoOp(delegate)) {
    delete noop;
    return;
  }
  deputy::ErrorReporter reporter;
  deputy::DeletePluginDelegate(delegate, &reporter);
}

}  // extern "C"
