// SPDX-License-Identifier: Apache-2.0
//
// Contents of tensors that a delegate keeps on its device.
#ifndef DEPUTY_CORE_EXEC_DEVICE_DATA_H_
#define DEPUTY_CORE_EXEC_DEVICE_DATA_H_

#include "c_api/include/common.h"

namespace deputy {

struct SubgraphParts;

// Copies device data to the CPU if the tensor is stale.
TfLiteStatus EnsureReadable(SubgraphParts* parts, int tensor_index);
// Calls the tensor's delegate to copy its data into the tensor's memory, and clears the stale bit
// on success.
TfLiteStatus CopyFromDelegate(SubgraphParts* parts, int tensor_index);
// Calls the tensor's delegate to free its buffer handle; the tensor must have both. Returns false
// if the delegate has no function for it.
bool FreeBufferHandle(SubgraphParts* parts, int tensor_index);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_DEVICE_DATA_H_
