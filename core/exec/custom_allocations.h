// SPDX-License-Identifier: Apache-2.0
//
// Memory that the client provides for tensors.
#ifndef DEPUTY_CORE_EXEC_CUSTOM_ALLOCATIONS_H_
#define DEPUTY_CORE_EXEC_CUSTOM_ALLOCATIONS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/error.h"
#include "core/graph/graph.h"

namespace deputy {

class CustomAllocations {
 public:
  // Creates an empty list. The arguments must outlive this object. Errors name the subgraph by its
  // index.
  CustomAllocations(Graph* graph, int subgraph_index, ErrorReporter* reporter)
      : graph_(graph), subgraph_index_(subgraph_index), reporter_(reporter) {}

  bool empty() const { return allocations_.empty(); }
  bool Has(int tensor_index) const;

  // Makes a tensor use the client's memory; `flags` are TfLiteCustomAllocationFlags. Reports an
  // error and changes nothing if the tensor or the memory cannot be used.
  TfLiteStatus Set(int tensor_index, const TfLiteCustomAllocation& allocation, int64_t flags);
  // True if memory that is smaller than its tensor was set after the newest successful Verify.
  bool may_be_too_small() const { return may_be_too_small_; }
  // Sets the data pointer after a change of the tensor's size: null if the memory is too small.
  void FollowSize(int tensor_index);
  // Returns all tensors to planned memory; tensors must be allocated again.
  void Clear();
  // Reports an error if the memory of a tensor is too small for its current shape. Ignores outputs
  // of `unprepared_nodes`, whose shapes are not known yet.
  TfLiteStatus Verify(std::span<const int> unprepared_nodes = {});

 private:
  Graph* const graph_;
  const int subgraph_index_;
  ErrorReporter* const reporter_;
  // Pairs of tensor index and memory.
  std::vector<std::pair<int, TfLiteCustomAllocation>> allocations_;
  bool may_be_too_small_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CUSTOM_ALLOCATIONS_H_
