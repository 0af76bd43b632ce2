// SPDX-License-Identifier: Apache-2.0
#include "core/exec/subsampling.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace deputy {
namespace {

// Strides multiply along a chain of layers. Images beyond this limit, which no real model reaches,
// are not subsampled.
constexpr int64_t kMostStride = 1 << 15;

bool IsModest(const PixelStride& first, const PixelStride& second) {
  return int64_t{first.y} * second.y <= kMostStride && int64_t{first.x} * second.x <= kMostStride;
}

// Pixels of a tensor that its consumers read.
struct Demand {
  PixelStride stride;
  int readers = 0;  // number of consumers with this stride
};

class Subsampler {
 public:
  Subsampler(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
             std::vector<Step>* steps)
      : nodes_(nodes), tensors_(tensors), demands_(tensors.size()), strides_(tensors.size()) {
    FindLayers(steps);
  }

  // Consumers follow producers in the plan. So demands are collected backwards; which layers can
  // meet them is decided forwards, since a layer's input must be subsampled first.
  void Run() {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) Ask(&*layer);
    for (Step& layer : layers_) Settle(&layer);
  }

  std::vector<Step> Steps() && {
    std::erase_if(layers_, [](const Step& step) {
      return step.nodes.size() < 2 && !step.run.input_stride.any() && !step.run.output_stride.any();
    });
    std::move(others_.begin(), others_.end(), std::back_inserter(layers_));
    std::sort(layers_.begin(), layers_.end(),
              [](const Step& a, const Step& b) { return a.head < b.head; });
    return std::move(layers_);
  }

 private:
  // Collects every layer that supports subsampling, with its group.
  void FindLayers(std::vector<Step>* steps) {
    std::vector<int> step_of(nodes_.size(), -1);
    for (size_t s = 0; s < steps->size(); ++s) {
      for (int node : (*steps)[s].nodes) step_of[static_cast<size_t>(node)] = static_cast<int>(s);
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const StepNode& node = nodes_[n];
      const bool can = node.offer != nullptr && node.offer->subsamples && !node.inputs.empty() &&
                       node.inputs[0] >= 0 && node.outputs.size() == 1 && node.outputs[0] >= 0;
      Step* const step = step_of[n] < 0 ? nullptr : &(*steps)[static_cast<size_t>(step_of[n])];
      if (can && step == nullptr) {
        const int head = static_cast<int>(n);
        layers_.push_back({.head = head, .nodes = {head}, .run = {}});
        layers_.back().run.output = node.outputs[0];
      } else if (step != nullptr && step->head == static_cast<int>(n)) {
        (can ? layers_ : others_).push_back(std::move(*step));
      }
    }
  }

  const StepTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  Demand& DemandOf(int index) { return demands_[static_cast<size_t>(index)]; }
  PixelStride& StrideOf(int index) { return strides_[static_cast<size_t>(index)]; }
  int InputOf(const Step& layer) const { return nodes_[static_cast<size_t>(layer.head)].inputs[0]; }

  const StepOffer& OfferOf(const Step& layer) const {
    return *nodes_[static_cast<size_t>(layer.head)].offer;
  }

  // Returns the stride of the input pixels that a layer reads, given its output stride.
  PixelStride NeedsOf(const Step& layer) const {
    const StepOffer& offer = OfferOf(layer);
    const PixelStride& left = layer.run.output_stride;
    if (!offer.pointwise || layer.run.input >= 0 || !IsModest(offer.stride, left)) return {};
    return offer.stride * left;
  }

  bool CanLeaveOut(const StepRun& run) const {
    const StepTensor& output = TensorAt(run.output);
    const bool plain_addend = run.addend < 0 || TensorAt(run.addend).elements == output.elements;
    return !output.fixed && !output.lasting && run.input < 0 && plain_addend;
  }

  void Ask(Step* layer) {
    const Demand& demand = DemandOf(layer->run.output);
    if (CanLeaveOut(layer->run) && IsModest(OfferOf(*layer).stride, demand.stride) &&
        demand.readers == TensorAt(layer->run.output).readers) {
      layer->run.output_stride = demand.stride;
    }
    const PixelStride needs = NeedsOf(*layer);
    Demand& own = DemandOf(InputOf(*layer));
    if (!needs.any() || (own.readers > 0 && own.stride != needs)) return;
    own.stride = needs;
    ++own.readers;
  }

  void Settle(Step* layer) {
    StepRun& run = layer->run;
    const bool is_pointwise = OfferOf(*layer).pointwise;
    const PixelStride given = run.input >= 0 ? PixelStride() : StrideOf(InputOf(*layer));
    if (is_pointwise && given != NeedsOf(*layer)) run.output_stride = {};
    run.input_stride = given;
    StrideOf(run.output) = run.output_stride;
  }

  std::span<const StepNode> nodes_;
  std::span<const StepTensor> tensors_;
  std::vector<Step> layers_, others_;
  std::vector<Demand> demands_;       // by tensor
  std::vector<PixelStride> strides_;  // by tensor: stride with which its layer writes it
};

}  // namespace

void SubsampleSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                    std::vector<Step>* steps) {
  Subsampler pass(nodes, tensors, steps);
  pass.Run();
  *steps = std::move(pass).Steps();
}

// Moves pixels in descending order, since each moves to an equal or higher address.
void SpreadPixels(const ImageSize& size, const PixelStride& stride, void* image) {
  auto* const bytes = static_cast<char*>(image);
  const int rows = stride.rows(size.height), columns = stride.columns(size.width);
  for (int64_t row = int64_t{size.batches} * rows - 1; row >= 0; --row) {
    const int64_t place = row / rows * size.height + row % rows * stride.y;
    for (int64_t x = columns - 1; x >= 0; --x) {
      const int64_t from = row * columns + x, to = place * size.width + x * stride.x;
      std::memmove(bytes + to * static_cast<int64_t>(size.pixel_bytes),
                   bytes + from * static_cast<int64_t>(size.pixel_bytes), size.pixel_bytes);
    }
  }
}

}  // namespace deputy
