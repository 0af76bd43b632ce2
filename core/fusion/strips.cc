// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/strips.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/memory.h"

namespace deputy {
namespace {

// Maximum number of rows that the last layer computes per strip; more do not make it faster.
constexpr int kMaxStripRows = 4;
// Size from which a tensor is not passed to the next layer as a whole. Even in a larger cache it
// competes with the other values of its layers.
constexpr size_t kLargeBytes = size_t{1} << 20;

// Returns the size of the layers' intermediate rows and of the last layer's rows in one strip.
size_t StripBytes(std::span<const StripOffer* const> layers, int rows) {
  int64_t count = std::min(rows, layers.back()->rows);
  size_t bytes = 0;
  for (size_t n = layers.size(); n-- > 0;) {
    // A layer computes at most the rows of its whole output.
    if (!AddSizes(bytes, static_cast<size_t>(count) * layers[n]->row_bytes, &bytes))
      return SIZE_MAX;
    if (n > 0) count = std::min<int64_t>(layers[n]->InputRows(count), layers[n - 1]->rows);
  }
  return bytes;
}

class Joiner {
 public:
  Joiner(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors, size_t cache_bytes,
         std::vector<FusionGroup>* groups)
      : nodes_(nodes),
        tensors_(tensors),
        cache_bytes_(cache_bytes),
        producer_(ProducersOf(nodes, tensors.size())),
        consumer_(tensors.size(), -1) {
    FindLayers(groups);
  }

  void Run() {
    std::vector<bool> grouped(layers_.size());
    for (size_t first = 0; first < layers_.size(); ++first) {
      if (grouped[first]) continue;
      const std::vector<size_t> chain = ChainFrom(first);
      for (size_t layer : chain) grouped[layer] = true;
      if (chain.size() > 1) {
        groups_done_.push_back(Joined(chain));
      } else if (layers_[first].nodes.size() > 1 || IsSubsampled(layers_[first].layer())) {
        groups_done_.push_back(std::move(layers_[first]));
      }
    }
  }

  std::vector<FusionGroup> Groups() && {
    std::sort(groups_done_.begin(), groups_done_.end(),
              [](const FusionGroup& a, const FusionGroup& b) { return a.head < b.head; });
    return std::move(groups_done_);
  }

 private:
  // Collects every layer that can be computed in strips, with its group, in plan order.
  void FindLayers(std::vector<FusionGroup>* groups) {
    std::vector<int> group_of(nodes_.size(), -1);
    for (size_t s = 0; s < groups->size(); ++s) {
      for (int node : (*groups)[s].nodes) group_of[static_cast<size_t>(node)] = static_cast<int>(s);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const GroupNode& node = nodes_[n];
      FusionGroup* const group =
          group_of[n] < 0 ? nullptr : &(*groups)[static_cast<size_t>(group_of[n])];
      const HeadRole* const role = node.role<HeadRole>();
      const bool can = (group == nullptr || group->delay == 0) && role != nullptr &&
                       role->strip.rows > 0 && !node.inputs.empty() && node.inputs[0] >= 0 &&
                       node.outputs.size() == 1 && node.outputs[0] >= 0 &&
                       !TensorAt(node.outputs[0]).fixed && !TensorAt(node.outputs[0]).computed_once;
      const int head = static_cast<int>(n);
      if (group != nullptr && group->head == head) {
        can ? AddLayer(std::move(*group)) : groups_done_.push_back(std::move(*group));
      } else if (can && group == nullptr) {
        FusionGroup alone = {.head = head, .nodes = {head}, .run = LayerRun()};
        alone.layer().output = node.outputs[0];
        AddLayer(std::move(alone));
      }
    }
  }

  void AddLayer(FusionGroup group) {
    consumer_[static_cast<size_t>(InputOf(group))] = static_cast<int>(layers_.size());
    layers_.push_back(std::move(group));
  }

  const GroupNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const PlanTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  const StripOffer& OfferOf(size_t layer) const {
    return NodeAt(layers_[layer].head).role<HeadRole>()->strip;
  }
  int InputOf(const FusionGroup& layer) const {
    return layer.layer().input >= 0 ? layer.layer().input : NodeAt(layer.head).inputs[0];
  }

  std::vector<size_t> ChainFrom(size_t first) const {
    std::vector<size_t> chain = {first};
    while (chain.size() < kMaxStripLayers) {
      const int next = NextOf(chain);
      if (next < 0) break;
      chain.push_back(static_cast<size_t>(next));
    }
    return chain;
  }

