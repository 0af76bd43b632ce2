// SPDX-License-Identifier: Apache-2.0
//
// Fusion groups of a subgraph: collects the kernels' offers, forms groups, and decides at run time
// whether a group can run as one.
#include <algorithm>
#include <utility>

#include "core/base/cpu_cache.h"
#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/fusion/row_groups.h"
#include "core/fusion/strips.h"
#include "core/fusion/subsampling.h"

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
PlannedGroup MakePlannedGroup(FusionGroup group, std::span<const GroupNode> nodes,
                              std::span<const PlanTensor> tensors, std::span<const int> producers) {
  PlannedGroup planned;
  if (!group.run.rows.ops.empty()) {
    planned.reads = RowReadsOf(group.run.rows, nodes);
    planned.intermediates = UnwrittenBy(group, nodes);
  } else if (!group.run.layers.empty()) {
    planned.reads = ReadsOfLayers(group.run, nodes, tensors);
    planned.unwritten = UnwrittenBy(group, nodes);
  } else {
    planned.reads = ReadsOf(group.run, nodes[static_cast<size_t>(group.head)], tensors);
  }
  planned.reads_late_constant =
      std::any_of(planned.reads.begin(), planned.reads.end(), [&](const GroupRead& read) {
        return producers[static_cast<size_t>(read.tensor)] > group.position();
      });
  planned.addresses.reserve(planned.reads.size() + 1);
  static_cast<FusionGroup&>(planned) = std::move(group);
  return planned;
}

// Converts indices of the pass, whose first node is at plan position `first`, to plan positions,
// and those of row-wise operations to node indices.
void ToPlanPositions(int first, const std::vector<int>& plan, PlannedGroup* group) {
  const auto node_index_of = [&](int index) {
    const int position = index + first;
    return plan[static_cast<size_t>(position)];
  };
  for (RowOp& op : group->run.rows.ops) {
    op.node = node_index_of(op.node);
    for (ChainedNode& chained : op.chain) chained.node = node_index_of(chained.node);
  }
  for (int& node : group->nodes) node += first;
  for (StripLayer& layer : group->run.layers) layer.position += first;
  group->head += first;
}

}  // namespace

void Subgraph::OfferFusion(const TfLiteNode* node, const FusionOffer& offer) {
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
  return interpreter_->fuses_nodes() || offer.kind == ViewOffer::Kind::kRefused ? offer
                                                                                : ViewOffer();
}

// A wrapped kernel (e.g. a profiler's) may compute something else: it is not fused.
bool Subgraph::CanBeFused(int node_index) const {
  if (static_cast<size_t>(node_index) >= offers_.size()) return false;
  const FusionOffer& offer = offers_[static_cast<size_t>(node_index)];
  const TfLiteNode& node = *graph_.node(node_index);
  const TfLiteTensor* const output =
      node.outputs->size == 1 ? graph_.tensor(node.outputs->data[0]) : nullptr;
  return offer.invoke != nullptr && InvokesPlain(*graph_.registration(node_index), offer.invoke) &&
         node.delegate == nullptr && output != nullptr && CanBeWritten(*output);
}

GroupNode Subgraph::GroupNodeAt(int position) const {
  const int node_index = graph_.plan()[static_cast<size_t>(position)];
  const TfLiteNode& node = *graph_.node(node_index);
  const FusionOffer* const offer =
      CanBeFused(node_index) ? &offers_[static_cast<size_t>(node_index)] : nullptr;
  return {IndicesOf(node.inputs), IndicesOf(node.outputs), offer};
}

std::vector<PlanTensor> Subgraph::PlanTensors() const {
  std::vector<PlanTensor> tensors(graph_.tensors().size());
  std::vector<bool> written(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = graph_.tensors()[i];
    const std::span<const int> dims = IndicesOf(tensor.dims);
    tensors[i] = {.elements = ElementsOf(tensor),
                  .channels = dims.empty() ? 0 : dims.back(),
                  // A client may read its own memory.
                  .use_count = tensor.allocation_type == kTfLiteCustom ? 1 : 0,
                  .fixed = tensor.is_variable || tensor.allocation_type == kTfLiteDynamic,
                  .computed_once = tensor.allocation_type == kTfLitePersistentRo,
                  .dims = dims};
  }
  const auto read = [&](int index) {
    if (index >= 0) ++tensors[static_cast<size_t>(index)].use_count;
  };
  for (int index : graph_.inputs()) {
    if (index >= 0) written[static_cast<size_t>(index)] = true;
  }
  for (int node_index : graph_.plan()) {
    const TfLiteNode& node = *graph_.node(node_index);
    for (int index : IndicesOf(node.inputs)) read(index);
    for (int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      if (written[static_cast<size_t>(index)]) tensors[static_cast<size_t>(index)].fixed = true;
      written[static_cast<size_t>(index)] = true;
    }
  }
  for (int index : graph_.outputs()) read(index);
  return tensors;
}

