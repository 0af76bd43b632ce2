// SPDX-License-Identifier: Apache-2.0
//
// Exported entry points: those of external delegates, deputy_plugin's description, the functions of
// TensorFlow Lite's GPU delegate, and our own (deputy_gpu.h).
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "compiler/import.h"
#include "deputy/deputy_gpu.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"
#include "deputy/gpu_delegate.h"
#include "gpu_cl/async.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/handles.h"
#include "gpu_cl/host_memory.h"
#include "gpu_cl/options.h"
#include "gpu_cl/shared_buffers.h"

namespace deputy::gpu_cl {
namespace {

using plugin_entry::Contain;
using plugin_entry::kContained;

// Creates a delegate from options whose parser returned `error`, which is "" or an error message.
TfLiteDelegate* CreateFrom(const Options& options, std::string* error) {
  return error->empty() ? CreateDelegate(options, error) : nullptr;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  return CreateFrom(options, error);
}

// Calls `callback`, which may be null, for each device. Returns "" or the reason why there is none.
std::string ForEachDevice(DeputyDeviceCallback callback, void* user_data) {
  const LoadedCl loaded = LoadCl();
  if (loaded.api == nullptr) return "no OpenCL: " + loaded.tried;
  std::vector<Device> devices;
  const ClStatus status = ListDevices(*loaded.api, &devices);
  if (!status.ok()) return status.text;
  for (const Device& device : devices) {
    const DeputyDeviceInfo info = PublicInfo(device);
    if (callback != nullptr) callback(user_data, &info);
  }
  return "";
}

TfLiteStatus ListDevicesOfPlugin(DeputyDeviceCallback callback, void* user_data,
                                 void (*report_error)(const char* text)) {
  return Contain(kTfLiteError, report_error, [&](std::string* error) {
    *error = ForEachDevice(callback, user_data);
    return error->empty() ? kTfLiteOk : kTfLiteError;
  });
}

void ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  for (const compiler::ImportedOperator& op : compiler::ImportedOperators()) {
    const bool custom = op.code == kTfLiteBuiltinCustom;
    const DeputyDelegateOperator listed = {sizeof listed, op.code, op.max_version,
                                           custom ? op.name : nullptr};
    if (callback != nullptr) callback(user_data, &listed);
  }
}

TfLiteStatus NodeEvents(TfLiteDelegate*, TfLiteContext*, TfLiteNode* node,
                        DeputyNodeEventCallback callback, void* user_data) {
  return ReportNodeEvents(node, callback, user_data);
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = plugin_entry::Describe("gpu", "0.1", "Deputy");
    plugin.options = PluginOptions().data();
    plugin.option_count = PluginOptions().size();
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.destroy = &DestroyDelegate;
    plugin.get_support = &GetSupport;
    plugin.device_bytes = &DeviceBytes;
    plugin.list_devices = &ListDevicesOfPlugin;
    plugin.describe_partitions = kContained<&DescribePartitions>;
    plugin.take_events = kContained<&TakeEvents>;
    plugin.list_operators = kContained<&ListOperators>;
    plugin.report = kContained<&ReportDelegate>;
    plugin.node_events = kContained<&NodeEvents>;
    plugin.flags = kDeputyPluginCopiesConstants;
    plugin.memory_types = &MemoryTypes;
    plugin.share_output = &ShareOutputOf;
    plugin.export_buffer = &ExportBuffer;
    plugin.import_buffer = &ImportBuffer;
    plugin.async_kernel = &NewAsyncKernel;
    return plugin;
  }();
  return &kPlugin;
}

// Returns null if out of memory. All other errors are reported when the delegate is applied.
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

// ---- deputy_gpu.h -------------------------------------------------------------------------------

// Returns the buffer with the error text of the calling thread. Its size is fixed, so that
// out-of-memory errors can be stored, too.
char* LastError() {
  thread_local char text[2048] = "";
  return text;
}

void SetLastError(const char* text) { std::snprintf(LastError(), 2048, "%s", text); }

// Calls function(), which returns "" or an error message, and stores the message as the thread's
// last error.
template <typename Function>
TfLiteStatus RecordingError(const Function& function) {
  return Contain(kTfLiteError, &SetLastError, [&](std::string* error) {
    *error = function();
    return error->empty() ? kTfLiteOk : kTfLiteError;
  });
}

TfLiteDelegate* CreatePublic(const DeputyGpuOptions* given) {
  return Contain<TfLiteDelegate*>(nullptr, &SetLastError, [&](std::string* error) {
    Options options;
    if (given != nullptr) *error = FromPublic(*given, &options);
    return CreateFrom(options, error);
  });
}

}  // namespace
}  // namespace deputy::gpu_cl

DEPUTY_PLUGIN_EXPORTS(deputy::gpu_cl::Describe())

extern "C" {

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

TFL_CAPI_EXPORT const char* DeputyGpuLastError() { return deputy::gpu_cl::LastError(); }

TFL_CAPI_EXPORT TfLiteStatus DeputyGpuListDevices(DeputyDeviceCallback callback, void* user_data) {
  return deputy::gpu_cl::ListDevicesOfPlugin(callback, user_data, &deputy::gpu_cl::SetLastError);
}

TFL_CAPI_EXPORT DeputyGpuOptions DeputyGpuOptionsDefault() {
  return deputy::gpu_cl::PublicDefaults();
}

TFL_CAPI_EXPORT TfLiteDelegate* DeputyGpuDelegateCreate(const DeputyGpuOptions* options) {
  return deputy::gpu_cl::CreatePublic(options);
}

TFL_CAPI_EXPORT void DeputyGpuDelegateDelete(TfLiteDelegate* delegate) {
  deputy::gpu_cl::DestroyDelegate(delegate);
}

TFL_CAPI_EXPORT TfLiteStatus DeputyGpuBindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor,
                                                 void* buffer, size_t offset) {
  return deputy::gpu_cl::RecordingError([&] {
    return deputy::gpu_cl::BindBuffer(delegate, tensor, static_cast<cl_mem>(buffer), offset);
  });
}

TFL_CAPI_EXPORT TfLiteStatus DeputyGpuUnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor) {
  return deputy::gpu_cl::RecordingError(
      [&] { return deputy::gpu_cl::UnbindBuffer(delegate, tensor); });
}

TFL_CAPI_EXPORT void* DeputyGpuAllocateHostMemory(TfLiteDelegate* delegate, size_t bytes) {
  return deputy::gpu_cl::Contain<void*>(nullptr, &deputy::gpu_cl::SetLastError, [&](auto* error) {
    return deputy::gpu_cl::AllocateHostMemory(delegate, bytes, error);
  });
}

TFL_CAPI_EXPORT TfLiteStatus DeputyGpuFreeHostMemory(void* memory) {
  return deputy::gpu_cl::RecordingError([&] { return deputy::gpu_cl::FreeHostMemory(memory); });
}

}  // extern "C"
