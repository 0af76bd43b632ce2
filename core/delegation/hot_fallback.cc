// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/hot_fallback.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/delegate_call.h"
#include "core/base/delegate_params.h"
#include "core/delegation/delegation.h"
#include "core/delegation/fp16_weights.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Adds the time of its own life to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(int64_t* total_ns) : total_ns_(total_ns) {}
  ~Stopwatch() {
    const auto taken = std::chrono::steady_clock::now() - begin_;
    *total_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  int64_t* const total_ns_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

// ---- Which nodes a delegate's node stands for ---------------------------------------------------

// A later delegate may have taken an earlier one's node: what counts is the nodes of the CPU.
void HotFallback::Flatten(int node_index, std::vector<int>* out_nodes) const {
  const TfLiteNode& node = *subgraph_->node(node_index);
  if (node.delegate == nullptr) {
    out_nodes->push_back(node_index);
    return;
  }
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) Flatten(replaced->data[i], out_nodes);
}

HotFallback::Partition& HotFallback::PartitionOf(int node_index) {
  const auto [entry, fresh] = partitions_.try_emplace(subgraph_->graph().id(node_index));
  if (fresh) {
    std::vector<int>& nodes = entry->second.nodes;
    Flatten(node_index, &nodes);
    // The model's nodes are numbered in the order of its plan.
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return entry->second;
}

void HotFallback::Invalidate() {
  partitions_.clear();
  known_shapes_.clear();
  ResetScratch();
  statistics_.reserved_bytes = 0;
}

int64_t HotFallback::RecomputedCount(int node_index) const {
  const auto entry = partitions_.find(subgraph_->graph().id(node_index));
  return entry == partitions_.end() ? 0 : entry->second.recomputed;
}

// ---- While tensors are allocated ----------------------------------------------------------------

TfLiteStatus HotFallback::InferReplacedShapes(int node_index) {
  const Partition& partition = PartitionOf(node_index);
  const TfLiteIntArray* outputs = subgraph_->node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) known_shapes_.erase(outputs->data[i]);
  const WidenedInputs widened(subgraph_, DelegationOf(subgraph_).fp16_weights(), partition.nodes);
  for (int replaced : partition.nodes) {
    subgraph_->graph().EnsureTensorCapacity();
    // An operator that only the delegate has is no failure: its shapes are the delegate's to say.
    const TfLiteStatus status = subgraph_->RunPrepare(replaced);
    if (status == kTfLiteCancelled) return status;
    if (status != kTfLiteOk) return kTfLiteOk;
    if (subgraph_->graph().HasDynamicTensor(IndicesOf(subgraph_->node(replaced)->outputs)))
      return kTfLiteOk;
  }
  for (int i = 0; i < outputs->size; ++i) {
    if (outputs->data[i] < 0) continue;
    const TfLiteIntArray* dims = subgraph_->graph().tensors()[outputs->data[i]].dims;
    known_shapes_[outputs->data[i]].assign(dims->data, dims->data + dims->size);
  }
  return kTfLiteOk;
}

bool HotFallback::OutputsKeptTheirShapes(int node_index) const {
  const TfLiteIntArray* outputs = subgraph_->node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    const auto known = known_shapes_.find(outputs->data[i]);
    if (known == known_shapes_.end()) continue;
    const TfLiteTensor& output = subgraph_->graph().tensors()[outputs->data[i]];
    const int rank = static_cast<int>(known->second.size());
    if (output.dims != nullptr &&
        TfLiteIntArrayEqualsArray(output.dims, rank, known->second.data()) != 0) {
      continue;
    }
    Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
         "subgraph %d node %d %s: tensor %d '%s': expected the shape that the replaced nodes give, "
         "found another",
         subgraph_->index(), node_index, OperatorName(subgraph_->registration(node_index)),
         outputs->data[i], output.name == nullptr ? "" : output.name);
    return false;
  }
  return true;
}

