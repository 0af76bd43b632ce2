// SPDX-License-Identifier: Apache-2.0
//
// Amount of work in a graph, from which back ends estimate execution times.
#ifndef DEPUTY_COMPILER_WORK_H_
#define DEPUTY_COMPILER_WORK_H_

#include <vector>

#include "compiler/graph.h"
#include "core/support/cost.h"

namespace deputy::compiler {

// Returns the work of one operation, epilogue included.
Work WorkOf(const Graph& graph, const Operation& operation);

// Returns the work of every operation except views, in their order.
std::vector<Work> WorkOfOperations(const Graph& graph);

// Returns the work of every model node that has operations in the graph, in the order of their
// first operation. Each node counts as one operation; its bytes are those of the values that enter
// and leave it. A node that consists of views has no work.
std::vector<Work> WorkOfNodes(const Graph& graph);

// Returns the total bytes of the graph's inputs and outputs.
double BorderBytes(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_WORK_H_
