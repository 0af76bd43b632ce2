// SPDX-License-Identifier: Apache-2.0
//
// What most layers do with their result: nothing, a bound (RELU, RELU6), a tensor that is added, or
// both. One kernel does all of these, with the bounds and whether to add as arguments: a kernel
// more costs some drivers a tenth of a second or more.
#ifndef DEPUTY_GPU_CL_COMMON_EPILOGUE_H_
#define DEPUTY_GPU_CL_COMMON_EPILOGUE_H_

#include <limits>
#include <optional>

#include "compiler/graph.h"

namespace deputy::gpu_cl {

// x + added, then not below `low`, then not above `high`; what is no number stays that. Infinite
// bounds change nothing.
struct CommonEpilogue {
  compiler::ValueId added = compiler::kNoValue;  // of the output's shape, float32
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// None where the operation's epilogue is something else, or its output no float32.
std::optional<CommonEpilogue> FindCommonEpilogue(const compiler::Graph& graph,
                                                 const compiler::Operation& operation);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_COMMON_EPILOGUE_H_
