// SPDX-License-Identifier: Apache-2.0
//
// Buffers outside of host memory in which the delegates of a subgraph pass tensors to each other
// and to the client.
//
// An edge connects the delegate node that writes a tensor with a node of another delegate that
// reads it. After a preparation the lists of both plug-ins (memory_types) are compared; if they
// have a type in common, the producer leaves the tensor in a buffer of that type. Before the
// consumer runs, the buffer is imported if its handle is new. While the consumer runs, the tensor
// has the consumer's handle. All other tensors pass through host memory.
#ifndef DEPUTY_CORE_DELEGATION_BUFFER_EXCHANGE_H_
#define DEPUTY_CORE_DELEGATION_BUFFER_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c_api/include/deputy_plugin.h"
#include "core/delegation/applied_delegates.h"

namespace deputy {

class Subgraph;

// A tensor that passes between nodes of two delegates, or between a node and the client.
struct BufferEdge {
  int tensor = -1;
  int producer = -1, consumer = -1;  // nodes; -1: the client
  // Requirements that satisfy both sides; the type is kDeputyMemoryHost if they have none in
  // common.
  DeputyMemoryRequirements agreed{};
  std::string reason;  // reason why the tensor passes through host memory; "" if it does not
  // Number of runs in which the consumer used the producer's buffer, and number of runs in which
  // the tensor passed through host memory.
  int64_t shared = 0, copied = 0;
  // The producer's handle that was exported, and the consumer's handle of the same buffer.
  TfLiteBufferHandle exported = kTfLiteNullBufferHandle, imported = kTfLiteNullBufferHandle;
  bool is_active = false;  // true: the consumer's next run uses `imported`
};

// A buffer of the client for an input or output of the graph.
struct BoundBuffer {
  int tensor = -1;
  DeputyBuffer buffer{};
  size_t edge = 0;      // index of its edge
  std::string problem;  // reason why it cannot be used; "" if it is imported
};

class BufferExchange {
 public:
  BufferExchange(Subgraph* subgraph, const AppliedDelegates* delegates)
      : subgraph_(subgraph), delegates_(delegates) {}
  BufferExchange(const BufferExchange&) = delete;
  BufferExchange& operator=(const BufferExchange&) = delete;

  // Compares the requirements of all nodes of the prepared plan, and imports the client's buffers.
  // Resets the counters.
  void Negotiate();
  // Ends the exchange: frees imported handles. Must be called before nodes are removed.
  void Release();

  // Binds a buffer of the client to an input or output; null unbinds it.
  TfLiteStatus Bind(int tensor, const DeputyBuffer* buffer);
  // Returns the types of memory in which all nodes of delegates can use an input or output.
  std::vector<DeputyMemoryRequirements> RequirementsOf(int tensor);

  // Must be called before and after the plan runs.
  TfLiteStatus BeginRun();
  TfLiteStatus EndRun();
  // Returns true if a buffer of the client receives the output.
  bool IsBound(int tensor) const;
  // Must be called for each input before a delegate node runs. Returns true if the node will read
  // the tensor from an imported buffer.
  bool ImportInput(int node, int tensor);
  // Sets the handles of imported inputs: before the node runs, those of its delegate; after it,
  // those of the producer.
  void SwapHandles(int node);

  const std::vector<BufferEdge>& edges() const { return edges_; }

 private:
  // A delegate and its functions for shared buffers.
  struct Party {
    TfLiteDelegate* delegate = nullptr;
    const DeputyDelegatePlugin* plugin = nullptr;  // null: the delegate shares no buffers
    const char* name() const;
  };

  Party PartyOf(int node) const;
  template <typename Function>
  bool Call(const Party& party, int node, const char* name, const Function& function);
  void ReportFailure(const Party& party, int node, const char* name, const char* exception);
  std::vector<DeputyMemoryRequirements> TypesOf(int node, int tensor);
  void AddEdges(int producer, int tensor, const std::vector<int>& readers);
  BufferEdge& AddEdge(int tensor, int producer, int consumer);
  void Agree(int producer, int tensor, size_t first_edge);
  bool ShareOutput(int producer, int tensor, const DeputyMemoryRequirements* agreed);
  std::string Export(const BufferEdge& edge, DeputyBuffer* out_buffer);
  std::string Import(BufferEdge* edge);
  bool ImportInto(int node, const DeputyBuffer& buffer, TfLiteBufferHandle* out_handle);
  void FreeImported(BufferEdge* edge);
  bool CopyToBuffer(const BufferEdge& edge, TfLiteTensor* tensor);
  std::string BindNow(BoundBuffer* bound);
  TfLiteStatus ReportUnusable(const BoundBuffer& bound);
  size_t ClientEdge(int tensor, int producer, int consumer);
  void Unbind(BoundBuffer* bound);
  BufferEdge* FindEdge(int node, int tensor);

  Subgraph* const subgraph_;
  const AppliedDelegates* const delegates_;
  std::vector<BufferEdge> edges_;
  std::unordered_map<int, std::vector<size_t>> edges_of_;  // indices of edges, by consumer
  std::vector<std::pair<int, int>> shared_outputs_;  // nodes and outputs that ShareOutput has set
  std::vector<BoundBuffer> bound_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_BUFFER_EXCHANGE_H_
