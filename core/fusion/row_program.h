// SPDX-License-Identifier: Apache-2.0
//
// Generates the program of a row-wise group: its operations in order, and the slots of block memory
// that hold their values. Values of equal width with disjoint lifetimes share a slot. Pure
// functions, part of the pass for row-wise groups (core/fusion/row_groups.h).
#ifndef DEPUTY_CORE_FUSION_ROW_PROGRAM_H_
#define DEPUTY_CORE_FUSION_ROW_PROGRAM_H_

#include <cstdint>

#include "core/fusion/absorbed_transposes.h"
#include "core/fusion/row_candidate.h"
#include "core/fusion/row_plan.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// Returns the program of a candidate that has nodes; without operations if the group's output is
// not the value of the last node that computes one.
RowProgram ProgramOf(const RowPlan& plan, const RowCandidate& candidate,
                     const StridedOperands& operands);

// Returns the bytes of one row of all slots.
int64_t RowBytes(const RowProgram& program);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ROW_PROGRAM_H_
