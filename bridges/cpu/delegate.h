// SPDX-License-Identifier: Apache-2.0
//
// The delegate: it chooses nodes, and makes a Partition of each that the host cuts. Its functions
// belong to the interpreter's thread; several interpreters may use one delegate at a time.
#ifndef DEPUTY_BRIDGES_CPU_DELEGATE_H_
#define DEPUTY_BRIDGES_CPU_DELEGATE_H_

#include "bridges/cpu/options.h"
#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::cpu {

// Throws if memory is short.
TfLiteDelegate* CreateDelegate(const Options& options);
// Null is fine.
void DestroyDelegate(TfLiteDelegate* delegate);

// DeputyDelegatePlugin.get_support.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportAnswer* answer);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_DELEGATE_H_
