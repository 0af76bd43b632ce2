// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_plan.h"

#include <algorithm>
#include <utility>

#include "core/base/kernel_call.h"
#include "core/base/processors.h"
#include "core/fusion/row_groups.h"
#include "core/fusion/strips.h"
#include "core/fusion/subsampling.h"

namespace deputy {
namespace {

bool CanBeWritten(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteCustom;
}

// Returns the number of elements of a tensor; -1 on overflow, which does not occur for tensors of
// nodes that kernels offer.
int64_t ElementsOf(const TfLiteTensor& tensor) {
  int64_t elements = 1;
  for (int extent : IndicesOf(tensor.dims)) {
    if (__builtin_mul_overflow(elements, extent, &elements)) return -1;
  }
  return elements;
}

// Completes a group with its reads and unwritten tensors. Its nodes are still indices of the pass.
PlannedGroup MakePlannedGroup(FusionGroup group, std::span<const GroupNode> nodes,
                              std::span<const PlanTensor> tensors, std::span<const int> producers) {
  PlannedGroup planned;
  if (const auto* const rows = std::get_if<RowRun>(&group.run)) {
    planned.reads = RowReadsOf(rows->program, nodes);
    planned.intermediates = UnwrittenBy(group, nodes);
  } else if (const auto* const strips = std::get_if<StripRun>(&group.run)) {
    planned.reads = ReadsOfLayers(*strips, nodes, tensors);
    planned.unwritten = UnwrittenBy(group, nodes);
  } else {
    planned.reads = ReadsOf(group.layer(), nodes[static_cast<size_t>(group.head)], tensors);
  }
  planned.reads_late_constant =
      std::any_of(planned.reads.begin(), planned.reads.end(), [&](const GroupRead& read) {
        return producers[static_cast<size_t>(read.tensor)] > group.position();
      });
  planned.addresses.reserve(planned.reads.size() + 1);
  static_cast<FusionGroup&>(planned) = std::move(group);
  return planned;
}

// Converts the group's nodes from indices of the pass, whose first node is at plan position
// `first`, to plan positions, and nodes of row-wise operations to node indices.
void ToPlanPositions(int first, const std::vector<int>& plan, PlannedGroup* group) {
  const auto node_index_of = [&](int index) {
    const int position = index + first;
    return plan[static_cast<size_t>(position)];
  };
  if (auto* const rows = std::get_if<RowRun>(&group->run)) {
    for (RowOp& op : rows->program.ops) {
      op.node = node_index_of(op.node);
      for (ChainedNode& chained : op.chain) chained.node = node_index_of(chained.node);
    }
  }
  if (auto* const strips = std::get_if<StripRun>(&group->run)) {
    for (StripLayer& layer : strips->layers) layer.position += first;
  }
  for (int& node : group->nodes) node += first;
  group->head += first;
}

// InputStrideOf and OutputStrideOf return the strides of the pixels that the group reads of input 0
// and writes of its output.
PixelStride InputStrideOf(const GroupRun& run) {
  const auto* const layer = std::get_if<LayerRun>(&run);
  return layer == nullptr ? PixelStride() : layer->input_stride;
}
PixelStride OutputStrideOf(const GroupRun& run) {
  const auto* const layer = std::get_if<LayerRun>(&run);
  return layer == nullptr ? PixelStride() : layer->output_stride;
}

// Returns true if the group needs scratch memory beyond that of its nodes.
bool NeedsScratch(const GroupRun& run) {
  const auto* const layer = std::get_if<LayerRun>(&run);
  return layer == nullptr ? std::holds_alternative<StripRun>(run) : layer->factors >= 0;
}

}  // namespace

// Returns true if the node can be in a group. A wrapped kernel (e.g. a profiler's) may compute
// something else, so its node is not fused.
bool FusionPlan::CanBeFused(int node_index) const {
  const FusionOffer& offer = nodes_->Of(node_index).fusion;
  const TfLiteNode& node = *graph_->node(node_index);
  const TfLiteTensor* const output =
      node.outputs->size == 1 ? graph_->tensor(node.outputs->data[0]) : nullptr;
  return offer.invoke != nullptr && InvokesPlain(*graph_->registration(node_index), offer.invoke) &&
         node.delegate == nullptr && output != nullptr && CanBeWritten(*output);
}

GroupNode FusionPlan::NodeAt(int position) const {
  const int node_index = graph_->plan()[static_cast<size_t>(position)];
  const TfLiteNode& node = *graph_->node(node_index);
  const FusionOffer* const offer =
      CanBeFused(node_index) ? &nodes_->Of(node_index).fusion : nullptr;
  return {IndicesOf(node.inputs), IndicesOf(node.outputs), offer};
}

std::vector<PlanTensor> FusionPlan::Tensors() const {
  std::vector<PlanTensor> tensors(graph_->tensors().size());
  std::vector<bool> written(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = graph_->tensors()[i];
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
  for (int index : graph_->inputs()) {
    if (index >= 0) written[static_cast<size_t>(index)] = true;
  }
  for (int node_index : graph_->plan()) {
    const TfLiteNode& node = *graph_->node(node_index);
    for (int index : IndicesOf(node.inputs)) read(index);
    for (int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      if (written[static_cast<size_t>(index)]) tensors[static_cast<size_t>(index)].fixed = true;
      written[static_cast<size_t>(index)] = true;
    }
  }
  for (int index : graph_->outputs()) read(index);
  return tensors;
}

void FusionPlan::Discard(int first_new) {
  groups_.ForgetFrom(first_new);
  has_run_plan_ = false;
  if (first_new == 0) client_reads_intermediates_ = false;
  ClearSubsampled(first_new);
}

void FusionPlan::Form(int first, int last) {
  if (nodes_->empty()) return;
  std::vector<GroupNode> nodes;
  for (int position = first; position <= last; ++position) nodes.push_back(NodeAt(position));
  const std::vector<PlanTensor> tensors = Tensors();
  std::vector<FusionGroup> groups = FindFusionGroups(nodes, tensors);
  SubsampleGroups(nodes, tensors, &groups);
  JoinStrips(nodes, tensors, SecondLevelCacheBytes(), &groups);
  AddRowGroups(nodes, tensors, &groups);
  const std::vector<int> producers = ProducersOf(nodes, tensors.size());
  for (FusionGroup& group : groups) {
    PlannedGroup planned = MakePlannedGroup(std::move(group), nodes, tensors, producers);
    ToPlanPositions(first, graph_->plan(), &planned);
    groups_.Add(std::move(planned), graph_->plan().size());
  }
}

void FusionPlan::Swap(FusionPlan* other) {
  std::swap(groups_, other->groups_);
  std::swap(has_run_plan_, other->has_run_plan_);
  std::swap(client_reads_intermediates_, other->client_reads_intermediates_);
  std::swap(subsampled_, other->subsampled_);
}

void FusionPlan::Announce(TfLiteContext* context, int first, int last) {
  for (int position = first; position <= last; ++position) {
    PlannedGroup* const group = groups_.RunningAt(position);
    if (group == nullptr || !NeedsScratch(group->run)) continue;
    FindLayerNodes(group);
    const int head = graph_->plan()[static_cast<size_t>(group->head)];
    const FusionOffer& offer = nodes_->Of(head).fusion;
    if (offer.announce != nullptr) offer.announce(context, group->run);
  }
}

void FusionPlan::UpdateLateConstants(int end, const std::function<bool(int tensor)>& has_contents) {
  for (int position = 0; position < end; ++position) {
    PlannedGroup* const group = groups_.RunningAt(position);
    if (group == nullptr || !group->reads_late_constant) continue;
    group->reads_late_constant =
        std::any_of(group->reads.begin(), group->reads.end(), [&](const GroupRead& read) {
          const TfLiteTensor& tensor = graph_->tensors()[static_cast<size_t>(read.tensor)];
          return tensor.allocation_type == kTfLitePersistentRo && !has_contents(read.tensor);
        });
  }
}

void FusionPlan::FindLayerNodes(PlannedGroup* group) {
  auto* const strips = std::get_if<StripRun>(&group->run);
  if (strips == nullptr) return;
  for (StripLayer& layer : strips->layers) {
    layer.node = graph_->node(graph_->plan()[static_cast<size_t>(layer.position)]);
  }
}

// Returns true if the group's output overlaps no tensor that the group still reads when it writes.
// Checks again only if an address has changed. Does not allocate: Invoke must not fail for lack of
// memory here.
bool FusionPlan::IsAliasFreeNow(PlannedGroup* group) const {
  const auto address = [this](int index) -> const void* {
    return graph_->tensors()[static_cast<size_t>(index)].data.data;
  };
  const auto unchanged = [&](const GroupRead& read, const void* before) {
    return address(read.tensor) == before;
  };
  const int output = OutputOf(group->run);
  std::vector<const void*>& addresses = group->addresses;
  if (!addresses.empty() && addresses[0] == address(output) &&
      std::equal(group->reads.begin(), group->reads.end(), addresses.begin() + 1, unchanged)) {
    return group->alias_free;
  }
  addresses.assign(1, address(output));
  for (const GroupRead& read : group->reads) addresses.push_back(address(read.tensor));
  group->alias_free = IsAliasFree(group->reads, output, [this](int index) -> MemoryRange {
    const TfLiteTensor& tensor = graph_->tensors()[static_cast<size_t>(index)];
    return {tensor.data.data, tensor.bytes};
  });
  return group->alias_free;
}

// Returns true if client memory may conflict with fusion: the client may read intermediate tensors,
// or a node between the nodes of the group could read or write a client's memory that the group
// uses as well.
bool FusionPlan::TouchesClientMemory(const PlannedGroup& group,
                                     const Conditions& conditions) const {
  const int span = group.nodes.back() - group.nodes.front();
  return client_reads_intermediates_ ||
         (span >= static_cast<int>(group.nodes.size()) && conditions.has_client_memory);
}

bool FusionPlan::CanRun(PlannedGroup* group, const Conditions& conditions) {
  if (conditions.runs_each_node || (group->reads_late_constant && !has_run_plan_)) return false;
  if (TouchesClientMemory(*group, conditions)) return false;
  for (int position : group->nodes) {
    // A node has no offer, for example, if its re-preparation failed or a delegate has claimed it.
    if (NodeAt(position).offer == nullptr) return false;
  }
  // The producer of the input may have run unfused.
  const int input = graph_->node(graph_->plan()[static_cast<size_t>(group->head)])->inputs->data[0];
  return subsampled_[static_cast<size_t>(input)] == InputStrideOf(group->run) &&
         IsAliasFreeNow(group);
}

// Marks the outputs of the nodes at `first_position` and later as not subsampled.
void FusionPlan::ClearSubsampled(int first_position) {
  subsampled_.resize(graph_->tensors().size());
  for (size_t position = static_cast<size_t>(first_position); position < graph_->plan().size();
       ++position) {
    for (int index : IndicesOf(graph_->node(graph_->plan()[position])->outputs)) {
      if (index >= 0) subsampled_[static_cast<size_t>(index)] = {};
    }
  }
}

void FusionPlan::ExpandInputs(int node_index) {
  for (int index : IndicesOf(graph_->node(node_index)->inputs)) {
    if (index < 0 || static_cast<size_t>(index) >= subsampled_.size()) continue;
    PixelStride& stride = subsampled_[static_cast<size_t>(index)];
    if (!stride.any()) continue;
    const TfLiteTensor& tensor = graph_->tensors()[static_cast<size_t>(index)];
    const std::span<const int> dims = IndicesOf(tensor.dims);
    const size_t pixels =
        static_cast<size_t>(dims[0]) * static_cast<size_t>(dims[1]) * static_cast<size_t>(dims[2]);
    ExpandPixels({dims[0], dims[1], dims[2], tensor.bytes / pixels}, stride, tensor.data.data);
    stride = {};
  }
}

bool FusionPlan::Defers(int position, const Conditions& conditions) {
  const PlannedGroup* const group = groups_.At(position);
  if (group == nullptr || position >= group->position()) return false;
  const bool waits = !conditions.runs_each_node && !TouchesClientMemory(*group, conditions);
  groups_.SetState(position, waits ? PlanGroups::State::kWaiting : PlanGroups::State::kOpen);
  return waits;
}

bool FusionPlan::EndWait(int position) {
  const bool waits = groups_.StateOf(position) == PlanGroups::State::kWaiting;
  groups_.SetState(position, PlanGroups::State::kOpen);
  return waits;
}

void FusionPlan::BeginGroup(PlannedGroup* group) {
  subsampled_[static_cast<size_t>(OutputOf(group->run))] = {};
  FindLayerNodes(group);
}

void FusionPlan::NoteRun(const PlannedGroup& group) {
  subsampled_[static_cast<size_t>(OutputOf(group.run))] = OutputStrideOf(group.run);
  for (int position : group.nodes) {
    if (position > group.position()) groups_.SetState(position, PlanGroups::State::kDone);
  }
}

}  // namespace deputy
