// SPDX-License-Identifier: Apache-2.0
//
// Calls of partitions whose tensors have sizes that can change: the process is prepared for the
// sizes of the inputs, and sends those of the outputs.
#ifndef DEPUTY_BRIDGES_SANDBOX_DYNAMIC_CALL_H_
#define DEPUTY_BRIDGES_SANDBOX_DYNAMIC_CALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bridges/sandbox/session.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {

// Dimensions of the outputs of a partition.
using OutputDims = std::vector<std::vector<int32_t>>;

// Prepares the process for the inputs of the partition, and gives the outputs the shapes that the
// delegate computes, or dynamic ones. Returns "" or the reason of a failure. `*before` gets the
// dimensions that the runtime has given to the outputs.
std::string PrepareOutputs(TfLiteContext* context, Session* session, int claim, OutputDims* before);

// Runs the partition, and resizes its dynamic outputs. After a failure they have the dimensions
// `before`, which the runtime expects when it runs the nodes on the CPU.
CallResult RunWithSizes(TfLiteContext* context, Session* session, int claim,
                        const OutputDims& before, const IsCancelled& is_cancelled,
                        std::string* problem);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_DYNAMIC_CALL_H_
