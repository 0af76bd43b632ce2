// SPDX-License-Identifier: Apache-2.0
#include "core/exec/subgraph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "core/base/delegate_params.h"
#include "core/base/kernel_call.h"
#include "core/base/type_size.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Upstream reserves this many nodes, so that delegates can keep node pointers over a few
// replacements. In a small graph no delegate adds that many; the smaller bound matters because a
// model may have 100 000 small graphs.
constexpr size_t kNodesToReserve = 128;
constexpr size_t kNodesToReservePerNode = 2;

// Reason in reports for the nodes of delegates that a resize has undone.
constexpr const char* kUndoneByResize = "undone by a resize until tensors are allocated";

bool HasSideEffect(const TfLiteContext& context, const TfLiteNode& node, int builtin_code) {
  if (builtin_code == kTfLiteBuiltinIf || builtin_code == kTfLiteBuiltinWhile ||
      builtin_code == kTfLiteBuiltinCallOnce) {
    return true;
  }
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      const int tensor = indices->data[i];
      if (tensor >= 0 && context.tensors[tensor].type == kTfLiteResource) return true;
    }
  }
  return false;
}

}  // namespace

Subgraph::Subgraph(InterpreterState* interpreter, int index, const SubgraphDesc* desc,
                   MakeDelegateParts make_delegate_parts)
    : parts_(this, interpreter, index, desc, interpreter->reporter()),
      plan_(&parts_),
      plans_(&parts_, &plan_),
      runtime_(&parts_, &plan_) {
  parts_.delegates = make_delegate_parts(this);
}

Subgraph::~Subgraph() {
  plans_.Clear();
  delegation().ReleaseBuffers();
  for (int i = 0; i < parts_.graph.node_count(); ++i) FreeNode(&parts_, i);
  for (int i = 0; i < parts_.graph.tensor_count(); ++i) {
    const TfLiteTensor& tensor = parts_.graph.tensors()[static_cast<size_t>(i)];
    if (tensor.buffer_handle != kTfLiteNullBufferHandle && tensor.delegate != nullptr) {
      FreeBufferHandle(i);
    }
  }
}

bool Subgraph::is_for_delegates() const {
  return !parts_.desc->only_inspected && strncmp(parts_.name, "VALIDATION:", 11) != 0;
}

const GraphIndex& Subgraph::graph_index() {
  if (graph_index_ == nullptr) graph_index_ = std::make_unique<GraphIndex>(parts_.graph);
  return *graph_index_;
}

void Subgraph::PlanHasChanged() noexcept {
  ++plan_version_;
  graph_index_.reset();
  plan_.NoteNewPlan();
  plans_.Clear();
}

// ---- Building -----------------------------------------------------------------------------------

TfLiteStatus Subgraph::AddTensors(int count, int* out_first_index) {
  if (count < 0 || count > parts_.interpreter->limits().max_tensors - parts_.graph.tensor_count()) {
    return Fail(parts_.interpreter->reporter(), kTfLiteError,
                "subgraph %d: cannot add %d tensors to %d: expected at most %d in all",
                parts_.index, count, parts_.graph.tensor_count(),
                parts_.interpreter->limits().max_tensors);
  }
  const int first = parts_.graph.AddTensors(count);
  if (out_first_index != nullptr) *out_first_index = first;
  return kTfLiteOk;
}

void Subgraph::ReserveNodes() {
  const size_t model_nodes = parts_.desc->operators.size();
  parts_.graph.ReserveNodes(parts_.built != nullptr
                                ? kNodesToReserve
                                : std::min(kNodesToReserve, model_nodes * kNodesToReservePerNode));
}

int Subgraph::declared_tensor_count() const {
  return parts_.built != nullptr ? parts_.built->tensor_count()
                                 : static_cast<int>(parts_.desc->tensors.size());
}

