// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/hot_fallback.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/delegate_call.h"
#include "core/base/delegate_params.h"
#include "core/delegation/delegation.h"
#include "core/delegation/fp16_weights.h"
#include "core/delegation/perturbed_inputs.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// RAII guard: adds the time of its scope to a counter.
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

void HotFallback::Invalidate() {
  partitions_.Clear();
  known_shapes_.Clear();
  scratch_.Reset();
  statistics_.reserved_bytes = 0;
}

int64_t HotFallback::RecomputedCount(int node_index) const {
  const FallbackPartition* partition = partitions_.Find(node_index);
  return partition == nullptr ? 0 : partition->recomputed;
}

// ---- While tensors are allocated ----------------------------------------------------------------

// Discards output shapes computed in an earlier pass. An output that the replaced nodes do not
// compute again in this pass has an unknown shape until the delegate has run.
void HotFallback::ForgetComputedShapes(int node_index) {
  for (const int index : IndicesOf(subgraph_->graph().node(node_index)->outputs)) {
    if (index < 0) continue;
    TfLiteTensor& tensor = *subgraph_->graph().tensor(index);
    const bool was_unknown = tensor.allocation_type == kTfLiteDynamic &&
                             ComputesInNchw(*subgraph_->graph().node(node_index));
    if (!was_unknown && !IsComputedShape(tensor)) continue;
    TfLiteTensorDataFree(&tensor);
    tensor.allocation_type = kTfLiteArenaRw;
  }
}

TfLiteStatus HotFallback::InferReplacedShapes(int node_index) {
  const FallbackPartition& partition = partitions_.Of(node_index);
  const Graph& graph = subgraph_->graph();
  known_shapes_.Forget(IndicesOf(graph.node(node_index)->outputs));
  ForgetComputedShapes(node_index);
  const WidenedInputs widened(&subgraph_->graph(), DelegationOf(subgraph_).fp16_weights(),
                              partition.nodes);
  std::vector<int> unknown;  // tensors whose shapes the delegate sets
  for (int replaced : partition.model_nodes) {
    subgraph_->graph().EnsureTensorCapacity();
    const std::span<const int> inputs = IndicesOf(graph.node(replaced)->inputs),
                               outputs = IndicesOf(graph.node(replaced)->outputs);
    const bool is_known = std::find_first_of(inputs.begin(), inputs.end(), unknown.begin(),
                                             unknown.end()) == inputs.end();
    if (is_known) {
      // An operator that only the delegate implements is not a failure.
      const TfLiteStatus status = subgraph_->execution_plan().RunPrepare(replaced);
      if (status == kTfLiteCancelled) return status;
      const bool is_dynamic = graph.HasDynamicTensor(IndicesOf(graph.node(replaced)->outputs));
      if (status == kTfLiteOk && !is_dynamic) continue;
      if (!ComputesInNchw(*graph.node(node_index))) return kTfLiteOk;
      if (is_dynamic) return RefuseDynamicShape(replaced);
    }
    unknown.insert(unknown.end(), outputs.begin(), outputs.end());
  }
  TF_LITE_ENSURE_STATUS(DelegationOf(subgraph_).layout().PropagateShapes(partition.model_nodes));
  if (unknown.empty()) known_shapes_.Note(IndicesOf(graph.node(node_index)->outputs));
  return kTfLiteOk;
}

// A delegate in NCHW gets the shapes of all tensors.
TfLiteStatus HotFallback::RefuseDynamicShape(int replaced) {
  const std::string text =
      "node " + std::to_string(replaced) + " " +
      OperatorName(*subgraph_->graph().registration(replaced)) +
      ": its shape depends on values; a delegate in NCHW needs it before the run";
  subgraph_->interpreter()->failure_note().Set(text.c_str());
  return kTfLiteError;
}

bool HotFallback::OutputsHaveKnownShapes(int node_index) const {
  const int changed =
      known_shapes_.FindChanged(IndicesOf(subgraph_->graph().node(node_index)->outputs));
  if (changed < 0) return true;
  const char* const name = subgraph_->graph().tensor(changed)->name;
  Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
       "subgraph %d node %d %s: tensor %d '%s': expected the shape inferred from the replaced "
       "nodes, found another",
       subgraph_->index(), node_index, OperatorName(*subgraph_->graph().registration(node_index)),
       changed, name == nullptr ? "" : name);
  return false;
}

