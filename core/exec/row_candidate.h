// SPDX-License-Identifier: Apache-2.0
//
// Nodes that can be computed together by rows, as far as a node of the plan leads: which step they
// could make. Pure functions, part of the pass for steps by rows (core/exec/row_steps.h), which
// decides whether they do.
#ifndef DEPUTY_CORE_EXEC_ROW_CANDIDATE_H_
#define DEPUTY_CORE_EXEC_ROW_CANDIDATE_H_

#include <cstdint>
#include <vector>

#include "core/exec/row_plan.h"

namespace deputy {

struct RowCandidate {
  int64_t rows = 0;
  // A TRANSPOSE moves nothing and a later one undoes it: rows are those of memory. Otherwise rows
  // are those of the first node's output; a TRANSPOSE that comes first gathers them.
  bool undoes_transpose = false;
  // In the order in which they compute; the last one makes the step's output. Empty: no step.
  std::vector<int> nodes;
  int head = -1;      // runs them, when all that they read is there
  int scatters = -1;  // the product that stores rows where the last TRANSPOSE puts them
  bool has_side_products = false;
};

// A product beside those that lead from the first node to the last: its factors are no step's, and
// its rows meet those of the step in a node that computes elements ("gated" layers are of that
// kind).
enum class SideProducts { kNone, kJoin };

// From a node that computes elements, or a TRANSPOSE, to a TRANSPOSE that brings elements back to
// where they were.
RowCandidate CandidateAroundTransposes(const RowPlan& plan, int first);

// From a product, a MEAN of rows, or a TRANSPOSE that gathers rows; the node alone where no other
// one joins it.
RowCandidate CandidateFromRows(const RowPlan& plan, int first, SideProducts side_products);

// The node alone, of those that CandidateFromRows begins with.
RowCandidate CandidateAlone(const RowPlan& plan, int node);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_CANDIDATE_H_