TfLiteStatus Subgraph::CheckIndices(const char* what, std::span<const int32_t> indices,
                                    bool allow_absent) {
  for (int32_t index : indices) {
    if (index == kTfLiteOptionalTensor && allow_absent) continue;
    if (index < 0 || index >= parts_.graph.tensor_count()) {
      return Fail(parts_.interpreter->reporter(), kTfLiteError,
                  "Invalid tensor index %d in %s; subgraph %d: expected below %d", index, what,
                  parts_.index, parts_.graph.tensor_count());
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::AddNode(const NewNode& new_node) {
  std::unique_ptr<void, decltype(&free)> builtin_data(new_node.builtin_data, &free);
  if (CheckIndices("inputs", new_node.inputs, true) != kTfLiteOk ||
      CheckIndices("outputs", new_node.outputs, true) != kTfLiteOk ||
      CheckIndices("intermediates", new_node.intermediates, true) != kTfLiteOk) {
    return kTfLiteError;
  }
  if (parts_.graph.node_count() >= parts_.interpreter->limits().max_nodes) {
    return Fail(parts_.interpreter->reporter(), kTfLiteError,
                "subgraph %d: expected at most %d nodes", parts_.index,
                parts_.interpreter->limits().max_nodes);
  }
  IntArray inputs = MakeArray(new_node.inputs);
  IntArray outputs = MakeArray(new_node.outputs);
  IntArray intermediates = MakeArray(new_node.intermediates);
  IntArray temporaries = MakeArray({});
  // The plan must accept the node's index below without an exception.
  parts_.graph.ReservePlan(parts_.graph.plan().size() + 1);
  TfLiteNode node{};
  node.inputs = inputs.get();
  node.outputs = outputs.get();
  node.intermediates = intermediates.get();
  node.temporaries = temporaries.get();
  node.builtin_data = builtin_data.get();
  node.might_have_side_effect =
      HasSideEffect(parts_.context, node, new_node.registration.builtin_code);
  const int index = parts_.graph.AddNode(node, new_node.registration);
  // From here on the node owns its arrays, which FreeNode frees.
  for (IntArray* array : {&inputs, &outputs, &intermediates, &temporaries}) {
    static_cast<void>(array->release());
  }
  static_cast<void>(builtin_data.release());
  if (InitNode(&parts_, index, new_node.custom_options) != kTfLiteOk) {
    FreeNode(&parts_, index);
    parts_.graph.RemoveNodesFrom(index);
    return kTfLiteError;
  }
  AppendToPlan(index);
  if (!new_node.is_own) plans_.NoteForeignKernel();
  if (!new_node.is_own && !new_node.is_delegates) parts_.has_client_kernel = true;
  state_ = State::kUninvokable;
  return kTfLiteOk;
}

void Subgraph::RemoveNodesFrom(int count) noexcept {
  // Nodes of the plan are freed first and in plan order, as upstream does, then nodes that a later
  // delegate has claimed.
  for (const int node : parts_.graph.plan()) {
    if (node >= count) FreeNode(&parts_, node);
  }
  for (int node = count; node < parts_.graph.node_count(); ++node) FreeNode(&parts_, node);
  parts_.graph.RemoveNodesFrom(count);
  costs_.ForgetFrom(count);
}

// ---- Shapes -------------------------------------------------------------------------------------

TfLiteStatus Subgraph::ResizeInputTensor(int tensor_index, std::span<const int> dims) {
  if (immutable() && !delegation().any_applied()) {
    return Fail(parts_.interpreter->reporter(), kTfLiteError,
                "ResizeInputTensor is disallowed when graph is immutable.");
  }
  TfLiteTensor* resized = parts_.graph.tensor(tensor_index);
  if (resized == nullptr) {
    return Fail(parts_.interpreter->reporter(), kTfLiteError,
                "subgraph %d: cannot resize tensor %d: expected an index below %d", parts_.index,
                tensor_index, parts_.graph.tensor_count());
  }
  if (resized->data.raw != nullptr &&
      TfLiteIntArrayEqualsArray(resized->dims, static_cast<int>(dims.size()), dims.data()) != 0) {
    return kTfLiteOk;
  }
  IntArray new_dims = MakeArray(dims);
  if (immutable()) delegation().Undo(kUndoneByResize);
  const TfLiteStatus status = plan_.ResizeTensor(resized, new_dims.release());
  if (status != kTfLiteOk) return status;
  // A signature may name other tensors as inputs; their shapes do not identify a plan.
  const std::vector<int>& inputs = parts_.graph.inputs();
  const bool is_input = std::find(inputs.begin(), inputs.end(), tensor_index) != inputs.end();
  const bool is_prepared = state_ == State::kInvokable || state_ == State::kResized;
  state_ = is_prepared && is_input ? State::kResized : State::kUninvokable;
  return status;
}

void Subgraph::RequireAllocation() {
  if (immutable()) delegation().Undo(kUndoneByResize);
  state_ = State::kUninvokable;
}

TfLiteStatus Subgraph::ResizeInputTensorStrict(int tensor_index, std::span<const int> dims) {
  const TfLiteTensor* resized = parts_.graph.tensor(tensor_index);
  // ResizeInputTensor reports the invalid index.
  if (resized == nullptr) return ResizeInputTensor(tensor_index, dims);
  const TfLiteIntArray* signature = TfLiteTensorGetDimsSignature(resized);
  if (signature->size != static_cast<int>(dims.size())) {
    return Fail(parts_.interpreter->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': expected rank %d, found %zu", parts_.index,
                tensor_index, resized->name, signature->size, dims.size());
  }
  for (int i = 0; i < signature->size; ++i) {
    if (signature->data[i] != -1 && signature->data[i] != dims[i]) {
      return Fail(parts_.interpreter->reporter(), kTfLiteError,
                  "Attempting to resize dimension %d of tensor %d with value %d to %d. "
                  "ResizeInputTensorStrict only allows mutating unknown dimensions identified by "
                  "-1.; subgraph %d: tensor '%s'",
                  i, tensor_index, signature->data[i], dims[i], parts_.index, resized->name);
    }
  }
  return ResizeInputTensor(tensor_index, dims);
}

TfLiteStatus Subgraph::ShapeInputs(std::span<const CallInput> inputs) {
  for (size_t n = 0; n < inputs.size(); ++n) {
    const CallInput& from = inputs[n];
    if (parts_.graph.inputs()[n] < 0 || from.type == kTfLiteNoType) continue;
    TfLiteTensor& input = parts_.graph.tensors()[parts_.graph.inputs()[n]];
    const bool same_type = input.type == from.type;
    if (same_type && TfLiteIntArrayEqualsArray(input.dims, static_cast<int>(from.dims.size()),
                                               from.dims.data()) != 0) {
      continue;
    }
    if (!same_type) {
      input.type = from.type;
      RequireAllocation();
      // The input's memory was planned for the old type.
      if (input.allocation_type != kTfLiteDynamic) input.data.raw = nullptr;
    }
    const TfLiteStatus status = ResizeInputTensor(parts_.graph.inputs()[n], from.dims);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

// ---- Control edges ------------------------------------------------------------------------------

std::vector<PartitionGraph::ControlEdge> Subgraph::ControlEdges() const {
  // The model's edges count positions of its first plan, which are node indices. A claimed node
  // runs at the position of its delegate node.
  std::vector<int> position_of(static_cast<size_t>(parts_.graph.node_count()), -1);
  const std::function<void(int, int)> set_position = [&](int node_index, int position) {
    position_of[node_index] = position;
    const TfLiteNode& node = *parts_.graph.node(node_index);
    if (node.delegate == nullptr) return;
    const TfLiteIntArray* replaced = ReplacedNodes(node);
    for (int i = 0; i < replaced->size; ++i) set_position(replaced->data[i], position);
  };
  for (size_t position = 0; position < parts_.graph.plan().size(); ++position) {
    set_position(parts_.graph.plan()[position], static_cast<int>(position));
  }
  std::vector<PartitionGraph::ControlEdge> edges;
  if (const auto* model_edges = parts_.interpreter->ControlEdges(parts_.index)) {
    // The node table may have fewer nodes than the model, since invalid nodes are not added.
    const int count = static_cast<int>(std::min(parts_.desc->operators.size(), position_of.size()));
    for (const auto& [from, to] : *model_edges) {
      // Partition rejects this edge.
      if (from < 0 || to < 0 || from >= count || to >= count) return {{-1, -1}};
      const int a = position_of[from], b = position_of[to];
      if (a >= 0 && b >= 0 && a != b) edges.emplace_back(a, b);
    }
    return edges;
  }
  int last = -1;
  for (size_t position = 0; position < parts_.graph.plan().size(); ++position) {
    if (!parts_.graph.node(parts_.graph.plan()[position])->might_have_side_effect) continue;
    if (last >= 0) edges.emplace_back(last, static_cast<int>(position));
    last = static_cast<int>(position);
  }
  return edges;
}

}  // namespace deputy