TfLiteStatus HotFallback::CheckPrepareResult(int node_index, TfLiteStatus status) {
  if (status == kTfLiteOk && !OutputsKeptTheirShapes(node_index)) status = kTfLiteError;
  Partition& partition = PartitionOf(node_index);
  partition.prepared = status == kTfLiteOk;
  if (status == kTfLiteOk) return kTfLiteOk;
  // While a delegate is being applied its failure takes it away as a whole.
  if (DelegationOf(subgraph_).applying()) return status;
  if (GiveOutputsKnownShapes(node_index) != kTfLiteOk) return kTfLiteError;
  LeaveUnknownShapesOpen(node_index);
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d %s: its %zu nodes will be computed on the CPU", subgraph_->index(),
      node_index, OperatorName(subgraph_->registration(node_index)), partition.nodes.size());
  return kTfLiteOk;
}

TfLiteStatus HotFallback::GiveOutputsKnownShapes(int node_index) {
  const TfLiteIntArray* outputs = subgraph_->node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    if (outputs->data[i] < 0) continue;
    TfLiteTensor& output = subgraph_->graph().tensors()[outputs->data[i]];
    const auto known = known_shapes_.find(outputs->data[i]);
    if (known == known_shapes_.end()) continue;
    TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(known->second.size()));
    if (dims == nullptr) return kTfLiteError;
    std::copy(known->second.begin(), known->second.end(), dims->data);
    if (subgraph_->ResizeTensor(&output, dims) != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

// The replaced nodes give such outputs a shape when they run.
void HotFallback::LeaveUnknownShapesOpen(int node_index) {
  const TfLiteIntArray* outputs = subgraph_->node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    if (outputs->data[i] < 0 || known_shapes_.count(outputs->data[i]) != 0) continue;
    TfLiteTensor& output = subgraph_->graph().tensors()[outputs->data[i]];
    if (output.allocation_type != kTfLiteArenaRw) continue;
    output.allocation_type = kTfLiteDynamic;
    output.data.raw = nullptr;
  }
}

TfLiteStatus HotFallback::Reserve() {
  // One partition at a time needs scratch memory; constants stay.
  size_t scratch_bytes = 0, constant_bytes = 0;
  for (int node_index : subgraph_->plan()) {
    if (subgraph_->node(node_index)->delegate == nullptr) continue;
    const Partition& partition = PartitionOf(node_index);
    ResetScratch();
    if (!PlanScratch(partition, partition.nodes.size())) {
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                  "subgraph %d node %d: no memory to compute its %zu nodes on the CPU",
                  subgraph_->index(), node_index, partition.nodes.size());
    }
    scratch_bytes = std::max(scratch_bytes, scratch_.bytes());
    constant_bytes += ComputedConstants(partition);
  }
  ResetScratch();
  statistics_.reserved_bytes = scratch_bytes + constant_bytes;
  return kTfLiteOk;
}

// Bytes of constants that replaced nodes keep for the CPU, such as weights in float32.
size_t HotFallback::ComputedConstants(const Partition& partition) const {
  size_t bytes = 0;
  for (int node_index : partition.nodes) {
    const TfLiteIntArray* outputs = subgraph_->node(node_index)->outputs;
    for (int i = 0; i < outputs->size; ++i) {
      const TfLiteTensor* output = subgraph_->tensor(outputs->data[i]);
      const bool constant = output != nullptr && output->allocation_type == kTfLitePersistentRo;
      if (constant && output->data.raw != nullptr) bytes += output->bytes;
    }
  }
  return bytes;
}

