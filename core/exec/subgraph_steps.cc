// SPDX-License-Identifier: Apache-2.0
//
// Fusion groups of a subgraph: collects the kernels' offers, forms groups, and decides at run time
// whether a group can run as one.
#include <algorithm>
#include <utility>

#include "core/base/cpu_cache.h"
#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/row_steps.h"
#include "core/exec/strips.h"
#include "core/exec/subgraph.h"
#include "core/exec/subsampling.h"

namespace deputy {
namespace {

bool CanBeWritten(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteCustom;
}

// Shapes of prepared tensors have been checked; no kernel offers a node whose element count
// overflows.
int64_t ElementsOf(const TfLiteTensor& tensor) {
  int64_t elements = 1;
  for (int extent : IndicesOf(tensor.dims)) {
    if (__builtin_mul_overflow(elements, extent, &elements)) return -1;
  }
  return elements;
}

// Completes a group with its reads and unwritten tensors. Nodes are still indices of the pass.
PlannedStep PlannedOf(Step step, std::span<const StepNode> nodes,
                      std::span<const StepTensor> tensors, std::span<const int> makers) {
  PlannedStep planned;
  if (!step.run.rows.ops.empty()) {
    planned.reads = RowReadsOf(step.run.rows, nodes);
    planned.passing = UnwrittenBy(step, nodes);
  } else if (!step.run.layers.empty()) {
    planned.reads = ReadsOfLayers(step.run, nodes, tensors);
    planned.unwritten = UnwrittenBy(step, nodes);
  } else {
    planned.reads = ReadsOf(step.run, nodes[static_cast<size_t>(step.head)], tensors);
  }
  planned.reads_ahead = std::any_of(
      planned.reads.begin(), planned.reads.end(),
      [&](const StepRead& read) { return makers[static_cast<size_t>(read.tensor)] > step.turn(); });
  planned.places.reserve(planned.reads.size() + 1);
  static_cast<Step&>(planned) = std::move(step);
  return planned;
}

// Converts indices of the pass, whose first node is at plan position `first`, to plan positions,
// and those of row-wise operations to node indices.
void PlaceBehind(int first, const std::vector<int>& plan, PlannedStep* step) {
  const auto number_of = [&](int place) {
    const int position = place + first;
    return plan[static_cast<size_t>(position)];
  };
  for (RowOp& op : step->run.rows.ops) {
    op.node = number_of(op.node);
    for (ChainedNode& chained : op.chain) chained.node = number_of(chained.node);
  }
  for (int& node : step->nodes) node += first;
  for (StripLayer& layer : step->run.layers) layer.position += first;
  step->head += first;
}

}  // namespace

void Subgraph::OfferStep(const TfLiteNode* node, const StepOffer& offer) {
  // A delegate may call a kernel's prepare with a node that is not in the graph.
  if (preparing_node_ < 0 || node != graph_.node(preparing_node_)) return;
  const auto index = static_cast<size_t>(preparing_node_);
  if (offers_.size() <= index) offers_.resize(static_cast<size_t>(graph_.node_count()));
  offers_[index] = offer;
}

void Subgraph::OfferViews(const TfLiteNode* node, const ViewOffer& offer) {
  if (preparing_node_ < 0 || node != graph_.node(preparing_node_)) return;
  const auto index = static_cast<size_t>(preparing_node_);
  if (view_offers_.size() <= index) {
    view_offers_.resize(static_cast<size_t>(graph_.node_count()));
  }
  view_offers_[index] = offer;
}

ViewOffer Subgraph::ViewsOf(int node_index) const {
  const auto index = static_cast<size_t>(node_index);
  if (index >= view_offers_.size()) return {};
  const ViewOffer& offer = view_offers_[index];
  return interpreter_->steps() || offer.kind == ViewOffer::Kind::kRefused ? offer : ViewOffer();
}

// A wrapped kernel (e.g. a profiler's) may compute something else: it is not fused.
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

std::vector<StepTensor> Subgraph::StepTensors() const {
  std::vector<StepTensor> tensors(graph_.tensors().size());
  std::vector<bool> made(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = graph_.tensors()[i];
    const std::span<const int> dims = IndicesOf(tensor.dims);
    tensors[i] = {.elements = ElementsOf(tensor),
                  .channels = dims.empty() ? 0 : dims.back(),
                  // A client may read its own memory.
                  .readers = tensor.allocation_type == kTfLiteCustom ? 1 : 0,
                  .fixed = tensor.is_variable || tensor.allocation_type == kTfLiteDynamic,
                  .lasting = tensor.allocation_type == kTfLitePersistentRo,
                  .dims = dims};
  }
  const auto read = [&](int index) {
    if (index >= 0) ++tensors[static_cast<size_t>(index)].readers;
  };
  for (int index : graph_.inputs()) {
    if (index >= 0) made[static_cast<size_t>(index)] = true;
  }
  for (int node_index : graph_.plan()) {
    const TfLiteNode& node = *graph_.node(node_index);
    for (int index : IndicesOf(node.inputs)) read(index);
    for (int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      if (made[static_cast<size_t>(index)]) tensors[static_cast<size_t>(index)].fixed = true;
      made[static_cast<size_t>(index)] = true;
    }
  }
  for (int index : graph_.outputs()) read(index);
  return tensors;
}

void Subgraph::FormSteps(int first_new, int last_prepared) {
  steps_.ForgetFrom(first_new);
  has_walked_ = false;
  if (first_new == 0) client_looks_inside_ = false;
  ForgetSubsampled(first_new);
  if (!interpreter_->steps() || offers_.empty()) return;
  std::vector<StepNode> nodes;
  for (int position = first_new; position <= last_prepared; ++position) {
    nodes.push_back(StepNodeAt(position));
  }
  const std::vector<StepTensor> tensors = StepTensors();
  std::vector<Step> steps = FindSteps(nodes, tensors);
  SubsampleSteps(nodes, tensors, &steps);
  JoinStrips(nodes, tensors, SecondLevelCacheBytes(), &steps);
  AddRowSteps(nodes, tensors, &steps);
  const std::vector<int> makers = MakersOf(nodes, tensors.size());
  for (Step& step : steps) {
    PlannedStep planned = PlannedOf(std::move(step), nodes, tensors, makers);
    PlaceBehind(first_new, graph_.plan(), &planned);
    steps_.Add(std::move(planned), graph_.plan().size());
  }
}

void Subgraph::AnnounceSteps() {
  for (int position = 0; position < next_to_prepare_; ++position) {
    PlannedStep* const step = steps_.WithTurn(position);
    if (step == nullptr || (step->run.layers.empty() && step->run.factors < 0)) continue;
    FindLayerNodes(step);
    const int head = graph_.plan()[static_cast<size_t>(step->head)];
    const StepOffer& offer = offers_[static_cast<size_t>(head)];
    if (offer.announce != nullptr) offer.announce(&context_, step->run);
  }
}

void Subgraph::NoteReadsAhead() {
  for (int position = 0; position < next_to_prepare_; ++position) {
    PlannedStep* const step = steps_.WithTurn(position);
    if (step == nullptr || !step->reads_ahead) continue;
    step->reads_ahead =
        std::any_of(step->reads.begin(), step->reads.end(), [this](const StepRead& read) {
          const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(read.tensor)];
          return tensor.allocation_type == kTfLitePersistentRo && !HasContents(read.tensor);
        });
  }
}

