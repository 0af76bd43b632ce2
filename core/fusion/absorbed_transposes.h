// SPDX-License-Identifier: Apache-2.0
//
// Finds TRANSPOSEs around a matrix product that need not run: the product reads an operand with the
// strides of the tensor before the TRANSPOSEs, or stores its rows at the positions to which a
// TRANSPOSE would move them. Pure functions, part of the pass for row-wise fusion groups
// (core/fusion/row_groups.h).
#ifndef DEPUTY_CORE_FUSION_ABSORBED_TRANSPOSES_H_
#define DEPUTY_CORE_FUSION_ABSORBED_TRANSPOSES_H_

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/fusion/row_plan.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// An operand of a product, with the TRANSPOSEs and RESHAPEs that the product absorbs as it reads
// it.
struct StridedOperand {
  StridedInput input;      // without a tensor: the operand is read unchanged
  std::vector<int> nodes;  // absorbed nodes in reverse order of execution
};

// Strided operands by product and by input; products without strided operands are not listed.
using StridedOperands = std::map<int, std::array<StridedOperand, kMaxComputedInputs>>;

// Finds the TRANSPOSEs and RESHAPEs that compute only an operand of a product and that one set of
// strides can express, and removes them from the free nodes of the plan.
StridedOperands AbsorbTransposes(RowPlan* plan);

// Returns the product that can store its rows as the TRANSPOSE at the end of `nodes`, a group's
// nodes, would; -1: none.
int ProductThatScatters(const RowPlan& plan, std::span<const int> nodes);
// Returns the layout of this product's elements in the TRANSPOSE's output; none if no strides
// express it, or if the columns of a row would not be contiguous.
std::optional<StridedShape> ScatteredRows(const RowPlan& plan, int product, int transpose);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ABSORBED_TRANSPOSES_H_
