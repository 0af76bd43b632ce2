// SPDX-License-Identifier: Apache-2.0
//
// Detects nodes whose prepare changes a tensor that an earlier node uses. Such tensors are
// variables, which are read before they are written, and those on which a custom operator works in
// place. Each node is prepared for the type and shape of its tensors at that time, so a later
// node's prepare must not change them. (For all other tensors core/model/tensor_producers.h checks
// this when the model is loaded.)
#ifndef DEPUTY_CORE_EXEC_SHARED_SHAPES_H_
#define DEPUTY_CORE_EXEC_SHARED_SHAPES_H_

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace deputy {

// Type, shape and allocation type of a tensor before a node is prepared.
struct SharedShape {
  int tensor = 0;
  TfLiteType type = kTfLiteNoType;
  TfLiteAllocationType allocation_type = kTfLiteArenaRw;
  std::vector<int> dims;

  bool Holds(const TfLiteTensor& now) const;
  // Returns the text "expected FLOAT32 [4], for which earlier nodes were prepared, found FLOAT32
  // [2]".
  std::string Difference(const TfLiteTensor& now) const;
};

class SharedShapes {
 public:
  // Called before the nodes of `plan` are prepared in this order, from the first on.
  void BeginPlan(const Graph& graph, const std::vector<int>& plan);

  // Returns the shapes that the node's prepare must preserve for nodes before it; empty for most
  // nodes.
  std::vector<SharedShape> Of(const Graph& graph, int node_index) const;

 private:
  bool UsedBefore(int tensor, int node_index) const;

  std::vector<int> first_user_;  // per tensor: the first node of the plan that reads or writes it
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SHARED_SHAPES_H_
