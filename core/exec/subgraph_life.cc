// SPDX-License-Identifier: Apache-2.0
//
// Allocation and inference of a subgraph.
#include <algorithm>
#include <cstring>

#include "core/base/delegate_call.h"
#include "core/base/float_mode.h"
#include "core/base/log.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

// Returns true if the memory of the tensor belongs to the plan.
bool IsPlanned(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRw ||
         tensor.allocation_type == kTfLiteArenaRwPersistent;
}

bool IsPersistent(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteArenaRwPersistent;
}

}  // namespace

TfLiteStatus Subgraph::CheckNotRunning(const char* call) const {
  TF_LITE_ENSURE_STATUS(parts_.interpreter->run_gate()->Check(call));
  if (parts_.runs == 0) return kTfLiteOk;
  return Fail(parts_.interpreter->reporter(), kTfLiteError, "%s: expected %s", call,
              "a subgraph that does not run");
}

TfLiteStatus Subgraph::AllocateTensors() {
  if (CheckConsistent(parts_, parts_.interpreter->reporter()) != kTfLiteOk) return kTfLiteError;
  {
    // Cancellation is deferred: during Redo it would lose the delegates.
    const CancelScope uninterrupted(parts_.interpreter, nullptr);
    if (const TfLiteStatus status = delegation().Redo(); status != kTfLiteOk) return status;
  }
  bool dynamic_input = false;
  for (int index : parts_.graph.inputs()) {
    if (index >= 0 && parts_.graph.tensors()[index].allocation_type == kTfLiteDynamic)
      dynamic_input = true;
  }
  if (ready() && !dynamic_input) return parts_.custom_allocations.Verify();
  if (state_ == State::kResized) return AllocateResized();

  const bool was_immutable = immutable();
  const TfLiteStatus status = Reallocate();
  if (status == kTfLiteOk && was_immutable) state_ = State::kInvokableAndImmutable;
  return status;
}

// Prepares the current plan again and discards the plans for other shapes, which are outdated, too.
TfLiteStatus Subgraph::Reallocate() {
  plans_.Clear();
  return PrepareCurrentPlan();
}

TfLiteStatus Subgraph::PrepareAgain() {
  if (state_ == State::kResized) state_ = State::kUninvokable;
  plans_.Clear();
  if (!ready()) return kTfLiteOk;
  SavedContents contents;
  for (const std::vector<int>* indices : {&parts_.graph.inputs(), &parts_.graph.variables()}) {
    for (int index : *indices) {
      const TfLiteTensor* tensor = parts_.graph.tensor(index);
      if (tensor != nullptr && IsPlanned(*tensor)) contents.Save(index, *tensor);
    }
  }
  const bool was_immutable = immutable();
  const TfLiteStatus status = Reallocate();
  if (status != kTfLiteOk) return status;
  if (was_immutable) SetImmutable();
  contents.Restore(parts_.graph.tensors());
  return kTfLiteOk;
}

void Subgraph::ReleaseMemory() {
  plans_.Clear();
  plan_.memory().Release();
  state_ = immutable() ? State::kReleasedAndImmutable : State::kUninvokable;
}

