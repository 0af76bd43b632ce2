// SPDX-License-Identifier: Apache-2.0
//
// Converts the model's tensor descriptions to the structs of the ABI.
#include <cstdlib>

#include "core/base/type_size.h"
#include "core/exec/int_array.h"
#include "core/exec/subgraph.h"
#include "core/exec/tensor_shapes.h"

namespace deputy {
namespace {

template <typename T>
T* AllocateZeroed() {
  T* value = static_cast<T*>(calloc(1, sizeof(T)));
  if (value == nullptr) throw std::bad_alloc();
  return value;
}

// Sets the quantisation of a tensor. Each part is attached to the tensor before the next is
// allocated, so that a failed allocation leaks nothing.
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

}  // namespace

TfLiteStatus Subgraph::BuildTensors() {
  // Callers may keep pointers to tensors obtained before tensors are prepared.
  parts_.graph.ReserveTensors(parts_.desc->tensors.size() + Graph::kTensorsToSpare);
  parts_.graph.ReserveNodes(parts_.desc->operators.size());
  parts_.graph.ReservePlan(parts_.desc->operators.size());
  int first = 0;
  if (AddTensors(static_cast<int>(parts_.desc->tensors.size()), &first) != kTfLiteOk)
    return kTfLiteError;
  // Upstream treats a list with an index out of range as empty. The subgraph is then inconsistent
  // and never runs, but callers may query its inputs.
  if (parts_.graph.IndicesExist(parts_.desc->inputs)) parts_.graph.SetInputs(parts_.desc->inputs);
  if (parts_.graph.IndicesExist(parts_.desc->outputs))
    parts_.graph.SetOutputs(parts_.desc->outputs);
  for (size_t i = 0; i < parts_.desc->tensors.size(); ++i) {
    if (BuildTensor(parts_.desc->tensors[i], &parts_.graph.tensors()[i]) != kTfLiteOk)
      return kTfLiteError;
    if (parts_.graph.tensors()[i].is_variable) parts_.graph.AddVariable(static_cast<int>(i));
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
    // The size of a tensor without declared contents is unknown until they are written.
    tensor->allocation_type = desc.type == kTfLiteNoType ? kTfLiteArenaRw : kTfLiteDynamic;
    return kTfLiteOk;
  }
  tensor->allocation_type = desc.is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
  return ComputeBytes(parts_, *tensor, *tensor->dims, &tensor->bytes);
}

}  // namespace deputy
