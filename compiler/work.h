// SPDX-License-Identifier: Apache-2.0
//
// How much there is to do in a graph: what back ends estimate times from. Numbers are double, as
// they are only compared with each other.
#ifndef DEPUTY_COMPILER_WORK_H_
#define DEPUTY_COMPILER_WORK_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

struct Work {
  double macs = 0;        // multiply-adds of products and convolutions
  double steps = 0;       // other scalar operations; a transcendental function counts for ten
  double bytes = 0;       // read and written, each value once
  int operations = 0;     // those that compute or move something: views do not
  bool bytewise = false;  // of a node: it reads int8 or uint8, which a CPU computes with as such

  friend bool operator==(const Work&, const Work&) = default;
};

// Of one operation, epilogue included.
Work WorkOf(const Graph& graph, const Operation& operation);

// Of every operation that is no view, in their order.
std::vector<Work> WorkOfOperations(const Graph& graph);

// Of every node of the model that has operations in the graph, in the order of the first: as one
// operation each, whose bytes are of the values that enter and leave the node. A node of views
// alone has nothing to do.
std::vector<Work> WorkOfNodes(const Graph& graph);

// Bytes of the graph's inputs and outputs.
double BorderBytes(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_WORK_H_
