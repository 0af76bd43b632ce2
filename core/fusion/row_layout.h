// SPDX-License-Identifier: Apache-2.0
//
// Layout of a tensor's elements in the rows of a row-wise group. TRANSPOSEs, except one at the
// begin that gathers rows, do not move elements: after one they are strided
// (core/kernel_api/strided_shape.h), and element-wise nodes compute them in place. Pure functions.
#ifndef DEPUTY_CORE_FUSION_ROW_LAYOUT_H_
#define DEPUTY_CORE_FUSION_ROW_LAYOUT_H_

#include <cstdint>
#include <map>
#include <optional>

#include "core/fusion/row_plan.h"
#include "core/kernel_api/strided_shape.h"

namespace deputy {

// A tensor that the group computes.
struct ComputedValue {
  int consumers_left = 0;  // number of the value's consumers that are not in the group yet
  StridedShape layout;     // layout of the value's elements in the group's rows
};
using ComputedValues = std::map<int, ComputedValue>;  // values by tensor index

// Returns the contiguous layout of a tensor; its rank is 0 if the tensor has more than
// kMaxStridedRank dimensions or no elements.
StridedShape DenseLayout(const RowPlan& plan, int tensor);

// Returns the layout, in a TRANSPOSE's input, of its output elements in order.
StridedShape GatheredBy(const RowPlan& plan, int transpose);
// Returns the layout, in a TRANSPOSE's output, of its input elements in order.
StridedShape ScatteredBy(const RowPlan& plan, int transpose);

// Returns the layout of the node's output if the node can be computed from the group's rows, where
// `computed` are the values computed so far; none otherwise.
std::optional<StridedShape> LayoutAfter(const RowPlan& plan, int node, int64_t rows,
                                        const ComputedValues& computed);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ROW_LAYOUT_H_