void Subgraph::FindLayerNodes(PlannedStep* step) {
  for (StripLayer& layer : step->run.layers) {
    layer.node = graph_.node(graph_.plan()[static_cast<size_t>(layer.position)]);
  }
}

// Re-checked only if an address has changed. Does not allocate: Invoke must not fail for lack of
// memory here.
bool Subgraph::StepFitsNow(PlannedStep* step) const {
  const auto place = [this](int index) -> const void* {
    return graph_.tensors()[static_cast<size_t>(index)].data.data;
  };
  const auto here = [&](const StepRead& read, const void* before) {
    return place(read.tensor) == before;
  };
  std::vector<const void*>& places = step->places;
  if (!places.empty() && places[0] == place(step->run.output) &&
      std::equal(step->reads.begin(), step->reads.end(), places.begin() + 1, here)) {
    return step->fits;
  }
  places.assign(1, place(step->run.output));
  for (const StepRead& read : step->reads) places.push_back(place(read.tensor));
  step->fits = StepFits(step->reads, step->run.output, [this](int index) -> StepMemory {
    const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
    return {tensor.data.data, tensor.bytes};
  });
  return step->fits;
}

std::vector<int> Subgraph::KeptForStep(const PlannedStep& step, int position) const {
  std::vector<int> kept;
  for (const StepRead& read : step.reads) {
    if (!read.in_place) kept.push_back(read.tensor);
  }
  // Their lifetimes are not extended to the group's position.
  kept.insert(kept.end(), step.unwritten.begin(), step.unwritten.end());
  for (int between = step.turn() + 1; between < position; ++between) {
    const PlannedStep* const in = steps_.At(between);
    if (in == &step) continue;
    // Nodes of another group before its position have read these tensors already.
    if (in != nullptr && in->turn() == between) {
      for (const StepRead& read : in->reads) kept.push_back(read.tensor);
    }
    const TfLiteNode& other = *graph_.node(graph_.plan()[static_cast<size_t>(between)]);
    const std::span<const int> inputs = IndicesOf(other.inputs);
    kept.insert(kept.end(), inputs.begin(), inputs.end());
  }
  return kept;
}

