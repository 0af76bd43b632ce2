// SPDX-License-Identifier: Apache-2.0
//
// Builds plans of a few nodes by hand, for tests of the fusion passes.
#ifndef DEPUTY_TESTS_CORE_FUSION_PLAN_BUILDER_H_
#define DEPUTY_TESTS_CORE_FUSION_PLAN_BUILDER_H_

#include <span>
#include <utility>
#include <vector>

#include "core/fusion/fusion_groups.h"

namespace deputy {

class PlanBuilder {
 public:
  // All tensors begin as copies of `tensor`. `outputs` are the outputs of the graph.
  PlanBuilder(size_t tensors, const PlanTensor& tensor, const std::vector<int>& outputs = {})
      : tensors_(tensors, tensor) {
    for (int output : outputs) ++(*this)[output].use_count;
  }

  PlanBuilder& Node(std::vector<int> inputs, int output, const FusionOffer* offer) {
    for (int input : inputs) {
      if (input >= 0) ++(*this)[input].use_count;
    }
    nodes_.push_back({std::move(inputs), {output}, offer});
    return *this;
  }
  // Sets the dimensions of these tensors to `dims`.
  PlanBuilder& Shape(const std::vector<int>& tensors, std::vector<int> dims) {
    dims_.push_back(std::move(dims));
    for (int tensor : tensors) {
      PlanTensor& shaped = (*this)[tensor];
      shaped.elements = 1;
      for (int extent : dims_.back()) shaped.elements *= extent;
      shaped.channels = dims_.back().back();
      shaped.dims = dims_.back();
    }
    return *this;
  }
  PlanTensor& operator[](int tensor) { return tensors_[static_cast<size_t>(tensor)]; }
  std::span<const PlanTensor> tensors() const { return tensors_; }

  std::vector<GroupNode> nodes() const {
    std::vector<GroupNode> nodes;
    for (const OwnedNode& node : nodes_) nodes.push_back({node.inputs, node.outputs, node.offer});
    return nodes;
  }

 private:
  struct OwnedNode {
    std::vector<int> inputs, outputs;
    const FusionOffer* offer;
  };

  std::vector<PlanTensor> tensors_;
  std::vector<OwnedNode> nodes_;
  std::vector<std::vector<int>> dims_;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_CORE_FUSION_PLAN_BUILDER_H_
