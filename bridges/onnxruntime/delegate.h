// SPDX-License-Identifier: Apache-2.0
//
// The delegate: chooses the nodes that the bridge supports and replaces them by sessions.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_DELEGATE_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_DELEGATE_H_

#include "bridges/onnxruntime/options.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::onnxruntime {

// Loads ONNX Runtime's library. Without a library the delegate claims no node and gives the reason
// for each. The caller frees the result with DestroyDelegate, after the interpreters to which it
// was applied. Several interpreters may use one delegate concurrently.
TfLiteDelegate* CreateDelegate(const Options& options);
void DestroyDelegate(TfLiteDelegate* delegate);

// Implements DeputyDelegatePlugin.get_support.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_DELEGATE_H_