void Subgraph::FormGroups(int first_new, int last_prepared) {
  groups_.ForgetFrom(first_new);
  has_run_plan_ = false;
  if (first_new == 0) client_reads_intermediates_ = false;
  ClearSubsampled(first_new);
  if (!interpreter_->fuses_nodes() || offers_.empty()) return;
  std::vector<GroupNode> nodes;
  for (int position = first_new; position <= last_prepared; ++position) {
    nodes.push_back(GroupNodeAt(position));
  }
  const std::vector<PlanTensor> tensors = PlanTensors();
  std::vector<FusionGroup> groups = FindFusionGroups(nodes, tensors);
  SubsampleGroups(nodes, tensors, &groups);
  JoinStrips(nodes, tensors, SecondLevelCacheBytes(), &groups);
  AddRowGroups(nodes, tensors, &groups);
  const std::vector<int> producers = ProducersOf(nodes, tensors.size());
  for (FusionGroup& group : groups) {
    PlannedGroup planned = MakePlannedGroup(std::move(group), nodes, tensors, producers);
    ToPlanPositions(first_new, graph_.plan(), &planned);
    groups_.Add(std::move(planned), graph_.plan().size());
  }
}

void Subgraph::AnnounceGroups() {
  for (int position = 0; position < next_to_prepare_; ++position) {
    PlannedGroup* const group = groups_.RunningAt(position);
    if (group == nullptr || (group->run.layers.empty() && group->run.factors < 0)) continue;
    FindLayerNodes(group);
    const int head = graph_.plan()[static_cast<size_t>(group->head)];
    const FusionOffer& offer = offers_[static_cast<size_t>(head)];
    if (offer.announce != nullptr) offer.announce(&context_, group->run);
  }
}

void Subgraph::UpdateLateConstants() {
  for (int position = 0; position < next_to_prepare_; ++position) {
    PlannedGroup* const group = groups_.RunningAt(position);
    if (group == nullptr || !group->reads_late_constant) continue;
    group->reads_late_constant =
        std::any_of(group->reads.begin(), group->reads.end(), [this](const GroupRead& read) {
          const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(read.tensor)];
          return tensor.allocation_type == kTfLitePersistentRo && !HasContents(read.tensor);
        });
  }
}

void Subgraph::FindLayerNodes(PlannedGroup* group) {
  for (StripLayer& layer : group->run.layers) {
    layer.node = graph_.node(graph_.plan()[static_cast<size_t>(layer.position)]);
  }
}

// Re-checked only if an address has changed. Does not allocate: Invoke must not fail for lack of
// memory here.
bool Subgraph::IsAliasFreeNow(PlannedGroup* group) const {
  const auto address = [this](int index) -> const void* {
    return graph_.tensors()[static_cast<size_t>(index)].data.data;
  };
  const auto unchanged = [&](const GroupRead& read, const void* before) {
    return address(read.tensor) == before;
  };
  std::vector<const void*>& addresses = group->addresses;
  if (!addresses.empty() && addresses[0] == address(group->run.output) &&
      std::equal(group->reads.begin(), group->reads.end(), addresses.begin() + 1, unchanged)) {
    return group->alias_free;
  }
  addresses.assign(1, address(group->run.output));
  for (const GroupRead& read : group->reads) addresses.push_back(address(read.tensor));
  group->alias_free =
      IsAliasFree(group->reads, group->run.output, [this](int index) -> MemoryRange {
        const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
        return {tensor.data.data, tensor.bytes};
      });
  return group->alias_free;
}

std::vector<int> Subgraph::KeptForGroup(const PlannedGroup& group, int position) const {
  std::vector<int> kept;
  for (const GroupRead& read : group.reads) {
    if (!read.in_place) kept.push_back(read.tensor);
  }
  // Their lifetimes are not extended to the group's position.
  kept.insert(kept.end(), group.unwritten.begin(), group.unwritten.end());
  for (int between = group.position() + 1; between < position; ++between) {
    const PlannedGroup* const in = groups_.At(between);
    if (in == &group) continue;
    // Nodes of another group before its position have read these tensors already.
    if (in != nullptr && in->position() == between) {
      for (const GroupRead& read : in->reads) kept.push_back(read.tensor);
    }
    const TfLiteNode& other = *graph_.node(graph_.plan()[static_cast<size_t>(between)]);
    const std::span<const int> inputs = IndicesOf(other.inputs);
    kept.insert(kept.end(), inputs.begin(), inputs.end());
  }
  return kept;
}

