// SPDX-License-Identifier: Apache-2.0
//
// Prepare. Nodes are prepared in plan order up to the first one whose output shape is known only
// after it has run. Memory is then planned for these nodes (lay_out.cc); the remaining nodes follow
// during Invoke, after that node has run.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "c_api/abi/borrowed_data.h"
#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Returns true for contents of the model, and for tensors that a node computes once.
bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo || tensor.allocation_type == kTfLitePersistentRo;
}

const char* NameOf(const TfLiteTensor& tensor) { return tensor.name == nullptr ? "" : tensor.name; }

}  // namespace

TfLiteStatus Subgraph::CheckConsistent() {
  if (consistent_) return kTfLiteOk;
  return Fail(interpreter_->reporter(), kTfLiteError,
              "AllocateTensors() called on inconsistent model.; %s", desc_->inconsistency.c_str());
}

TfLiteStatus Subgraph::AllocateTensors() {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  {
    // A cancellation during Redo would lose the delegates.
    const CancelScope uninterrupted(interpreter_, nullptr);
    if (const TfLiteStatus status = delegation().Redo(); status != kTfLiteOk) return status;
  }
  bool dynamic_input = false;
  for (int index : graph_.inputs()) {
    if (index >= 0 && graph_.tensors()[index].allocation_type == kTfLiteDynamic)
      dynamic_input = true;
  }
  if (state_ != State::kUninvokable && !dynamic_input) return VerifyCustomAllocations();

  const bool immutable = state_ == State::kInvokableAndImmutable;
  const TfLiteStatus status = Reallocate();
  if (status == kTfLiteOk && immutable) state_ = State::kInvokableAndImmutable;
  return status;
}

TfLiteStatus Subgraph::Reallocate() {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  const CallDepth depth(interpreter_);
  if (!depth.allowed()) return kTfLiteError;
  const AllocationPass pass(interpreter_);
  state_ = State::kUninvokable;
  next_to_prepare_ = 0;
  arena_.Reset();
  persistent_.Reset();
  has_contents_.clear();
  MarkReadTensors();
  if (const TfLiteStatus status = delegation().PropagateShapes(); status != kTfLiteOk) {
    return status;
  }
  shared_shapes_.BeginPlan(graph_, graph_.plan());
  const TfLiteStatus status = PrepareAndAllocate();
  if (status != kTfLiteOk) return status;
  if (interpreter_->keeps_replaced_nodes() && fallback().Reserve() != kTfLiteOk)
    return kTfLiteError;
  DropIdleTemporaries();
  if (ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  state_ = State::kInvokable;
  return kTfLiteOk;
}

TfLiteStatus Subgraph::PrepareAll(const std::vector<int>& plan, bool* out_dynamic) {
  if (CheckConsistent() != kTfLiteOk) return kTfLiteError;
  next_to_prepare_ = 0;
  const AllocationPass pass(interpreter_);
  shared_shapes_.BeginPlan(graph_, plan);
  for (int node_index : plan) {
    const TfLiteStatus status = PrepareNode(node_index, out_dynamic);
    if (status != kTfLiteOk || *out_dynamic) return status;
  }
  return kTfLiteOk;
}

// Stops at an unresolved custom operator: without the delegate that implements it its output shapes
// are unknown.
TfLiteStatus Subgraph::PropagateShapes(const std::vector<int>& plan) {
  const auto unresolved = std::find_if(plan.begin(), plan.end(), [this](int node_index) {
    return IsUnresolvedCustomOp(*graph_.registration(node_index));
  });
  bool ignored = false;
  return PrepareAll({plan.begin(), unresolved}, &ignored);
}

// Nodes that a delegate has claimed keep their temporaries in the table, but not their memory.
void Subgraph::DropIdleTemporaries() {
  if (!delegation().any_applied() && delegation().original_plan().empty()) return;
  std::vector<bool> planned(static_cast<size_t>(graph_.node_count()), false);
  for (int node_index : graph_.plan()) planned[node_index] = true;
  for (size_t i = 0; i < static_cast<size_t>(graph_.node_count()); ++i) {
    if (planned[i]) continue;
    const TfLiteIntArray* temporaries = graph_.node(i)->temporaries;
    for (int k = 0; k < temporaries->size; ++k) {
      if (TfLiteTensor* idle = tensor(temporaries->data[k])) idle->bytes = 0;
    }
  }
}

TfLiteStatus Subgraph::PrepareAndAllocate() {
  const AllocationPass pass(interpreter_);
  int last_prepared = next_to_prepare_ - 1;
  pack_requests_.clear();
  const TfLiteStatus status = PrepareFrom(next_to_prepare_, &last_prepared);
  if (status != kTfLiteOk) return status;
  FormGroups(next_to_prepare_, last_prepared);
  if (LayOut(next_to_prepare_, last_prepared) != kTfLiteOk) return kTfLiteError;
  if (VerifyCustomAllocations() != kTfLiteOk) return kTfLiteError;
  next_to_prepare_ = last_prepared + 1;
  AnnounceGroups();
  // If this fails for lack of memory, the kernel that needs the scratch reports it.
  interpreter_->scratch().Grow(limits(), &pool());
  return PackConstants();
}

TfLiteStatus Subgraph::PrepareFrom(int position, int* out_last_prepared) {
  for (; position < static_cast<int>(graph_.plan().size()); ++position) {
    bool dynamic = false;
    const size_t requests = pack_requests_.size();
    TfLiteStatus status = OwnDelegateOutputs(graph_.plan()[position]);
    if (status == kTfLiteOk) status = PrepareNode(graph_.plan()[position], &dynamic);
    if (status != kTfLiteOk) return status;
    // Under Hot, nodes that a delegate has claimed are prepared, too, but need no packed constants.
    if (graph_.node(graph_.plan()[position])->delegate != nullptr) pack_requests_.resize(requests);
    *out_last_prepared = position;
    if (dynamic) break;
  }
  return kTfLiteOk;
}

// Interpreters share constants that a builtin kernel has computed. A delegate that computes such a
// constant instead writes to it, so it gets its own copy.
TfLiteStatus Subgraph::OwnDelegateOutputs(int node_index) {
  const TfLiteNode& node = *graph_.node(node_index);
  if (node.delegate == nullptr) return kTfLiteOk;
  for (int index : IndicesOf(node.outputs)) {
    TfLiteTensor* const output = tensor(index);
    if (output == nullptr || OwnData(output) == kTfLiteOk) continue;
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no memory for %zu bytes", index_, index,
                NameOf(*output), output->bytes);
  }
  return kTfLiteOk;
}

