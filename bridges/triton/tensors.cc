// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/tensors.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "deputy/common.h"

namespace deputy::triton {
namespace {

constexpr Type kTypes[] = {
    {kTfLiteBool, kTritonBool, "BOOL"},         {kTfLiteUInt8, kTritonUInt8, "UINT8"},
    {kTfLiteUInt16, kTritonUInt16, "UINT16"},   {kTfLiteUInt32, kTritonUInt32, "UINT32"},
    {kTfLiteUInt64, kTritonUInt64, "UINT64"},   {kTfLiteInt8, kTritonInt8, "INT8"},
    {kTfLiteInt16, kTritonInt16, "INT16"},      {kTfLiteInt32, kTritonInt32, "INT32"},
    {kTfLiteInt64, kTritonInt64, "INT64"},      {kTfLiteFloat16, kTritonFloat16, "FP16"},
    {kTfLiteFloat32, kTritonFloat32, "FP32"},   {kTfLiteFloat64, kTritonFloat64, "FP64"},
    {kTfLiteBFloat16, kTritonBFloat16, "BF16"}, {kTfLiteString, kTritonBytes, "BYTES"}};

// Returns the shape in the model, with -1 for open dimensions.
Shape OpenShapeOf(const TfLiteTensor* tensor) {
  Shape shape = ShapeOf(tensor);
  const TfLiteIntArray* const open = tensor->dims_signature;
  if (open != nullptr && static_cast<size_t>(open->size) == shape.size()) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (open->data[i] < 0) shape[i] = -1;
    }
  }
  // The shape of a dynamic tensor becomes known in the inference.
  if (tensor->allocation_type == kTfLiteDynamic && tensor->type != kTfLiteString) {
    std::fill(shape.begin(), shape.end(), -1);
  }
  return shape;
}

Error Describe(const TfLiteTensor* tensor, const char* kind, bool is_batched,
               std::vector<TensorInfo>* infos) {
  TensorInfo info;
  info.kind = kind;
  const char* const name = TfLiteTensorName(tensor);
  info.name = name == nullptr ? "" : name;
  const bool is_taken = std::any_of(infos->begin(), infos->end(), [&](const TensorInfo& other) {
    return other.name == info.name;
  });
  if (info.name.empty() || is_taken) info.name = info.kind + "_" + std::to_string(infos->size());
  info.type = FindType(TfLiteTensorType(tensor));
  if (info.type == nullptr) {
    return MakeError(kErrorUnsupported, info.Label() + ": Triton has no type for " +
                                            TfLiteTypeGetName(TfLiteTensorType(tensor)));
  }
  info.shape = OpenShapeOf(tensor);
  if (is_batched) {
    const Shape present = ShapeOf(tensor);
    if (present.empty() || present[0] != 1) {
      return Invalid(info.Label() + ": max_batch_size needs a first dimension of 1, found " +
                     ShapeText(present) + "; set max_batch_size to 0");
    }
    info.shape.erase(info.shape.begin());
  }
  infos->push_back(std::move(info));
  return nullptr;
}

}  // namespace

std::string Type::ConfigName() const {
  return triton == kTritonBytes ? "TYPE_STRING" : std::string("TYPE_") + name;
}

const Type* FindType(TfLiteType type) {
  for (const Type& row : kTypes) {
    if (row.tflite == type) return &row;
  }
  return nullptr;
}

std::string NameOfType(int type) {
  for (const Type& row : kTypes) {
    if (row.triton == type) return row.name;
  }
  return "type " + std::to_string(type);
}

Error DescribeInputs(const TfLiteInterpreter* interpreter, bool is_batched,
                     std::vector<TensorInfo>* inputs) {
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    DEPUTY_TRY(
        Describe(TfLiteInterpreterGetInputTensor(interpreter, i), "input", is_batched, inputs));
  }
  return nullptr;
}

Error DescribeOutputs(const TfLiteInterpreter* interpreter, bool is_batched,
                      std::vector<TensorInfo>* outputs) {
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    DEPUTY_TRY(
        Describe(TfLiteInterpreterGetOutputTensor(interpreter, i), "output", is_batched, outputs));
  }
  return nullptr;
}

Shape ShapeOf(const TfLiteTensor* tensor) {
  Shape shape;
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) shape.push_back(TfLiteTensorDim(tensor, i));
  return shape;
}

Error SplitStrings(const std::string& label, std::string_view bytes, size_t count,
                   std::vector<std::string_view>* strings) {
  strings->clear();
  while (!bytes.empty()) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size) {
      return Invalid(label + ": expected the length of string " + std::to_string(strings->size()) +
                     " in 4 bytes, found " + std::to_string(bytes.size()) + " bytes");
    }
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size > bytes.size()) {
      return Invalid(label + ": expected " + std::to_string(size) + " bytes of string " +
                     std::to_string(strings->size()) + ", found " + std::to_string(bytes.size()));
    }
    strings->push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (strings->size() != count) {
    return Invalid(label + ": expected " + std::to_string(count) + " strings, found " +
                   std::to_string(strings->size()));
  }
  return nullptr;
}

// The layout of a tensor of strings: count, count + 1 offsets, as int32; the characters.
bool WriteStrings(const std::vector<std::string_view>& strings, TfLiteTensor* tensor) {
  size_t bytes = 4 * (strings.size() + 2);
  std::vector<int32_t> table = {static_cast<int32_t>(strings.size())};
  for (const std::string_view text : strings) {
    table.push_back(static_cast<int32_t>(bytes));
    bytes += text.size();
  }
  table.push_back(static_cast<int32_t>(bytes));
  if (bytes > INT32_MAX || TfLiteTensorRealloc(bytes, tensor) != kTfLiteOk) return false;
  auto* to = static_cast<char*>(TfLiteTensorData(tensor));
  if (to == nullptr || TfLiteTensorByteSize(tensor) < bytes) return false;
  std::memcpy(to, table.data(), 4 * table.size());
  to += 4 * table.size();
  for (const std::string_view text : strings) to = std::copy(text.begin(), text.end(), to);
  return true;
}

bool AppendStrings(const TfLiteTensor* tensor, std::string* bytes) {
  const auto* const data = static_cast<const char*>(TfLiteTensorData(tensor));
  const size_t size = TfLiteTensorByteSize(tensor);
  uint32_t count = 0;
  if (data == nullptr || size < sizeof count) return size == 0;
  std::memcpy(&count, data, sizeof count);
  if (count >= size / 4) return count == 0;  // the table has count + 2 numbers
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t ends[2];
    if (4 * (size_t{i} + 1) + sizeof ends > size) return false;
    std::memcpy(ends, data + 4 * (size_t{i} + 1), sizeof ends);
    if (ends[0] > ends[1] || ends[1] > size) return false;
    const uint32_t length = ends[1] - ends[0];
    bytes->append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes->append(data + ends[0], length);
  }
  return true;
}

}  // namespace deputy::triton
