// SPDX-License-Identifier: Apache-2.0
//
// Some tensors are written by a node although an earlier one works with them, too: variables, which
// are read before they are made, and what a custom operator works on in place. Each node is
// prepared for the type and shape it finds; this checks that no later node's prepare takes them
// back. (For all other tensors core/model/tensor_makers.h has made sure of it when the model was
// loaded.)
#ifndef DEPUTY_CORE_EXEC_SHARED_SHAPES_H_
#define DEPUTY_CORE_EXEC_SHARED_SHAPES_H_

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace deputy {

// What a tensor was like before a node was prepared.
struct SharedShape {
  int tensor = 0;
  TfLiteType type = kTfLiteNoType;
  TfLiteAllocationType allocation_type = kTfLiteArenaRw;
  std::vector<int> dims;

  bool Holds(const TfLiteTensor& now) const;
  // "expected FLOAT32 [4], for which earlier nodes were prepared, found FLOAT32 [2]".
  std::string Difference(const TfLiteTensor& now) const;
};

class SharedShapes {
 public:
  // The nodes of `plan` are about to be prepared from the first on, in this order.
  void BeginPlan(const Graph& graph, const std::vector<int>& plan);

  // What the node's prepare must leave as it is, for nodes before it: empty for almost any node.
  std::vector<SharedShape> Of(const Graph& graph, int node_index) const;

 private:
  bool UsedBefore(int tensor, int node_index) const;

  std::vector<int> first_user_;  // per tensor: the first node of the plan that reads or makes it
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SHARED_SHAPES_H_
