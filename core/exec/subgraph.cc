// SPDX-License-Identifier: Apache-2.0
//
// Creation, resizing and removal of tensors and nodes.
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
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Upstream reserves this many nodes, so that delegates can keep node pointers over a few
// replacements. In a small graph no delegate adds that many; the smaller bound matters because a
// model may have a million small graphs.
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
    : interpreter_(interpreter),
      index_(index),
      desc_(desc),
      graph_(&context_),
      delegate_parts_(make_delegate_parts(this)) {
  if (const Observer* observer = interpreter->observer()) {
    arena_.SetGuard(observer->guard_bytes());
    persistent_.SetGuard(observer->guard_bytes());
  }
  consistent_ = desc->inconsistency.empty();
}

Subgraph::~Subgraph() {
  for (int i = 0; i < node_count(); ++i) FreeNode(i);
  for (int i = 0; i < tensor_count(); ++i) {
    const TfLiteTensor& tensor = graph_.tensors()[i];
    if (tensor.buffer_handle != kTfLiteNullBufferHandle && tensor.delegate != nullptr) {
      FreeBufferHandle(i);
    }
  }
}

Subgraph* Subgraph::Of(const TfLiteContext* context) {
  return static_cast<Subgraph*>(RuntimeOf(context));
}

bool Subgraph::is_for_delegates() const {
  return !desc_->only_inspected && strncmp(desc_->name, "VALIDATION:", 11) != 0;
}

const GraphIndex& Subgraph::graph_index() {
  if (graph_index_ == nullptr) graph_index_ = std::make_unique<GraphIndex>(graph_);
  return *graph_index_;
}

// ---- Building -----------------------------------------------------------------------------------

TfLiteStatus Subgraph::AddTensors(int count, int* out_first_index) {
  if (count < 0 || count > limits().max_tensors - tensor_count()) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: cannot add %d tensors to %d: expected at most %d in all", index_,
                count, tensor_count(), limits().max_tensors);
  }
  const int first = graph_.AddTensors(count);
  if (out_first_index != nullptr) *out_first_index = first;
  return kTfLiteOk;
}

void Subgraph::ReserveNodes() {
  graph_.ReserveNodes(std::min(kNodesToReserve, desc_->operators.size() * kNodesToReservePerNode));
}