  // Returns the layer that follows the last one of the chain, or -1.
  int NextOf(const std::vector<size_t>& chain) const {
    const FusionGroup &last = layers_[chain.back()], &first = layers_[chain.front()];
    const PlanTensor& output = TensorAt(last.layer().output);
    const int number = consumer_[static_cast<size_t>(last.layer().output)];
    if (number < 0 || output.use_count != 1 || output.fixed || output.computed_once) return -1;
    const auto next = static_cast<size_t>(number);
    const StripOffer& offer = OfferOf(chain.back());
    const size_t bytes =
        static_cast<size_t>(offer.batches) * static_cast<size_t>(offer.rows) * offer.row_bytes;
    // A tensor that fits the cache with the other values of its layers is read from the cache in
    // any case, so strips gain nothing.
    if (bytes < std::min(cache_bytes_ / 4 * 3, kLargeBytes) || next <= chain.back() ||
        !IsWhole(last) || !IsWhole(layers_[next]) || !AgreesWith(chain.back(), next) ||
        layers_[next].nodes.back() - first.head > kMaxGroupSpan ||
        !OtherInputsAvailable(layers_[next], first.head)) {
      return -1;
    }
    std::vector<size_t> longer = chain;
    longer.push_back(next);
    return Fits(longer, 1) ? number : -1;
  }

  // Returns true if the layer reads all of its input unscaled and writes all of its output.
  static bool IsWhole(const FusionGroup& layer) {
    return !IsSubsampled(layer.layer()) && layer.layer().factors < 0;
  }
  static bool IsSubsampled(const LayerRun& run) {
    return run.input_stride.any() || run.output_stride.any();
  }

  // Returns true if the layers have the same number of batches and the same kernel, which runs the
  // strips.
  bool AgreesWith(size_t last, size_t next) const {
    return OfferOf(last).batches == OfferOf(next).batches &&
           NodeAt(layers_[last].head).offer->invoke == NodeAt(layers_[next].head).offer->invoke;
  }

  bool OtherInputsAvailable(const FusionGroup& layer, int head) const {
    const GroupNode& node = NodeAt(layer.head);
    const auto available = [&](int tensor) {
      return tensor < 0 ||
             (!TensorAt(tensor).fixed &&
              (TensorAt(tensor).computed_once || producer_[static_cast<size_t>(tensor)] < head));
    };
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(), available) &&
           available(layer.layer().addend) && available(layer.layer().slopes);
  }

  bool Fits(const std::vector<size_t>& chain, int rows) const {
    std::vector<const StripOffer*> offers;
    offers.reserve(chain.size());
    for (size_t layer : chain) offers.push_back(&OfferOf(layer));
    return StripBytes(offers, rows) <= cache_bytes_;
  }

  FusionGroup Joined(const std::vector<size_t>& chain) {
    FusionGroup group;
    group.head = layers_[chain.front()].head;
    StripRun run = {.layers = {}, .rows = 1, .output = layers_[chain.back()].layer().output};
    while (run.rows < kMaxStripRows && Fits(chain, run.rows + 1)) ++run.rows;
    for (size_t layer : chain) {
      const FusionGroup& joined = layers_[layer];
      group.nodes.insert(group.nodes.end(), joined.nodes.begin(), joined.nodes.end());
      run.layers.push_back({.position = joined.head, .run = joined.layer()});
    }
    group.run = std::move(run);
    std::sort(group.nodes.begin(), group.nodes.end());
    return group;
  }

  std::span<const GroupNode> nodes_;
  std::span<const PlanTensor> tensors_;
  const size_t cache_bytes_;
  // By tensor: the node that writes it, and the layer that reads it.
  std::vector<int> producer_, consumer_;
  std::vector<FusionGroup> layers_, groups_done_;
};

}  // namespace

void JoinStrips(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                size_t cache_bytes, std::vector<FusionGroup>* groups) {
  Joiner pass(nodes, tensors, cache_bytes, groups);
  pass.Run();
  *groups = std::move(pass).Groups();
}

std::vector<GroupRead> ReadsOfLayers(const StripRun& run, std::span<const GroupNode> nodes,
                                     std::span<const PlanTensor> tensors) {
  std::vector<GroupRead> reads;
  for (const StripLayer& layer : run.layers) {
    std::vector<GroupRead> own =
        ReadsOf(layer.run, nodes[static_cast<size_t>(layer.position)], tensors);
    // The previous layer's output is not read from memory.
    if (&layer != &run.layers.front()) own.erase(own.begin());
    // A read is not in place: a row is read after other rows of the output were written.
    for (const GroupRead& read : own) reads.push_back({read.tensor, false});
  }
  return reads;
}

std::vector<int> UnwrittenBy(const FusionGroup& group, std::span<const GroupNode> nodes) {
  std::vector<int> tensors;
  for (int node : group.nodes) {
    const int output = nodes[static_cast<size_t>(node)].outputs[0];
    if (output != OutputOf(group.run)) tensors.push_back(output);
  }
  return tensors;
}

}  // namespace deputy
