// SPDX-License-Identifier: Apache-2.0
//
// The delegate: chooses the nodes that NNAPI supports and replaces them by compiled models.
#ifndef DEPUTY_BRIDGES_NNAPI_DELEGATE_H_
#define DEPUTY_BRIDGES_NNAPI_DELEGATE_H_

#include <string>

#include "bridges/nnapi/options.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

// Loads NNAPI's library and chooses devices. Returns null and a message in `out_error` on failure.
// The caller frees the result with DestroyDelegate, after the interpreters to which it was applied.
// Several interpreters may use one delegate concurrently.
TfLiteDelegate* CreateDelegate(const Options& options, std::string* out_error);
void DestroyDelegate(TfLiteDelegate* delegate);

// Implements DeputyDelegatePlugin.get_support.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_DELEGATE_H_
