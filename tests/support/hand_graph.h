// SPDX-License-Identifier: Apache-2.0
//
// A graph without an interpreter, for tests of code that uses a Graph alone: nodes have no kernels,
// tensors only the memory that a test provides.
#ifndef DEPUTY_TESTS_SUPPORT_HAND_GRAPH_H_
#define DEPUTY_TESTS_SUPPORT_HAND_GRAPH_H_

#include <vector>

#include "c_api/include/builtin_ops.h"
#include "core/graph/graph.h"

namespace deputy {

class HandGraph {
 public:
  // Creates `tensor_count` tensors, each a vector of one float32 in the arena.
  explicit HandGraph(int tensor_count);
  ~HandGraph();
  HandGraph(const HandGraph&) = delete;
  HandGraph& operator=(const HandGraph&) = delete;

  // Adds a node at the end of the plan; returns its index.
  int AddNode(const std::vector<int>& inputs, const std::vector<int>& outputs,
              int32_t builtin_code = kTfLiteBuiltinAdd, int version = 1);
  // Adds a delegate's node at the position of `nodes`, as a replacement does; returns its index.
  int Replace(const std::vector<int>& nodes, TfLiteDelegate* delegate,
              const std::vector<int>& inputs, const std::vector<int>& outputs);
  // Frees the nodes from index `count` on and sets the plan.
  void RemoveNodesFrom(int count, const std::vector<int>& plan);

  TfLiteContext* context() { return &context_; }
  Graph* operator->() { return &graph_; }
  Graph& operator*() { return graph_; }

 private:
  int AddToTable(const std::vector<int>& inputs, const std::vector<int>& outputs,
                 const TfLiteRegistration& registration);

  TfLiteContext context_{};
  Graph graph_{&context_};
};

// Returns a new array of the C ABI, which the caller owns.
TfLiteIntArray* IntArrayOf(const std::vector<int>& values);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_HAND_GRAPH_H_