// Memory for what the first `end` nodes write or use up and the arena does not hold. Work and
// memory are the partition's size, not the graph's: a graph may have thousands of partitions.
bool HotFallback::PlanScratch(const Partition& partition, size_t end) {
  std::vector<Arena::Slot> slots(scratch_slots_.size());
  const auto include = [&](const TfLiteIntArray* indices, size_t step, bool comes_to_life) {
    for (int i = 0; i < indices->size; ++i) {
      const int index = indices->data[i];
      if (!NeedsScratch(index)) continue;
      auto entry = scratch_slots_.find(index);
      if (entry == scratch_slots_.end()) {
        if (!comes_to_life) continue;
        entry = scratch_slots_.emplace(index, static_cast<int>(slots.size())).first;
        slots.emplace_back();
      }
      Arena::Slot& slot = slots[entry->second];
      if (!comes_to_life && !slot.lifetime.used()) continue;
      slot.bytes = subgraph_->graph().tensors()[index].bytes;
      slot.lifetime.Include(static_cast<int>(step));
    }
  };
  for (size_t step = 0; step < partition.nodes.size(); ++step) {
    const TfLiteNode& node = *subgraph_->node(partition.nodes[step]);
    include(node.inputs, step, false);
    if (step >= end) continue;
    include(node.outputs, step, true);
    include(node.temporaries, step, true);
  }
  return scratch_.Plan(slots, subgraph_->limits());
}

bool HotFallback::NeedsScratch(int tensor_index) const {
  if (tensor_index < 0) return false;
  const TfLiteAllocationType type = subgraph_->graph().tensors()[tensor_index].allocation_type;
  return (type == kTfLiteArenaRw || type == kTfLiteArenaRwPersistent) &&
         subgraph_->arena().Address(tensor_index) == nullptr &&
         subgraph_->persistent().Address(tensor_index) == nullptr;
}

void HotFallback::ResetScratch() {
  scratch_.Reset();
  scratch_slots_.clear();
}

// ---- While the model runs -----------------------------------------------------------------------

bool HotFallback::BeginRun() {
  lost_ = nullptr;
  variables_at_start_.Clear();
  if (!subgraph_->delegation().any_applied()) return false;
  SaveVariablesOf(subgraph_);
  subgraph_->interpreter()->BeginRestartable(this);
  return true;
}

void HotFallback::EndRun() { subgraph_->interpreter()->EndRestartable(); }

void HotFallback::SaveVariablesOf(Subgraph* subgraph) {
  if (subgraph->variables().empty()) return;
  const Stopwatch watch(&statistics_.saving_ns);
  variables_at_start_.Save(subgraph);
}

bool HotFallback::degraded() const {
  return degraded_in_ > 0 && degraded_in_ == subgraph_->interpreter()->inference();
}

bool HotFallback::BackingOff(const Partition& partition) const {
  return subgraph_->interpreter()->inference() < partition.retry_at;
}

void HotFallback::BackOff(Partition* partition) {
  const int retry = subgraph_->interpreter()->delegate_retry();
  partition->retry_at = retry < 0 ? std::numeric_limits<int64_t>::max()
                                  : subgraph_->interpreter()->inference() + 1 + retry;
}

TfLiteStatus HotFallback::InvokeNode(int node_index) {
  Partition& partition = PartitionOf(node_index);
  if (BackingOff(partition) || !partition.prepared) return Recompute(node_index);

  variables_of_node_.Clear();
  if (!subgraph_->variables().empty()) {
    const Stopwatch watch(&statistics_.saving_ns);
    const TfLiteIntArray* inputs = subgraph_->node(node_index)->inputs;
    for (int i = 0; i < inputs->size; ++i) {
      const int index = inputs->data[i];
      if (index < 0 || !subgraph_->graph().tensors()[index].is_variable) continue;
      variables_of_node_.Save(index, subgraph_->graph().tensors()[index]);
    }
  }
  const TfLiteStatus status = subgraph_->RunKernel(node_index);
  if (status == kTfLiteOk && OutputsKeptTheirShapes(node_index)) return kTfLiteOk;
  if (status == kTfLiteCancelled) {
    return subgraph_->ReportNodeFailure(node_index, status, "failed to invoke.");
  }
  if (status != kTfLiteOk) {
    subgraph_->ReportNodeFailure(node_index, kTfLiteError, "failed to invoke.");
  }
  variables_of_node_.PutBack(subgraph_->graph().tensors());
  BackOff(&partition);
  return Recompute(node_index);
}

