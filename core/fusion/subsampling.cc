// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/subsampling.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace deputy {
namespace {

// Maximum stride, since strides multiply along a chain of layers. Images whose stride would exceed
// this limit, which no real model reaches, are not subsampled.
constexpr int64_t kMaxStride = 1 << 15;

bool IsWithinLimit(const PixelStride& first, const PixelStride& second) {
  return int64_t{first.y} * second.y <= kMaxStride && int64_t{first.x} * second.x <= kMaxStride;
}

// Pixels of a tensor that its consumers read.
struct Demand {
  PixelStride stride;
  int use_count = 0;  // number of consumers with this stride
};

class Subsampler {
 public:
  Subsampler(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
             std::vector<FusionGroup>* groups)
      : nodes_(nodes), tensors_(tensors), demands_(tensors.size()), strides_(tensors.size()) {
    FindLayers(groups);
  }

  // Consumers follow producers in the plan, so demands are collected backwards. Layers that can
  // meet them are found forwards, since a layer's input must be subsampled first.
  void Run() {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) CollectDemand(&*layer);
    for (FusionGroup& layer : layers_) ResolveStrides(&layer);
  }

  std::vector<FusionGroup> Groups() && {
    std::erase_if(layers_, [](const FusionGroup& group) {
      return group.nodes.size() < 2 && !group.layer().input_stride.any() &&
             !group.layer().output_stride.any();
    });
    std::move(others_.begin(), others_.end(), std::back_inserter(layers_));
    std::sort(layers_.begin(), layers_.end(),
              [](const FusionGroup& a, const FusionGroup& b) { return a.head < b.head; });
    return std::move(layers_);
  }

 private:
  // Collects every layer that supports subsampling, with its group.
  void FindLayers(std::vector<FusionGroup>* groups) {
    std::vector<int> group_of(nodes_.size(), -1);
    for (size_t s = 0; s < groups->size(); ++s) {
      for (int node : (*groups)[s].nodes) group_of[static_cast<size_t>(node)] = static_cast<int>(s);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const GroupNode& node = nodes_[n];
      const HeadRole* const role = node.role<HeadRole>();
      const bool can = role != nullptr && role->subsamples && !node.inputs.empty() &&
                       node.inputs[0] >= 0 && node.outputs.size() == 1 && node.outputs[0] >= 0;
      FusionGroup* const group =
          group_of[n] < 0 ? nullptr : &(*groups)[static_cast<size_t>(group_of[n])];
      if (can && group == nullptr) {
        const int head = static_cast<int>(n);
        layers_.push_back({.head = head, .nodes = {head}, .run = LayerRun()});
        layers_.back().layer().output = node.outputs[0];
      } else if (group != nullptr && group->head == static_cast<int>(n)) {
        (can ? layers_ : others_).push_back(std::move(*group));
      }
    }
  }

  const PlanTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  Demand& DemandOf(int index) { return demands_[static_cast<size_t>(index)]; }
  PixelStride& StrideOf(int index) { return strides_[static_cast<size_t>(index)]; }
  int InputOf(const FusionGroup& layer) const {
    return nodes_[static_cast<size_t>(layer.head)].inputs[0];
  }

  const HeadRole& RoleOf(const FusionGroup& layer) const {
    return *nodes_[static_cast<size_t>(layer.head)].role<HeadRole>();
  }

  // Returns the stride of the input pixels that a layer reads, given its output stride.
  PixelStride NeedsOf(const FusionGroup& layer) const {
    const HeadRole& role = RoleOf(layer);
    const PixelStride& output_stride = layer.layer().output_stride;
    if (!role.pointwise || layer.layer().input >= 0 || !IsWithinLimit(role.stride, output_stride))
      return {};
    return role.stride * output_stride;
  }

  bool CanSubsample(const LayerRun& run) const {
    const PlanTensor& output = TensorAt(run.output);
    const bool plain_addend = run.addend < 0 || TensorAt(run.addend).elements == output.elements;
    return !output.fixed && !output.computed_once && run.input < 0 && plain_addend;
  }

  void CollectDemand(FusionGroup* layer) {
    const Demand& demand = DemandOf(layer->layer().output);
    if (CanSubsample(layer->layer()) && IsWithinLimit(RoleOf(*layer).stride, demand.stride) &&
        demand.use_count == TensorAt(layer->layer().output).use_count) {
      layer->layer().output_stride = demand.stride;
    }
    const PixelStride needs = NeedsOf(*layer);
    Demand& own = DemandOf(InputOf(*layer));
    if (!needs.any() || (own.use_count > 0 && own.stride != needs)) return;
    own.stride = needs;
    ++own.use_count;
  }

  void ResolveStrides(FusionGroup* layer) {
    LayerRun& run = layer->layer();
    const bool is_pointwise = RoleOf(*layer).pointwise;
    const PixelStride input_stride = run.input >= 0 ? PixelStride() : StrideOf(InputOf(*layer));
    if (is_pointwise && input_stride != NeedsOf(*layer)) run.output_stride = {};
    run.input_stride = input_stride;
    StrideOf(run.output) = run.output_stride;
  }

  std::span<const GroupNode> nodes_;
  std::span<const PlanTensor> tensors_;
  std::vector<FusionGroup> layers_, others_;
  std::vector<Demand> demands_;       // by tensor: pixels that its consumers read
  std::vector<PixelStride> strides_;  // by tensor: stride with which its layer writes it
};

}  // namespace

void SubsampleGroups(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
                     std::vector<FusionGroup>* groups) {
  Subsampler pass(nodes, tensors, groups);
  pass.Run();
  *groups = std::move(pass).Groups();
}

// Moves pixels in descending order, since each moves to an equal or higher address.
void ExpandPixels(const ImageSize& size, const PixelStride& stride, void* image) {
  auto* const bytes = static_cast<char*>(image);
  const int rows = stride.rows(size.height), columns = stride.columns(size.width);
  for (int64_t row = int64_t{size.batches} * rows - 1; row >= 0; --row) {
    const int64_t target_row = row / rows * size.height + row % rows * stride.y;
    for (int64_t x = columns - 1; x >= 0; --x) {
      const int64_t from = row * columns + x, to = target_row * size.width + x * stride.x;
      std::memmove(bytes + to * static_cast<int64_t>(size.pixel_bytes),
                   bytes + from * static_cast<int64_t>(size.pixel_bytes), size.pixel_bytes);
    }
  }
}

}  // namespace deputy
