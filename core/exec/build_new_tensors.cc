// SPDX-License-Identifier: Apache-2.0
//
// Tensors that a client describes in code. The checks are those that core/model/model_check.cc
// makes for the tensors of a model, except for strings and sparse tensors.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/base/type_size.h"
#include "core/exec/graph_builder.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"

namespace deputy {
namespace {

bool IsConstant(const NewTensor& tensor) { return tensor.is_constant || tensor.data != nullptr; }

// Returns true for types whose tensors have contents of a size that does not follow from the shape.
bool HasOwnSize(TfLiteType type) {
  return type == kTfLiteString || type == kTfLiteResource || type == kTfLiteVariant;
}

// Computes the product of the dimensions. Returns false on overflow and for a negative dimension.
bool CountElements(std::span<const int> dims, size_t* out_elements) {
  size_t elements = 1;
  bool empty = false;
  for (int dim : dims) {
    if (dim < 0 || !MultiplySizes(elements, static_cast<size_t>(std::max(dim, 1)), &elements)) {
      return false;
    }
    empty = empty || dim == 0;
  }
  *out_elements = empty ? 0 : elements;
  return true;
}

// Returns the alignment that kernels require of a constant.
size_t AlignmentOf(TfLiteType type) {
  switch (type) {
    case kTfLiteString:
      return alignof(int32_t);
    case kTfLiteComplex64:
      return alignof(float);
    case kTfLiteComplex128:
      return alignof(double);
    default:
      return std::max<size_t>(TypeBytes(type), 1);
  }
}

// Returns the deprecated form of the quantisation; zeros unless there is one scale.
TfLiteQuantizationParams ParamsOf(const TfLiteQuantization& quantization) {
  if (quantization.type != kTfLiteAffineQuantization || quantization.params == nullptr) return {};
  const auto& affine = *static_cast<const TfLiteAffineQuantization*>(quantization.params);
  if (affine.scale->size != 1) return {};
  return {affine.scale->data[0], affine.zero_point->data[0]};
}

TfLiteAllocationType AllocationOf(const NewTensor& tensor) {
  if (IsConstant(tensor)) return kTfLiteMmapRo;
  if (HasOwnSize(tensor.type)) return kTfLiteDynamic;
  return tensor.is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
}

}  // namespace

TensorAttachments::~TensorAttachments() {
  TfLiteQuantizationFree(&quantization);
  TfLiteSparsityFree(sparsity);
}

TfLiteStatus GraphBuilder::AddTensors(int count, int* out_first_index) {
  BuiltGraph& built = Built();
  TF_LITE_ENSURE_STATUS(subgraph_->AddTensors(count, out_first_index));
  built.SetTensorCount(graph_->tensor_count());
  return kTfLiteOk;
}

TfLiteStatus GraphBuilder::CheckTensor(int tensor_index, const NewTensor& tensor, bool is_sparse,
                                       size_t* out_bytes) {
  const bool constant = IsConstant(tensor);
  if (subgraph_->immutable()) {
    return Fail(reporter_, kTfLiteError,
                "SetTensorParametersRead%s is disallowed when graph is "
                "immutable.",
                constant ? "Only" : "Write");
  }
  if (graph_->tensor(tensor_index) == nullptr) {
    return Fail(reporter_, kTfLiteError,
                "subgraph %d: cannot describe tensor %d: expected an index below %d", parts_->index,
                tensor_index, graph_->tensor_count());
  }
  TF_LITE_ENSURE_STATUS(CheckShape(tensor_index, tensor, is_sparse, out_bytes));
  if (!tensor.is_variable) return kTfLiteOk;
  if (HasOwnSize(tensor.type)) {
    return Fail(reporter_, kTfLiteError, "String variable tensor isn't supported.");
  }
  if (!constant) return kTfLiteOk;
  return Fail(reporter_, kTfLiteError, "subgraph %d: tensor %d: expected a variable or a constant",
              parts_->index, tensor_index);
}

TfLiteStatus GraphBuilder::CheckShape(int tensor_index, const NewTensor& tensor, bool is_sparse,
                                      size_t* out_bytes) {
  char position[64];
  snprintf(position, sizeof position, "subgraph %d: tensor %d", parts_->index, tensor_index);
  size_t elements = 0, required = 0;
  if (!CountElements(tensor.dims, &elements)) {
    reporter_->ReportWithDetail(position, "BytesRequired number of elements overflowed.\n");
    return kTfLiteError;
  }
  const bool sized = HasFixedSize(tensor.type);
  if (!sized && !HasOwnSize(tensor.type)) {
    return Fail(reporter_, kTfLiteError, "%s: expected a type with elements, found %s", position,
                TfLiteTypeGetName(tensor.type));
  }
  // A size whose number of bits overflows, but not its number of bytes, is accepted here and
  // rejected by AllocateTensors, as in upstream.
  if (sized && !TensorBytes(tensor.type, tensor.dims, &required) &&
      !MultiplySizes(elements, TypeBytes(tensor.type), &required)) {
    reporter_->ReportWithDetail(position, "BytesRequired number of bytes overflowed.\n");
    return kTfLiteError;
  }
  if (!tensor.signature.empty() && tensor.signature.size() != tensor.dims.size()) {
    return Fail(reporter_, kTfLiteError,
                "%s: shape signature: expected %zu dimensions like the shape, found %zu", position,
                tensor.dims.size(), tensor.signature.size());
  }
  const bool keeps_size = IsConstant(tensor) && (!sized || is_sparse);
  *out_bytes = keeps_size ? tensor.bytes : required;
  if (!IsConstant(tensor)) return kTfLiteOk;
  const size_t found = tensor.data == nullptr ? 0 : tensor.bytes;
  if (found >= *out_bytes) return kTfLiteOk;
  return Fail(reporter_, kTfLiteError, "%s: constant: expected %zu bytes, found %zu", position,
              *out_bytes, found);
}

// Checks quantisation by the rules of models. One scale applies to the whole tensor, whatever the
// dimension. Parameters without scales, which upstream accepts, are removed.
TfLiteStatus GraphBuilder::CheckQuantization(int tensor_index, const NewTensor& tensor,
                                             TfLiteQuantization* quantization) {
  const auto refuse = [&](const char* what, int found) {
    return Fail(reporter_, kTfLiteError,
                "subgraph %d: tensor %d: quantisation: expected %s, found %d", parts_->index,
                tensor_index, what, found);
  };
  const auto exists = [this](int index) { return graph_->tensor(index) != nullptr; };
  if (quantization->params == nullptr) quantization->type = kTfLiteNoQuantization;
  switch (quantization->type) {
    case kTfLiteNoQuantization:
      return quantization->params == nullptr ? kTfLiteOk : refuse("no parameters", 1);
    case kTfLiteBlockwiseQuantization: {
      const auto& block = *static_cast<const TfLiteBlockwiseQuantization*>(quantization->params);
      if (!exists(block.scale)) return refuse("a tensor of scales", block.scale);
      if (block.zero_point == -1 || exists(block.zero_point)) return kTfLiteOk;
      return refuse("a tensor of zero points", block.zero_point);
    }
    case kTfLiteMultiAxisQuantization: {
      const auto& axes = *static_cast<const TfLiteMultiAxisQuantization*>(quantization->params);
      if (!exists(axes.scales)) return refuse("a tensor of scales", axes.scales);
      if (axes.quantized_dimensions == nullptr) return refuse("dimensions", 0);
      if (axes.zero_points == -1 || exists(axes.zero_points)) return kTfLiteOk;
      return refuse("a tensor of zero points", axes.zero_points);
    }
    case kTfLiteAffineQuantization:
      break;
    default:
      return refuse("a known type", quantization->type);
  }
  auto& affine = *static_cast<TfLiteAffineQuantization*>(quantization->params);
  if (affine.scale == nullptr || affine.scale->size == 0) {
    TfLiteQuantizationFree(quantization);
    return kTfLiteOk;
  }
  if (affine.zero_point == nullptr || affine.zero_point->size != affine.scale->size) {
    return refuse("as many zero points as scales",
                  affine.zero_point == nullptr ? 0 : affine.zero_point->size);
  }
  const auto rank = static_cast<int>(tensor.dims.size());
  const bool in_range = affine.quantized_dimension >= 0 && affine.quantized_dimension < rank;
  if (affine.scale->size == 1) {
    if (!in_range) affine.quantized_dimension = 0;
    return kTfLiteOk;
  }
  if (rank == 0) return kTfLiteOk;
  if (!in_range) return refuse("a dimension of the tensor", affine.quantized_dimension);
  const int extent = tensor.dims[static_cast<size_t>(affine.quantized_dimension)];
  return affine.scale->size == extent ? kTfLiteOk
                                      : refuse("a scale for each slice", affine.scale->size);
}

// Returns the contents of a constant, in a copy if they are not aligned to their elements; null for
// other tensors.
const void* GraphBuilder::ContentsOf(const NewTensor& tensor, size_t bytes, Block* out_copy) {
  if (reinterpret_cast<uintptr_t>(tensor.data) % AlignmentOf(tensor.type) == 0) return tensor.data;
  if (!out_copy->Reserve(std::max<size_t>(bytes, 1), 0, parts_->interpreter->limits())) {
    throw std::bad_alloc();
  }
  memcpy(out_copy->data(), tensor.data, bytes);
  return out_copy->data();
}

void GraphBuilder::NoteVariable(int tensor_index) {
  const std::vector<int>& variables = graph_->variables();
  if (std::find(variables.begin(), variables.end(), tensor_index) == variables.end()) {
    graph_->AddVariable(tensor_index);
  }
}

TfLiteStatus GraphBuilder::SetTensor(int tensor_index, const NewTensor& given,
                                     TensorAttachments* attachments) {
  size_t bytes = 0;
  const bool is_sparse = attachments->sparsity != nullptr;
  TF_LITE_ENSURE_STATUS(CheckTensor(tensor_index, given, is_sparse, &bytes));
  TF_LITE_ENSURE_STATUS(CheckQuantization(tensor_index, given, &attachments->quantization));
  BuiltGraph& built = Built();
  Block copy;
  const void* const contents = ContentsOf(given, bytes, &copy);
  IntArray dims = MakeArray(given.dims), signature = MakeArray(given.signature);
  if (copy.data() != nullptr) built.copies.try_emplace(tensor_index);
  if (given.is_variable) NoteVariable(tensor_index);
  // Nothing fails from here on, except for the new preparation.
  const bool constant = IsConstant(given);
  TfLiteTensor& tensor = *graph_->tensor(tensor_index);
  const bool same_shape = tensor.type == given.type && tensor.dims != nullptr &&
                          TfLiteIntArrayEqual(tensor.dims, dims.get()) != 0;
  TfLiteTensorReset(given.type, given.name, dims.release(), ParamsOf(attachments->quantization),
                    static_cast<char*>(const_cast<void*>(contents)), bytes, AllocationOf(given),
                    nullptr, given.is_variable, &tensor);
  tensor.quantization = std::exchange(attachments->quantization, {});
  tensor.sparsity = std::exchange(attachments->sparsity, nullptr);
  if (!constant || !given.signature.empty()) tensor.dims_signature = signature.release();
  tensor.data_is_stale = false;
  if (copy.data() != nullptr) built.copies[tensor_index] = std::move(copy);
  built.NoteChange();
  if (constant && same_shape) return subgraph_->PrepareAgain();
  subgraph_->RequireAllocation();
  return kTfLiteOk;
}

}  // namespace deputy
