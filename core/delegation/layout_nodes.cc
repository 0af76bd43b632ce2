// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/layout_nodes.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "c_api/include/builtin_ops.h"
#include "core/base/type_size.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

bool HasScales(const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization) return false;
  const auto* const affine = static_cast<TfLiteAffineQuantization*>(tensor.quantization.params);
  return affine != nullptr && affine->scale != nullptr && affine->zero_point != nullptr;
}

// Returns a copy of the tensor's type and quantisation, without shape and contents.
TfLiteTensor CopyOf(const TfLiteTensor& source) {
  TfLiteTensor described{};
  described.type = source.type;
  described.params = source.params;
  described.quantization = source.quantization;
  described.name = source.name;
  described.allocation_type = kTfLiteArenaRw;
  described.buffer_handle = kTfLiteNullBufferHandle;
  TfLiteTensor copy = TfLiteTensorClone(described);
  if (HasScales(source) == HasScales(copy)) return copy;
  TfLiteTensorFree(&copy);
  throw std::bad_alloc();
}

// Corrects the quantised dimension of a tensor whose model tensor has the rank `rank`.
void ConvertQuantization(int rank, TfLiteTensor* tensor) {
  if (tensor->quantization.type != kTfLiteAffineQuantization) return;
  auto* const affine = static_cast<TfLiteAffineQuantization*>(tensor->quantization.params);
  if (affine == nullptr) return;
  const int dimension = affine->quantized_dimension + kImageRank - rank;
  if (dimension >= 0 && dimension < kImageRank) affine->quantized_dimension = kToNhwc[dimension];
}

// Sets `values[index]`; entries before it that did not exist become -1.
void Set(int index, int value, std::vector<int>* values) {
  const auto at = static_cast<size_t>(index);
  if (values->size() <= at) values->resize(at + 1, -1);
  (*values)[at] = value;
}

// Replaces values of at least `count` by -1.
void Forget(int count, std::vector<int>* values) {
  for (int& value : *values) {
    if (value >= count) value = -1;
  }
}

}  // namespace

bool LayoutNodes::IsTransposition(int node_index) const {
  return deputy::IsTransposition(subgraph_->graph(), parts_, node_index);
}

std::vector<int> LayoutNodes::ModelTensors(const LayoutPlan& plan) const {
  std::vector<int> table(static_cast<size_t>(plan.graph.tensor_count));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int>(i);
  for (const LayoutTensor& tensor : plan.tensors) {
    table[static_cast<size_t>(tensor.index)] = tensor.model;
  }
  return table;
}

// ---- Application --------------------------------------------------------------------------------

TfLiteStatus LayoutNodes::AddTensors(const LayoutPlan& plan) {
  if (subgraph_->interpreter()->transpose().invoke == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: a delegate in NCHW needs the operator TRANSPOSE", subgraph_->index());
  }
  const int count = plan.graph.tensor_count - plan.first_tensor;
  int first = 0;
  TF_LITE_ENSURE_STATUS(subgraph_->AddTensors(count + (permutation_ < 0 ? 2 : 0), &first));
  // After this reservation, each tensor is complete or not listed, also if out of memory.
  const auto all = static_cast<size_t>(plan.graph.tensor_count);
  if (parts_.other.size() < all) parts_.other.resize(all, -1);
  parts_.is_nchw.resize(parts_.other.size());
  contents_.resize(parts_.other.size());
  parts_.constants.reserve(parts_.constants.size() + plan.tensors.size());
  for (const LayoutTensor& tensor : plan.tensors) {
    if (tensor.node >= 0) {
      DescribeConstant(tensor);
    } else if (tensor.index >= plan.first_tensor) {
      DescribeImage(tensor);
    } else {
      TF_LITE_ENSURE_STATUS(PropagateShape(tensor.model, tensor.index));
    }
  }
  if (permutation_ >= 0) return kTfLiteOk;
  const int rank[] = {kImageRank};
  for (const int i : {0, 1}) {
    IntArray dims = MakeArray(rank);
    TfLiteTensor& tensor = *subgraph_->graph().tensor(first + count + i);
    tensor.type = kTfLiteInt32;
    tensor.dims = dims.release();
    tensor.data.raw_const = reinterpret_cast<const char*>(i == 0 ? kToNchw : kToNhwc);
    tensor.bytes = sizeof kToNchw;
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.name = "permutation";
  }
  permutation_ = first + count;
  return kTfLiteOk;
}

