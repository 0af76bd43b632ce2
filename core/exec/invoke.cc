// SPDX-License-Identifier: Apache-2.0
//
// Execution of the plan.
#include <algorithm>
#include <cstdint>

#include "core/base/delegate_call.h"
#include "core/base/float_mode.h"
#include "core/base/guard.h"
#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// The shape input of RESHAPE is ignored, and may lack data, if it is not a vector.
bool MayLackData(const TfLiteRegistration& registration, int input, const TfLiteTensor& tensor) {
  return registration.builtin_code == kTfLiteBuiltinReshape && input == 1 &&
         tensor.dims != nullptr && tensor.dims->size != 1;
}

}  // namespace

TfLiteStatus Subgraph::Invoke(bool allow_stale_outputs) {
  ErrorReporter* reporter = interpreter_->reporter();
  if (!consistent_) {
    return Fail(reporter, kTfLiteError, "Invoke called on model that is not consistent.; %s",
                desc_->inconsistency.c_str());
  }
  if (state_ == State::kUninvokable) {
    return Fail(reporter, kTfLiteError, "Invoke called on model that is not ready.");
  }
  const CallDepth depth(interpreter_);
  if (!depth.allowed()) return kTfLiteError;
  const ScopedFlushDenormals flush;
  if (!interpreter_->hot()) return RunPlan(allow_stale_outputs);
  const RestartableRun run(&fallback());
  TfLiteStatus status = RunPlan(allow_stale_outputs);
  while (status != kTfLiteOk && fallback().RestartInference()) {
    status = RunPlan(allow_stale_outputs);
  }
  return status;
}

TfLiteStatus Subgraph::RunPlan(bool allow_stale_outputs) {
  const TfLiteStatus status = ExecutePlan();
  return status != kTfLiteOk || allow_stale_outputs ? status : ReadOutputs();
}

TfLiteStatus Subgraph::ExecutePlan() {
  for (int position = 0; position < static_cast<int>(graph_.plan().size()); ++position) {
    if (position >= next_to_prepare_) {
      const TfLiteStatus status = PrepareAndAllocate();
      if (status != kTfLiteOk) return status;
    }
    const TfLiteStatus status = InvokeNode(position);
    if (status != kTfLiteOk) return status;
  }
  has_run_plan_ = true;
  return kTfLiteOk;
}

TfLiteStatus Subgraph::ReadOutputs() {
  TfLiteStatus status = kTfLiteOk;
  for (int index : graph_.outputs()) {
    if (index >= 0 && EnsureReadable(index) != kTfLiteOk) status = kTfLiteError;
  }
  return status;
}

