// SPDX-License-Identifier: Apache-2.0
//
// The delegate: chooses nodes and creates a Partition for each partition of the host. Its functions
// must be called on the interpreter's thread; several interpreters may use one delegate
// concurrently.
#ifndef DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_
#define DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_

#include <memory>

#include "bridges/hexagon/library.h"
#include "bridges/hexagon/options.h"
#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::hexagon {

// Creates a delegate. Throws std::bad_alloc if out of memory. The delegate must outlive its
// interpreters.
TfLiteDelegate* CreateDelegate(const Options& options, std::shared_ptr<const Library> library);
// Destroys a delegate, which may be null.
void DestroyDelegate(TfLiteDelegate* delegate);

// Implement the members get_support, describe_partitions and report of DeputyDelegatePlugin.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);
TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data);

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_
