/* SPDX-License-Identifier: Apache-2.0
 *
 * The delegate: chooses nodes, has them compiled and loaded, and says what it does.
 */
#ifndef DEPUTY_NPU_STUB_DELEGATE_H_
#define DEPUTY_NPU_STUB_DELEGATE_H_

#include <stddef.h>

#include "deputy/deputy_plugin.h"
#include "npu_stub/npu_device.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As tflite_plugin_create_delegate and tflite_plugin_destroy_delegate. An absent device is no
 * failure: the delegate then takes nothing. */
TfLiteDelegate* NpuCreateDelegate(const char* const* keys, const char* const* values, size_t count,
                                  void (*report_error)(const char* text));
/* Behind its interpreters; if it comes before, the delegate lives until the last of them goes. */
void NpuDestroyDelegate(TfLiteDelegate* delegate);

/* As the members of DeputyDelegatePlugin. */
TfLiteStatus NpuGetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                           DeputySupportAnswer* answer);
size_t NpuDeviceBytes(TfLiteDelegate* delegate);

TfLiteStatus NpuReport(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                       DeputyOptionUseCallback callback, void* user_data);

/* Of the delegate's device, all 0 if it is absent; and how often the cache had a model. */
void NpuGetCounters(TfLiteDelegate* delegate, NpuCounters* out_counters);
void NpuGetCacheCounters(TfLiteDelegate* delegate, uint64_t* out_hits, uint64_t* out_misses);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_DELEGATE_H_ */
