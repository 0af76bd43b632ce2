// SPDX-License-Identifier: Apache-2.0
//
// Layers that are computed strip by strip: chains of float32 convolutions, for example an expanding
// CONV_2D, a DEPTHWISE_CONV_2D and a CONV_2D. Each layer computes only the few rows that the next
// one reads, so that intermediate tensors stay in the cache. A pure pass over the plan and its
// fusion groups; results do not change.
#ifndef DEPUTY_CORE_FUSION_STRIPS_H_
#define DEPUTY_CORE_FUSION_STRIPS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/fusion/fusion_groups.h"

namespace deputy {

// Joins groups, as returned by FindFusionGroups and SubsampleGroups for the same plan, and single
// layers into groups with layers. `cache_bytes` is the size of the second-level cache. Groups stay
// sorted by head.
//
// A layer is joined with the next one if both have the same kernel and number of batches, if
// neither is subsampled or absorbs factors, if the layer's output does not fit the cache but strips
// do, if the next layer is the only consumer of its output, and if all other inputs of the next one
// are computed before the first layer runs.
void JoinStrips(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                size_t cache_bytes, std::vector<FusionGroup>* groups);

// Returns the tensors that a group with layers reads while it writes its output.
std::vector<GroupRead> ReadsOfLayers(const StripRun& run, std::span<const GroupNode> nodes,
                                     std::span<const PlanTensor> tensors);

// Returns the intermediate tensors that a group with layers, or a row-wise one, does not write.
std::vector<int> UnwrittenBy(const FusionGroup& group, std::span<const GroupNode> nodes);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_STRIPS_H_
