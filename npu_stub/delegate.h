/* SPDX-License-Identifier: Apache-2.0
 *
 * The delegate: chooses nodes, compiles and loads them, and reports its state.
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

/* Implement tflite_plugin_create_delegate and tflite_plugin_destroy_delegate. An absent device
 * is not an error: the delegate then claims no nodes. */
TfLiteDelegate* NpuCreateDelegate(const char* const* keys, const char* const* values, size_t count,
                                  void (*report_error)(const char* text));
/* Destroys a delegate. Must be called after the interpreters are deleted. If it is called
 * earlier, the delegate is freed with the last interpreter that uses it. */
void NpuDestroyDelegate(TfLiteDelegate* delegate);

/* Implement members of DeputyDelegatePlugin. */
TfLiteStatus NpuGetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                           DeputySupportResult* result);
size_t NpuDeviceBytes(TfLiteDelegate* delegate);

TfLiteStatus NpuSetOptions(TfLiteDelegate* delegate, const char* const* keys,
                           const char* const* values, size_t count,
                           void (*report_error)(const char* text));

TfLiteStatus NpuReport(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                       DeputyOptionUseCallback callback, void* user_data);

/* Gets the counters of the delegate's device, all 0 if it is absent or lost, and hits and misses of
 * the cache. */
void NpuGetCounters(TfLiteDelegate* delegate, NpuCounters* out_counters);
void NpuGetCacheCounters(TfLiteDelegate* delegate, uint64_t* out_hits, uint64_t* out_misses);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_DELEGATE_H_ */
