// SPDX-License-Identifier: Apache-2.0
//
// Execution of a prepared plan.
#include <algorithm>
#include <cstdint>

#include "core/base/delegate_call.h"
#include "core/base/float_mode.h"
#include "core/base/guard.h"
#include "core/base/kernel_call.h"
#include "core/exec/device_data.h"
#include "core/exec/execution_plan.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph_parts.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Returns true if an input may have no data: RESHAPE ignores a shape input that is not a vector.
bool MayLackData(const TfLiteRegistration& registration, int input, const TfLiteTensor& tensor) {
  return registration.builtin_code == kTfLiteBuiltinReshape && input == 1 &&
         tensor.dims != nullptr && tensor.dims->size != 1;
}

// RAII guard: sets the handles of a delegate node's imported inputs to those of its delegate.
class ImportedInputs {
 public:
  ImportedInputs(DelegateLayer* layer, const TfLiteNode& node, int node_index)
      : layer_(node.delegate == nullptr ? nullptr : layer), node_(node_index) {
    if (layer_ != nullptr) layer_->SwapHandles(node_);
  }
  ~ImportedInputs() {
    if (layer_ != nullptr) layer_->SwapHandles(node_);
  }
  ImportedInputs(const ImportedInputs&) = delete;
  ImportedInputs& operator=(const ImportedInputs&) = delete;

 private:
  DelegateLayer* const layer_;
  const int node_;
};

}  // namespace

TfLiteStatus ExecutionPlan::Execute() {
  for (int position = 0; position < static_cast<int>(graph_->plan().size()); ++position) {
    if (position >= next_to_prepare_) {
      const TfLiteStatus status = PrepareAndAllocate();
      if (status != kTfLiteOk) return status;
    }
    BatchSegment* const segment = SegmentOf(graph_->plan()[static_cast<size_t>(position)]);
    const TfLiteStatus status = segment == nullptr ? InvokeNode(position) : RunSegment(segment);
    if (status != kTfLiteOk) return status;
    if (segment != nullptr) position = segment->range().last;
  }
  fusion_.NotePlanRun();
  return kTfLiteOk;
}

