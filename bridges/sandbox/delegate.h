// SPDX-License-Identifier: Apache-2.0
//
// The delegate: applies another delegate in a process of its own (Session) and claims its
// partitions. Several interpreters may use one delegate concurrently; each gets processes of its
// own.
#ifndef DEPUTY_BRIDGES_SANDBOX_DELEGATE_H_
#define DEPUTY_BRIDGES_SANDBOX_DELEGATE_H_

#include "bridges/sandbox/options.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_async.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {

// Creates a delegate. Throws std::bad_alloc if out of memory. The delegate must outlive its
// interpreters.
TfLiteDelegate* CreateDelegate(const Options& options);
// Destroys a delegate, which may be null.
void DestroyDelegate(TfLiteDelegate* delegate);

// Implement members of DeputyDelegatePlugin.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);
void SetModel(TfLiteDelegate* delegate, const void* data, size_t size, int32_t file);
void SetCancellation(TfLiteDelegate* delegate, bool (*is_cancelled)(TfLiteContext* context));
using MemoryProvider = TfLiteStatus (*)(TfLiteContext* context, int32_t tensor,
                                        const DeputyInputMemory* memory);
void SetMemoryProvider(TfLiteDelegate* delegate, MemoryProvider provide);
// Implements async_kernel: reports that there is none, because a session makes one call at a time.
TfLiteAsyncKernel* RefuseAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                     TfLiteNode* node, const DeputyAsyncRuntime* runtime);
TfLiteStatus SetOptions(TfLiteDelegate* delegate, const char* const* keys,
                        const char* const* values, size_t count,
                        void (*report_error)(const char* text));
TfLiteStatus NodeEvents(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                        DeputyNodeEventCallback callback, void* user_data);
TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data);
TfLiteStatus TakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                        void* user_data);
TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_DELEGATE_H_
