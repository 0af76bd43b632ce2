// SPDX-License-Identifier: Apache-2.0
#include "core/exec/strips.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/memory.h"

namespace deputy {
namespace {

// Maximum number of rows that the last layer computes per strip; more do not make it faster.
constexpr int kMostRows = 4;
// Returns the size of the layers' intermediate rows and of the last layer's rows in one strip.
size_t StripBytes(std::span<const StripOffer* const> layers, int rows) {
  int64_t count = std::min(rows, layers.back()->rows);
  size_t bytes = 0;
  for (size_t n = layers.size(); n-- > 0;) {
    // Rows are limited to those of the whole tensor.
    if (!AddSizes(bytes, static_cast<size_t>(count) * layers[n]->row_bytes, &bytes))
      return SIZE_MAX;
    if (n > 0) count = std::min<int64_t>(layers[n]->InputRows(count), layers[n - 1]->rows);
  }
  return bytes;
}

class Joiner {
 public:
  Joiner(std::span<const StepNode> nodes, std::span<const StepTensor> tensors, size_t cache_bytes,
         std::vector<Step>* steps)
      : nodes_(nodes),
        tensors_(tensors),
        cache_bytes_(cache_bytes),
        maker_(MakersOf(nodes, tensors.size())),
        reader_(tensors.size(), -1) {
    FindLayers(steps);
  }

  void Run() {
    std::vector<bool> taken(layers_.size());
    for (size_t first = 0; first < layers_.size(); ++first) {
      if (taken[first]) continue;
      const std::vector<size_t> chain = ChainFrom(first);
      for (size_t layer : chain) taken[layer] = true;
      if (chain.size() > 1) {
        done_.push_back(Joined(chain));
      } else if (layers_[first].nodes.size() > 1 || layers_[first].run.input_stride.any() ||
                 layers_[first].run.output_stride.any()) {
        done_.push_back(std::move(layers_[first]));
      }
    }
  }

  std::vector<Step> Steps() && {
    std::sort(done_.begin(), done_.end(),
              [](const Step& a, const Step& b) { return a.head < b.head; });
    return std::move(done_);
  }

 private:
  // Collects every layer that can be computed in strips, with its group, in plan order.
  void FindLayers(std::vector<Step>* steps) {
    std::vector<int> step_of(nodes_.size(), -1);
    for (size_t s = 0; s < steps->size(); ++s) {
      for (int node : (*steps)[s].nodes) step_of[static_cast<size_t>(node)] = static_cast<int>(s);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const StepNode& node = nodes_[n];
      Step* const step = step_of[n] < 0 ? nullptr : &(*steps)[static_cast<size_t>(step_of[n])];
      const bool can = (step == nullptr || step->wait == 0) && node.offer != nullptr &&
                       node.offer->strip.rows > 0 && !node.inputs.empty() && node.inputs[0] >= 0 &&
                       node.outputs.size() == 1 && node.outputs[0] >= 0 &&
                       !TensorAt(node.outputs[0]).fixed && !TensorAt(node.outputs[0]).lasting;
      const int head = static_cast<int>(n);
      if (step != nullptr && step->head == head) {
        can ? AddLayer(std::move(*step)) : done_.push_back(std::move(*step));
      } else if (can && step == nullptr) {
        Step alone = {.head = head, .nodes = {head}, .run = {}};
        alone.run.output = node.outputs[0];
        AddLayer(std::move(alone));
      }
    }
  }

  void AddLayer(Step step) {
    reader_[static_cast<size_t>(InputOf(step))] = static_cast<int>(layers_.size());
    layers_.push_back(std::move(step));
  }

  const StepNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const StepTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  const StripOffer& OfferOf(size_t layer) const { return NodeAt(layers_[layer].head).offer->strip; }
  int InputOf(const Step& layer) const {
    return layer.run.input >= 0 ? layer.run.input : NodeAt(layer.head).inputs[0];
  }

  std::vector<size_t> ChainFrom(size_t first) const {
    std::vector<size_t> chain = {first};
    while (chain.size() < kMostStripLayers) {
      const int next = NextOf(chain);
      if (next < 0) break;
      chain.push_back(static_cast<size_t>(next));
    }
    return chain;
  }

