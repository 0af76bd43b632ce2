// SPDX-License-Identifier: Apache-2.0
//
// How the elements of a tensor lie in the rows that a step by rows computes. Nobody moves them
// there: behind a TRANSPOSE they lie in steps (core/kernel_api/strided_shape.h), and nodes that
// work element by element compute them where they are. Pure functions.
#ifndef DEPUTY_CORE_EXEC_ROW_LAYOUT_H_
#define DEPUTY_CORE_EXEC_ROW_LAYOUT_H_

#include <cstdint>
#include <map>
#include <optional>

#include "core/exec/row_plan.h"
#include "core/kernel_api/strided_shape.h"

namespace deputy {

// A tensor that a step makes.
struct MadeValue {
  int readers_left = 0;  // outside the step
  StridedShape layout;   // of its elements in the step's rows
};
using MadeValues = std::map<int, MadeValue>;  // by tensor

// The tensor's elements one behind the other. Without a rank where it has too many dimensions.
StridedShape DenseLayout(const RowPlan& plan, int tensor);

// Where a TRANSPOSE's output elements, in their order, come from in its input.
StridedShape GatheredBy(const RowPlan& plan, int transpose);
// Where a TRANSPOSE's input elements, in their order, go in its output.
StridedShape ScatteredBy(const RowPlan& plan, int transpose);

// How the node's output lies if the node computes it from the step's rows, of which `made` are
// there. None: the node cannot.
std::optional<StridedShape> LayoutBehind(const RowPlan& plan, int node, int64_t rows,
                                         const MadeValues& made);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_LAYOUT_H_
