// SPDX-License-Identifier: Apache-2.0
//
// Layers that are computed strip by strip: chains of layers (an expanding CONV_2D, the
// DEPTHWISE_CONV_2D behind it, the CONV_2D behind that) of which each makes the few rows that the
// next one reads, so that what lies between them stays in the cache. A pure pass over the plan and
// its steps, with the same results.
#ifndef DEPUTY_CORE_EXEC_STRIPS_H_
#define DEPUTY_CORE_EXEC_STRIPS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/exec/steps.h"

namespace deputy {

// Joins steps, as FindSteps and SubsampleSteps returned them for the same plan, and layers that run
// alone, to steps that have layers. `cache_bytes`: of the second-level cache. Steps stay by
// ascending heads.
//
// A layer goes on with the next one if that alone reads what it makes, and if all else that the
// next one reads is complete before the first layer runs.
void JoinStrips(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                size_t cache_bytes, std::vector<Step>* steps);

// What a step with layers reads while it writes its output.
std::vector<StepRead> ReadsOfLayers(const StepRun& run, std::span<const StepNode> nodes,
                                    std::span<const StepTensor> tensors);

// The tensors that a step with layers, or one by rows, does not write.
std::vector<int> UnwrittenBy(const Step& step, std::span<const StepNode> nodes);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_STRIPS_H_
