// SPDX-License-Identifier: Apache-2.0
//
// The graph of the host's interpreter as the delegate sends it to its process and compares it with
// the claims that come back.
#ifndef DEPUTY_BRIDGES_SANDBOX_GRAPH_VIEW_H_
#define DEPUTY_BRIDGES_SANDBOX_GRAPH_VIEW_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bridges/sandbox/messages.h"
#include "deputy/delegate_helper.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {

struct IntArrayDeleter {
  void operator()(TfLiteIntArray* array) const { DeputyIntArrayFree(array); }
};
using IntArrayPtr = std::unique_ptr<TfLiteIntArray, IntArrayDeleter>;

// Returns an array with these values; throws bad_alloc if out of memory.
IntArrayPtr MakeIntArray(std::span<const int32_t> values);

// The functions must be called in the delegate's Prepare; they throw std::runtime_error if the
// context does not provide its plan or a node.
class GraphView {
 public:
  explicit GraphView(TfLiteContext* context);

  std::vector<HostTensor> Tensors() const;
  // Nodes that other delegates have replaced or will not give: all nodes below the highest index of
  // the plan that are not in it, and delegates' nodes.
  std::vector<int32_t> UnavailableNodes() const;

  // Returns why the claim cannot be accepted; "" if the host has the same nodes, they form one
  // partition with these inputs and outputs, and all tensors at the border have a fixed size.
  std::string Refuse(const Claim& claim) const;

  // Returns a slot for each tensor at the border of the claims, in the order of the tensors.
  std::vector<Slot> SlotsOf(std::span<const Claim* const> claims) const;

  // Returns the number of nodes that the delegate may claim.
  size_t available_count() const { return available_.size(); }

 private:
  bool IsAvailable(int32_t node) const;
  uint64_t DigestOf(const Claim& claim) const;
  std::string CompareBorder(const Claim& claim) const;

  TfLiteContext* const context_;
  std::vector<int32_t> available_;  // ascending
};

// Returns the number of bytes that the tensor's dimensions and type need if it can be in shared
// memory: a fixed size, no string, no resource. -1 for other tensors.
int64_t SharedBytes(const TfLiteTensor& tensor);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_GRAPH_VIEW_H_
