// SPDX-License-Identifier: Apache-2.0
//
// Records the contents of every tensor immediately after the node that computes it. They cannot be
// read after the inference, because tensors with disjoint lifetimes share memory.
#ifndef DEPUTY_TOOLS_RECORDER_H_
#define DEPUTY_TOOLS_RECORDER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session.h"

namespace deputy::tools {

struct RecordedTensor {
  int subgraph = 0, tensor = 0, node = 0;
  std::string name, operator_name, owner;  // name of the tensor; operator and owner of its node
  TfLiteType type = kTfLiteNoType;
  TfLiteQuantizationParams quantization = {};
  std::vector<int> shape;
  std::vector<char> bytes;
};

// Observes an interpreter from construction to destruction. The graph must not change meanwhile.
class Recorder {
 public:
  explicit Recorder(const Session& session);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Returns the tensors in the order of computation, with the last value of a tensor that was
  // computed several times. Tensors inside a delegate's partition, those that stay on a device, and
  // those without numbers are missing.
  const std::vector<RecordedTensor>& tensors() const { return tensors_; }

 private:
  struct Node {
    std::string operator_name, owner;
    std::vector<int> outputs;
  };

  static void OnEvent(void* recorder, const DeputyOpEvent* event);
  void Keep(int subgraph, int node);

  TfLiteInterpreter* const interpreter_;
  std::map<std::pair<int, int>, Node> nodes_;                  // by subgraph and node
  std::map<std::pair<int, int>, const TfLiteTensor*> memory_;  // by subgraph and tensor
  // All nodes of a fusion group, by subgraph and head of the group.
  std::map<std::pair<int, int>, std::vector<int>> groups_;
  std::map<std::pair<int, int>, size_t> indices_;  // index in tensors_, by subgraph and tensor
  std::vector<RecordedTensor> tensors_;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_RECORDER_H_
