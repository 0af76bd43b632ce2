// SPDX-License-Identifier: Apache-2.0
#include "core/exec/execution_plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "c_api/abi/borrowed_data.h"
#include "core/base/delegate_params.h"
#include "core/base/kernel_call.h"
#include "core/base/processors.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph_parts.h"
#include "core/exec/tensor_shapes.h"
#include "core/model/op_names.h"

namespace deputy {
ExecutionPlan::ExecutionPlan(SubgraphParts* parts)
    : parts_(parts),
      interpreter_(parts->interpreter),
      graph_(&parts->graph),
      fusion_(graph_, &nodes_),
      memory_(graph_, &parts->provided_memory) {
  if (const Observer* observer = interpreter_->observer()) {
    memory_.SetGuard(observer->guard_bytes());
  }
}

void ExecutionPlan::Reset() {
  next_to_prepare_ = 0;
  memory_.Reset();
  has_contents_.clear();
  has_state_ = false;
  segments_.clear();
  MarkReadTensors();
}

bool ExecutionPlan::is_complete() const {
  return static_cast<size_t>(next_to_prepare_) == graph_->plan().size();
}

void ExecutionPlan::Swap(ExecutionPlan* other) {
  std::swap(nodes_, other->nodes_);
  fusion_.Swap(&other->fusion_);
  memory_.Swap(&other->memory_);
  std::swap(shared_shapes_, other->shared_shapes_);
  std::swap(next_to_prepare_, other->next_to_prepare_);
  std::swap(tensor_resized_, other->tensor_resized_);
  std::swap(read_, other->read_);
  std::swap(has_contents_, other->has_contents_);
  std::swap(has_state_, other->has_state_);
  std::swap(segments_, other->segments_);
  std::swap(segment_of_, other->segment_of_);
}

TfLiteStatus ExecutionPlan::Prepare() {
  shared_shapes_.BeginPlan(*graph_, graph_->plan());
  return PrepareAndAllocate();
}

TfLiteStatus ExecutionPlan::PrepareAll(const std::vector<int>& node_indices, bool* out_dynamic) {
  if (CheckConsistent(*parts_, interpreter_->reporter()) != kTfLiteOk) return kTfLiteError;
  next_to_prepare_ = 0;
  const AllocationPass pass(interpreter_);
  shared_shapes_.BeginPlan(*graph_, node_indices);
  for (int node_index : node_indices) {
    const TfLiteStatus status = PrepareNode(node_index, out_dynamic);
    if (status != kTfLiteOk || *out_dynamic) return status;
  }
  return kTfLiteOk;
}

// Stops at the first unresolved custom operator, whose output shapes are unknown without the
// delegate that implements it.
TfLiteStatus ExecutionPlan::PropagateShapes(const std::vector<int>& node_indices) {
  const auto unresolved = std::find_if(
      node_indices.begin(), node_indices.end(),
      [this](int node_index) { return IsUnresolvedCustomOp(*graph_->registration(node_index)); });
  bool ignored = false;
  return PrepareAll({node_indices.begin(), unresolved}, &ignored);
}

TfLiteStatus ExecutionPlan::PrepareAndAllocate() {
  const AllocationPass pass(interpreter_);
  int last_prepared = next_to_prepare_ - 1;
  pack_requests_.clear();
  const TfLiteStatus status = PrepareFrom(next_to_prepare_, &last_prepared);
  if (status != kTfLiteOk) return status;
  TF_LITE_ENSURE_STATUS(FormGroups(last_prepared));
  if (PlanMemory(last_prepared) != kTfLiteOk) return kTfLiteError;
  const std::span<const int> plan(graph_->plan());
  TF_LITE_ENSURE_STATUS(
      parts_->custom_allocations.Verify(plan.subspan(static_cast<size_t>(last_prepared + 1))));
  next_to_prepare_ = last_prepared + 1;
  ForEachSection(0, last_prepared,
                 [&](int first, int last) { fusion_.Announce(&parts_->context, first, last); });
  // If the block cannot grow, the kernel that needs the scratch memory reports it.
  ScratchArena& scratch = interpreter_->scratch();
  scratch.Grow(interpreter_->LimitsFor(scratch.bytes()), &interpreter_->pool());
  TF_LITE_ENSURE_STATUS(PackConstants());
  if (!interpreter_->exceeds_budget()) return kTfLiteOk;
  // Blocks that persist and constants that were packed before are not limited one by one.
  const size_t used = interpreter_->MemoryUse();
  memory_.Release();
  return Fail(interpreter_->reporter(), kTfLiteError,
              "subgraph %d: expected at most %zu bytes of memory (budget), found %zu",
              parts_->index, interpreter_->memory_budget(), used);
}

int ExecutionPlan::BatchSize(int last_prepared) const {
  const bool is_whole =
      next_to_prepare_ == 0 && static_cast<size_t>(last_prepared) + 1 == graph_->plan().size();
  const DelegateLayer& delegates = *parts_->delegates.layer;
  if (!is_whole || !interpreter_->fuses_nodes() || delegates.any_applied() ||
      !delegates.original_plan().empty() || parts_->has_client_kernel || parts_->built != nullptr ||
      parts_->has_shared_states || memory_.arena().guard_bytes() > 0) {
    return 0;
  }
  for (int index : graph_->inputs()) {
    const TfLiteTensor* const input = graph_->tensor(index);
    if (input != nullptr && input->dims->size >= 2) return input->dims->data[0];
  }
  return 0;
}

TfLiteStatus ExecutionPlan::FormGroups(int last_prepared) {
  fusion_.Discard(next_to_prepare_);
  segments_.clear();
  if (!interpreter_->fuses_nodes()) return kTfLiteOk;
  fusion_.Form(next_to_prepare_, last_prepared);
  const int images = BatchSize(last_prepared);
  if (images < 2) return kTfLiteOk;
  // The ranges do not depend on the number of threads, because a kernel may choose another
  // implementation, with other results, for a micro-batch than for a batch.
  const std::vector<BatchRange> ranges =
      FindBatchRanges(DescribeNodes(*graph_, fusion_.groups(), images, last_prepared + 1), images,
                      SecondLevelCacheBytes());
  if (ranges.empty()) return kTfLiteOk;
  const std::vector<Lifetime> uses = TensorUses(*graph_);
  const size_t requests = pack_requests_.size();
  std::vector<uint8_t> is_prepared_again(static_cast<size_t>(graph_->node_count()));
  segment_of_.assign(static_cast<size_t>(graph_->node_count()), -1);
  for (const BatchRange& range : ranges) {
    BatchSegment segment(*graph_, uses, range, images);
    const std::span<const int> nodes =
        std::span(graph_->plan())
            .subspan(static_cast<size_t>(range.first),
                     static_cast<size_t>(range.last - range.first) + 1);
    for (int node : nodes) is_prepared_again[static_cast<size_t>(node)] = 1;
    if (PrepareMicroBatch(nodes, &segment)) {
      for (int node : nodes) {
        segment_of_[static_cast<size_t>(node)] = static_cast<int>(segments_.size());
      }
      segments_.push_back(std::move(segment));
      continue;
    }
    for (int node : nodes) {
      bool dynamic = false;
      TF_LITE_ENSURE_STATUS(PrepareNode(node, &dynamic));
    }
  }
  // The newer requests replace those of the first preparation.
  size_t request = 0;
  std::erase_if(pack_requests_, [&](const PackRequest& each) {
    return request++ < requests && is_prepared_again[static_cast<size_t>(each.node_index)] != 0;
  });
  fusion_.Discard(0);
  ForEachSection(0, last_prepared, [this](int first, int last) { fusion_.Form(first, last); });
  return kTfLiteOk;
}

bool ExecutionPlan::PrepareMicroBatch(std::span<const int> nodes, BatchSegment* segment) {
  const MicroBatchView view(graph_, segment);
  for (int node : nodes) {
    interpreter_->failure_note().Clear();
    if (RunPrepare(node) != kTfLiteOk) return false;
  }
  return segment->HasMicroBatchShapes(*graph_);
}

template <typename Visit>
void ExecutionPlan::ForEachSection(int first, int last, const Visit& visit) {
  for (BatchSegment& segment : segments_) {
    visit(first, segment.range().first - 1);
    {
      const MicroBatchView view(graph_, &segment);
      visit(segment.range().first, segment.range().last);
    }
    first = segment.range().last + 1;
  }
  visit(first, last);
}

BatchSegment* ExecutionPlan::SegmentOf(int node_index) {
  const int segment = segments_.empty() ? -1 : segment_of_[static_cast<size_t>(node_index)];
  return segment < 0 ? nullptr : &segments_[static_cast<size_t>(segment)];
}

TfLiteStatus ExecutionPlan::PlanMemory(int last_prepared) {
  const Limits limits =
      interpreter_->LimitsFor(memory_.arena().bytes() + memory_.persistent().bytes());
  const MemoryLayout::Nodes nodes = {.first_new = next_to_prepare_,
                                     .last_prepared = last_prepared,
                                     .groups = &fusion_.groups(),
                                     .prepared = &nodes_,
                                     .fuses = interpreter_->fuses_nodes(),
                                     .segments = segments_};
  if (memory_.Plan(nodes, limits, &interpreter_->pool())) {
    for (BatchSegment& segment : segments_) segment.NoteMemory(memory_.arena().slots());
    return kTfLiteOk;
  }
  return Fail(interpreter_->reporter(), kTfLiteError,
              "subgraph %d: no memory for the tensor arena: expected at most %zu bytes",
              parts_->index, limits.max_block_bytes);
}

TfLiteStatus ExecutionPlan::PrepareFrom(int position, int* out_last_prepared) {
  for (; position < static_cast<int>(graph_->plan().size()); ++position) {
    bool dynamic = false;
    const size_t requests = pack_requests_.size();
    TfLiteStatus status = OwnDelegateOutputs(graph_->plan()[position]);
    if (status == kTfLiteOk) status = PrepareNode(graph_->plan()[position], &dynamic);
    if (status != kTfLiteOk) return status;
    // The nodes that a delegate node replaced may have been prepared, too; they need no packed
    // constants.
    if (graph_->node(graph_->plan()[position])->delegate != nullptr)
      pack_requests_.resize(requests);
    *out_last_prepared = position;
    if (dynamic) break;
  }
  return kTfLiteOk;
}

// Gives each output of a delegate node that is a shared constant a copy of its own: interpreters
// share constants that a builtin kernel has computed, but a delegate that computes one writes to
// it.
TfLiteStatus ExecutionPlan::OwnDelegateOutputs(int node_index) {
  const TfLiteNode& node = *graph_->node(node_index);
  if (node.delegate == nullptr) return kTfLiteOk;
  for (int index : IndicesOf(node.outputs)) {
    TfLiteTensor* const output = graph_->tensor(index);
    if (output == nullptr || OwnData(output) == kTfLiteOk) continue;
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no memory for %zu bytes", parts_->index, index,
                NameOf(*output), output->bytes);
  }
  return kTfLiteOk;
}