TfLiteStatus HotFallback::CheckPrepareResult(int node_index, TfLiteStatus status) {
  if (!subgraph_->interpreter()->hot()) return status;
  if (status == kTfLiteOk && !OutputsHaveKnownShapes(node_index)) status = kTfLiteError;
  FallbackPartition& partition = partitions_.Of(node_index);
  partition.prepared = status == kTfLiteOk;
  if (status == kTfLiteOk) return kTfLiteOk;
  // While a delegate is being applied, a failure rejects it as a whole.
  if (DelegationOf(subgraph_).applying()) return status;
  if (ApplyKnownShapes(node_index) != kTfLiteOk) return kTfLiteError;
  known_shapes_.MakeOthersDynamic(IndicesOf(subgraph_->graph().node(node_index)->outputs));
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d %s: its %zu nodes will be computed on the CPU", subgraph_->index(),
      node_index, OperatorName(*subgraph_->graph().registration(node_index)),
      partition.model_nodes.size());
  return kTfLiteOk;
}

TfLiteStatus HotFallback::ApplyKnownShapes(int node_index) {
  for (const int index : IndicesOf(subgraph_->graph().node(node_index)->outputs)) {
    const std::vector<int>* known = known_shapes_.Find(index);
    if (known == nullptr) continue;
    TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(known->size()));
    if (dims == nullptr) return kTfLiteError;
    std::copy(known->begin(), known->end(), dims->data);
    if (subgraph_->ResizeTensor(subgraph_->graph().tensor(index), dims) != kTfLiteOk)
      return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus HotFallback::Reserve() {
  // Only one partition at a time needs scratch memory; constants are kept.
  size_t scratch_bytes = 0, constant_bytes = 0;
  for (int node_index : subgraph_->graph().plan()) {
    if (subgraph_->graph().node(node_index)->delegate == nullptr) continue;
    const FallbackPartition& partition = partitions_.Of(node_index);
    scratch_.Reset();
    if (!scratch_.Plan(partition.nodes, partition.nodes.size(), subgraph_->interpreter()->limits(),
                       partition.hidden)) {
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                  "subgraph %d node %d: no memory to compute its %zu nodes on the CPU",
                  subgraph_->index(), node_index, partition.model_nodes.size());
    }
    scratch_bytes = std::max(scratch_bytes, scratch_.bytes());
    constant_bytes += ComputedConstants(partition);
  }
  scratch_.Reset();
  statistics_.reserved_bytes = scratch_bytes + constant_bytes;
  return kTfLiteOk;
}

// Returns the size of constants that replaced nodes keep for the CPU, such as float32 weights.
size_t HotFallback::ComputedConstants(const FallbackPartition& partition) const {
  size_t bytes = 0;
  for (int node_index : partition.nodes) {
    const TfLiteIntArray* outputs = subgraph_->graph().node(node_index)->outputs;
    for (int i = 0; i < outputs->size; ++i) {
      const TfLiteTensor* output = subgraph_->graph().tensor(outputs->data[i]);
      const bool constant = output != nullptr && output->allocation_type == kTfLitePersistentRo;
      if (constant && output->data.raw != nullptr) bytes += output->bytes;
    }
  }
  return bytes;
}

// ---- While the model runs -----------------------------------------------------------------------

bool HotFallback::BeginRun() {
  lost_ = nullptr;
  variables_at_start_.Clear();
  if (!subgraph_->delegation().any_applied()) return false;
  SaveVariablesOf(subgraph_);
  resources_at_start_ = subgraph_->interpreter()->resources().Save();
  subgraph_->interpreter()->BeginRestartable(this);
  return true;
}

void HotFallback::EndRun() {
  subgraph_->interpreter()->EndRestartable();
  resources_at_start_ = {};
}

void HotFallback::SaveVariablesOf(Subgraph* subgraph) {
  if (subgraph->graph().variables().empty()) return;
  const Stopwatch watch(&statistics_.saving_ns);
  variables_at_start_.Save(subgraph);
}

bool HotFallback::degraded() const {
  return degraded_in_ > 0 && degraded_in_ == subgraph_->interpreter()->inference();
}

TfLiteStatus HotFallback::InvokeNode(int node_index) {
  FallbackPartition& partition = partitions_.Of(node_index);
  InterpreterState& interpreter = *subgraph_->interpreter();
  if (partition.BackingOff(interpreter.inference()) || !partition.prepared) {
    return Recompute(node_index);
  }
  SaveVariableInputs(node_index, &variables_of_node_);
  const bool verifies = partition.verifiable && interpreter.verification().IsDue(partition.runs++);
  Resources::Snapshot resources;
  if (verifies) resources = interpreter.resources().Save();
  const TfLiteStatus status = subgraph_->execution_plan().RunKernel(node_index);
  if (status == kTfLiteOk && (!interpreter.hot() || OutputsHaveKnownShapes(node_index))) {
    return verifies ? Verify(node_index, resources) : kTfLiteOk;
  }
  if (status == kTfLiteCancelled || !interpreter.hot()) {
    return ReportNodeFailure(&subgraph_->parts(), node_index,
                             status == kTfLiteCancelled ? status : kTfLiteError,
                             "failed to invoke.");
  }
  if (status != kTfLiteOk) {
    ReportNodeFailure(&subgraph_->parts(), node_index, kTfLiteError, "failed to invoke.");
  }
  variables_of_node_.Restore(subgraph_->graph().tensors());
  partition.BackOff(interpreter.inference(), interpreter.delegate_retry());
  return Recompute(node_index);
}

