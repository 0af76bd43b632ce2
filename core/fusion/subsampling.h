// SPDX-License-Identifier: Apache-2.0
//
// Skips pixels that are never read. If all consumers of an image are 1x1 convolutions with the same
// strides, its producer computes only the pixels that they read, and so do preceding layers with
// 1x1 filters. A pure pass over the plan and its fusion groups; results do not change.
#ifndef DEPUTY_CORE_FUSION_SUBSAMPLING_H_
#define DEPUTY_CORE_FUSION_SUBSAMPLING_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/fusion/fusion_groups.h"

namespace deputy {

// Sets the strides of groups, as FindFusionGroups returned them for the same plan. A single layer
// that gets a stride becomes a group of one node. Groups stay sorted by head.
void SubsampleGroups(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                     std::vector<FusionGroup>* groups);

// Size of an image [batches][height][width][channels].
struct ImageSize {
  int batches = 0, height = 0, width = 0;
  size_t pixel_bytes = 0;
};
// Moves the pixels of a subsampled image, which are contiguous, to their positions in the full
// image, which has the size `size`. The contents of the other pixels are undefined.
void ExpandPixels(const ImageSize& size, const PixelStride& stride, void* image);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_SUBSAMPLING_H_