template <typename Visit>
void ExecutionPlan::ForEachConstantToPack(std::span<const PackRequest> requests,
                                          const Visit& visit) const {
  for (const PackRequest& request : requests) {
    for (int index : IndicesOf(graph_->node(request.node_index)->inputs)) {
      if (index < 0) continue;
      const TfLiteTensor& tensor = graph_->tensors()[static_cast<size_t>(index)];
      if (IsConstant(tensor)) visit(tensor);
    }
  }
}

TfLiteStatus ExecutionPlan::PackConstants() {
  const Model& model = interpreter_->model();
  const std::vector<PackRequest> requests = std::exchange(pack_requests_, {});
  size_t bytes = 0, computed_bytes = 0;
  ForEachConstantToPack(requests, [&](const TfLiteTensor& tensor) {
    (tensor.allocation_type == kTfLiteMmapRo ? bytes : computed_bytes) += tensor.bytes;
  });
  PackedConstants& own = interpreter_->node_constants();
  PackedConstants& shared = interpreter_->packed_constants();
  // Estimate of the packed bytes. Several nodes may use one constant, so constants of the file
  // count at most its size, and computed ones (such as float32 copies of float16) at most twice
  // that. Computed constants are stored both plain and packed.
  const size_t file_bytes = model.bytes().size();
  shared.Expect(std::min(bytes, file_bytes) + 2 * std::min(computed_bytes, 2 * file_bytes));
  const size_t own_before = own.bytes();
  const size_t packed_before = shared.bytes();
  // Minimum size of a constant whose pages are released: smaller ones, such as biases, share pages
  // with data that inferences read.
  constexpr size_t kLarge = 64 << 10;
  for (const PackRequest& request : requests) {
    const size_t before = shared.bytes();
    interpreter_->failure_note().Clear();
    std::optional<MicroBatchView> view;
    if (BatchSegment* const segment = SegmentOf(request.node_index)) view.emplace(graph_, segment);
    const TfLiteStatus status = request.pack(&parts_->context, graph_->node(request.node_index));
    if (status != kTfLiteOk) {
      return ReportNodeFailure(parts_, request.node_index, status, "failed to prepare.");
    }
    if (shared.bytes() == before) continue;
    ForEachConstantToPack({&request, 1}, [&](const TfLiteTensor& tensor) {
      if (tensor.bytes >= kLarge) model.ReleasePages(tensor.data.data, tensor.bytes);
    });
  }
  if (own.bytes() != own_before) own.ReleaseUnused();
  if (shared.bytes() != packed_before) shared.ReleaseUnused();
  fusion_.UpdateLateConstants(next_to_prepare_, [this](int tensor) { return HasContents(tensor); });
  return kTfLiteOk;
}