// Returns true if client memory may conflict with fusion. A node between those of the group could
// read or write a client's memory that the group uses as well.
bool Subgraph::MeetsClients(const PlannedStep& step) const {
  const int span = step.nodes.back() - step.nodes.front();
  return client_looks_inside_ ||
         (span >= static_cast<int>(step.nodes.size()) && !custom_allocations_.empty());
}

// Returns true if the group's nodes can run as one now.
bool Subgraph::CanRunStep(PlannedStep* step) const {
  if (interpreter_->wants_each_node() || (step->reads_ahead && !has_walked_)) return false;
  if (MeetsClients(*step)) return false;
  for (int position : step->nodes) {
    // Re-preparation failed, or a delegate has claimed the node.
    if (StepNodeAt(position).offer == nullptr) return false;
  }
  // The producer of the input may have run unfused.
  const int input = graph_.node(graph_.plan()[static_cast<size_t>(step->head)])->inputs->data[0];
  return subsampled_[static_cast<size_t>(input)] == step->run.input_stride && StepFitsNow(step);
}

// The nodes from this position on have not written subsampled outputs since.
void Subgraph::ForgetSubsampled(int first_position) {
  subsampled_.resize(graph_.tensors().size());
  for (size_t position = static_cast<size_t>(first_position); position < graph_.plan().size();
       ++position) {
    for (int index : IndicesOf(graph_.node(graph_.plan()[position])->outputs)) {
      if (index >= 0) subsampled_[static_cast<size_t>(index)] = {};
    }
  }
}

// Expands subsampled inputs to full images, with undefined pixels between, for a node that runs
// unfused although it has a group.
void Subgraph::SpreadInputs(int node_index) {
  for (int index : IndicesOf(graph_.node(node_index)->inputs)) {
    if (index < 0 || static_cast<size_t>(index) >= subsampled_.size()) continue;
    PixelStride& stride = subsampled_[static_cast<size_t>(index)];
    if (!stride.any()) continue;
    const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
    const std::span<const int> dims = IndicesOf(tensor.dims);
    const size_t pixels =
        static_cast<size_t>(dims[0]) * static_cast<size_t>(dims[1]) * static_cast<size_t>(dims[2]);
    SpreadPixels({dims[0], dims[1], dims[2], tensor.bytes / pixels}, stride, tensor.data.data);
    stride = {};
  }
}

bool Subgraph::WaitsForStep(int position) {
  const PlannedStep* const step = steps_.At(position);
  if (step == nullptr || position >= step->turn()) return false;
  const bool waits = !interpreter_->wants_each_node() && !MeetsClients(*step);
  steps_.SetState(position, waits ? PlanSteps::State::kWaiting : PlanSteps::State::kOpen);
  return waits;
}

TfLiteStatus Subgraph::RunStep(PlannedStep* step) {
  const bool as_one = CanRunStep(step);
  for (int position : step->nodes) {
    const int node_index = graph_.plan()[static_cast<size_t>(position)];
    const bool waits = steps_.StateOf(position) == PlanSteps::State::kWaiting;
    steps_.SetState(position, PlanSteps::State::kOpen);
    const bool runs_now = waits && !as_one;
    if (position == step->turn() || (!as_one && !runs_now)) continue;
    if (CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
    if (runs_now && RunNode(node_index) != kTfLiteOk) return kTfLiteError;
  }
  PixelStride& left_out = subsampled_[static_cast<size_t>(step->run.output)];
  left_out = {};
  FindLayerNodes(step);
  const int runs = as_one ? step->head : step->turn();
  const TfLiteStatus status =
      RunNode(graph_.plan()[static_cast<size_t>(runs)], as_one ? &step->run : nullptr);
  if (status != kTfLiteOk || !as_one) return status;
  left_out = step->run.output_stride;
  for (int position : step->nodes) {
    if (position > step->turn()) steps_.SetState(position, PlanSteps::State::kDone);
  }
  return kTfLiteOk;
}

int Subgraph::step_head(int node_index, int* out_nodes) {
  const int position = graph_index().position(node_index);
  const PlannedStep* const step = position < 0 ? nullptr : steps_.At(position);
  const bool alone = step == nullptr || step->nodes.size() < 2;
  *out_nodes = alone ? 0 : static_cast<int>(step->nodes.size());
  return alone ? -1 : graph_.plan()[static_cast<size_t>(step->head)];
}

PixelStride Subgraph::output_stride(int node_index) {
  const int position = graph_index().position(node_index);
  const PlannedStep* const step = position < 0 ? nullptr : steps_.At(position);
  return step == nullptr ? PixelStride() : step->run.output_stride;
}

}  // namespace deputy
