// SPDX-License-Identifier: Apache-2.0
//
// The structure of a subgraph at one moment: what a delegate that fails to apply must not have
// changed. Contents of tensors, addresses and the question whether memory is planned are not part
// of it.
#ifndef DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
#define DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/delegation/applied_delegates.h"

namespace deputy {

class Subgraph;

class GraphSnapshot {
 public:
  explicit GraphSnapshot(Subgraph* subgraph);

  // To be called when a node has been prepared. If it was there before, the tensors from
  // `first_added` on are its own: its kernel may know their indices, so they stay on Restore, and
  // so do its temporaries.
  void NotePrepared(int node_index, size_t first_added);

  // Frees the nodes and tensors added since, gives back handles taken since, and puts plan, nodes
  // and tensors back. A tensor below one that stays is emptied instead.
  // Allocates nothing. Memory has to be planned anew.
  void Restore() noexcept;

 private:
  struct FreeArray {
    void operator()(TfLiteIntArray* array) const { TfLiteIntArrayFree(array); }
  };
  using IntArray = std::unique_ptr<TfLiteIntArray, FreeArray>;
  struct NodeState {
    IntArray inputs, outputs, temporaries;
  };
  struct TensorState {
    TfLiteTensor fields;  // pointers in it are compared, never followed
    IntArray dims;
  };

  void RestoreNodes();
  void RemoveAddedTensors();
  void RestoreTensor(const TensorState& state, IntArray dims, TfLiteTensor* tensor);

  Subgraph* const subgraph_;
  std::vector<NodeState> nodes_;
  std::vector<TensorState> tensors_;
  std::vector<size_t> kept_tensors_;  // of those added since, in ascending order
  std::vector<int> plan_;
  size_t skippable_count_ = 0;  // marks of the interpreter's subgraphs
};

// A number that is equal for equal structures: the plan; per node its tensors, registration,
// builtin data and user data; per tensor type, shape, bytes, quantisation, allocation, delegate,
// handle and stale bit; the delegates `applied`.
uint64_t GraphDigest(const Subgraph& subgraph, const AppliedDelegates::Order& applied);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
