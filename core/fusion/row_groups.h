// SPDX-License-Identifier: Apache-2.0
//
// Forms row-wise fusion groups (core/kernel_api/row_kernel.h): matrix products and TRANSPOSEs with
// nodes that work on the rows which these write or read. A pure pass over the plan, like that for
// other groups.
#ifndef DEPUTY_CORE_FUSION_ROW_GROUPS_H_
#define DEPUTY_CORE_FUSION_ROW_GROUPS_H_

#include <span>
#include <vector>

#include "core/fusion/fusion_groups.h"

namespace deputy {

// Adds row-wise groups of nodes that are in none of `groups` yet; `groups` stays sorted by head.
//
// A group begins with a product, a MEAN of rows, a TRANSPOSE, or (see below) an element-wise node
// before TRANSPOSEs. It grows by nodes that read its values, and by products if a node of the group
// combines their rows with rows of the group. Only the last node's output is read outside. The head
// is the last product, or else the last TRANSPOSE: the group runs at the head's position, so all
// external inputs must be computed before it.
//
// TRANSPOSEs of a group do not run:
// - A TRANSPOSE at the begin gathers rows; or, if a later one restores the order, leaves elements
// in place. In that case the group may also begin with an element-wise node.
// - A TRANSPOSE in the middle leaves elements in place: element-wise nodes after it compute the
// same values there (core/fusion/row_layout.h).
// - For a TRANSPOSE at the end, its product stores rows at their final positions; for TRANSPOSEs
// that compute a product's right operand, the product reads it with strides
// (core/fusion/absorbed_transposes.h).
//
// core/fusion/row_candidate.h collects the nodes of a group, core/fusion/row_program.h
// generates its operations; this pass decides which candidates become groups.
void AddRowGroups(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                  std::vector<FusionGroup>* groups);

// Returns the tensors that a row-wise group reads, as ReadsOf does for other groups. `nodes` are
// those of the plan.
std::vector<GroupRead> RowReadsOf(const RowProgram& rows, std::span<const GroupNode> nodes);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ROW_GROUPS_H_
