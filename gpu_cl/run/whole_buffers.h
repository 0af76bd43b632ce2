// SPDX-License-Identifier: Apache-2.0
//
// Memory planning without sub-buffers, for drivers on which these are expensive.
#ifndef DEPUTY_GPU_CL_RUN_WHOLE_BUFFERS_H_
#define DEPUTY_GPU_CL_RUN_WHOLE_BUFFERS_H_

#include <cstddef>
#include <span>

#include "compiler/memory_plan.h"

namespace deputy::gpu_cl {

// Plans memory as compiler::PlanMemory does, but gives every interval a whole block during its
// lifetime. An interval gets the smallest free block that is large enough, else the largest free
// one, which grows. This may need more memory than sharing parts of blocks, but never more than no
// sharing.
bool PlanWholeBuffers(std::span<const compiler::Interval> intervals, size_t alignment,
                      size_t max_block, compiler::MemoryPlan* out_plan);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_WHOLE_BUFFERS_H_