// Returns true if client memory may conflict with fusion. A node between those of the group could
// read or write a client's memory that the group uses as well.
bool Subgraph::TouchesClientMemory(const PlannedGroup& group) const {
  const int span = group.nodes.back() - group.nodes.front();
  return client_reads_intermediates_ ||
         (span >= static_cast<int>(group.nodes.size()) && !custom_allocations_.empty());
}

// Returns true if the group's nodes can run as one now.
bool Subgraph::CanRunGroup(PlannedGroup* group) const {
  if (interpreter_->needs_each_node() || (group->reads_late_constant && !has_run_plan_))
    return false;
  if (TouchesClientMemory(*group)) return false;
  for (int position : group->nodes) {
    // Re-preparation failed, or a delegate has claimed the node.
    if (GroupNodeAt(position).offer == nullptr) return false;
  }
  // The producer of the input may have run unfused.
  const int input = graph_.node(graph_.plan()[static_cast<size_t>(group->head)])->inputs->data[0];
  return subsampled_[static_cast<size_t>(input)] == group->run.input_stride &&
         IsAliasFreeNow(group);
}

// The nodes from this position on have not written subsampled outputs since.
void Subgraph::ClearSubsampled(int first_position) {
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
void Subgraph::ExpandInputs(int node_index) {
  for (int index : IndicesOf(graph_.node(node_index)->inputs)) {
    if (index < 0 || static_cast<size_t>(index) >= subsampled_.size()) continue;
    PixelStride& stride = subsampled_[static_cast<size_t>(index)];
    if (!stride.any()) continue;
    const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
    const std::span<const int> dims = IndicesOf(tensor.dims);
    const size_t pixels =
        static_cast<size_t>(dims[0]) * static_cast<size_t>(dims[1]) * static_cast<size_t>(dims[2]);
    ExpandPixels({dims[0], dims[1], dims[2], tensor.bytes / pixels}, stride, tensor.data.data);
    stride = {};
  }
}

bool Subgraph::DeferToGroup(int position) {
  const PlannedGroup* const group = groups_.At(position);
  if (group == nullptr || position >= group->position()) return false;
  const bool waits = !interpreter_->needs_each_node() && !TouchesClientMemory(*group);
  groups_.SetState(position, waits ? PlanGroups::State::kWaiting : PlanGroups::State::kOpen);
  return waits;
}

TfLiteStatus Subgraph::RunGroup(PlannedGroup* group) {
  const bool as_one = CanRunGroup(group);
  for (int position : group->nodes) {
    const int node_index = graph_.plan()[static_cast<size_t>(position)];
    const bool waits = groups_.StateOf(position) == PlanGroups::State::kWaiting;
    groups_.SetState(position, PlanGroups::State::kOpen);
    const bool runs_now = waits && !as_one;
    if (position == group->position() || (!as_one && !runs_now)) continue;
    if (CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
    if (runs_now && RunNode(node_index) != kTfLiteOk) return kTfLiteError;
  }
  PixelStride& output_stride = subsampled_[static_cast<size_t>(group->run.output)];
  output_stride = {};
  FindLayerNodes(group);
  const int runs = as_one ? group->head : group->position();
  const TfLiteStatus status =
      RunNode(graph_.plan()[static_cast<size_t>(runs)], as_one ? &group->run : nullptr);
  if (status != kTfLiteOk || !as_one) return status;
  output_stride = group->run.output_stride;
  for (int position : group->nodes) {
    if (position > group->position()) groups_.SetState(position, PlanGroups::State::kDone);
  }
  return kTfLiteOk;
}

int Subgraph::group_head(int node_index, int* out_nodes) {
  const int position = graph_index().position(node_index);
  const PlannedGroup* const group = position < 0 ? nullptr : groups_.At(position);
  const bool alone = group == nullptr || group->nodes.size() < 2;
  *out_nodes = alone ? 0 : static_cast<int>(group->nodes.size());
  return alone ? -1 : graph_.plan()[static_cast<size_t>(group->head)];
}

PixelStride Subgraph::output_stride(int node_index) {
  const int position = graph_index().position(node_index);
  const PlannedGroup* const group = position < 0 ? nullptr : groups_.At(position);
  return group == nullptr ? PixelStride() : group->run.output_stride;
}

}  // namespace deputy
