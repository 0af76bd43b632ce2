// SPDX-License-Identifier: Apache-2.0
//
// Facts about a graph that a client builds or changes in code, and the check of its structure,
// which for a graph of a model core/model/model_check.h makes when the model is loaded.
#ifndef DEPUTY_CORE_EXEC_BUILT_GRAPH_H_
#define DEPUTY_CORE_EXEC_BUILT_GRAPH_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/memory.h"
#include "core/graph/graph.h"

namespace deputy {

class BuiltGraph {
 public:
  // Creates the facts about a graph whose nodes and tensors are those of a model, perhaps with
  // nodes of delegates after them.
  explicit BuiltGraph(const Graph& graph);

  // Number of tensors when this object was created or the client last added tensors, whichever is
  // later; kernels and delegates may have added others since.
  int tensor_count() const { return tensor_count_; }
  void SetTensorCount(int count) { tensor_count_ = count; }
  // Number of nodes without those of delegates.
  int node_count() const { return static_cast<int>(own_kernels_.size()); }
  // Reserves memory for AddNode, which then does not throw.
  void ReserveNode() { own_kernels_.reserve(own_kernels_.size() + 1); }
  // Records a node of the client. `is_own`: its kernel is a builtin of this library.
  void AddNode(bool is_own) { own_kernels_.push_back(is_own); }

  // Called when nodes, tensors, the lists of tensors or the plan have changed.
  void NoteChange() { is_checked_ = false; }
  // Returns the first error in the structure, empty if there is none. `plan` is that without
  // delegates. Builtin kernels rely on the rules of core/model/tensor_producers.h; a client's
  // kernel may break them, but must not write the output of a builtin kernel unless it also reads
  // it (in place).
  const std::string& Fault(const Graph& graph, const std::vector<int>& plan);

  // Name that the client has given the subgraph.
  std::string name;
  // Copies of constants that are not aligned to their elements, by tensor index.
  std::map<int, Block> copies;

 private:
  std::string FindFault(const Graph& graph, const std::vector<int>& plan) const;

  int tensor_count_;
  std::vector<bool> own_kernels_;  // by node index
  bool is_checked_ = false;
  std::string fault_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_BUILT_GRAPH_H_
