/* SPDX-License-Identifier: Apache-2.0
 *
 * Exported functions of the library: those of external delegates and deputy_plugin.
 */
#include <stdio.h>
#include <string.h>

#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"
#include "npu_stub/delegate.h"
#include "npu_stub/loader.h"
#include "npu_stub/options.h"
#include "npu_stub/partition.h"
#include "npu_stub/support.h"

static TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                                void (*report_error)(const char* text)) {
  NpuOptions options;
  NpuDeviceHandle handle;
  char error[256] = "";
  NpuOptionsInit(&options);
  const bool opened = NpuOpenDevice(&options, &handle, error, sizeof error);
  if (!opened || handle.device == NULL) {
    if (report_error != NULL) report_error(opened ? handle.absence : error);
    return kTfLiteError;
  }
  const DeputyDeviceInfo info = {
      .struct_size = sizeof info,
      .index = 0,
      .usable = 1,
      .platform = "Deputy NPU stub",
      .platform_version = "0.1",
      .name = "pretended NPU",
      .vendor = "Deputy",
      .type = "simulated NPU",
      .device_class = "mobile",
      .version = handle.api->version(handle.device),
      .driver_version = "",
      .extensions = "",
      .memory_bytes = (uint64_t)2 << 30,
      .max_buffer_bytes = (uint64_t)1 << 30,
      .compute_units = 1,
      .fp16 = 0,
      .power_class = kDeputyPowerMedium,  // the host's CPU computes
      .preferred_layout = kDeputyLayoutNchw,
      .preferred_batch = 0,
      .preferred_precision = "fp32",
      .options = "",
  };
  if (callback != NULL) callback(user_data, &info);
  NpuCloseDevice(&handle);
  return kTfLiteOk;
}

static TfLiteStatus DescribePartitions(TfLiteDelegate* delegate,
                                       DeputyPartitionTextCallback callback, void* user_data) {
  NpuDescribe(NpuStateOf(delegate), callback, user_data);
  return kTfLiteOk;
}

static TfLiteStatus ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  DeputyDelegateOperator op = {.struct_size = sizeof op};
  const char* name = NULL;
  for (size_t i = 0; callback != NULL; ++i) {
    op.builtin_code = NpuSupportedOperator(i, &name, &op.max_version);
    if (op.builtin_code < 0) break;
    callback(user_data, &op);
  }
  return kTfLiteOk;
}

static const DeputyDelegatePlugin kPlugin = {
    .struct_size = sizeof kPlugin,
    .abi_version = DEPUTY_PLUGIN_ABI_VERSION,
    .preferred_layout = kDeputyLayoutNchw,
    .name = "npu_stub",
    .version = "0.1",
    .vendor = "Deputy",
    .options = kNpuOptions,
    .option_count = kNpuOptionCount,
    .create = NpuCreateDelegate,
    .destroy = NpuDestroyDelegate,
    .get_support = NpuGetSupport,
    .device_bytes = NpuDeviceBytes,
    .list_devices = ListDevices,
    .describe_partitions = DescribePartitions,
    .list_operators = ListOperators,
    .report = NpuReport,
    .node_events = NpuNodeEvents,
    .async_kernel = NpuAsyncKernel,
    .set_options = NpuSetOptions,
    .flags = kDeputyPluginCopiesConstants,
};

DEPUTY_PLUGIN_EXPORTS(&kPlugin)