TfLiteStatus ExecutionPlan::PrepareNode(int node_index, bool* out_dynamic) {
  TfLiteStatus status = interpreter_->CheckCancellation();
  if (status != kTfLiteOk) return status;
  graph_->EnsureTensorCapacity();
  const bool replaces = graph_->node(node_index)->delegate != nullptr;
  const bool kept = interpreter_->keeps_replaced_nodes() && replaces;
  const std::vector<SharedShape> shared = shared_shapes_.Of(*graph_, node_index);
  if (kept || (replaces && NeedsInferredShapes(node_index))) {
    status = parts_->delegates.fallback->InferReplacedShapes(node_index);
  }
  const bool cancelled = status == kTfLiteCancelled;
  if (status == kTfLiteOk) {
    interpreter_->failure_note().Clear();
    status = RunPrepare(node_index);
  }
  if (!KeepShapes(shared)) status = kTfLiteError;
  if (kept && !cancelled && status != kTfLiteOutputShapeNotKnown) {
    status = parts_->delegates.fallback->CheckPrepareResult(node_index, status);
  }
  if (status != kTfLiteOk && status != kTfLiteOutputShapeNotKnown) {
    return ReportNodeFailure(parts_, node_index, status, "failed to prepare.");
  }
  *out_dynamic = status == kTfLiteOutputShapeNotKnown ||
                 graph_->HasDynamicTensor(IndicesOf(graph_->node(node_index)->outputs));
  return kTfLiteOk;
}

