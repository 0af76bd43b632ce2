// SPDX-License-Identifier: Apache-2.0
//
// The library's doors: what external delegates export, what deputy_plugin describes, and the
// functions of TensorFlow Lite's GPU delegate.
#include <exception>
#include <string>

#include "deputy/deputy_plugin.h"
#include "deputy/gpu_delegate.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/options.h"

namespace deputy::gpu_cl {
namespace {

// Null after a report, if there is somebody to report to.
TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*report_error)(const char* text)) {
  try {
    Options options;
    std::string error = ParseOptions(keys, values, count, &options);
    if (error.empty()) error = FindMissing(options);
    TfLiteDelegate* delegate = error.empty() ? CreateDelegate(options, &error) : nullptr;
    if (delegate == nullptr && report_error != nullptr) report_error(error.c_str());
    return delegate;
  } catch (const std::exception& error) {
    if (report_error != nullptr) report_error(error.what());
    return nullptr;
  }
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
    plugin.preferred_layout = kDeputyLayoutNhwc;
    plugin.name = "gpu";
    plugin.version = "0.1";
    plugin.vendor = "Deputy";
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &Create;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.device_bytes = &DeviceBytes;
    return plugin;
  }();
  return &kPlugin;
}

// Null if memory is short. Anything else that is wrong shows when the delegate is applied.
TfLiteDelegate* CreateV2(const TfLiteGpuDelegateOptionsV2* v2) {
  try {
    Options options;
    std::string error = FromV2(v2 == nullptr ? TfLiteGpuDelegateOptionsV2Default() : *v2, &options);
    TfLiteDelegate* delegate = error.empty() ? CreateDelegate(options, &error) : nullptr;
    return delegate == nullptr ? CreateFailingDelegate(error) : delegate;
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace
}  // namespace deputy::gpu_cl

extern "C" {

TFL_CAPI_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* text)) {
  return deputy::gpu_cl::Create(keys, values, count, report_error);
}

TFL_CAPI_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  deputy::gpu_cl::DestroyDelegate(delegate);
}

TFL_CAPI_EXPORT const DeputyDelegatePlugin* deputy_plugin() { return deputy::gpu_cl::Describe(); }

TFL_CAPI_EXPORT TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default() {
  TfLiteGpuDelegateOptionsV2 options{};
  options.is_precision_loss_allowed = -1;
  options.inference_preference = TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER;
  options.inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
  options.inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_AUTO;
  options.inference_priority3 = TFLITE_GPU_INFERENCE_PRIORITY_AUTO;
  options.experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT;
  options.max_delegated_partitions = 1;
  return options;
}

TFL_CAPI_EXPORT TfLiteDelegate* TfLiteGpuDelegateV2Create(
    const TfLiteGpuDelegateOptionsV2* options) {
  return deputy::gpu_cl::CreateV2(options);
}

TFL_CAPI_EXPORT void TfLiteGpuDelegateV2Delete(TfLiteDelegate* delegate) {
  deputy::gpu_cl::DestroyDelegate(delegate);
}

}  // extern "C"
