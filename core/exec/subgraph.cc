// SPDX-License-Identifier: Apache-2.0
//
// Tensors and nodes: how they come to be, change shape and go.
#include "core/exec/subgraph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "core/base/delegate_params.h"
#include "core/base/kernel_call.h"
#include "core/base/type_size.h"
#include "core/exec/interpreter_state.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Upstream reserves as many nodes, so that delegates which keep node pointers over a few
// replacements work. In a small graph no delegate makes that many: a model may have a million
// small graphs.
constexpr size_t kNodesToReserve = 128;
constexpr size_t kNodesToReservePerNode = 2;

// What reports say of a delegate's nodes then.
constexpr const char* kUndoneByResize = "undone by a resize until tensors are allocated";

struct FreeArray {
  void operator()(TfLiteIntArray* array) const { TfLiteIntArrayFree(array); }
  void operator()(TfLiteFloatArray* array) const { TfLiteFloatArrayFree(array); }
};
using IntArray = std::unique_ptr<TfLiteIntArray, FreeArray>;

IntArray MakeArray(std::span<const int32_t> values) {
  IntArray array(TfLiteIntArrayCreate(static_cast<int>(values.size())));
  if (array == nullptr) throw std::bad_alloc();
  std::copy(values.begin(), values.end(), array->data);
  return array;
}

template <typename T>
T* AllocateZeroed() {
  T* value = static_cast<T*>(calloc(1, sizeof(T)));
  if (value == nullptr) throw std::bad_alloc();
  return value;
}

// The tensor owns the result; each part is attached before the next is allocated, so that a
// refused allocation leaks nothing.
void SetQuantization(const QuantizationDesc& desc, TfLiteTensor* tensor) {
  if (desc.type == kTfLiteBlockwiseQuantization) {
    auto* params = AllocateZeroed<TfLiteBlockwiseQuantization>();
    params->scale = desc.scales_tensor;
    params->zero_point = desc.zero_points_tensor;
    params->blocksize = desc.block_size;
    params->quantized_dimension = desc.dimension;
    tensor->quantization = {kTfLiteBlockwiseQuantization, params};
    return;
  }
  if (desc.type == kTfLiteMultiAxisQuantization) {
    auto* params = AllocateZeroed<TfLiteMultiAxisQuantization>();
    tensor->quantization = {kTfLiteMultiAxisQuantization, params};
    params->scales = desc.scales_tensor;
    params->zero_points = desc.zero_points_tensor;
    params->blocksize = desc.block_size;
    params->quantized_dimensions = MakeArray(desc.dimensions).release();
    return;
  }
  if (desc.type != kTfLiteAffineQuantization || desc.scale.empty()) return;
  auto* params = AllocateZeroed<TfLiteAffineQuantization>();
  tensor->quantization = {kTfLiteAffineQuantization, params};
  const int count = static_cast<int>(desc.scale.size());
  params->quantized_dimension = desc.dimension;
  params->scale = TfLiteFloatArrayCreate(count);
  params->zero_point = TfLiteIntArrayCreate(count);
  if (params->scale == nullptr || params->zero_point == nullptr) throw std::bad_alloc();
  for (int i = 0; i < count; ++i) {
    params->scale->data[i] = desc.scale[i];
    params->zero_point->data[i] =
        desc.zero_point.empty() ? 0 : static_cast<int>(desc.zero_point[i]);
  }
  if (count == 1) tensor->params = {params->scale->data[0], params->zero_point->data[0]};
}

void SetSparsity(const SparsityDesc& desc, TfLiteTensor* tensor) {
  auto* sparsity = AllocateZeroed<TfLiteSparsity>();
  tensor->sparsity = sparsity;
  sparsity->traversal_order = MakeArray(desc.traversal_order).release();
  if (!desc.block_map.empty()) sparsity->block_map = MakeArray(desc.block_map).release();
  const size_t count = desc.dimensions.size();
  sparsity->dim_metadata =
      static_cast<TfLiteDimensionMetadata*>(calloc(count, sizeof(TfLiteDimensionMetadata)));
  if (sparsity->dim_metadata == nullptr && count > 0) throw std::bad_alloc();
  sparsity->dim_metadata_size = static_cast<int>(count);
  for (size_t i = 0; i < count; ++i) {
    const DimensionDesc& from = desc.dimensions[i];
    TfLiteDimensionMetadata& to = sparsity->dim_metadata[i];
    to.dense_size = from.dense_size;
    if (!from.sparse_csr) continue;
    to.format = kTfLiteDimSparseCSR;
    to.array_segments = MakeArray(from.segments).release();
    to.array_indices = MakeArray(from.indices).release();
  }
}

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
  return !desc_->only_looked_at && strncmp(desc_->name, "VALIDATION:", 11) != 0;
}