void HotFallback::SaveVariableInputs(int node_index, SavedContents* out_saved) {
  out_saved->Clear();
  if (subgraph_->graph().variables().empty()) return;
  const Stopwatch watch(&statistics_.saving_ns);
  for (const int index : IndicesOf(subgraph_->graph().node(node_index)->inputs)) {
    if (index < 0 || !subgraph_->graph().tensors()[index].is_variable) continue;
    out_saved->Save(index, subgraph_->graph().tensors()[index]);
  }
}

// ---- Verification -------------------------------------------------------------------------------

// Returns true if the CPU nodes write the same memory as the delegate: no output is dynamic or of
// strings, and all have the shapes of the nodes and can be read.
bool HotFallback::CanCompare(int node_index) {
  const std::span<const int> outputs = IndicesOf(subgraph_->graph().node(node_index)->outputs);
  if (known_shapes_.FindChanged(outputs) >= 0) return false;
  return std::all_of(outputs.begin(), outputs.end(), [&](int index) {
    if (index < 0) return true;
    const TfLiteTensor& output = subgraph_->graph().tensors()[index];
    return output.allocation_type != kTfLiteDynamic && output.type != kTfLiteString &&
           subgraph_->EnsureReadable(index) == kTfLiteOk &&
           (output.data.raw != nullptr || output.bytes == 0);
  });
}

// Returns the first output whose `found` contents differ from its current ones by more than the
// tolerance. `spread` is an additional tolerance per output; empty: none.
std::optional<HotFallback::WrongOutput> HotFallback::FindWrong(
    int node_index, const SavedContents& found, std::span<const double> spread) const {
  const size_t nodes = partitions_.Find(node_index)->nodes.size();
  const std::span<const int> outputs = IndicesOf(subgraph_->graph().node(node_index)->outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] < 0) continue;
    const TfLiteTensor& expected = *subgraph_->graph().tensor(outputs[i]);
    const std::span<const char> bytes = found.Find(outputs[i]);
    if (bytes.size() != expected.bytes || expected.data.raw == nullptr) continue;
    const auto wrong =
        FindWrongElement(expected, bytes.data(), nodes, spread.empty() ? 0 : spread[i],
                         subgraph_->interpreter()->verification());
    if (wrong) return WrongOutput{outputs[i], *wrong};
  }
  return std::nullopt;
}

// Returns how much a correct delegate's outputs may differ for these inputs: as much as the CPU's
// outputs change if the last bits of the inputs change, times a factor for the intermediate
// roundings. Restores all state.
std::vector<double> HotFallback::SpreadOfRounding(int node_index,
                                                  const Resources::Snapshot& resources_before) {
  constexpr double kRoundingFactor = 8;
  const std::span<TfLiteTensor> tensors = subgraph_->graph().tensors();
  const std::span<const int> outputs = IndicesOf(subgraph_->graph().node(node_index)->outputs);
  SavedContents expected, variables_after;
  for (const int index : outputs) {
    if (index >= 0) expected.Save(index, tensors[static_cast<size_t>(index)]);
  }
  SaveVariableInputs(node_index, &variables_after);
  Resources& resources = subgraph_->interpreter()->resources();
  const Resources::Snapshot resources_after = resources.Save();
  std::vector<double> spread;
  {
    const PerturbedInputs perturbed(tensors,
                                    IndicesOf(subgraph_->graph().node(node_index)->inputs));
    if (perturbed.empty()) return spread;
    variables_of_node_.Restore(tensors);
    resources.Restore(resources_before);
    const TfLiteStatus status = RunReplaced(partitions_.Of(node_index));
    scratch_.ForgetAddresses();
    if (status == kTfLiteOk) spread.resize(outputs.size());
  }
  for (size_t i = 0; i < spread.size(); ++i) {
    if (outputs[i] < 0) continue;
    const TfLiteTensor& output = tensors[static_cast<size_t>(outputs[i])];
    const std::span<const char> bytes = expected.Find(outputs[i]);
    if (bytes.size() != output.bytes || output.data.raw == nullptr) continue;
    spread[i] = kRoundingFactor * MaxDifference(output, bytes.data());
  }
  expected.Restore(tensors);
  variables_after.Restore(tensors);
  resources.Restore(resources_after);
  return spread;
}

