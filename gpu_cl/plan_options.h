// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_GPU_CL_PLAN_OPTIONS_H_
#define DEPUTY_GPU_CL_PLAN_OPTIONS_H_

namespace deputy::gpu_cl {

// What the plan depends on beside the graph.
struct PlanOptions {
  // Work-items that take a range of elements each, and groups of one item: for processors whose
  // compiler makes vectors of loops, and a function of every size of group. Else an item takes one
  // element, and the driver chooses the groups.
  bool ranges = false;
  // About how many items keep the device busy.
  int items = 16;
  // Floats in a vector of kernels that are written with vectors (emit_tiles.cc, emit_rows.cc): 4, 8
  // or 16. 0: plain kernels only.
  int vector_width = 0;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PLAN_OPTIONS_H_
