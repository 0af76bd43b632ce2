// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes to buffers, for drivers to which parts of a buffer are dear.
#ifndef DEPUTY_GPU_CL_WHOLE_BUFFERS_H_
#define DEPUTY_GPU_CL_WHOLE_BUFFERS_H_

#include <cstddef>
#include <span>

#include "compiler/memory_plan.h"

namespace deputy::gpu_cl {

// As compiler::PlanMemory, but every interval lies at the beginning of a block, alone at its time:
// one that begins takes the least block that is large enough of those that are free, else the
// largest, which grows. It needs more memory than blocks of many parts, though never more than
// without sharing.
bool PlanWholeBuffers(std::span<const compiler::Interval> intervals, size_t alignment,
                      size_t max_block, compiler::MemoryPlan* out_plan);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_WHOLE_BUFFERS_H_
