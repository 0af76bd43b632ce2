// SPDX-License-Identifier: Apache-2.0
//
// Mutations of tensors. A file with a constant whose bytes do not fit its shape is refused, so most
// changes of a shape or type also resize the constant's bytes.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {
namespace {

constexpr size_t kMaxConstantBytes = 1 << 20;
constexpr int32_t kMaxGrownExtent = 1 << 20;

objects::TensorT* SomeTensor(ModelT* model, Random* random) {
  if (model->subgraphs.empty()) return nullptr;
  objects::SubGraphT* graph = random->Pick(model->subgraphs).get();
  return graph->tensors.empty() ? nullptr : random->Pick(graph->tensors).get();
}

objects::BufferT* BufferOf(ModelT* model, const objects::TensorT& tensor) {
  if (tensor.buffer == 0 || tensor.buffer >= model->buffers.size()) return nullptr;
  objects::BufferT* buffer = model->buffers[tensor.buffer].get();
  return buffer->data.empty() ? nullptr : buffer;
}

// Selects a constant tensor, preferably a small one, because shapes, axes and sizes are small.
objects::TensorT* SomeConstant(ModelT* model, Random* random) {
  objects::TensorT* found = nullptr;
  for (int tries = 0; tries < 12; ++tries) {
    objects::TensorT* tensor = SomeTensor(model, random);
    if (tensor == nullptr || BufferOf(model, *tensor) == nullptr) continue;
    found = tensor;
    if (BufferOf(model, *tensor)->data.size() <= 64) break;
  }
  return found;
}

size_t BytesOf(objects::TensorType type) {
  switch (type) {
    case objects::TensorType::FLOAT16:
    case objects::TensorType::INT16:
    case objects::TensorType::UINT16:
      return 2;
    case objects::TensorType::FLOAT32:
    case objects::TensorType::INT32:
    case objects::TensorType::UINT32:
      return 4;
    case objects::TensorType::INT64:
    case objects::TensorType::UINT64:
    case objects::TensorType::FLOAT64:
    case objects::TensorType::COMPLEX64:
      return 8;
    default:
      return 1;
  }
}

// Resizes a constant's bytes to fit its shape, in a buffer of its own.
void FitBytes(ModelT* model, objects::TensorT* tensor) {
  const objects::BufferT* old = BufferOf(model, *tensor);
  if (old == nullptr) return;
  size_t bytes = BytesOf(tensor->type);
  for (const int32_t extent : tensor->shape) {
    if (extent < 0 || static_cast<size_t>(extent) > kMaxConstantBytes) return;
    bytes *= static_cast<size_t>(extent);
    if (bytes > kMaxConstantBytes) return;
  }
  auto buffer = std::make_unique<objects::BufferT>();
  buffer->data.resize(bytes);
  for (size_t i = 0; i < bytes; ++i) buffer->data[i] = old->data[i % old->data.size()];
  tensor->buffer = static_cast<uint32_t>(model->buffers.size());
  model->buffers.push_back(std::move(buffer));
}

// Makes a well-formed sparse constant: the existing elements are the first elements of a larger
// shape.
void MakeSparse(objects::TensorT* tensor, Random* random) {
  if (tensor == nullptr || tensor->shape.empty()) return;
  tensor->sparsity = std::make_unique<objects::SparsityParametersT>();
  for (size_t i = 0; i < tensor->shape.size(); ++i) {
    tensor->sparsity->traversal_order.push_back(static_cast<int32_t>(i));
    tensor->sparsity->dim_metadata.push_back(std::make_unique<objects::DimensionMetadataT>());
    tensor->sparsity->dim_metadata.back()->dense_size = tensor->shape[i];
  }
  int32_t& extent = random->Pick(tensor->shape);
  if (extent < kMaxGrownExtent) extent += random->Between(0, 64);
}

}  // namespace

void MutateShape(ModelT* model, Random* random) {
  objects::TensorT* tensor = SomeTensor(model, random);
  if (tensor == nullptr) return;
  std::vector<int32_t>& shape = random->OneIn(8) ? tensor->shape_signature : tensor->shape;
  const size_t kind = shape.empty() ? 0 : random->Below(6);
  if (kind == 0) {
    const auto at = static_cast<std::ptrdiff_t>(random->Below(shape.size() + 1));
    shape.insert(shape.begin() + at, random->OneIn(2) ? 1 : random->Int());
  } else if (kind == 1) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(random->Below(shape.size())));
  } else if (kind == 2) {
    std::swap(random->Pick(shape), random->Pick(shape));
  } else if (kind == 3) {
    shape = SomeTensor(model, random) == nullptr ? shape : SomeTensor(model, random)->shape;
  } else {
    random->Pick(shape) = random->Int();
  }
  if (random->OneIn(16)) tensor->has_rank = !tensor->has_rank;
  if (!random->OneIn(4)) FitBytes(model, tensor);
}

void MutateType(ModelT* model, Random* random) {
  objects::TensorT* tensor = SomeTensor(model, random);
  if (tensor == nullptr) return;
  tensor->type = static_cast<objects::TensorType>(random->Between(0, random->OneIn(8) ? 127 : 20));
  if (!random->OneIn(4)) FitBytes(model, tensor);
}

void MutateConstant(ModelT* model, Random* random) {
  objects::TensorT* tensor = SomeConstant(model, random);
  if (tensor == nullptr) return;
  std::vector<uint8_t>& data = BufferOf(model, *tensor)->data;
  const size_t bytes = std::min(BytesOf(tensor->type), data.size());
  const size_t at = random->Below(data.size() / bytes) * bytes;
  if (tensor->type == objects::TensorType::FLOAT32 && bytes == sizeof(float)) {
    const float value = random->Float();
    std::memcpy(&data[at], &value, sizeof value);
  } else {
    const int64_t value = random->OneIn(2) ? random->Between(-3, 6) : random->Hostile();
    std::memcpy(&data[at], &value, bytes);  // little-endian
  }
}