TfLiteStatus ExecutionPlan::RunSegment(BatchSegment* segment) {
  const FusionPlan::Conditions conditions = CurrentConditions();
  const bool by_node = conditions.runs_each_node || fusion_.client_reads_intermediates() ||
                       (conditions.has_client_memory && segment->OverlapsClientMemory(*graph_));
  MicroBatchView view(graph_, segment);
  if (by_node) return RunNodeByNode(*segment, &view);
  for (int micro_batch = 0; micro_batch < segment->micro_batches(); ++micro_batch) {
    view.Select(micro_batch, false);
    for (int position = segment->range().first; position <= segment->range().last; ++position) {
      TF_LITE_ENSURE_STATUS(InvokeNode(position));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus ExecutionPlan::RunNodeByNode(const BatchSegment& segment, MicroBatchView* view) {
  runs_each_node_ = true;
  TfLiteStatus status = kTfLiteOk;
  for (int position = segment.range().first; position <= segment.range().last; ++position) {
    for (int n = 0; n < segment.micro_batches() && status == kTfLiteOk; ++n) {
      view->Select(n, true);
      status = InvokeNode(position);
    }
  }
  runs_each_node_ = false;
  return status;
}

TfLiteStatus ExecutionPlan::ExecuteDelegateNode(int node_index) {
  const auto& plan = graph_->plan();
  const auto found = std::find(plan.begin(), plan.end(), node_index);
  if (found == plan.end() || graph_->node(node_index)->delegate == nullptr) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d node %d: expected a delegate's node of the plan", parts_->index,
                node_index);
  }
  const int position = static_cast<int>(found - plan.begin());
  while (position >= next_to_prepare_) TF_LITE_ENSURE_STATUS(PrepareAndAllocate());
  return InvokeNode(position);
}

FusionPlan::Conditions ExecutionPlan::CurrentConditions() const {
  return {.runs_each_node = runs_each_node_ || interpreter_->needs_each_node(),
          .has_client_memory = !parts_->custom_allocations.empty()};
}

TfLiteStatus ExecutionPlan::InvokeNode(int position) {
  // No work is left if the node was or will be computed with its group.
  if (fusion_.groups().StateOf(position) == PlanGroups::State::kDone ||
      fusion_.Defers(position, CurrentConditions())) {
    return kTfLiteOk;
  }
  const int node_index = graph_->plan()[static_cast<size_t>(position)];
  if (CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
  if (const TfLiteStatus status = interpreter_->CheckCancellation(); status != kTfLiteOk) {
    return status;
  }
  tensor_resized_ = false;
  if (const TfLiteStatus status = InvokeKernel(position); status != kTfLiteOk) return status;
  if (!tensor_resized_) return kTfLiteOk;
  if (LostOutput(position)) return kTfLiteError;
  if (graph_->HasDynamicTensor(IndicesOf(graph_->node(node_index)->outputs))) {
    // The nodes that follow were prepared for other shapes.
    next_to_prepare_ = position + 1;
    memory_.ForgetFrom(next_to_prepare_);
  }
  return kTfLiteOk;
}

TfLiteStatus ExecutionPlan::InvokeKernel(int position) {
  const int node_index = graph_->plan()[static_cast<size_t>(position)];
  if (interpreter_->keeps_replaced_nodes() && graph_->node(node_index)->delegate != nullptr) {
    return parts_->delegates.fallback->InvokeNode(node_index);
  }
  PlannedGroup* const group = fusion_.RunningAt(position);
  return group == nullptr ? RunNode(node_index) : RunGroup(group);
}

TfLiteStatus ExecutionPlan::RunGroup(PlannedGroup* group) {
  const bool as_one = fusion_.CanRun(group, CurrentConditions());
  for (int position : group->nodes) {
    const int node_index = graph_->plan()[static_cast<size_t>(position)];
    const bool runs_now = fusion_.EndWait(position) && !as_one;
    if (position == group->position() || (!as_one && !runs_now)) continue;
    if (CheckInputs(node_index) != kTfLiteOk) return kTfLiteError;
    if (runs_now && RunNode(node_index) != kTfLiteOk) return kTfLiteError;
  }
  fusion_.BeginGroup(group);
  const int runs = as_one ? group->head : group->position();
  const TfLiteStatus status =
      RunNode(graph_->plan()[static_cast<size_t>(runs)], as_one ? &group->run : nullptr);
  if (status == kTfLiteOk && as_one) fusion_.NoteRun(*group);
  return status;
}

TfLiteStatus ExecutionPlan::RunNode(int node_index, const GroupRun* group) {
  if (group == nullptr) fusion_.ExpandInputs(node_index);
  const TfLiteStatus status = RunKernel(node_index, group);
  if (status == kTfLiteOk) return kTfLiteOk;
  return ReportNodeFailure(parts_, node_index, status == kTfLiteCancelled ? status : kTfLiteError,
                           "failed to invoke.");
}

// Reports an error and returns true if an output has lost its memory; the nodes from this position
// on must then be prepared again. A kernel that resizes an arena tensor while it runs loses the
// tensor's memory; upstream lets the next consumer read a null pointer.
bool ExecutionPlan::LostOutput(int position) {
  const int node_index = graph_->plan()[position];
  const TfLiteIntArray* outputs = graph_->node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    if (outputs->data[i] < 0) continue;
    const TfLiteTensor& output = graph_->tensors()[outputs->data[i]];
    if (output.allocation_type != kTfLiteArenaRw || output.data.raw != nullptr ||
        output.bytes == 0) {
      continue;
    }
    next_to_prepare_ = position;
    memory_.ForgetFrom(position);
    Fail(interpreter_->reporter(), kTfLiteError,
         "Node number %d (%s) failed to invoke.; subgraph %d: tensor %d '%s': expected a kernel "
         "that keeps the shape it prepared, found one that changed it",
         node_index, OperatorName(*graph_->registration(node_index)), parts_->index,
         outputs->data[i], NameOf(output));
    return true;
  }
  return false;
}

TfLiteStatus ExecutionPlan::RunKernel(int node_index, const GroupRun* group) {
  graph_->EnsureTensorCapacity();
  interpreter_->failure_note().Clear();
  TfLiteNode& node = *graph_->node(node_index);
  CallObserver* const observer = interpreter_->call_observer();
  const ForeignCall call = CallOf(parts_, Callback::kInvoke, node_index);
  const ImportedInputs imported(parts_->delegates.layer.get(), node, node_index);
  // The head of a group has FusionOffer::run, which runs the whole group.
  const auto run = group == nullptr ? nullptr : nodes_.Of(node_index).fusion.run;
  const CallResult result =
      run == nullptr ? CallInvoke(observer, call, *graph_->registration(node_index), &node)
                     : CallForeign(observer, call, [&](CallResult* out) {
                         out->status = run(&parts_->context, &node, *group);
                       });
  if (result.exception != nullptr) interpreter_->failure_note().Set(result.exception);
  return result.status;
}

TfLiteStatus ExecutionPlan::CheckInputs(int node_index) {
  const TfLiteNode& node = *graph_->node(node_index);
  for (int i = 0; i < node.inputs->size; ++i) {
    const int index = node.inputs->data[i];
    if (index < 0) continue;
    const TfLiteTensor& input = graph_->tensors()[index];
    const bool is_imported =
        node.delegate != nullptr && parts_->delegates.layer->ImportInput(node_index, index);
    if (input.delegate != nullptr && input.delegate != node.delegate && input.data_is_stale &&
        !is_imported && EnsureReadable(parts_, index) != kTfLiteOk) {
      return kTfLiteError;
    }
    if (input.data.raw == nullptr && input.bytes > 0 && input.allocation_type != kTfLiteNonCpu &&
        !MayLackData(*graph_->registration(node_index), i, input)) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Input tensor %d lacks data; subgraph %d node %d %s: tensor '%s': expected %zu "
                  "bytes",
                  index, parts_->index, node_index, OperatorName(*graph_->registration(node_index)),
                  NameOf(input), input.bytes);
    }
  }
  return kTfLiteOk;
}

}  // namespace deputy
