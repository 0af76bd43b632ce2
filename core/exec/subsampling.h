// SPDX-License-Identifier: Apache-2.0
//
// Pixels that nobody reads: where all readers of an image are convolutions with a filter of 1x1 and
// strides, the layer that makes it computes the pixels alone that they read, and so do layers
// before it whose filter is 1x1. A pure pass over the plan and its steps, with the same results.
#ifndef DEPUTY_CORE_EXEC_SUBSAMPLING_H_
#define DEPUTY_CORE_EXEC_SUBSAMPLING_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/exec/steps.h"

namespace deputy {

// Sets the strides of steps, as FindSteps returned them for the same plan. A layer that runs alone
// becomes a step of one node where it has strides. Steps stay by ascending heads.
void SubsampleSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                    std::vector<Step>* steps);

// Moves the pixels of an image [batches][height][width][channels], of which those of `stride` lie
// one behind the other, to their places. Those between have any contents.
struct ImageSize {
  int batches = 0, height = 0, width = 0;
  size_t pixel_bytes = 0;
};
void SpreadPixels(const ImageSize& size, const PixelStride& stride, void* image);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBSAMPLING_H_