void LayoutNodes::DescribeImage(const LayoutTensor& added) {
  const TfLiteTensor& source = *subgraph_->graph().tensor(added.model);
  TfLiteTensor& tensor = *subgraph_->graph().tensor(added.index);
  IntArray dims = MakeArray(NchwDims(*source.dims));
  tensor = CopyOf(source);
  tensor.dims = dims.release();
  static_cast<void>(TensorBytes(tensor.type, IndicesOf(tensor.dims), &tensor.bytes));
  ConvertQuantization(kImageRank, &tensor);
  const auto model = static_cast<size_t>(added.model), index = static_cast<size_t>(added.index);
  parts_.other[model] = added.index;
  parts_.other[index] = added.model;
  parts_.is_nchw[index] = true;
}

void LayoutNodes::DescribeConstant(const LayoutTensor& added) {
  Graph& graph = subgraph_->graph();
  const TfLiteTensor& source = *graph.tensor(added.model);
  const LayoutRule& rule = *FindLayoutRule(graph.registration(added.node)->builtin_code);
  const InputChange change = ChangeOfInput(source, added.position, rule);
  Block data;
  std::vector<int> dims;
  if (!ConvertConstant(source, change, subgraph_->interpreter()->limits(), &dims, &data)) {
    throw std::bad_alloc();
  }
  IntArray new_dims = MakeArray(dims);
  const TfLiteTensor copy = CopyOf(source);
  TfLiteTensor& tensor = *graph.tensor(added.index);
  TfLiteTensorFree(&tensor);
  tensor = copy;
  if (change == InputChange::kConstant) ConvertQuantization(source.dims->size, &tensor);
  tensor.dims = new_dims.release();
  tensor.allocation_type = kTfLiteMmapRo;
  tensor.data.raw_const = data.data() == nullptr ? source.data.raw_const : data.data();
  tensor.bytes = source.bytes;
  contents_[static_cast<size_t>(added.index)] = std::move(data);
  const auto known = parts_.FindConstant(added.node, added.position);
  if (known == parts_.constants.end() || !known->Is(added.node, added.position)) {
    parts_.constants.insert(known, added);
  }
}

TfLiteStatus LayoutNodes::Transpose(int from, int to, int* out_node) {
  const int inputs[] = {from, permutation_ + (parts_.IsNchw(to) ? 0 : 1)};
  const int outputs[] = {to};
  Subgraph::NewNode node;
  node.inputs = inputs;
  node.outputs = outputs;
  node.registration = subgraph_->interpreter()->transpose();
  node.is_own = true;
  TF_LITE_ENSURE_STATUS(subgraph_->AddNode(node));
  *out_node = subgraph_->graph().node_count() - 1;
  return kTfLiteOk;
}

TfLiteStatus LayoutNodes::AddToPlan(const LayoutPlan::Transposition& transposition) {
  int node = -1;
  TF_LITE_ENSURE_STATUS(Transpose(transposition.from, transposition.to, &node));
  Set(transposition.to, node, &parts_.transpositions);
  return kTfLiteOk;
}

