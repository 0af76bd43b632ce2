// SPDX-License-Identifier: Apache-2.0
//
// Models with weights in float16 widen each of them with a DEQUANTIZE. A delegate that reads
// float16 points its nodes past that, at the float16 itself (abi.md 6.3). On the CPU the same nodes
// have to read float32: for good when the delegate goes, for a moment when the CPU computes in its
// place.
#ifndef DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_
#define DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_

#include <utility>
#include <vector>

namespace deputy {

class Graph;

// Which inputs of which nodes are widened float16.
class Fp16Weights {
 public:
  struct Use {
    int node, position;  // the input
    int widened;         // what the node reads in the model
    int fp16;            // what the DEQUANTIZE behind it reads
    int maker;           // that DEQUANTIZE
  };

  Fp16Weights() = default;
  // Of a graph as it is in the model, before the first delegate.
  explicit Fp16Weights(const Graph& graph);

  // Whether a node may read `tensor` there: the widened tensor of the model, or its float16.
  bool MayRead(int node, int position, int tensor) const;
  // The DEQUANTIZE nodes that make what `nodes` of the graph read as float16 by now, each once.
  std::vector<int> MakersFor(const Graph& graph, const std::vector<int>& nodes) const;
  // Points inputs that are float16 by now back at the widened tensors.
  void Widen(Graph* graph) const;

 private:
  friend class WidenedInputs;

  std::vector<Use> uses_;  // in the order of nodes and positions
};

// RAII guard: some nodes read widened tensors until it is destroyed.
class WidenedInputs {
 public:
  WidenedInputs(Graph* graph, const Fp16Weights& weights, const std::vector<int>& nodes);
  ~WidenedInputs();
  WidenedInputs(const WidenedInputs&) = delete;
  WidenedInputs& operator=(const WidenedInputs&) = delete;

 private:
  std::vector<std::pair<int*, int>> changed_;  // the place, and what was there
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FP16_WEIGHTS_H_
