// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/onnx_model.h"

#include <bit>

namespace deputy::onnxruntime {
namespace {

constexpr int64_t kIrVersion = 8, kOpset = 17;

enum WireType { kVarint = 0, kLengthDelimited = 2, kFixed32 = 5 };

// Field numbers of onnx.proto.
enum ModelField { kModelIrVersion = 1, kModelProducer = 2, kModelGraph = 7, kModelOpset = 8 };
enum OpsetField { kOpsetVersion = 2 };
enum GraphField {
  kGraphNode = 1,
  kGraphName = 2,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12,
};
enum NodeField { kNodeInput = 1, kNodeOutput = 2, kNodeOp = 4, kNodeAttribute = 5 };
enum AttributeField {
  kAttributeName = 1,
  kAttributeFloat = 2,
  kAttributeInt = 3,
  kAttributeString = 4,
  kAttributeInts = 8,
  kAttributeType = 20,
};
enum AttributeType { kTypeFloat = 1, kTypeInt = 2, kTypeString = 3, kTypeInts = 7 };
enum TensorField { kTensorDims = 1, kTensorType = 2, kTensorName = 8, kTensorRaw = 9 };
enum ValueField { kValueName = 1, kValueType = 2 };
enum TypeField { kTypeTensor = 1, kTensorElement = 1, kTensorShape = 2 };
enum ShapeField { kShapeDim = 1, kDimValue = 1 };

Message ValueInfo(std::string_view name, ElementType type, const Dims& dims) {
  Message shape;
  for (const int64_t dim : dims) shape.Bytes(kShapeDim, Message().Int(kDimValue, dim).bytes());
  Message tensor;
  tensor.Int(kTensorElement, type).Bytes(kTensorShape, shape.bytes());
  Message value;
  value.Bytes(kValueName, name)
      .Bytes(kValueType, Message().Bytes(kTypeTensor, tensor.bytes()).bytes());
  return value;
}

}  // namespace

void Message::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

Message& Message::Int(int field, int64_t value) {
  Varint(static_cast<uint64_t>(field << 3 | kVarint));
  Varint(static_cast<uint64_t>(value));
  return *this;
}

Message& Message::Float(int field, float value) {
  Varint(static_cast<uint64_t>(field << 3 | kFixed32));
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift);
  return *this;
}

Message& Message::Bytes(int field, std::string_view bytes) {
  Varint(static_cast<uint64_t>(field << 3 | kLengthDelimited));
  Varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

Attribute::Attribute(std::string_view name, int64_t value) {
  message.Bytes(kAttributeName, name).Int(kAttributeInt, value).Int(kAttributeType, kTypeInt);
}

Attribute::Attribute(std::string_view name, float value) {
  message.Bytes(kAttributeName, name).Float(kAttributeFloat, value).Int(kAttributeType, kTypeFloat);
}

Attribute::Attribute(std::string_view name, std::string_view value) {
  message.Bytes(kAttributeName, name)
      .Bytes(kAttributeString, value)
      .Int(kAttributeType, kTypeString);
}

Attribute::Attribute(std::string_view name, const Dims& values) {
  message.Bytes(kAttributeName, name);
  for (const int64_t value : values) message.Int(kAttributeInts, value);
  message.Int(kAttributeType, kTypeInts);
}

void OnnxModel::AddInput(std::string_view name, ElementType type, const Dims& dims) {
  graph_.Bytes(kGraphInput, ValueInfo(name, type, dims).bytes());
}

void OnnxModel::AddOutput(std::string_view name, ElementType type, const Dims& dims) {
  graph_.Bytes(kGraphOutput, ValueInfo(name, type, dims).bytes());
}

void OnnxModel::AddConstant(std::string_view name, ElementType type, const Dims& dims,
                            std::string_view contents) {
  Message tensor;
  for (const int64_t dim : dims) tensor.Int(kTensorDims, dim);
  tensor.Int(kTensorType, type).Bytes(kTensorName, name).Bytes(kTensorRaw, contents);
  graph_.Bytes(kGraphInitializer, tensor.bytes());
}

void OnnxModel::AddNode(std::string_view op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<Attribute>& attributes) {
  Message node;
  for (const std::string& name : inputs) node.Bytes(kNodeInput, name);
  for (const std::string& name : outputs) node.Bytes(kNodeOutput, name);
  node.Bytes(kNodeOp, op);
  for (const Attribute& attribute : attributes) {
    node.Bytes(kNodeAttribute, attribute.message.bytes());
  }
  graph_.Bytes(kGraphNode, node.bytes());
}

std::string OnnxModel::Finish() {
  graph_.Bytes(kGraphName, "partition");
  Message model;
  model.Int(kModelIrVersion, kIrVersion)
      .Bytes(kModelProducer, "deputy")
      .Bytes(kModelOpset, Message().Int(kOpsetVersion, kOpset).bytes())
      .Bytes(kModelGraph, graph_.bytes());
  graph_ = {};
  return model.Take();
}

}  // namespace deputy::onnxruntime