TfLiteStatus Subgraph::InvokeNode(int position) {
  // The node was or will be computed with its group.
  if (groups_.StateOf(position) == PlanGroups::State::kDone || DeferToGroup(position)) {
    return kTfLiteOk;
  }
  const int node_index = graph_.plan()[position];
  if (CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
  if (const TfLiteStatus status = interpreter_->CheckCancellation(); status != kTfLiteOk) {
    return status;
  }
  tensor_resized_ = false;
  if (interpreter_->keeps_replaced_nodes() && graph_.node(node_index)->delegate != nullptr) {
    const TfLiteStatus status = fallback().InvokeNode(node_index);
    if (status != kTfLiteOk) return status;
  } else {
    PlannedGroup* const group = groups_.RunningAt(position);
    const TfLiteStatus status = group == nullptr ? RunNode(node_index) : RunGroup(group);
    if (status != kTfLiteOk) return status;
  }
  if (tensor_resized_ && LostOutput(position)) return kTfLiteError;
  if (tensor_resized_ && graph_.HasDynamicTensor(IndicesOf(graph_.node(node_index)->outputs))) {
    // The nodes that follow were prepared for other shapes.
    next_to_prepare_ = position + 1;
    arena_.ForgetFrom(next_to_prepare_);
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::RunNode(int node_index, const GroupRun* group) {
  if (group == nullptr) ExpandInputs(node_index);
  const TfLiteStatus status = RunKernel(node_index, group);
  if (status == kTfLiteOk) return kTfLiteOk;
  return ReportNodeFailure(node_index, status == kTfLiteCancelled ? status : kTfLiteError,
                           "failed to invoke.");
}

NodeCost* Subgraph::CostOf(int node_index) noexcept {
  Guard(Ignore, [&] {
    const auto nodes = static_cast<size_t>(graph_.node_count());
    if (costs_.size() < nodes) costs_.resize(nodes);
  });
  const auto index = static_cast<size_t>(node_index);
  return index < costs_.size() ? &costs_[index] : nullptr;
}

// The cost is dropped if there is no memory for it.
void Subgraph::NoteCost(int node_index, int64_t taken_ns) noexcept {
  NodeCost* cost = CostOf(node_index);
  if (cost == nullptr) return;
  ++cost->runs;
  cost->total_ns += taken_ns;
}

// Delegates' numbers are untrusted: the sum saturates.
void Subgraph::NoteReported(int node_index, int64_t taken_ns) noexcept {
  NodeCost* cost = CostOf(node_index);
  if (cost != nullptr) cost->reported_ns += std::min(taken_ns, INT64_MAX - cost->reported_ns);
}

// A kernel that resizes an arena tensor while it runs loses the tensor's memory. Upstream lets the
// next consumer read a null pointer; this reports the error and prepares again.
bool Subgraph::LostOutput(int position) {
  const int node_index = graph_.plan()[position];
  const TfLiteIntArray* outputs = graph_.node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    if (outputs->data[i] < 0) continue;
    const TfLiteTensor& output = graph_.tensors()[outputs->data[i]];
    if (output.allocation_type != kTfLiteArenaRw || output.data.raw != nullptr ||
        output.bytes == 0) {
      continue;
    }
    next_to_prepare_ = position;
    arena_.ForgetFrom(position);
    Fail(interpreter_->reporter(), kTfLiteError,
         "Node number %d (%s) failed to invoke.; subgraph %d: tensor %d '%s': expected a kernel "
         "that keeps the shape it prepared, found one that changed it",
         node_index, OperatorName(*graph_.registration(node_index)), index_, outputs->data[i],
         output.name == nullptr ? "" : output.name);
    return true;
  }
  return false;
}

TfLiteStatus Subgraph::RunKernel(int node_index, const GroupRun* group) {
  graph_.EnsureTensorCapacity();
  interpreter_->failure_note().Clear();
  TfLiteNode& node = *graph_.node(node_index);
  CallObserver* const observer = interpreter_->call_observer();
  const ForeignCall call = CallOf(Callback::kInvoke, node_index);
  const CallResult result =
      group == nullptr ? CallInvoke(observer, call, *graph_.registration(node_index), &node)
                       : CallForeign(observer, call, [&](CallResult* out) {
                           const FusionOffer& offer = offers_[static_cast<size_t>(node_index)];
                           out->status = offer.run(&context_, &node, *group);
                         });
  if (result.exception != nullptr) NoteFailure(result.exception);
  return result.status;
}

TfLiteStatus Subgraph::CheckInputs(int node_index) {
  const TfLiteNode& node = *graph_.node(node_index);
  for (int i = 0; i < node.inputs->size; ++i) {
    const int index = node.inputs->data[i];
    if (index < 0) continue;
    const TfLiteTensor& input = graph_.tensors()[index];
    if (input.delegate != nullptr && input.delegate != node.delegate && input.data_is_stale &&
        EnsureReadable(index) != kTfLiteOk) {
      return kTfLiteError;
    }
    if (input.data.raw == nullptr && input.bytes > 0 && input.allocation_type != kTfLiteNonCpu &&
        !MayLackData(*graph_.registration(node_index), i, input)) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Input tensor %d lacks data; subgraph %d node %d %s: tensor '%s': expected %zu "
                  "bytes",
                  index, index_, node_index, OperatorName(*graph_.registration(node_index)),
                  input.name == nullptr ? "" : input.name, input.bytes);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::EnsureReadable(int tensor_index) {
  TfLiteTensor* stale = tensor(tensor_index);
  if (stale == nullptr) return kTfLiteError;
  if (!stale->data_is_stale) return kTfLiteOk;
  const TfLiteDelegate* holder = stale->delegate;
  const TfLiteStatus status = CopyFromDelegate(tensor_index);
  if (status != kTfLiteOk) fallback().NoteLostTensor(holder);
  return status;
}

TfLiteStatus Subgraph::CopyFromDelegate(int tensor_index) {
  TfLiteTensor* stale = &graph_.tensors()[tensor_index];
  if (stale->delegate == nullptr || stale->buffer_handle == kTfLiteNullBufferHandle) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s' is stale: expected a delegate and a buffer handle",
                index_, tensor_index, stale->name == nullptr ? "" : stale->name);
  }
  const ForeignCall call = {.callback = Callback::kCopyFrom,
                            .context = &context_,
                            .delegate = stale->delegate,
                            .tensor = tensor_index};
  const TfLiteStatus status =
      CallCopyFromBufferHandle(interpreter_->call_observer(), call, stale).status;
  // If the copy fails, the bit stays: the CPU's bytes are still older than the delegate's.
  if (status == kTfLiteOk) {
    stale->data_is_stale = false;
    return kTfLiteOk;
  }
  return Fail(interpreter_->reporter(), status,
              "subgraph %d: tensor %d '%s': the delegate could not copy buffer handle %d", index_,
              tensor_index, stale->name == nullptr ? "" : stale->name, stale->buffer_handle);
}

bool Subgraph::FreeBufferHandle(int tensor_index) {
  TfLiteTensor& holder = graph_.tensors()[tensor_index];
  const ForeignCall call = {.callback = Callback::kFreeHandle,
                            .context = &context_,
                            .delegate = holder.delegate,
                            .tensor = tensor_index};
  const bool freed =
      CallFreeBufferHandle(interpreter_->call_observer(), call, &holder.buffer_handle);
  Observer* const observer = interpreter_->observer();
  if (observer != nullptr && !freed) observer->HandleNotFreed(this, tensor_index);
  return freed;
}

}  // namespace deputy