void HotFallback::ReportWrong(int node_index, const WrongOutput& wrong) {
  const WrongElement& at = wrong.element;
  if (verification_.wrong++ == 0) {
    verification_.node = node_index;
    verification_.tensor = wrong.tensor;
    verification_.element = at.element;
    verification_.expected = at.expected;
    verification_.found = at.found;
  }
  const char* const name = subgraph_->graph().tensor(wrong.tensor)->name;
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d %s is wrong: tensor %d '%s': element %lld: expected %.9g, found %.9g",
      subgraph_->index(), node_index, OperatorName(*subgraph_->graph().registration(node_index)),
      wrong.tensor, name == nullptr ? "" : name, static_cast<long long>(at.element), at.expected,
      at.found);
}

TfLiteStatus HotFallback::Verify(int node_index, const Resources::Snapshot& resources_before) {
  const Stopwatch watch(&verification_.spent_ns);
  FallbackPartition& partition = partitions_.Of(node_index);
  InterpreterState& interpreter = *subgraph_->interpreter();
  if (!CanCompare(node_index)) {
    ++verification_.skipped;
    return kTfLiteOk;
  }
  const std::span<TfLiteTensor> tensors = subgraph_->graph().tensors();
  SavedContents found, variables_after;
  for (const int index : IndicesOf(subgraph_->graph().node(node_index)->outputs)) {
    if (index >= 0) found.Save(index, tensors[static_cast<size_t>(index)]);
  }
  SaveVariableInputs(node_index, &variables_after);
  const Resources::Snapshot resources_after = interpreter.resources().Save();
  variables_of_node_.Restore(tensors);
  interpreter.resources().Restore(resources_before);
  const TfLiteStatus status = RunReplaced(partition);
  scratch_.ForgetAddresses();

  std::optional<WrongOutput> wrong;
  if (status == kTfLiteOk) {
    ++verification_.verified;
    wrong = FindWrong(node_index, found, {});
    if (wrong) wrong = FindWrong(node_index, found, SpreadOfRounding(node_index, resources_before));
    if (wrong) ReportWrong(node_index, *wrong);
  } else if (status != kTfLiteCancelled) {
    // The nodes cannot run on the CPU, for example because only the delegate implements one of
    // their operators.
    partition.verifiable = false;
    ++verification_.skipped;
  }
  if (wrong && interpreter.hot()) {
    partition.BackOff(interpreter.inference(), -1);
    NoteRecomputed(node_index);
    return kTfLiteOk;
  }
  found.Restore(tensors);
  variables_after.Restore(tensors);
  interpreter.resources().Restore(resources_after);
  if (status != kTfLiteCancelled) return kTfLiteOk;
  return ReportNodeFailure(&subgraph_->parts(), node_index, status, "failed to invoke.");
}

// ---- Recomputation ------------------------------------------------------------------------------

TfLiteStatus HotFallback::Recompute(int node_index) {
  FallbackPartition& partition = partitions_.Of(node_index);
  const TfLiteNode& node = *subgraph_->graph().node(node_index);
  // The delegate's copies of the outputs are outdated.
  for (int i = 0; i < node.outputs->size; ++i) {
    if (node.outputs->data[i] >= 0)
      subgraph_->graph().tensors()[node.outputs->data[i]].data_is_stale = false;
  }
  // A kernel that resized an output has removed its arena address.
  if (ApplyKnownShapes(node_index) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < node.outputs->size; ++i) {
    if (node.outputs->data[i] >= 0)
      subgraph_->execution_plan().memory().PointTensor(node.outputs->data[i]);
  }
  const TfLiteStatus status = RunReplaced(partition);
  scratch_.ForgetAddresses();
  if (status != kTfLiteOk) return status;
  NoteRecomputed(node_index);
  return kTfLiteOk;
}

void HotFallback::NoteRecomputed(int node_index) {
  FallbackPartition& partition = partitions_.Of(node_index);
  degraded_in_ = subgraph_->interpreter()->inference();
  ++statistics_.recomputed;
  ++partition.recomputed;
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d %s: its %zu nodes were computed on the CPU", subgraph_->index(),
      node_index, OperatorName(*subgraph_->graph().registration(node_index)),
      partition.model_nodes.size());
}

