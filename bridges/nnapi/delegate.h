// SPDX-License-Identifier: Apache-2.0
//
// The delegate: which nodes it takes, and what becomes of them.
#ifndef DEPUTY_BRIDGES_NNAPI_DELEGATE_H_
#define DEPUTY_BRIDGES_NNAPI_DELEGATE_H_

#include <string>

#include "bridges/nnapi/options.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

// Opens NNAPI's library and chooses devices. Null with the reason in `out_error`; otherwise
// DestroyDelegate frees it, after the interpreters that it was applied to. Any number of them may
// use one delegate at a time.
TfLiteDelegate* CreateDelegate(const Options& options, std::string* out_error);
void DestroyDelegate(TfLiteDelegate* delegate);

// As the member of DeputyDelegatePlugin.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportAnswer* answer);

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_DELEGATE_H_
