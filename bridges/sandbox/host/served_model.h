// SPDX-License-Identifier: Apache-2.0
//
// The model and the delegate in the process: an interpreter whose other nodes do nothing, so that
// the delegate sees the whole graph while only its partitions run.
#ifndef DEPUTY_BRIDGES_SANDBOX_HOST_SERVED_MODEL_H_
#define DEPUTY_BRIDGES_SANDBOX_HOST_SERVED_MODEL_H_

#include <cstdarg>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/sandbox/messages.h"
#include "deputy/deputy.h"
#include "tensorflow/lite/c/c_api_experimental.h"

namespace deputy::sandbox {

class ServedModel {
 public:
  // Loads the model of the file `model_fd` and applies the delegate of `setup`, which must outlive
  // this object. The result has a problem if that fails.
  ServedModel(int model_fd, const Setup& setup);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const Claims& claims() const { return claims_; }

  // Places tensors in the shared memory and allocates the others. Returns the state of the
  // partitions, or the reason of a failure.
  Ready Map(const Mapping& mapping, char* memory, char* inputs);

  // Prepares the graph with other shapes up to this partition.
  Ready Resize(uint32_t claim, const sandbox::Resize& message);

  // Sets the function that returns true if the call in progress was cancelled.
  void SetCancellation(void* data, bool (*is_cancelled)(void* data));

  // Changes options of the delegate. Returns "" or the reason of a failure.
  std::string SetOptions(const OptionChanges& changes);

  // Returns the delegate's reports; for kNodeEvents those of the newest run, and none if that was
  // of another partition.
  Records Query(CallKind kind, uint32_t claim);

  // Runs a partition; see CallPage for `inputs_in_slots`. Returns "" or the reason of a failure.
  // If the host does not know the sizes of the outputs, `*sizes` gets their shapes, and Fetch
  // copies them.
  std::string Run(uint32_t claim, bool inputs_in_slots, Sizes* sizes);
  // Returns the duration of the delegate's newest invoke.
  int64_t invoke_ns() const { return invoke_ns_; }
  std::string Fetch(uint32_t claim, const Mapping& mapping);

 private:
  struct Place {
    char* data = nullptr;
    size_t bytes = 0;
    char* shared = nullptr;  // address in the shared inputs; null: not in them
  };

  const TfLiteRegistration* StubFor(int code, const char* name, int version);
  // Creates an interpreter in which the delegate cannot claim these nodes.
  void CreateInterpreter(std::span<const int32_t> unavailable);
  // Returns the subgraph whose tensors are the host's first ones; of several, the one with the
  // nodes of the host, else the first; -1: none.
  int FindSubgraph() const;
  bool HasHostsTensors(int subgraph) const;
  // Returns the nodes that the delegate must not claim.
  std::vector<int32_t> UnavailableNodes() const;
  uint64_t OutlineOf(int subgraph) const;
  uint64_t DigestOfNode(int subgraph, int node, size_t constant_bytes) const;
  const TfLiteTensor* Tensor(int index) const;
  // Computes node_digests_ before the delegate is applied, which may change the inputs of nodes.
  void DigestNodes();
  bool ResizeInputs();
  // Places the tensors and prepares the graph; the inputs of the first `claims` partitions have the
  // sizes of their slots.
  Ready Allocate(const std::vector<Slot>& slots, size_t claims);
  // Returns true if a delegate's node computes the tensor, and none of these partitions reads it.
  bool CanChangeSize(int tensor, size_t claims) const;
  // Makes the outputs of the host's nodes dynamic after the partition, and static before it.
  void MakeLaterNodesDynamic(int node);
  std::vector<PartitionShapes> ShapesOfPartitions() const;
  std::string ReadInput(int tensor, bool in_slots);
  bool IsInMemory(const Slot& slot) const;
  // Returns true if the host knows the sizes of the outputs: none is dynamic, and all have the
  // sizes of their slots.
  bool HaveSizesOfSlots(uint32_t claim) const;
  std::string ReadInputs(const Claim& claim, bool in_slots);
  // Returns the options of the setup for the plug-in, and notes the dropped ones.
  std::vector<std::pair<std::string, std::string>> OptionsFor(const DeputyPluginInfo& info);
  bool ApplyDelegate();
  void CollectClaims();
  // Collects reasons and groups of the nodes that the delegate may claim.
  void CollectSupport();
  Claim ClaimOf(const DeputyPartition& partition) const;
  std::string CopyOutput(int tensor);
  void CollectNodeEvents();
  std::string CopyOutput(int tensor, const Place& to);
  // Returns the messages that were reported since the last call.
  std::string TakeMessages();
  static void Collect(void* model, const char* format, va_list args);

  const Setup& setup_;
  std::vector<HostTensor> tensors_;  // newest shapes of the host
  char* memory_ = nullptr;           // the shared memory
  int64_t memory_bytes_ = 0;
  char* inputs_ = nullptr;  // the shared inputs
  int64_t inputs_bytes_ = 0;
  void* file_ = nullptr;  // mapping of the model's file
  size_t file_bytes_ = 0;
  TfLiteModel* model_ = nullptr;
  TfLiteInterpreter* interpreter_ = nullptr;
  int subgraph_ = 0;  // the subgraph that the delegate is applied to
  DeputyPlugin* plugin_ = nullptr;
  TfLiteDelegate* delegate_ = nullptr;
  std::map<std::pair<std::string, int>, TfLiteRegistration> stubs_;
  Claims claims_;
  std::vector<uint64_t> node_digests_;       // by node of the model
  std::vector<int32_t> delegate_nodes_;      // by claim
  std::vector<PartitionShapes> partitions_;  // as the host has got them
  std::map<int, Place> places_;              // by tensor
  Records node_events_;                      // of the newest run
  uint32_t newest_claim_ = 0;
  int64_t invoke_ns_ = 0;
  std::mutex messages_mutex_;  // guards `messages_`
  std::string messages_;
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_HOST_SERVED_MODEL_H_
