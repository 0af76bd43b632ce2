// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/fp16_weights.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "c_api/include/builtin_ops.h"
#include "core/graph/graph.h"

namespace deputy {
namespace {

struct Dequantize {
  int fp16, node;
};

// Maps widened tensors to the DEQUANTIZE that computes them.
std::unordered_map<int, Dequantize> Dequantized(const Graph& graph) {
  std::unordered_map<int, Dequantize> fp16_of;
  for (int index = 0; index < graph.node_count(); ++index) {
    if (graph.registration(index)->builtin_code != kTfLiteBuiltinDequantize) continue;
    const TfLiteNode& node = *graph.node(index);
    if (node.inputs->size < 1 || node.outputs->size < 1) continue;
    const TfLiteTensor* input = graph.tensor(node.inputs->data[0]);
    if (input == nullptr || input->type != kTfLiteFloat16) continue;
    fp16_of[node.outputs->data[0]] = {node.inputs->data[0], index};
  }
  return fp16_of;
}

// Returns the input of a use if it is the float16 tensor now, else null. The array may have been
// replaced.
int* Fp16Input(const Graph* graph, const Fp16Weights::Use& use) {
  TfLiteIntArray* inputs = graph->node(use.node)->inputs;
  if (inputs == nullptr || use.position >= inputs->size) return nullptr;
  int* input = &inputs->data[use.position];
  return *input == use.fp16 ? input : nullptr;
}

}  // namespace

Fp16Weights::Fp16Weights(const Graph& graph) {
  const std::unordered_map<int, Dequantize> fp16_of = Dequantized(graph);
  if (fp16_of.empty()) return;
  for (int index = 0; index < graph.node_count(); ++index) {
    const TfLiteIntArray* inputs = graph.node(index)->inputs;
    for (int i = 0; i < inputs->size; ++i) {
      const auto found = fp16_of.find(inputs->data[i]);
      if (found == fp16_of.end()) continue;
      uses_.push_back({index, i, found->first, found->second.fp16, found->second.node});
    }
  }
}

bool Fp16Weights::MayRead(int node, int position, int tensor) const {
  const auto use = std::lower_bound(
      uses_.begin(), uses_.end(), std::pair(node, position),
      [](const Use& a, const auto& b) { return std::pair(a.node, a.position) < b; });
  return use != uses_.end() && use->node == node && use->position == position &&
         (tensor == use->widened || tensor == use->fp16);
}

std::vector<int> Fp16Weights::ProducersFor(const Graph& graph,
                                           const std::vector<int>& nodes) const {
  std::vector<int> producers;
  for (int node : nodes) {
    auto use = std::lower_bound(uses_.begin(), uses_.end(), node,
                                [](const auto& a, int b) { return a.node < b; });
    for (; use != uses_.end() && use->node == node; ++use) {
      if (Fp16Input(&graph, *use) != nullptr) producers.push_back(use->producer);
    }
  }
  std::sort(producers.begin(), producers.end());
  producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
  return producers;
}

void Fp16Weights::Widen(Graph* graph) const {
  for (const Use& use : uses_) {
    if (int* input = Fp16Input(graph, use)) *input = use.widened;
  }
}

WidenedInputs::WidenedInputs(Graph* graph, const Fp16Weights& weights,
                             const std::vector<int>& nodes) {
  const std::vector<Fp16Weights::Use>& uses = weights.uses_;
  for (int node : nodes) {
    auto use = std::lower_bound(uses.begin(), uses.end(), node,
                                [](const auto& a, int b) { return a.node < b; });
    for (; use != uses.end() && use->node == node; ++use) {
      if (int* input = Fp16Input(graph, *use)) {
        changed_.emplace_back(input, *input);
        *input = use->widened;
      }
    }
  }
}

WidenedInputs::~WidenedInputs() {
  for (const auto& [place, fp16] : changed_) *place = fp16;
}

}  // namespace deputy