// Runs the nodes that widen the constant float16 inputs of a partition. The partition may run
// before them, while its CPU nodes need their results. Results of constants are kept, so the nodes
// can run early.
TfLiteStatus HotFallback::RunProducersOfWidened(const std::vector<int>& producers) {
  for (int producer : producers) {
    const int widened = subgraph_->graph().node(producer)->outputs->data[0];
    if (subgraph_->graph().tensor(widened)->allocation_type != kTfLitePersistentRo) continue;
    const TfLiteStatus status = subgraph_->execution_plan().RunKernel(producer);
    if (status == kTfLiteCancelled) return status;
    if (status != kTfLiteOk) {
      return ReportNodeFailure(&subgraph_->parts(), producer, kTfLiteError, "failed to invoke.");
    }
  }
  return kTfLiteOk;
}

TfLiteStatus HotFallback::RunReplaced(const FallbackPartition& partition) {
  const std::vector<int> producers =
      DelegationOf(subgraph_).fp16_weights().ProducersFor(subgraph_->graph(), partition.nodes);
  const WidenedInputs widened(&subgraph_->graph(), DelegationOf(subgraph_).fp16_weights(),
                              partition.nodes);
  const TfLiteStatus produced = RunProducersOfWidened(producers);
  if (produced != kTfLiteOk) return produced;
  size_t prepared = 0;
  for (size_t i = 0; i < partition.nodes.size(); ++i) {
    if (i >= prepared) {
      const TfLiteStatus status = PrepareSome(partition, i, &prepared);
      if (status != kTfLiteOk) return status;
    }
    const int node_index = partition.nodes[i];
    if (subgraph_->execution_plan().CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
    const TfLiteStatus status = subgraph_->execution_plan().RunKernel(node_index);
    if (status == kTfLiteCancelled) return status;
    if (status != kTfLiteOk) {
      return ReportNodeFailure(&subgraph_->parts(), node_index, kTfLiteError, "failed to invoke.");
    }
  }
  return kTfLiteOk;
}

// Prepares nodes up to the first whose output shapes are unknown before it has run, and plans their
// memory.
TfLiteStatus HotFallback::PrepareSome(const FallbackPartition& partition, size_t begin,
                                      size_t* out_end) {
  const AllocationPass pass(subgraph_->interpreter());
  size_t end = begin;
  bool dynamic = false;
  while (end < partition.nodes.size() && !dynamic) {
    const TfLiteStatus status =
        subgraph_->execution_plan().PrepareNode(partition.nodes[end], &dynamic);
    if (status != kTfLiteOk) return status;
    ++end;
  }
  if (!scratch_.Plan(partition.nodes, end, subgraph_->interpreter()->limits(), partition.hidden)) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: no memory to compute a delegate's nodes on the CPU",
                subgraph_->index());
  }
  scratch_.PointTensors();
  *out_end = end;
  return kTfLiteOk;
}

// Copies graph inputs whose contents are only on the delegate's device, since they cannot be
// recomputed.
bool HotFallback::ReadInputsOf(const TfLiteDelegate* delegate) {
  const Graph& graph = subgraph_->graph();
  return std::all_of(graph.inputs().begin(), graph.inputs().end(), [&](int index) {
    const TfLiteTensor* input = subgraph_->graph().tensor(index);
    return input == nullptr || input->delegate != delegate ||
           subgraph_->EnsureReadable(index) == kTfLiteOk;
  });
}

void HotFallback::BackOff(const TfLiteDelegate* delegate) {
  partitions_.BackOff(delegate, subgraph_->interpreter()->inference(),
                      subgraph_->interpreter()->delegate_retry());
}

bool HotFallback::RestartInference() {
  if (lost_ == nullptr) return false;
  InterpreterState& interpreter = *subgraph_->interpreter();
  if (!partitions_.BackOff(lost_, interpreter.inference(), interpreter.delegate_retry())) {
    return false;
  }
  if (!ReadInputsOf(lost_)) return false;
  for (TfLiteTensor& tensor : subgraph_->graph().tensors()) {
    if (tensor.delegate == lost_) tensor.data_is_stale = false;
  }
  lost_ = nullptr;
  {
    // Defers a cancellation: if it interrupted Restore, the inference could not start again.
    const CancelScope uninterrupted(subgraph_->interpreter(), nullptr);
    if (variables_at_start_.Restore() != kTfLiteOk) return false;
    subgraph_->interpreter()->resources().Restore(resources_at_start_);
  }
  degraded_in_ = subgraph_->interpreter()->inference();
  ++statistics_.restarts;
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d: a delegate lost its tensors; the inference restarts without it",
      subgraph_->index());
  return true;
}

}  // namespace deputy
