// SPDX-License-Identifier: Apache-2.0
//
// Amount of work in a graph, from which back ends estimate execution times. Numbers are double,
// since they are only compared with each other.
#ifndef DEPUTY_COMPILER_WORK_H_
#define DEPUTY_COMPILER_WORK_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

struct Work {
  double macs = 0;     // multiply-adds of products and convolutions
  double steps = 0;    // other scalar operations; a transcendental function counts as ten
  double bytes = 0;    // bytes read and written, each value once
  int operations = 0;  // operations that compute or move something; views do not count
  // The node reads int8 or uint8, which a CPU computes with directly. Set for nodes only.
  bool bytewise = false;

  friend bool operator==(const Work&, const Work&) = default;
};

// Work of one operation, epilogue included.
Work WorkOf(const Graph& graph, const Operation& operation);

// Work of every operation except views, in their order.
std::vector<Work> WorkOfOperations(const Graph& graph);

// Work of every model node that has operations in the graph, in the order of their first operation.
// Each node counts as one operation; its bytes are those of the values that enter and leave it. A
// node that consists of views has no work.
std::vector<Work> WorkOfNodes(const Graph& graph);

// Total bytes of the graph's inputs and outputs.
double BorderBytes(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_WORK_H_
