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

// Returns the nodes of all claims, ascending.
std::vector<int32_t> NodesOf(std::span<const Claim* const> claims);

// The functions must be called in the delegate's Prepare or get_support; they throw
// std::runtime_error if the context does not provide its plan, a node or a preview.
class GraphView {
 public:
  // With `has_dynamic_sizes`, claims may have tensors of dynamic size at their border.
  GraphView(TfLiteContext* context, bool has_dynamic_sizes);

  // Nodes that the delegate may claim, ascending: those of the plan, without delegates' nodes.
  const std::vector<int32_t>& available() const { return available_; }
  // Digest of the available nodes, with the first kOutlineConstantBytes of each of their constants.
  uint64_t Outline() const;
  // Computes the digests by which Refuse compares nodes, so that it does not have to.
  void ComputeDigests();

  // Returns why the claim cannot be accepted; "" if the host has the same nodes and all tensors at
  // the border have a fixed size or, with dynamic sizes, one that is known in a call. The border
  // must be compared, too.
  std::string Refuse(const Claim& claim) const;
  // Returns why the claim cannot be accepted; "" if the nodes, which Refuse has accepted, form one
  // partition with these outputs, and with these inputs and perhaps others.
  std::string CompareBorder(const Claim& claim) const;
  // Removes claims from the list until the runtime forms these partitions, with the inputs and
  // outputs that CompareBorder accepts, if the nodes of all claims of the list are replaced by one
  // call. Empties the list if four previews do not suffice.
  void KeepSeparable(std::vector<const Claim*>* claims) const;

  // Returns a slot for each tensor of fixed size at the border of the claims, in the order of the
  // tensors. Inputs in the arena that no claim writes have an input_offset.
  std::vector<Slot> SlotsOf(std::span<const Claim* const> claims) const;
  // Returns an upper bound of the size of all inputs with an input_offset.
  int64_t MaxInputBytes() const;

 private:
  bool IsAvailable(int32_t node) const;
  uint64_t DigestOfNode(int32_t index, size_t constant_bytes) const;
  uint64_t DigestOf(const Claim& claim) const;
  std::string CompareBorder(const Claim& claim, const TfLiteDelegateParams& params) const;
  // Returns the partitions that the runtime would form of the nodes; valid until the next call.
  std::span<const TfLiteDelegateParams> Preview(std::span<const int32_t> nodes) const;

  bool CanCross(const TfLiteTensor& tensor) const;

  TfLiteContext* const context_;
  const bool has_dynamic_sizes_;
  std::vector<int32_t> available_;  // ascending
  std::vector<uint64_t> digests_;   // of the available nodes with all constants; empty: unknown
};

// Returns the number of bytes that the tensor's dimensions and type need if it can be in shared
// memory: a fixed size, no string, no resource. -1 for other tensors.
int64_t SharedBytes(const TfLiteTensor& tensor);

// Returns the tensors as the process gets them.
std::vector<HostTensor> TensorsOf(const TfLiteContext& context);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_GRAPH_VIEW_H_