TfLiteStatus Subgraph::AllocateResized() {
  state_ = State::kUninvokable;
  if (!plans_.Select()) return PrepareCurrentPlan();
  if (ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  state_ = State::kInvokable;
  return kTfLiteOk;
}

TfLiteStatus Subgraph::PrepareCurrentPlan() {
  if (CheckConsistent(parts_, parts_.interpreter->reporter()) != kTfLiteOk) return kTfLiteError;
  const CallDepth depth(parts_.interpreter);
  if (!depth.allowed()) return kTfLiteError;
  const SubgraphRun run(&parts_);
  const AllocationPass pass(parts_.interpreter);
  state_ = State::kUninvokable;
  if (plans_.InitNodes() != kTfLiteOk) return kTfLiteError;
  plan_.Reset();
  if (const TfLiteStatus status = delegation().PropagateShapes(); status != kTfLiteOk) {
    return status;
  }
  const TfLiteStatus status = plan_.Prepare();
  if (status != kTfLiteOk) return status;
  if (parts_.interpreter->keeps_replaced_nodes() && fallback().Reserve() != kTfLiteOk)
    return kTfLiteError;
  DropIdleTemporaries();
  if (ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  plans_.NotePrepared();
  delegation().NegotiateBuffers();
  state_ = State::kInvokable;
  Log(kDeputyLogVerbose, "subgraph %d: %zu nodes are prepared", index(),
      parts_.graph.plan().size());
  return kTfLiteOk;
}

// Sets the sizes of idle temporaries to 0: nodes that a delegate has claimed keep their temporaries
// in the table, but not their memory.
void Subgraph::DropIdleTemporaries() {
  if (!delegation().any_applied() && delegation().original_plan().empty()) return;
  std::vector<bool> planned(static_cast<size_t>(parts_.graph.node_count()), false);
  for (int node_index : parts_.graph.plan()) planned[node_index] = true;
  for (size_t i = 0; i < static_cast<size_t>(parts_.graph.node_count()); ++i) {
    if (planned[i]) continue;
    const TfLiteIntArray* temporaries = parts_.graph.node(i)->temporaries;
    for (int k = 0; k < temporaries->size; ++k) {
      if (TfLiteTensor* idle = parts_.graph.tensor(temporaries->data[k])) idle->bytes = 0;
    }
  }
}

// Returns true for an intermediate tensor: neither an input nor an output of the graph. Only
// outputs are always written by fusion groups.
bool Subgraph::IsInside(int tensor_index) const {
  const auto has = [tensor_index](const std::vector<int>& indices) {
    return std::find(indices.begin(), indices.end(), tensor_index) != indices.end();
  };
  return !has(parts_.graph.inputs()) && !has(parts_.graph.outputs());
}

TfLiteStatus Subgraph::SetCustomAllocation(int tensor_index,
                                           const TfLiteCustomAllocation& allocation,
                                           int64_t flags) {
  const bool is_new = !parts_.custom_allocations.Has(tensor_index);
  const TfLiteStatus status = parts_.custom_allocations.Set(tensor_index, allocation, flags);
  if (status == kTfLiteOk && is_new && IsInside(tensor_index)) plan_.NoteClientReads();
  return status;
}

TfLiteStatus Subgraph::ResetVariableTensors() {
  for (int index : parts_.graph.variables()) {
    TfLiteTensor& variable = parts_.graph.tensors()[index];
    // The client may list tensors that are no variables.
    if (!variable.is_variable) continue;
    if (variable.allocation_type == kTfLiteCustom || variable.bytes == 0) continue;
    if (!IsPersistent(variable) || variable.data.raw == nullptr) {
      return Fail(parts_.interpreter->reporter(), kTfLiteError,
                  "subgraph %d: variable tensor %d '%s': expected allocated arena memory",
                  parts_.index, index, NameOf(variable));
    }
    const int fill = variable.type == kTfLiteInt8 ? variable.params.zero_point : 0;
    memset(variable.data.raw, fill, variable.bytes);
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::CheckInvokable() {
  ErrorReporter* reporter = parts_.interpreter->reporter();
  if (!consistent()) {
    return Fail(reporter, kTfLiteError, "Invoke called on model that is not consistent.; %s",
                InconsistencyOf(parts_).c_str());
  }
  if (!ready()) {
    return Fail(reporter, kTfLiteError, "Invoke called on model that is not ready.");
  }
  return parts_.custom_allocations.may_be_too_small() ? parts_.custom_allocations.Verify()
                                                      : kTfLiteOk;
}

TfLiteStatus Subgraph::Invoke(bool allow_stale_outputs) {
  TF_LITE_ENSURE_STATUS(CheckInvokable());
  const CallDepth depth(parts_.interpreter);
  if (!depth.allowed()) return kTfLiteError;
  const SubgraphRun running(&parts_);
  const ScopedFlushDenormals flush;
  if (!parts_.interpreter->hot()) return RunPlan(allow_stale_outputs);
  const RestartableRun run(&fallback());
  TfLiteStatus status = RunPlan(allow_stale_outputs);
  while (status != kTfLiteOk && fallback().RestartInference()) {
    status = RunPlan(allow_stale_outputs);
  }
  return status;
}

TfLiteStatus Subgraph::InvokeDelegateNode(int node_index) {
  TF_LITE_ENSURE_STATUS(CheckInvokable());
  const CallDepth depth(parts_.interpreter);
  if (!depth.allowed()) return kTfLiteError;
  const SubgraphRun running(&parts_);
  const ScopedFlushDenormals flush;
  return plan_.ExecuteDelegateNode(node_index);
}

TfLiteStatus Subgraph::RunPlan(bool allow_stale_outputs) {
  TF_LITE_ENSURE_STATUS(delegation().BeginRun());
  TF_LITE_ENSURE_STATUS(plan_.Execute());
  TF_LITE_ENSURE_STATUS(delegation().EndRun());
  return allow_stale_outputs ? kTfLiteOk : ReadOutputs();
}

TfLiteStatus Subgraph::ReadOutputs() {
  TfLiteStatus status = kTfLiteOk;
  for (int index : parts_.graph.outputs()) {
    if (index < 0 || delegation().IsBound(index)) continue;
    if (EnsureReadable(index) != kTfLiteOk) status = kTfLiteError;
  }
  return status;
}

}  // namespace deputy