// Returns true for a delegate in NCHW, which gets all shapes, and if nodes after a delegate node
// may read a shape that the replaced nodes compute in their prepare.
bool ExecutionPlan::NeedsInferredShapes(int node_index) const {
  const TfLiteNode& node = *graph_->node(node_index);
  const std::span<const int> outputs = IndicesOf(node.outputs);
  return ComputesInNchw(node) || std::any_of(outputs.begin(), outputs.end(), [&](int index) {
           return index >= 0 && IsComputedShape(graph_->tensors()[static_cast<size_t>(index)]);
         });
}

bool ExecutionPlan::KeepShapes(const std::vector<SharedShape>& shared) {
  bool kept = true;
  for (const SharedShape& before : shared) {
    TfLiteTensor& now = graph_->tensors()[before.tensor];
    if (before.Holds(now)) continue;
    if (kept) {
      char text[256];
      snprintf(text, sizeof text, "tensor %d '%.64s': %s", before.tensor, NameOf(now),
               before.Difference(now).c_str());
      interpreter_->failure_note().Set(text);
    }
    kept = false;
    // The shape is restored, since otherwise no later allocation could succeed.
    if (now.allocation_type != before.allocation_type) TfLiteTensorDataFree(&now);
    now.allocation_type = before.allocation_type;
    now.type = before.type;
    TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(before.dims.size()));
    if (dims == nullptr) throw std::bad_alloc();
    std::copy(before.dims.begin(), before.dims.end(), dims->data);
    ResizeTensor(&now, dims);
  }
  return kept;
}