template <typename Visit>
void Subgraph::ForEachConstantToPack(const std::vector<PackRequest>& requests,
                                     const Visit& visit) const {
  for (const PackRequest& request : requests) {
    for (int index : IndicesOf(graph_.node(request.node_index)->inputs)) {
      if (index < 0) continue;
      const TfLiteTensor& tensor = graph_.tensors()[static_cast<size_t>(index)];
      if (IsConstant(tensor)) visit(tensor);
    }
  }
}

TfLiteStatus Subgraph::PackConstants() {
  const Model& model = interpreter_->model();
  const std::vector<PackRequest> requests = std::exchange(pack_requests_, {});
  size_t bytes = 0, computed_bytes = 0;
  ForEachConstantToPack(requests, [&](const TfLiteTensor& tensor) {
    (tensor.allocation_type == kTfLiteMmapRo ? bytes : computed_bytes) += tensor.bytes;
  });
  PackedConstants& own = interpreter_->node_constants();
  PackedConstants& shared = interpreter_->packed_constants();
  // Upper bound on the packed bytes. Several nodes may use one constant, so the total is limited by
  // the file's size, doubled for float16. Computed constants are stored both plain and packed.
  const size_t file_bytes = model.bytes().size();
  shared.Expect(std::min(bytes, file_bytes) + 2 * std::min(computed_bytes, 2 * file_bytes));
  const size_t own_before = own.bytes();
  const size_t packed_before = shared.bytes();
  for (const PackRequest& request : requests) {
    interpreter_->failure_note().Clear();
    const TfLiteStatus status = request.pack(&context_, graph_.node(request.node_index));
    if (status != kTfLiteOk) {
      return ReportNodeFailure(request.node_index, status, "failed to prepare.");
    }
  }
  if (own.bytes() != own_before) own.ReleaseUnused();
  if (shared.bytes() != packed_before) {
    shared.ReleaseUnused();
    // Small constants, such as biases, share pages with data that inferences read.
    constexpr size_t kLarge = 64 << 10;
    ForEachConstantToPack(requests, [&](const TfLiteTensor& tensor) {
      if (tensor.bytes >= kLarge) model.ReleasePages(tensor.data.data, tensor.bytes);
    });
  }
  UpdateLateConstants();
  return kTfLiteOk;
}

