// SPDX-License-Identifier: Apache-2.0
//
// The node inputs that are widened float16 weights. In models with float16 weights a DEQUANTIZE
// widens each of them. A delegate that supports float16 changes its nodes' inputs to the float16
// tensors (abi.md 6.3). On the CPU the same nodes must read float32: permanently when the delegate
// is removed, temporarily when the CPU computes a partition.
#ifndef DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_
#define DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_

#include <utility>
#include <vector>

namespace deputy {

class Graph;

// The node inputs that are widened float16 tensors.
class Fp16Weights {
 public:
  struct Use {
    int node, position;  // the use is input `position` of node `node`
    int widened;         // the tensor that the node reads in the model
    int fp16;            // the float16 tensor, input of the DEQUANTIZE
    int producer;        // index of the DEQUANTIZE node
  };

  Fp16Weights() = default;
  // Finds the inputs. The graph must have no delegates yet.
  explicit Fp16Weights(const Graph& graph);

  // Returns true if the input may be `tensor`: the widened tensor of the model, or its float16
  // source.
  bool MayRead(int node, int position, int tensor) const;
  // Returns the DEQUANTIZE nodes of those inputs of `nodes` that are float16 now, each once.
  std::vector<int> ProducersFor(const Graph& graph, const std::vector<int>& nodes) const;
  // Changes inputs that are float16 now to the widened tensors.
  void Widen(Graph* graph) const;

 private:
  friend class WidenedInputs;

  std::vector<Use> uses_;  // sorted by node and position
};

// RAII guard: `nodes` read the widened tensors during the guard's lifetime.
class WidenedInputs {
 public:
  WidenedInputs(Graph* graph, const Fp16Weights& weights, const std::vector<int>& nodes);
  ~WidenedInputs();
  WidenedInputs(const WidenedInputs&) = delete;
  WidenedInputs& operator=(const WidenedInputs&) = delete;

 private:
  // Address of a node's input, and the value to restore.
  std::vector<std::pair<int*, int>> changed_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_