int LayoutNodes::AddCopy(const LayoutPlan& plan, int node_index) {
  Graph& graph = subgraph_->graph();
  const TfLiteRegistration& model = *graph.registration(node_index);
  TfLiteRegistration registration{};
  registration.builtin_code = model.builtin_code;
  registration.custom_name = model.custom_name;
  registration.version = model.version;
  const PartitionGraph::Node& described = plan.graph.nodes[static_cast<size_t>(node_index)];
  IntArray arrays[] = {MakeArray(described.inputs), MakeArray(described.outputs), MakeArray({}),
                       MakeArray({})};
  std::unique_ptr<void, decltype(&free)> params(
      ConvertParams(*graph.node(node_index), *FindLayoutRule(model.builtin_code)), &free);
  TfLiteNode node{};
  node.inputs = arrays[0].get();
  node.outputs = arrays[1].get();
  node.intermediates = arrays[2].get();
  node.temporaries = arrays[3].get();
  node.builtin_data = params.get();
  const int copy = graph.AddNode(node, registration);
  for (IntArray& array : arrays) static_cast<void>(array.release());
  static_cast<void>(params.release());
  return copy;
}

TfLiteStatus LayoutNodes::AddCpuTransposition(int from, int to, NodeSubset* subset) {
  int node = LayoutParts::Find(cpu_transpositions_, to);
  if (node < 0) TF_LITE_ENSURE_STATUS(Transpose(from, to, &node));
  Set(to, node, &cpu_transpositions_);
  subset->cpu_nodes.push_back(node);
  return kTfLiteOk;
}

TfLiteStatus LayoutNodes::AddNodesFor(const LayoutPlan& plan, NodeSubset* subset) {
  subset->model_nodes = subset->nodes;
  for (const int input : subset->inputs) {
    if (!parts_.IsNchw(input)) continue;
    const int model = LayoutParts::Find(parts_.other, input);
    TF_LITE_ENSURE_STATUS(AddCpuTransposition(input, model, subset));
  }
  subset->cpu_nodes.insert(subset->cpu_nodes.end(), subset->nodes.begin(), subset->nodes.end());
  for (const int output : subset->outputs) {
    if (!parts_.IsNchw(output)) continue;
    const int model = LayoutParts::Find(parts_.other, output);
    TF_LITE_ENSURE_STATUS(AddCpuTransposition(model, output, subset));
  }
  for (int& node : subset->nodes) {
    if (plan.IsConverted(node)) node = AddCopy(plan, node);
  }
  return kTfLiteOk;
}

// ---- Changes of the graph -----------------------------------------------------------------------

TfLiteStatus LayoutNodes::PropagateShape(int model_tensor, int nchw_tensor) {
  const TfLiteTensor& model = *subgraph_->graph().tensor(model_tensor);
  TfLiteTensor& nchw = *subgraph_->graph().tensor(nchw_tensor);
  if (model.allocation_type == kTfLiteDynamic || nchw.allocation_type != kTfLiteArenaRw ||
      model.dims == nullptr || model.dims->size != kImageRank) {
    return kTfLiteOk;
  }
  IntArray dims = MakeArray(NchwDims(*model.dims));
  if (model.type == nchw.type && TfLiteIntArrayEqual(dims.get(), nchw.dims) != 0) return kTfLiteOk;
  nchw.type = model.type;
  return subgraph_->ResizeTensor(&nchw, dims.release());
}

TfLiteStatus LayoutNodes::PropagateShapes(std::span<const int> nodes) {
  for (const int node : nodes) {
    for (const int output : IndicesOf(subgraph_->graph().node(node)->outputs)) {
      const int nchw = LayoutParts::Find(parts_.other, output);
      if (nchw >= 0 && !parts_.IsNchw(output)) TF_LITE_ENSURE_STATUS(PropagateShape(output, nchw));
    }
  }
  return kTfLiteOk;
}

void LayoutNodes::ForgetNodesFrom(int count) {
  Forget(count, &parts_.transpositions);
  Forget(count, &cpu_transpositions_);
}

void LayoutNodes::ForgetTensorsFrom(int count) {
  const auto end = static_cast<size_t>(count);
  parts_.other.resize(std::min(parts_.other.size(), end));
  parts_.is_nchw.resize(parts_.other.size());
  Forget(count, &parts_.other);
  std::erase_if(parts_.constants, [count](const auto& entry) { return entry.index >= count; });
  if (contents_.size() > end) contents_.resize(end);
  if (permutation_ >= count) permutation_ = -1;
}

}  // namespace deputy
