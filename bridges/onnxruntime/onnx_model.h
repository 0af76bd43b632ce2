// SPDX-License-Identifier: Apache-2.0
//
// Writer of ONNX models in memory: encodes ModelProto of onnx.proto without a protobuf library.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_ONNX_MODEL_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_ONNX_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/onnxruntime/ort_api.h"

namespace deputy::onnxruntime {

using Dims = std::vector<int64_t>;

// A protobuf message under construction. Field numbers are at most 31.
class Message {
 public:
  Message& Int(int field, int64_t value);
  Message& Float(int field, float value);
  Message& Bytes(int field, std::string_view bytes);
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::exchange(bytes_, {}); }

 private:
  void Varint(uint64_t value);
  std::string bytes_;
};

// An attribute of a node, as an encoded AttributeProto.
struct Attribute {
  Attribute(std::string_view name, int64_t value);
  Attribute(std::string_view name, float value);
  Attribute(std::string_view name, std::string_view value);
  Attribute(std::string_view name, const Dims& values);

  Message message;
};

// Values are identified by names; the name "" is an absent optional input.
class OnnxModel {
 public:
  void AddInput(std::string_view name, ElementType type, const Dims& dims);
  void AddOutput(std::string_view name, ElementType type, const Dims& dims);
  void AddConstant(std::string_view name, ElementType type, const Dims& dims,
                   std::string_view contents);
  void AddNode(std::string_view op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes);

  // Returns the encoded ModelProto, after which this model is empty.
  std::string Finish();

 private:
  Message graph_;
};

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_ONNX_MODEL_H_
