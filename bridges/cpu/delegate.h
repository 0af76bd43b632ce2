// SPDX-License-Identifier: Apache-2.0
//
// The delegate: chooses nodes and creates a Partition for each partition of the host. Its functions
// must be called on the interpreter's thread; several interpreters may use one delegate
// concurrently.
#ifndef DEPUTY_BRIDGES_CPU_DELEGATE_H_
#define DEPUTY_BRIDGES_CPU_DELEGATE_H_

#include "bridges/cpu/options.h"
#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::cpu {

// Creates a delegate. Throws std::bad_alloc if out of memory.
TfLiteDelegate* CreateDelegate(const Options& options);
// Destroys a delegate, which may be null.
void DestroyDelegate(TfLiteDelegate* delegate);

// Implements DeputyDelegatePlugin.get_support.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_DELEGATE_H_