  // Returns the layer that follows the last one of the chain, or -1.
  int NextOf(const std::vector<size_t>& chain) const {
    const Step &last = layers_[chain.back()], &first = layers_[chain.front()];
    const StepTensor& made = TensorAt(last.run.output);
    const int number = reader_[static_cast<size_t>(last.run.output)];
    if (number < 0 || made.readers != 1 || made.fixed || made.lasting) return -1;
    const auto next = static_cast<size_t>(number);
    const StripOffer& offer = OfferOf(chain.back());
    const size_t bytes =
        static_cast<size_t>(offer.batches) * static_cast<size_t>(offer.rows) * offer.row_bytes;
    // A tensor that fits the cache is read from there, so strips gain nothing.
    if (bytes < cache_bytes_ || next <= chain.back() || !IsWhole(last) || !IsWhole(layers_[next]) ||
        !AgreesWith(chain.back(), next) || layers_[next].nodes.back() - first.head > kMaxStepSpan ||
        !HasAllElse(layers_[next], first.head)) {
      return -1;
    }
    std::vector<size_t> longer = chain;
    longer.push_back(next);
    return Fits(longer, 1) ? number : -1;
  }

  // Returns true if the layer reads all of its input unscaled and writes all of its output.
  static bool IsWhole(const Step& layer) {
    return !layer.run.input_stride.any() && !layer.run.output_stride.any() && layer.run.factors < 0;
  }

  // Both layers must have the same kernel, which runs the strips.
  bool AgreesWith(size_t last, size_t next) const {
    return OfferOf(last).batches == OfferOf(next).batches &&
           NodeAt(layers_[last].head).offer->invoke == NodeAt(layers_[next].head).offer->invoke;
  }

  bool HasAllElse(const Step& layer, int head) const {
    const StepNode& node = NodeAt(layer.head);
    const auto there = [&](int tensor) {
      return tensor < 0 ||
             (!TensorAt(tensor).fixed &&
              (TensorAt(tensor).lasting || maker_[static_cast<size_t>(tensor)] < head));
    };
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(), there) &&
           there(layer.run.addend) && there(layer.run.slopes);
  }

  bool Fits(const std::vector<size_t>& chain, int rows) const {
    std::vector<const StripOffer*> offers;
    offers.reserve(chain.size());
    for (size_t layer : chain) offers.push_back(&OfferOf(layer));
    return StripBytes(offers, rows) <= cache_bytes_;
  }

  Step Joined(const std::vector<size_t>& chain) {
    Step step;
    step.head = layers_[chain.front()].head;
    step.run.input = layers_[chain.front()].run.input;
    step.run.output = layers_[chain.back()].run.output;
    step.run.strip_rows = 1;
    while (step.run.strip_rows < kMostRows && Fits(chain, step.run.strip_rows + 1)) {
      ++step.run.strip_rows;
    }
    for (size_t layer : chain) {
      Step& joined = layers_[layer];
      step.nodes.insert(step.nodes.end(), joined.nodes.begin(), joined.nodes.end());
      step.run.layers.push_back({.position = joined.head, .run = std::move(joined.run)});
    }
    std::sort(step.nodes.begin(), step.nodes.end());
    return step;
  }

  std::span<const StepNode> nodes_;
  std::span<const StepTensor> tensors_;
  const size_t cache_bytes_;
  std::vector<int> maker_, reader_;  // by tensor: the node that writes it, the layer that reads it
  std::vector<Step> layers_, done_;
};

}  // namespace

void JoinStrips(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                size_t cache_bytes, std::vector<Step>* steps) {
  Joiner pass(nodes, tensors, cache_bytes, steps);
  pass.Run();
  *steps = std::move(pass).Steps();
}

std::vector<StepRead> ReadsOfLayers(const StepRun& run, std::span<const StepNode> nodes,
                                    std::span<const StepTensor> tensors) {
  std::vector<StepRead> reads;
  for (const StripLayer& layer : run.layers) {
    std::vector<StepRead> own =
        ReadsOf(layer.run, nodes[static_cast<size_t>(layer.position)], tensors);
    // The previous layer's output is not read from memory.
    if (&layer != &run.layers.front()) own.erase(own.begin());
    // Not in place: a row is read after other rows of the output were written.
    for (const StepRead& read : own) reads.push_back({read.tensor, false});
  }
  return reads;
}

std::vector<int> UnwrittenBy(const Step& step, std::span<const StepNode> nodes) {
  std::vector<int> tensors;
  for (int node : step.nodes) {
    const int made = nodes[static_cast<size_t>(node)].outputs[0];
    if (made != step.run.output) tensors.push_back(made);
  }
  return tensors;
}

}  // namespace deputy
