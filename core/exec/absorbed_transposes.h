// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSEs around a matrix product that need not run: the product reads an operand in steps from
// where it was before them, or stores its rows where they would put them. Pure functions, part of
// the pass for steps by rows (core/exec/row_steps.h).
#ifndef DEPUTY_CORE_EXEC_ABSORBED_TRANSPOSES_H_
#define DEPUTY_CORE_EXEC_ABSORBED_TRANSPOSES_H_

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/row_plan.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// An operand of a product, and the TRANSPOSEs and RESHAPEs that the product undoes as it reads.
struct StridedOperand {
  StridedInput input;      // no tensor: the operand is read as it is
  std::vector<int> nodes;  // the last one first
};

// By product, which has some; by input.
using StridedOperands = std::map<int, std::array<StridedOperand, kMaxMadeInputs>>;

// Finds the TRANSPOSEs that make operands of products, and takes them.
StridedOperands AbsorbTransposes(RowPlan* plan);

// The product that can store its rows where the TRANSPOSE, the last of a step's `nodes`, would put
// them; -1: none.
int ProductThatScatters(const RowPlan& plan, std::span<const int> nodes);
// Where such a product's elements go in that TRANSPOSE's output. None if rows do not stay together.
std::optional<StridedShape> ScatteredRows(const RowPlan& plan, int product, int transpose);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ABSORBED_TRANSPOSES_H_