TfLiteStatus Subgraph::CheckIndices(const char* what, std::span<const int32_t> indices,
                                    bool allow_absent) {
  for (int32_t index : indices) {
    if (index == kTfLiteOptionalTensor && allow_absent) continue;
    if (index < 0 || index >= tensor_count()) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Invalid tensor index %d in %s; subgraph %d: expected below %d", index, what,
                  index_, tensor_count());
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::CheckNodeIndices(int node_index) {
  TfLiteNode& node = *graph_.node(node_index);
  const std::pair<const char*, TfLiteIntArray**> lists[] = {
      {"inputs", &node.inputs}, {"outputs", &node.outputs}, {"temporaries", &node.temporaries}};
  TfLiteStatus status = kTfLiteOk;
  for (const auto& [what, list] : lists) {
    if (*list == nullptr) *list = MakeArray({}).release();
    for (int i = 0; i < (*list)->size; ++i) {
      int& index = (*list)->data[i];
      if (index >= kTfLiteOptionalTensor && index < tensor_count()) continue;
      status = Fail(interpreter_->reporter(), kTfLiteError,
                    "Invalid tensor index %d in %s; subgraph %d node %d: expected below %d", index,
                    what, index_, node_index, tensor_count());
      index = kTfLiteOptionalTensor;  // no longer a valid index
    }
  }
  return status;
}

TfLiteStatus Subgraph::AddNode(const NewNode& new_node) {
  std::unique_ptr<void, decltype(&free)> builtin_data(new_node.builtin_data, &free);
  if (CheckIndices("inputs", new_node.inputs, true) != kTfLiteOk ||
      CheckIndices("outputs", new_node.outputs, true) != kTfLiteOk ||
      CheckIndices("intermediates", new_node.intermediates, true) != kTfLiteOk) {
    return kTfLiteError;
  }
  if (node_count() >= limits().max_nodes) {
    return Fail(interpreter_->reporter(), kTfLiteError, "subgraph %d: expected at most %d nodes",
                index_, limits().max_nodes);
  }
  IntArray inputs = MakeArray(new_node.inputs);
  IntArray outputs = MakeArray(new_node.outputs);
  IntArray intermediates = MakeArray(new_node.intermediates);
  IntArray temporaries = MakeArray({});
  // The plan must accept the node's index below without an exception.
  graph_.ReservePlan(graph_.plan().size() + 1);
  TfLiteNode node{};
  node.inputs = inputs.get();
  node.outputs = outputs.get();
  node.intermediates = intermediates.get();
  node.temporaries = temporaries.get();
  node.builtin_data = builtin_data.get();
  node.might_have_side_effect = HasSideEffect(context_, node, new_node.registration.builtin_code);
  const int index = graph_.AddNode(node, new_node.registration);
  // Nothing throws from here on: the node owns its arrays and FreeNode frees them.
  for (IntArray* array : {&inputs, &outputs, &intermediates, &temporaries}) {
    static_cast<void>(array->release());
  }
  static_cast<void>(builtin_data.release());
  if (InitNode(index, new_node.custom_options) != kTfLiteOk) {
    FreeNode(index);
    graph_.RemoveNodesFrom(index);
    return kTfLiteError;
  }
  AppendToPlan(index);
  state_ = State::kUninvokable;
  return kTfLiteOk;
}

ForeignCall Subgraph::CallOf(Callback callback, int node_index) {
  return {.callback = callback,
          .context = &context_,
          .node = node_index,
          .delegate = graph_.node(node_index)->delegate};
}

TfLiteStatus Subgraph::InitNode(int node_index, std::span<const uint8_t> custom_options) {
  // A delegate's init may be the first call that accesses nodes, which reallocates the array.
  const TfLiteRegistration registration = *graph_.registration(node_index);
  TfLiteNode& node = *graph_.node(node_index);
  const char* buffer = static_cast<const char*>(node.builtin_data);
  size_t length = 0;
  if (registration.builtin_code == kTfLiteBuiltinCustom) {
    buffer = reinterpret_cast<const char*>(custom_options.data());
    length = custom_options.size();
    node.custom_initial_data = buffer;
    node.custom_initial_data_size = static_cast<int>(length);
  }
  interpreter_->failure_note().Clear();
  const CallResult result =
      CallInit(interpreter_->call_observer(), CallOf(Callback::kInit, node_index), registration,
               buffer, length);
  if (result.user_data != TfLiteKernelInitFailed()) {
    graph_.node(node_index)->user_data = result.user_data;
    return kTfLiteOk;
  }
  if (result.exception != nullptr) NoteFailure(result.exception);
  const std::string reason = interpreter_->failure_note().Take();
  return Fail(interpreter_->reporter(), kTfLiteError,
              "Failed to initialize kernel.; subgraph %d node %d %s%s%s", index_, node_index,
              OperatorName(registration), reason.empty() ? "" : ": ", reason.c_str());
}

void Subgraph::RemoveNodesFrom(int count) noexcept {
  // In plan order, as upstream frees them; then those that a later delegate has claimed.
  for (const int node : graph_.plan()) {
    if (node >= count) FreeNode(node);
  }
  for (int node = count; node < node_count(); ++node) FreeNode(node);
  graph_.RemoveNodesFrom(count);
  if (costs_.size() > static_cast<size_t>(count)) costs_.resize(static_cast<size_t>(count));
}

void Subgraph::FreeNode(int node_index) {
  TfLiteNode& node = *graph_.node(node_index);
  const TfLiteRegistration& registration = *graph_.registration(node_index);
  // The kernel's free is called last; by contract neither arrays nor builtin data exist then.
  TfLiteIntArrayFree(node.inputs);
  TfLiteIntArrayFree(node.outputs);
  TfLiteIntArrayFree(node.intermediates);
  TfLiteIntArrayFree(node.temporaries);
  free(node.builtin_data);
  node.inputs = node.outputs = node.intermediates = node.temporaries = nullptr;
  node.builtin_data = nullptr;
  if (node.user_data != nullptr) {
    CallFree(interpreter_->call_observer(), CallOf(Callback::kFree, node_index), registration,
             node.user_data);
  }
  if (Observer* observer = interpreter_->observer()) {
    observer->NodeFreed(this, node_index, registration, node.user_data);
  }
  node.user_data = nullptr;
}

// ---- Shapes -------------------------------------------------------------------------------------

TfLiteStatus Subgraph::ComputeBytes(const TfLiteTensor& tensor, const TfLiteIntArray& dims,
                                    size_t* bytes) {
  if (TensorBytes(tensor.type, {dims.data, static_cast<size_t>(dims.size)}, bytes)) {
    return kTfLiteOk;
  }
  return Fail(interpreter_->reporter(), kTfLiteError,
              "BytesRequired number of bytes overflowed.; subgraph %d: tensor %d '%s': expected a "
              "non-negative shape of %s that fits memory",
              index_, IndexOf(&tensor), tensor.name == nullptr ? "" : tensor.name,
              TfLiteTypeGetName(tensor.type));
}

TfLiteStatus Subgraph::ResizeTensor(TfLiteTensor* tensor, TfLiteIntArray* new_dims) {
  // Unless it is the tensor's own array, it is freed on every path until the tensor owns it.
  IntArray owned(tensor->dims == new_dims ? nullptr : new_dims);
  if (new_dims == nullptr) {
    return Fail(interpreter_->reporter(), kTfLiteError, "subgraph %d: resize without a shape",
                index_);
  }
  const auto adopt = [&] {
    if (tensor->dims == new_dims) return;
    TfLiteIntArrayFree(tensor->dims);
    tensor->dims = owned.release();
  };
  size_t bytes = tensor->bytes;
  const bool sized = HasFixedSize(tensor->type);
  if (sized && ComputeBytes(*tensor, *new_dims, &bytes) != kTfLiteOk) return kTfLiteError;

  const bool same_shape = TfLiteIntArrayEqual(tensor->dims, new_dims) != 0;
  if (tensor->data.raw != nullptr && same_shape && bytes == tensor->bytes) {
    // Callers continue to read the array that they passed.
    adopt();
    return kTfLiteOk;
  }
  switch (tensor->allocation_type) {
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteDynamic:
    case kTfLitePersistentRo:
    case kTfLiteCustom:
    case kTfLiteNonCpu:
      break;
    default:
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Attempting to resize a fixed-size tensor.; subgraph %d: tensor %d '%s'", index_,
                  IndexOf(tensor), tensor->name == nullptr ? "" : tensor->name);
  }
  if (sized) {
    const bool heap =
        tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
    if (heap && (bytes > limits().max_block_bytes ||
                 TfLiteTensorResizeMaybeCopy(bytes, tensor, false) != kTfLiteOk)) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "subgraph %d: tensor %d '%s': no memory for %zu bytes", index_, IndexOf(tensor),
                  tensor->name == nullptr ? "" : tensor->name, bytes);
    }
    tensor->bytes = bytes;
    // Arena tensors get their address when memory is planned again.
    if (tensor->allocation_type == kTfLiteArenaRw ||
        tensor->allocation_type == kTfLiteArenaRwPersistent) {
      tensor->data.raw = nullptr;
    }
  }
  if (!same_shape) tensor_resized_ = true;
  adopt();
  return kTfLiteOk;
}