TfLiteStatus HotFallback::Recompute(int node_index) {
  Partition& partition = PartitionOf(node_index);
  const TfLiteNode& node = *subgraph_->node(node_index);
  // Whatever the delegate holds of them is older than what comes now.
  for (int i = 0; i < node.outputs->size; ++i) {
    if (node.outputs->data[i] >= 0)
      subgraph_->graph().tensors()[node.outputs->data[i]].data_is_stale = false;
  }
  // A kernel that gave an output another shape took it away from its place in the arena.
  if (GiveOutputsKnownShapes(node_index) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < node.outputs->size; ++i) {
    if (node.outputs->data[i] >= 0) subgraph_->PointIntoArena(node.outputs->data[i]);
  }
  const TfLiteStatus status = RunReplaced(partition);
  ForgetScratchAddresses();
  if (status != kTfLiteOk) return status;
  degraded_in_ = subgraph_->interpreter()->inference();
  ++statistics_.recomputed;
  ++partition.recomputed;
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d %s: its %zu nodes were computed on the CPU", subgraph_->index(),
      node_index, OperatorName(subgraph_->registration(node_index)), partition.nodes.size());
  return kTfLiteOk;
}

TfLiteStatus HotFallback::RunReplaced(const Partition& partition) {
  const WidenedInputs widened(subgraph_, DelegationOf(subgraph_).fp16_weights(), partition.nodes);
  size_t prepared = 0;
  for (size_t i = 0; i < partition.nodes.size(); ++i) {
    if (i >= prepared) {
      const TfLiteStatus status = PrepareSome(partition, i, &prepared);
      if (status != kTfLiteOk) return status;
    }
    const int node_index = partition.nodes[i];
    if (subgraph_->CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
    const TfLiteStatus status = subgraph_->RunKernel(node_index);
    if (status == kTfLiteCancelled) return status;
    if (status != kTfLiteOk) {
      return subgraph_->ReportNodeFailure(node_index, kTfLiteError, "failed to invoke.");
    }
  }
  return kTfLiteOk;
}

// Prepares nodes up to the first whose output shapes are not known before it has run, and gives
// them memory.
TfLiteStatus HotFallback::PrepareSome(const Partition& partition, size_t begin, size_t* out_end) {
  const AllocationPass pass(subgraph_->interpreter());
  size_t end = begin;
  bool dynamic = false;
  while (end < partition.nodes.size() && !dynamic) {
    const TfLiteStatus status = subgraph_->PrepareNode(partition.nodes[end], &dynamic);
    if (status != kTfLiteOk) return status;
    ++end;
  }
  if (!PlanScratch(partition, end)) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: no memory to compute a delegate's nodes on the CPU",
                subgraph_->index());
  }
  for (const auto& [tensor, slot] : scratch_slots_) {
    char* const address = scratch_.Address(slot);
    if (address != nullptr) subgraph_->graph().tensors()[tensor].data.raw = address;
  }
  *out_end = end;
  return kTfLiteOk;
}

void HotFallback::ForgetScratchAddresses() {
  for (const auto& [tensor, slot] : scratch_slots_) {
    if (scratch_.Address(slot) != nullptr) subgraph_->graph().tensors()[tensor].data.raw = nullptr;
  }
  ResetScratch();
}

bool HotFallback::RestartInference() {
  if (lost_ == nullptr) return false;
  bool changed = false;
  for (int node_index : subgraph_->plan()) {
    if (subgraph_->node(node_index)->delegate != lost_) continue;
    Partition& partition = PartitionOf(node_index);
    if (BackingOff(partition)) continue;
    BackOff(&partition);
    changed = true;
  }
  if (!changed) return false;
  for (TfLiteTensor& tensor : subgraph_->graph().tensors()) {
    if (tensor.delegate == lost_) tensor.data_is_stale = false;
  }
  lost_ = nullptr;
  {
    // Short of a state to start from, there is nothing else to do than to fail.
    const CancelScope uninterrupted(subgraph_->interpreter(), nullptr);
    if (variables_at_start_.PutBack() != kTfLiteOk) return false;
  }
  degraded_in_ = subgraph_->interpreter()->inference();
  ++statistics_.restarts;
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d: a delegate lost its tensors; the inference starts over without it",
      subgraph_->index());
  return true;
}

}  // namespace deputy
