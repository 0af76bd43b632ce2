// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a subgraph that run together: what their kernels offer, which steps they make, and what
// is true while a step runs.
#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

bool CanBeWritten(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteCustom;
}

// Shapes of prepared tensors are checked; one that does not fit is none that a kernel offers.
int64_t ElementsOf(const TfLiteTensor& tensor) {
  int64_t elements = 1;
  for (int extent : IndicesOf(tensor.dims)) {
    if (__builtin_mul_overflow(elements, extent, &elements)) return -1;
  }
  return elements;
}

}  // namespace

void Subgraph::OfferStep(const TfLiteNode* node, const StepOffer& offer) {
  // A delegate may call a kernel's prepare with a node of its own.
  if (preparing_node_ < 0 || node != graph_.node(preparing_node_)) return;
  const auto index = static_cast<size_t>(preparing_node_);
  if (offers_.size() <= index) offers_.resize(static_cast<size_t>(graph_.node_count()));
  offers_[index] = offer;
}

// Whoever has put something between a kernel and us may change what it computes.
bool Subgraph::TakesPart(int node_index) const {
  if (static_cast<size_t>(node_index) >= offers_.size()) return false;
  const StepOffer& offer = offers_[static_cast<size_t>(node_index)];
  const TfLiteNode& node = *graph_.node(node_index);
  const TfLiteTensor* const output =
      node.outputs->size == 1 ? graph_.tensor(node.outputs->data[0]) : nullptr;
  return offer.invoke != nullptr && InvokesPlain(*graph_.registration(node_index), offer.invoke) &&
         node.delegate == nullptr && output != nullptr && CanBeWritten(*output);
}

StepNode Subgraph::StepNodeAt(int position) const {
  const int node_index = graph_.plan()[static_cast<size_t>(position)];
  const TfLiteNode& node = *graph_.node(node_index);
  const StepOffer* const offer =
      TakesPart(node_index) ? &offers_[static_cast<size_t>(node_index)] : nullptr;
  return {IndicesOf(node.inputs), IndicesOf(node.outputs), offer};
}

std::vector<StepNode> Subgraph::StepNodesOf(const StepPositions& step) const {
  std::vector<StepNode> nodes;
  for (int position : step) nodes.push_back(StepNodeAt(position));
  return nodes;
}

std::vector<StepTensor> Subgraph::StepTensors() const {
  std::vector<StepTensor> tensors(graph_.tensors().size());
  std::vector<bool> made(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = graph_.tensors()[i];
    tensors[i] = {ElementsOf(tensor),
                  tensor.is_variable || tensor.allocation_type == kTfLiteDynamic,
                  tensor.allocation_type == kTfLitePersistentRo};
  }
  for (int index : graph_.inputs()) {
    if (index >= 0) made[static_cast<size_t>(index)] = true;
  }
  for (int node_index : graph_.plan()) {
    for (int index : IndicesOf(graph_.node(node_index)->outputs)) {
      if (index < 0) continue;
      if (made[static_cast<size_t>(index)]) tensors[static_cast<size_t>(index)].fixed = true;
      made[static_cast<size_t>(index)] = true;
    }
  }
  return tensors;
}

void Subgraph::FormSteps(int first_new, int last_prepared) {
  steps_.ForgetFrom(first_new);
  has_walked_ = false;
  if (!interpreter_->steps() || offers_.empty()) return;
  std::vector<StepNode> nodes;
  for (int position = first_new; position <= last_prepared; ++position) {
    nodes.push_back(StepNodeAt(position));
  }
  const std::vector<int> heads = FindSteps(nodes, StepTensors());
  std::vector<StepPositions> steps(nodes.size());
  for (size_t n = 0; n < heads.size(); ++n) {
    steps[static_cast<size_t>(heads[n])].push_back(first_new + static_cast<int>(n));
  }
  followers_.reserve(kMaxFollowers);
  for (StepPositions& step : steps) {
    if (step.size() < 2) continue;
    StepMemo memo;
    for (const StepNode& node : StepNodesOf(step)) {
      for (const std::span<const int> tensors : {node.inputs, node.outputs}) {
        std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(memo.tensors),
                     [](int index) { return index >= 0; });
      }
    }
    memo.places.reserve(memo.tensors.size());
    steps_.Add(std::move(step), graph_.plan().size(), std::move(memo));
  }
}