TfLiteStatus Subgraph::ResizeInputTensor(int tensor_index, std::span<const int> dims) {
  if (state_ == State::kInvokableAndImmutable && !delegation().any_applied()) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "ResizeInputTensor is disallowed when graph is immutable.");
  }
  TfLiteTensor* resized = tensor(tensor_index);
  if (resized == nullptr) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: cannot resize tensor %d: expected an index below %d", index_,
                tensor_index, tensor_count());
  }
  if (resized->data.raw != nullptr &&
      TfLiteIntArrayEqualsArray(resized->dims, static_cast<int>(dims.size()), dims.data()) != 0) {
    return kTfLiteOk;
  }
  IntArray new_dims = MakeArray(dims);
  if (state_ == State::kInvokableAndImmutable) {
    delegation().Undo(kUndoneByResize);
  }
  const TfLiteStatus status = ResizeTensor(resized, new_dims.release());
  if (status == kTfLiteOk) state_ = State::kUninvokable;
  return status;
}

void Subgraph::RequireAllocation() {
  if (state_ == State::kInvokableAndImmutable) delegation().Undo(kUndoneByResize);
  state_ = State::kUninvokable;
}

TfLiteStatus Subgraph::ResizeInputTensorStrict(int tensor_index, std::span<const int> dims) {
  const TfLiteTensor* resized = tensor(tensor_index);
  if (resized == nullptr) return ResizeInputTensor(tensor_index, dims);  // reports
  const TfLiteIntArray* signature = TfLiteTensorGetDimsSignature(resized);
  if (signature->size != static_cast<int>(dims.size())) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': expected rank %d, found %zu", index_, tensor_index,
                resized->name, signature->size, dims.size());
  }
  for (int i = 0; i < signature->size; ++i) {
    if (signature->data[i] != -1 && signature->data[i] != dims[i]) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "Attempting to resize dimension %d of tensor %d with value %d to %d. "
                  "ResizeInputTensorStrict only allows mutating unknown dimensions identified by "
                  "-1.; subgraph %d: tensor '%s'",
                  i, tensor_index, signature->data[i], dims[i], index_, resized->name);
    }
  }
  return ResizeInputTensor(tensor_index, dims);
}

