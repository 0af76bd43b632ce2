// SPDX-License-Identifier: Apache-2.0
//
// The delegate: it chooses nodes, and makes a Partition of each that the host cuts. Its functions
// belong to the interpreter's thread; several interpreters may use one delegate at a time.
#ifndef DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_
#define DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_

#include <memory>

#include "bridges/hexagon/library.h"
#include "bridges/hexagon/options.h"
#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::hexagon {

// Throws if memory is short. The delegate has to outlive its interpreters.
TfLiteDelegate* CreateDelegate(const Options& options, std::shared_ptr<const Library> library);
// Null is fine.
void DestroyDelegate(TfLiteDelegate* delegate);

// DeputyDelegatePlugin.get_support and describe_partitions.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportAnswer* answer);
TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data);

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_DELEGATE_H_