// Looks again only when a tensor has moved.
bool Subgraph::StepFitsNow(std::span<const StepNode> nodes, StepMemo* memo) const {
  const auto place = [this](int index) -> const void* {
    return graph_.tensors()[static_cast<size_t>(index)].data.data;
  };
  const bool same = std::equal(
      memo->tensors.begin(), memo->tensors.end(), memo->places.begin(), memo->places.end(),
      [&](int index, const void* before) { return place(index) == before; });
  if (same) return memo->fits;
  memo->places.clear();
  for (int index : memo->tensors) memo->places.push_back(place(index));
  memo->fits = StepFits(nodes, [this](int index) -> StepMemory {
    const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
    return {tensor.data.data, tensor.bytes};
  });
  return memo->fits;
}

std::vector<int> Subgraph::KeptForStep(int head, int position) const {
  const StepPositions& step = *steps_.Beginning(head);
  const auto place = std::find(step.begin(), step.end(), position) - step.begin();
  std::vector<int> kept = KeptInStep(StepNodesOf(step), static_cast<size_t>(place));
  for (int between = head + 1; between < position; ++between) {
    if (steps_.HeadOf(between) == head) continue;
    const TfLiteNode& other = *graph_.node(graph_.plan()[static_cast<size_t>(between)]);
    const std::span<const int> inputs = IndicesOf(other.inputs);
    kept.insert(kept.end(), inputs.begin(), inputs.end());
  }
  return kept;
}

// Whether it needs what a node, perhaps behind the step's head, makes in the first inference.
bool Subgraph::ReadsLasting(const StepNode& node) const {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [this](int index) {
    return index >= 0 &&
           graph_.tensors()[static_cast<size_t>(index)].allocation_type == kTfLitePersistentRo;
  });
}

// Allocates nothing: an inference must not fail for that.
TfLiteStatus Subgraph::BeginStep(const StepPositions& step) {
  steps_.SetDone(step, false);
  if (interpreter_->wants_each_node()) return kTfLiteOk;
  // Nodes between those of the step may read where a client has put its outputs.
  const bool has_gaps = step.back() - step.front() >= static_cast<int>(step.size());
  if (has_gaps && !custom_allocations_.empty()) return kTfLiteOk;
  std::array<StepNode, kMaxFollowers + 1> nodes;
  for (size_t i = 0; i < step.size(); ++i) {
    nodes[i] = StepNodeAt(step[i]);
    // Prepared again without success, or in somebody else's hands.
    if (nodes[i].offer == nullptr) return kTfLiteOk;
    if (i > 0 && !has_walked_ && ReadsLasting(nodes[i])) return kTfLiteOk;
    if (i > 0 && CheckInputs(graph_.plan()[static_cast<size_t>(step[i])]) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  if (!StepFitsNow({nodes.data(), step.size()}, steps_.MemoOf(step.front()))) return kTfLiteOk;
  for (size_t i = 1; i < step.size(); ++i) {
    TfLiteNode* const node = graph_.node(graph_.plan()[static_cast<size_t>(step[i])]);
    followers_.push_back({nodes[i].offer->run_range, node});
  }
  return kTfLiteOk;
}

void Subgraph::EndStep(const StepPositions& step, TfLiteStatus status) {
  if (!followers_.empty() && status == kTfLiteOk) steps_.SetDone(step, true);
  followers_.clear();
}

int Subgraph::step_head(int node_index, int* out_nodes) {
  const int position = graph_index().position(node_index);
  const int head = position < 0 ? -1 : steps_.HeadOf(position);
  *out_nodes = head < 0 ? 0 : static_cast<int>(steps_.Beginning(head)->size());
  return head < 0 ? -1 : graph_.plan()[static_cast<size_t>(head)];
}

}  // namespace deputy
