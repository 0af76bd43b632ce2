// SPDX-License-Identifier: Apache-2.0
//
// Explains why a graph has dynamic shapes.
#ifndef DEPUTY_CORE_DELEGATION_DYNAMIC_TENSORS_H_
#define DEPUTY_CORE_DELEGATION_DYNAMIC_TENSORS_H_

#include <string>

namespace deputy {

class Graph;

struct DynamicTensor {
  int tensor = -1;  // index of the tensor; -1: no tensor is dynamic
  std::string text;
};

// Returns the first dynamic output in plan order, with a text such as "node 3 FILL: tensor 7 'y':
// its shape may depend on tensor 2 'dims' of node 1 ADD, which is not constant". Nodes after it may
// not be prepared yet.
DynamicTensor FindDynamicTensor(const Graph& graph);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DYNAMIC_TENSORS_H_
