// SPDX-License-Identifier: Apache-2.0
//
// The most frequent epilogues: none, a bound (RELU, RELU6), an added tensor, or both. One kernel
// serves all of them, with the bounds and the addition as arguments, because each further kernel
// costs some drivers a tenth of a second or more to compile.
#ifndef DEPUTY_GPU_CL_EMIT_COMMON_EPILOGUE_H_
#define DEPUTY_GPU_CL_EMIT_COMMON_EPILOGUE_H_

#include <limits>
#include <optional>

#include "compiler/graph.h"

namespace deputy::gpu_cl {

// The epilogue min(max(x + added, low), high), where NaN stays NaN. Infinite bounds change nothing.
struct CommonEpilogue {
  // A float32 or float16 value with the output's shape; kNoValue: none.
  compiler::ValueId added = compiler::kNoValue;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// Returns the operation's epilogue; nullopt if it has another form, or if the output is neither
// float32 nor float16.
std::optional<CommonEpilogue> FindCommonEpilogue(const compiler::Graph& graph,
                                                 const compiler::Operation& operation);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_COMMON_EPILOGUE_H_