void MutateBuffer(ModelT* model, Random* random) {
  objects::TensorT* tensor =
      random->OneIn(2) ? SomeConstant(model, random) : SomeTensor(model, random);
  if (tensor == nullptr || model->buffers.empty()) return;
  objects::BufferT* buffer = BufferOf(model, *tensor);
  switch (random->Below(5)) {
    case 0:
      tensor->buffer = random->OneIn(8) ? static_cast<uint32_t>(random->Int()) : 0;
      break;
    case 1:
      if (buffer != nullptr) buffer->data.resize(random->Below(buffer->data.size() + 8));
      break;
    case 2:
      if (buffer == nullptr) break;
      buffer->offset = static_cast<uint64_t>(random->Hostile());
      buffer->size = static_cast<uint64_t>(random->Hostile());
      if (random->OneIn(2)) buffer->data.clear();
      break;
    default:
      tensor->buffer = static_cast<uint32_t>(random->Below(model->buffers.size()));
      if (!random->OneIn(4)) FitBytes(model, tensor);
  }
}

void MutateQuantization(ModelT* model, Random* random) {
  objects::TensorT* tensor = SomeTensor(model, random);
  const objects::TensorT* from = SomeTensor(model, random);
  if (tensor == nullptr || from == nullptr) return;
  if (tensor->quantization == nullptr || random->OneIn(8)) {
    tensor->quantization = std::make_unique<objects::QuantizationParametersT>();
    tensor->quantization->scale = {random->OneIn(2) ? 0.5f : random->Float()};
    tensor->quantization->zero_point = {random->OneIn(2) ? 0 : random->Hostile()};
    return;
  }
  objects::QuantizationParametersT& quantization = *tensor->quantization;
  switch (random->Below(6)) {
    case 0:
    case 1:
      if (!quantization.scale.empty()) random->Pick(quantization.scale) = random->Float();
      break;
    case 2:
      if (!quantization.zero_point.empty())
        random->Pick(quantization.zero_point) = random->Hostile();
      break;
    case 3:
      quantization.quantized_dimension = random->Int();
      break;
    case 4:
      quantization.scale.resize(random->Below(6), 0.25f);
      if (random->OneIn(2)) quantization.zero_point.resize(quantization.scale.size());
      break;
    default:
      tensor->quantization =
          from->quantization == nullptr
              ? nullptr
              : std::make_unique<objects::QuantizationParametersT>(*from->quantization);
  }
}

void MutateKnown(ModelT* model, Random* random) {
  if (model->subgraphs.empty()) return;
  objects::SubGraphT* graph = random->Pick(model->subgraphs).get();
  std::vector<int32_t> constants;
  for (size_t i = 0; i < graph->tensors.size(); ++i) {
    if (BufferOf(model, *graph->tensors[i]) != nullptr)
      constants.push_back(static_cast<int32_t>(i));
  }
  if (constants.empty()) return;
  // Replaces a constant by the MAXIMUM of the constant and itself, which a node computes.
  const int32_t constant = random->Pick(constants);
  auto copy = std::make_unique<objects::TensorT>(*graph->tensors[static_cast<size_t>(constant)]);
  copy->buffer = 0;
  const auto computed = static_cast<int32_t>(graph->tensors.size());
  graph->tensors.push_back(std::move(copy));
  for (const auto& node : graph->operators) {
    std::replace(node->inputs.begin(), node->inputs.end(), constant, computed);
  }
  auto node = std::make_unique<objects::OperatorT>();
  node->opcode_index = static_cast<uint32_t>(model->operator_codes.size());
  node->inputs = {constant, constant};
  node->outputs = {computed};
  graph->operators.insert(graph->operators.begin(), std::move(node));
  auto code = std::make_unique<objects::OperatorCodeT>();
  code->builtin_code = objects::BuiltinOperator::MAXIMUM;
  code->deprecated_builtin_code = static_cast<int8_t>(objects::BuiltinOperator::MAXIMUM);
  model->operator_codes.push_back(std::move(code));
}

void MutateSparsity(ModelT* model, Random* random) {
  objects::TensorT* tensor = SomeTensor(model, random);
  const objects::TensorT* from = nullptr;
  for (const auto& graph : model->subgraphs) {
    for (const auto& candidate : graph->tensors) {
      if (candidate->sparsity != nullptr && (from == nullptr || random->OneIn(2))) {
        from = candidate.get();
      }
    }
  }
  if (tensor == nullptr) return;
  if (from == nullptr) return MakeSparse(SomeConstant(model, random), random);
  if (tensor->sparsity == nullptr || random->OneIn(4)) {
    tensor->sparsity = std::make_unique<objects::SparsityParametersT>(*from->sparsity);
    if (random->OneIn(2)) tensor->shape = from->shape;
    return;
  }
  objects::SparsityParametersT& sparsity = *tensor->sparsity;
  switch (random->Below(3)) {
    case 0:
      if (!sparsity.traversal_order.empty()) random->Pick(sparsity.traversal_order) = random->Int();
      break;
    case 1:
      sparsity.block_map.push_back(random->Int());
      break;
    default:
      if (!sparsity.dim_metadata.empty())
        random->Pick(sparsity.dim_metadata)->dense_size = random->Int();
  }
}

void MutateVariable(ModelT* model, Random* random) {
  if (objects::TensorT* tensor = SomeTensor(model, random)) {
    tensor->is_variable = !tensor->is_variable;
    if (tensor->is_variable && random->OneIn(2)) tensor->buffer = 0;
  }
}

}  // namespace deputy::fuzz