// ---- Control edges ------------------------------------------------------------------------------

std::vector<PartitionGraph::ControlEdge> Subgraph::ControlEdges() const {
  // The model's edges count positions of its first plan, which are node indices. A claimed node
  // runs at the position of its delegate node.
  std::vector<int> position_of(static_cast<size_t>(node_count()), -1);
  const std::function<void(int, int)> set_position = [&](int node_index, int position) {
    position_of[node_index] = position;
    const TfLiteNode& node = *graph_.node(node_index);
    if (node.delegate == nullptr) return;
    const TfLiteIntArray* replaced = ReplacedNodes(node);
    for (int i = 0; i < replaced->size; ++i) set_position(replaced->data[i], position);
  };
  for (size_t position = 0; position < graph_.plan().size(); ++position) {
    set_position(graph_.plan()[position], static_cast<int>(position));
  }
  std::vector<PartitionGraph::ControlEdge> edges;
  if (const auto* model_edges = interpreter_->ControlEdges(index_)) {
    // Invalid nodes are not in the table.
    const int count = static_cast<int>(std::min(desc_->operators.size(), position_of.size()));
    for (const auto& [from, to] : *model_edges) {
      if (from < 0 || to < 0 || from >= count || to >= count) return {{-1, -1}};  // refused later
      const int a = position_of[from], b = position_of[to];
      if (a >= 0 && b >= 0 && a != b) edges.emplace_back(a, b);
    }
    return edges;
  }
  int last = -1;
  for (size_t position = 0; position < graph_.plan().size(); ++position) {
    if (!graph_.node(graph_.plan()[position])->might_have_side_effect) continue;
    if (last >= 0) edges.emplace_back(last, static_cast<int>(position));
    last = static_cast<int>(position);
  }
  return edges;
}

TfLiteBuiltinOperator Subgraph::operator_code(size_t n) const {
  return interpreter_->model().desc().operator_codes[desc_->operators[n].code_index].code;
}

}  // namespace deputy
