// SPDX-License-Identifier: Apache-2.0
//
// What a step by rows computes, in which order, and where its values are meanwhile: slots of a
// block's memory, which values share one after the other. Pure functions, part of the pass for
// steps by rows (core/exec/row_steps.h).
#ifndef DEPUTY_CORE_EXEC_ROW_PROGRAM_H_
#define DEPUTY_CORE_EXEC_ROW_PROGRAM_H_

#include <cstdint>

#include "core/exec/absorbed_transposes.h"
#include "core/exec/row_candidate.h"
#include "core/exec/row_plan.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// The program of a candidate with nodes. Without operations where none makes the output.
RowProgram ProgramOf(const RowPlan& plan, const RowCandidate& candidate,
                     const StridedOperands& operands);

// What one row of all slots takes.
int64_t RowBytes(const RowProgram& program);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_PROGRAM_H_
