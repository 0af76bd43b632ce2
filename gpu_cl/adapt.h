// SPDX-License-Identifier: Apache-2.0
//
// What a graph looks like for kernels of vectors: copies where they let a product run in tiles.
#ifndef DEPUTY_GPU_CL_ADAPT_H_
#define DEPUTY_GPU_CL_ADAPT_H_

#include "compiler/graph.h"
#include "gpu_cl/plan_options.h"

namespace deputy::gpu_cl {

// For options with vectors; other graphs stay as they are.
// - The right side of a product is transposed beforehand, unless it is constant.
// - For processors, images of few channels get their border beforehand: a window's row is then one
//   piece of memory.
compiler::Graph Adapted(compiler::Graph graph, const PlanOptions& options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_ADAPT_H_