TfLiteStatus Subgraph::PrepareNode(int node_index, bool* out_dynamic) {
  TfLiteStatus status = interpreter_->CheckCancellation();
  if (status != kTfLiteOk) return status;
  graph_.EnsureTensorCapacity();
  const bool replaces = graph_.node(node_index)->delegate != nullptr;
  const bool kept = interpreter_->keeps_replaced_nodes() && replaces;
  const std::vector<SharedShape> shared = shared_shapes_.Of(graph_, node_index);
  if (kept || (replaces && HasComputedShape(node_index))) {
    status = fallback().InferReplacedShapes(node_index);
  }
  const bool cancelled = status != kTfLiteOk;
  interpreter_->failure_note().Clear();
  if (!cancelled) status = RunPrepare(node_index);
  if (!KeepShapes(shared)) status = kTfLiteError;
  if (kept && !cancelled && status != kTfLiteOutputShapeNotKnown) {
    status = fallback().CheckPrepareResult(node_index, status);
  }
  if (status != kTfLiteOk && status != kTfLiteOutputShapeNotKnown) {
    return ReportNodeFailure(node_index, status, "failed to prepare.");
  }
  *out_dynamic = status == kTfLiteOutputShapeNotKnown ||
                 graph_.HasDynamicTensor(IndicesOf(graph_.node(node_index)->outputs));
  return kTfLiteOk;
}

// Returns true if nodes after it may read a shape that the replaced nodes compute in their prepare.
bool Subgraph::HasComputedShape(int node_index) const {
  const std::span<const int> outputs = IndicesOf(graph_.node(node_index)->outputs);
  return std::any_of(outputs.begin(), outputs.end(), [&](int index) {
    return index >= 0 && IsComputedShape(graph_.tensors()[static_cast<size_t>(index)]);
  });
}

bool Subgraph::KeepShapes(const std::vector<SharedShape>& shared) {
  bool kept = true;
  for (const SharedShape& before : shared) {
    TfLiteTensor& now = graph_.tensors()[before.tensor];
    if (before.Holds(now)) continue;
    if (kept) {
      char text[256];
      snprintf(text, sizeof text, "tensor %d '%.64s': %s", before.tensor, NameOf(now),
               before.Difference(now).c_str());
      NoteFailure(text);
    }
    kept = false;
    // Restores the shape; otherwise no later allocation could succeed.
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

TfLiteStatus Subgraph::RunPrepare(int node_index) {
  TfLiteNode& node = *graph_.node(node_index);
  const TfLiteRegistration& registration = *graph_.registration(node_index);
  const size_t tensors_before = graph_.tensors().size();
  if (static_cast<size_t>(node_index) < offers_.size()) offers_[node_index] = {};
  if (static_cast<size_t>(node_index) < view_offers_.size()) view_offers_[node_index] = {};
  if (static_cast<size_t>(node_index) < implementations_.size()) {
    implementations_[node_index] = nullptr;
  }
  const int outer_node = std::exchange(preparing_node_, node_index);
  const CallResult result = CallPrepare(
      interpreter_->call_observer(), CallOf(Callback::kPrepare, node_index), registration, &node);
  preparing_node_ = outer_node;
  if (result.exception != nullptr) NoteFailure(result.exception);
  const TfLiteStatus checked = CheckNodeIndices(node_index);
  delegation().NotePrepared(node_index, tensors_before);
  return checked == kTfLiteOk ? result.status : kTfLiteError;
}

TfLiteStatus Subgraph::ReportNodeFailure(int node_index, TfLiteStatus status, const char* phase) {
  const TfLiteRegistration& failed = *graph_.registration(node_index);
  const char* name = OperatorName(failed);
  const std::string reason = interpreter_->failure_note().Take();
  ErrorReporter* reporter = interpreter_->reporter();
  if (IsUnresolvedCustomOp(failed)) {
    const char* hint = strncmp(name, "Flex", 4) == 0
                           ? "Select TensorFlow op(s), included in the given model, is(are) not "
                             "supported by this interpreter."
                           : "Register it, or apply a delegate that supports it.";
    return Fail(reporter, status, "Encountered unresolved custom op: %s.\n%s; subgraph %d node %d",
                name, hint, index_, node_index);
  }
  return Fail(reporter, status, "Node number %d (%s) %s%s%s", node_index, name, phase,
              reason.empty() ? ""
                             : ("; subgraph " + std::to_string(index_) + " node " +
                                std::to_string(node_index) + " " + name + ": ")
                                   .c_str(),
              reason.c_str());
}

void Subgraph::MarkReadTensors() {
  // Nodes that a delegate has claimed may have to run on the CPU.
  const bool any = interpreter_->keeps_replaced_nodes() && !delegation().original_plan().empty();
  read_.assign(graph_.tensors().size(), any);
  for (int index : graph_.outputs()) {
    if (index >= 0) read_[index] = true;
  }
  for (int node_index : graph_.plan()) {
    const TfLiteIntArray* inputs = graph_.node(node_index)->inputs;
    for (int i = 0; i < inputs->size; ++i) {
      if (inputs->data[i] >= 0) read_[inputs->data[i]] = true;
    }
  }
}

}  // namespace deputy
