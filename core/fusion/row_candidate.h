// SPDX-License-Identifier: Apache-2.0
//
// Builds candidates for row-wise fusion groups, each of which begins at a given node of the plan.
// Pure functions, part of the pass for row-wise groups (core/fusion/row_groups.h), which
// decides which candidates become groups.
#ifndef DEPUTY_CORE_FUSION_ROW_CANDIDATE_H_
#define DEPUTY_CORE_FUSION_ROW_CANDIDATE_H_

#include <cstdint>
#include <vector>

#include "core/fusion/row_plan.h"

namespace deputy {

struct RowCandidate {
  int64_t rows = 0;
  // True: a TRANSPOSE leaves elements in place and a later one undoes it; rows are those of the
  // memory. False: rows are those of the first node's output (of a TRANSPOSE, which gathers them:
  // after the RESHAPEs that follow it).
  bool undoes_transpose = false;
  // Nodes in execution order; the last one computes the group's output. Empty: no group.
  std::vector<int> nodes;
  int head = -1;  // position of the node that runs the group, once all external inputs are computed
  int scatters = -1;  // position of the product that stores its rows as the last TRANSPOSE would
  bool has_side_products = false;
};

// Policy for side products: products outside the chain from the first node to the last, whose
// factors the group does not compute. A side product's rows meet the group's rows in an
// element-wise node, as in "gated" layers.
enum class SideProducts { kNone, kJoin };

// Builds a candidate that begins with an element-wise node or a TRANSPOSE, and contains TRANSPOSEs
// that together restore the order of elements; empty if there is none.
RowCandidate CandidateAroundTransposes(const RowPlan& plan, int first);

// Builds a candidate from a product, a MEAN of rows, or a TRANSPOSE that gathers rows; it contains
// only `first` if no other node can join, and is empty if `first` is another node.
RowCandidate CandidateFromRows(const RowPlan& plan, int first, SideProducts side_products);

// Builds a candidate of this node only; empty if CandidateFromRows cannot begin with it.
RowCandidate CandidateAlone(const RowPlan& plan, int node);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ROW_CANDIDATE_H_
