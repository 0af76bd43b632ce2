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
  // Nodes that the delegate may claim, ascending: those of the plan, without delegates' nodes.
  const std::vector<int32_t>& available() const { return available_; }
  // Digest of the available nodes without most of their constants (messages.h).
  uint64_t Outline() const;

  // Returns why the claim cannot be accepted; "" if the host has the same nodes, they form one
  // partition with these inputs and outputs, and all tensors at the border have a fixed size.
  std::string Refuse(const Claim& claim) const;

  // Returns a slot for each tensor at the border of the claims, in the order of the tensors.
  std::vector<Slot> SlotsOf(std::span<const Claim* const> claims) const;

 private:
  bool IsAvailable(int32_t node) const;
  uint64_t DigestOfNode(int32_t index, size_t constant_bytes) const;
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
