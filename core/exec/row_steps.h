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

// Adds the steps by rows of nodes that are in none of `steps` yet, which stay by ascending heads.
//
// A step begins with a product, a MEAN of rows, or a TRANSPOSE that gathers them. Nodes join that
// read what the step makes, and products whose rows one of them multiplies with those of the step;
// only the last one makes what others read. The head is the last product,
// or else the last TRANSPOSE: nodes before it wait for it, and all else that nodes behind it read
// is complete before it runs.
//
// TRANSPOSEs of a step do not run:
// - One that comes first gathers rows, or, if a later one brings elements back, leaves them where
//   they are. Such a step may begin with a node that computes elements, too.
// - One in the middle leaves elements where they are: nodes behind it that work element by element
//   compute the same there (core/exec/row_layout.h).
// - One at the end has its product store rows where it would put them; those that make a product's
//   right operand have it read in steps (core/exec/absorbed_transposes.h).
//
// core/exec/row_candidate.h finds the nodes of a step, core/exec/row_program.h what it computes;
// here it is decided which candidates become steps.
void AddRowSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                 std::vector<Step>* steps);

// What a step reads, as ReadsOf for others. Nodes are those of the plan.
std::vector<StepRead> RowReadsOf(const RowProgram& rows, std::span<const StepNode> nodes);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_STEPS_H_
