// SPDX-License-Identifier: Apache-2.0
//
// Types by which delegates describe graphs and partitions. The library partitions graphs itself, so
// there is no PartitionGraphIntoIndependentNodeSubsets.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_GRAPH_INFO_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_GRAPH_INFO_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

// A graph. Nodes are addressed by their positions in the execution plan.
class GraphInfo {
 public:
  virtual ~GraphInfo() {}

  virtual size_t num_tensors() const = 0;
  virtual TfLiteTensor* tensor(size_t index) = 0;
  virtual TfLiteTensor* tensors() = 0;
  // Number of nodes in the execution plan, and of all nodes.
  virtual size_t num_execution_nodes() const = 0;
  virtual size_t num_total_nodes() const = 0;
  virtual const TfLiteNode& node(size_t index) const = 0;
  virtual const TfLiteRegistration& registration(size_t index) const = 0;
  // Index in the node table of the node at a position.
  virtual size_t node_index(size_t index) const = 0;
  virtual const std::vector<int>& inputs() const = 0;
  virtual const std::vector<int>& outputs() const = 0;
  virtual const std::vector<int>& variables() const = 0;
};

// Nodes that run one after the other, either all in a delegate or all outside it.
struct NodeSubset {
  enum Type { kTfUnexplored = 0, kTfPartition, kTfNonPartition };
  Type type = kTfUnexplored;
  std::vector<int> nodes;
  // Tensors that the subset reads and does not compute, and tensors that it computes for other
  // subsets or as outputs of the graph.
  std::vector<int> input_tensors;
  std::vector<int> output_tensors;
};

// The second node must run after the first.
using ControlEdge = std::pair<int32_t, int32_t>;
using ControlEdges = std::vector<ControlEdge>;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_GRAPH_INFO_H_