TfLiteStatus ExecutionPlan::RunPrepare(int node_index) {
  TfLiteNode& node = *graph_->node(node_index);
  const TfLiteRegistration& registration = *graph_->registration(node_index);
  const size_t tensors_before = graph_->tensors().size();
  nodes_.Clear(node_index);
  const int outer_node = std::exchange(preparing_node_, node_index);
  const CallResult result =
      CallPrepare(interpreter_->call_observer(), CallOf(parts_, Callback::kPrepare, node_index),
                  registration, &node);
  preparing_node_ = outer_node;
  if (result.exception != nullptr) interpreter_->failure_note().Set(result.exception);
  const TfLiteStatus checked = CheckNodeIndices(parts_, node_index);
  parts_->delegates.layer->NotePrepared(node_index, tensors_before);
  return checked == kTfLiteOk ? result.status : kTfLiteError;
}

void ExecutionPlan::MarkReadTensors() {
  // Nodes that a delegate has claimed may have to run on the CPU.
  const bool any =
      interpreter_->keeps_replaced_nodes() && !parts_->delegates.layer->original_plan().empty();
  read_.assign(graph_->tensors().size(), any);
  for (int index : graph_->outputs()) {
    if (index >= 0) read_[index] = true;
  }
  for (int node_index : graph_->plan()) {
    const TfLiteIntArray* inputs = graph_->node(node_index)->inputs;
    for (int i = 0; i < inputs->size; ++i) {
      if (inputs->data[i] >= 0) read_[inputs->data[i]] = true;
    }
  }
}

TfLiteStatus ExecutionPlan::ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims) {
  bool changed = false;
  const TfLiteStatus status = deputy::ResizeTensor(parts_, tensor, new_dims, &changed);
  tensor_resized_ = tensor_resized_ || changed;
  return status;
}

bool ExecutionPlan::TensorIsRead(int tensor_index) const {
  // Tensors added since MarkReadTensors count as read, which costs time but keeps results correct.
  return tensor_index < 0 || static_cast<size_t>(tensor_index) >= read_.size() ||
         read_[static_cast<size_t>(tensor_index)];
}

// ---- Declarations of kernels --------------------------------------------------------------------

bool ExecutionPlan::IsPreparing(const TfLiteNode* node) const {
  return preparing_node_ >= 0 && node == graph_->node(preparing_node_);
}

PreparedNode& ExecutionPlan::Preparing() {
  return nodes_.Edit(preparing_node_, graph_->node_count());
}

void ExecutionPlan::OfferFusion(const TfLiteNode* node, const FusionOffer& offer) {
  if (IsPreparing(node)) Preparing().fusion = offer;
}

void ExecutionPlan::OfferViews(const TfLiteNode* node, const ViewOffer& offer) {
  if (IsPreparing(node)) Preparing().views = offer;
}

void ExecutionPlan::RequestPacking(const TfLiteNode* node, PackFunction pack) {
  if (IsPreparing(node)) pack_requests_.push_back({preparing_node_, pack});
}

void ExecutionPlan::NoteImplementation(const char* name) {
  if (preparing_node_ >= 0) Preparing().implementation = name;
}

void ExecutionPlan::NoteContents(int tensor_index) {
  has_contents_.resize(graph_->tensors().size());
  has_contents_[static_cast<size_t>(tensor_index)] = true;
}

bool ExecutionPlan::HasContents(int tensor_index) const {
  return static_cast<size_t>(tensor_index) < has_contents_.size() &&
         has_contents_[static_cast<size_t>(tensor_index)];
}

// ---- Facts for tools ----------------------------------------------------------------------------

const PlannedGroup* ExecutionPlan::GroupAt(int position) const {
  return position < 0 ? nullptr : fusion_.groups().At(position);
}

int ExecutionPlan::group_head(int position, int* out_nodes) const {
  const PlannedGroup* const group = GroupAt(position);
  const bool alone = group == nullptr || group->nodes.size() < 2;
  *out_nodes = alone ? 0 : static_cast<int>(group->nodes.size());
  return alone ? -1 : graph_->plan()[static_cast<size_t>(group->head)];
}

PixelStride ExecutionPlan::output_stride(int position) const {
  const PlannedGroup* const group = GroupAt(position);
  const auto* const layer = group == nullptr ? nullptr : std::get_if<LayerRun>(&group->run);
  return layer == nullptr ? PixelStride() : layer->output_stride;
}

const char* ExecutionPlan::implementation(int node_index) const {
  const char* const name = nodes_.Of(node_index).implementation;
  return name == nullptr ? "" : name;
}

}  // namespace deputy
