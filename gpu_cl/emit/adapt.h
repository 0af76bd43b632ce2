// SPDX-License-Identifier: Apache-2.0
//
// Graph transformations for vectorised kernels: adds copies that let a product use the tiled
// kernels.
#ifndef DEPUTY_GPU_CL_EMIT_ADAPT_H_
#define DEPUTY_GPU_CL_EMIT_ADAPT_H_

#include "compiler/graph.h"
#include "gpu_cl/emit/plan_options.h"

namespace deputy::gpu_cl {

// Transforms a graph if the options enable vectors; returns other graphs unchanged.
// - A non-constant right side with transpose_b is transposed by a copy before the product.
// - For CPUs, images with few channels are padded before the convolution: each row of a window is
//   then contiguous in memory.
compiler::Graph AdaptGraph(compiler::Graph graph, const PlanOptions& options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_ADAPT_H_