const GraphIndex& Subgraph::graph_index() {
  if (graph_index_ == nullptr) graph_index_ = std::make_unique<GraphIndex>(graph_);
  return *graph_index_;
}

// ---- Building -----------------------------------------------------------------------------------

TfLiteStatus Subgraph::BuildTensors() {
  // Callers keep pointers to tensors from before they are prepared, too.
  graph_.ReserveTensors(desc_->tensors.size() + Graph::kTensorsToSpare);
  graph_.ReserveNodes(desc_->operators.size());
  graph_.ReservePlan(desc_->operators.size());
  int first = 0;
  if (AddTensors(static_cast<int>(desc_->tensors.size()), &first) != kTfLiteOk) return kTfLiteError;
  // As upstream: a list with an index out of range counts as empty. The subgraph is inconsistent
  // then and never runs, but callers may query its inputs.
  if (graph_.IndicesExist(desc_->inputs)) graph_.SetInputs(desc_->inputs);
  if (graph_.IndicesExist(desc_->outputs)) graph_.SetOutputs(desc_->outputs);
  for (size_t i = 0; i < desc_->tensors.size(); ++i) {
    if (BuildTensor(desc_->tensors[i], &graph_.tensors()[i]) != kTfLiteOk) return kTfLiteError;
    if (graph_.tensors()[i].is_variable) graph_.AddVariable(static_cast<int>(i));
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::BuildTensor(const TensorDesc& desc, TfLiteTensor* tensor) {
  tensor->type = desc.type;
  tensor->name = desc.name;
  tensor->is_variable = desc.is_variable;
  tensor->dims = MakeArray(desc.shape).release();
  SetQuantization(desc.quantization, tensor);
  if (desc.sparsity != nullptr) SetSparsity(*desc.sparsity, tensor);
  if (desc.data != nullptr) {
    tensor->allocation_type = kTfLiteMmapRo;
    tensor->data.raw_const = reinterpret_cast<const char*>(desc.data);
    tensor->bytes = desc.bytes;
    if (desc.has_signature) tensor->dims_signature = MakeArray(desc.signature).release();
    return kTfLiteOk;
  }
  tensor->dims_signature = MakeArray(desc.signature).release();
  if (!HasFixedSize(desc.type)) {
    // The payload's size is known only once somebody writes it.
    tensor->allocation_type = desc.type == kTfLiteNoType ? kTfLiteArenaRw : kTfLiteDynamic;
    return kTfLiteOk;
  }
  tensor->allocation_type = desc.is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
  return ComputeBytes(*tensor, *tensor->dims, &tensor->bytes);
}

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
      index = kTfLiteOptionalTensor;  // it can no longer be followed
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
  // The plan must take the node's number below without a throw.
  graph_.ReservePlan(graph_.plan().size() + 1);
  TfLiteNode node{};
  node.inputs = inputs.get();
  node.outputs = outputs.get();
  node.intermediates = intermediates.get();
  node.temporaries = temporaries.get();
  node.builtin_data = builtin_data.get();
  node.might_have_side_effect = HasSideEffect(context_, node, new_node.registration.builtin_code);
  const int index = graph_.AddNode(node, new_node.registration);
  // From here on nothing throws: the node owns its arrays and FreeNode frees them.
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
  // A delegate's init may be the first to look at a node, which moves the array.
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
  // In the order of the plan, as upstream frees them; then those that a later delegate has taken.
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
  // The kernel's free comes last; by contract it sees neither arrays nor builtin data.
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
  // Until the tensor owns the array it is freed on every path, unless it is the tensor's own.
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
    // Callers go on reading the array they passed.
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
    // Arena tensors get their address when the arena is laid out again.
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
  // The model's own edges count positions of its first plan, which are node numbers. A node that a
  // delegate has taken runs where the delegate's node does.
  std::vector<int> position_of(static_cast<size_t>(node_count()), -1);
  const std::function<void(int, int)> place = [&](int node_index, int position) {
    position_of[node_index] = position;
    const TfLiteNode& node = *graph_.node(node_index);
    if (node.delegate == nullptr) return;
    const TfLiteIntArray* taken = ReplacedNodes(node);
    for (int i = 0; i < taken->size; ++i) place(taken->data[i], position);
  };
  for (size_t position = 0; position < graph_.plan().size(); ++position) {
    place(graph_.plan()[position], static_cast<int>(position));
  }
  std::vector<PartitionGraph::ControlEdge> edges;
  if (const auto* model_edges = interpreter_->ControlEdges(index_)) {
    // Unsound nodes are not in the table.
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

// ---- Runtime ------------------------------------------------------------------------------------

ThreadPool& Subgraph::pool() { return interpreter_->pool(); }
TileObserver* Subgraph::tile_observer() { return interpreter_->tile_observer(); }
Arithmetic Subgraph::arithmetic() const { return interpreter_->arithmetic(); }
Precision Subgraph::precision() const { return interpreter_->precision(); }
const Limits& Subgraph::limits() const { return interpreter_->limits(); }

bool Subgraph::TensorIsRead(int tensor_index) const {
  // Tensors added since the plan was read are kept: being wrong here costs time, not results.
  return tensor_index < 0 || static_cast<size_t>(tensor_index) >= read_.size() ||
         read_[tensor_index];
}

CallableSubgraph* Subgraph::FindSubgraph(int index) {
  return index >= 0 && index < interpreter_->subgraph_count() ? interpreter_->subgraph(index)
                                                              : nullptr;
}

bool Subgraph::TakeCancellation() { return interpreter_->TakeCancellation(); }

ScratchArena& Subgraph::scratch() { return interpreter_->scratch(); }

Resources& Subgraph::resources() { return interpreter_->resources(); }

PackedConstants* Subgraph::PackedConstantsOf(const void* data) {
  return interpreter_->PackedConstantsOf(data);
}

PackedConstants& Subgraph::node_constants() { return interpreter_->node_constants(); }

bool Subgraph::CopyConstant(const void* data, size_t bytes, void* to) {
  return interpreter_->model().CopyBytes(data, bytes, to);
}

void Subgraph::RequestPacking(const TfLiteNode* node,
                              TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  // A delegate may call a kernel's prepare with a node of its own.
  if (preparing_node_ < 0 || node != graph_.node(preparing_node_)) return;
  pack_requests_.push_back({preparing_node_, pack});
}

void Subgraph::NoteContents(int tensor_index) {
  has_contents_.resize(graph_.tensors().size());
  has_contents_[static_cast<size_t>(tensor_index)] = true;
}

bool Subgraph::HasContents(int tensor_index) const {
  return static_cast<size_t>(tensor_index) < has_contents_.size() &&
         has_contents_[static_cast<size_t>(tensor_index)];
}

void Subgraph::NoteImplementation(const char* name) {
  if (preparing_node_ < 0) return;
  const auto index = static_cast<size_t>(preparing_node_);
  if (implementations_.size() <= index) {
    implementations_.resize(static_cast<size_t>(graph_.node_count()));
  }
  implementations_[index] = name;
}

const char* Subgraph::implementation(int node_index) const {
  const auto index = static_cast<size_t>(node_index);
  const char* const name = index < implementations_.size() ? implementations_[index] : nullptr;
  return name == nullptr ? "" : name;
}

void Subgraph::NoteFailure(const char* text) { interpreter_->failure_note().Set(text); }

void Subgraph::Report(const char* format, va_list args) {
  if (Observer* observer = interpreter_->observer()) observer->EnterFunction(this, "ReportError");
  interpreter_->reporter()->ReportV(format, args);
}

}  // namespace deputy
