// SPDX-License-Identifier: Apache-2.0
//
// Steps by rows (core/kernel_api/row_kernel.h): matrix products and what works on the rows that one
// of them makes or reads, TRANSPOSEs among it. A pure pass over the plan, like that for other
// steps.
#ifndef DEPUTY_CORE_EXEC_ROW_STEPS_H_
#define DEPUTY_CORE_EXEC_ROW_STEPS_H_

#include <span>
#include <vector>

#include "core/exec/steps.h"

namespace deputy {

// What a row of all values of a step takes at most: a block of them is to stay in the second-level
// cache.
inline constexpr int64_t kMaxRowBytes = 16 * 1024;

// Adds the steps by rows of nodes that are in none of `steps` yet, which stay by ascending heads.
//
// A step begins with a product, a MEAN of rows, or a TRANSPOSE that gathers them. Nodes join that
// read what the step makes; nobody else reads what they make, but for the last. The head is its
// last product, or its last TRANSPOSE: nodes before it wait for it, and all else that nodes behind
// it read is complete before it runs.
//
// A TRANSPOSE in the middle leaves elements where they are. Those behind it that work element by
// element do not care; a second one brings them back. Such a step may begin with any of these
// nodes. A TRANSPOSE at the end has its product store rows where they go. TRANSPOSEs that make a
// product's right operand join its step and do not run: it reads in steps.
void AddRowSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                 std::vector<Step>* steps);

// What a step reads, as ReadsOf for others. Nodes are those of the plan.
std::vector<StepRead> RowReadsOf(const RowProgram& rows, std::span<const StepNode> nodes);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_STEPS_H_
