// SPDX-License-Identifier: Apache-2.0
//
// A model of two subgraphs, written with the schema header. Subgraph 0 adds its two inputs of two
// floats; subgraph 1, which has no name, multiplies its input by itself.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_SUPPORT_SUM_MODEL_H_
#define DEPUTY_TESTS_BINDINGS_CPP_SUPPORT_SUM_MODEL_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace deputy::cpp_test {

// Keeps messages, each on a line of its own.
class Messages : public tflite::ErrorReporter {
 public:
  using tflite::ErrorReporter::Report;
  int Report(const char* format, va_list args) override {
    char text[512];
    const int length = vsnprintf(text, sizeof text, format, args);
    text_ += std::string(text) + "\n";
    return length;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct SumModelOptions {
  bool has_signatures = true;
  // Builtin operator of subgraph 0, or the name of a custom one.
  tflite::BuiltinOperator op = tflite::BuiltinOperator_ADD;
  std::string custom_name;
};

inline std::unique_ptr<tflite::TensorT> FloatTensor(const char* name, std::vector<int32_t> shape) {
  auto tensor = std::make_unique<tflite::TensorT>();
  tensor->type = tflite::TensorType_FLOAT32;
  tensor->shape = std::move(shape);
  tensor->name = name;
  return tensor;
}

inline std::unique_ptr<tflite::OperatorT> Node(uint32_t code, std::vector<int32_t> inputs,
                                               std::vector<int32_t> outputs) {
  auto node = std::make_unique<tflite::OperatorT>();
  node->opcode_index = code;
  node->inputs = std::move(inputs);
  node->outputs = std::move(outputs);
  return node;
}

inline std::unique_ptr<tflite::OperatorCodeT> Code(tflite::BuiltinOperator op,
                                                   const std::string& name = "") {
  auto code = std::make_unique<tflite::OperatorCodeT>();
  code->builtin_code = op;
  code->deprecated_builtin_code = static_cast<int8_t>(op);
  code->custom_code = name;
  return code;
}

inline std::unique_ptr<tflite::SubGraphT> Subgraph(
    const char* name, std::vector<std::unique_ptr<tflite::TensorT>> tensors,
    std::unique_ptr<tflite::OperatorT> node) {
  auto subgraph = std::make_unique<tflite::SubGraphT>();
  subgraph->name = name;
  subgraph->tensors = std::move(tensors);
  subgraph->inputs = node->inputs;
  subgraph->outputs = node->outputs;
  subgraph->operators.push_back(std::move(node));
  return subgraph;
}

inline std::unique_ptr<tflite::SignatureDefT> Signature(
    const char* key, uint32_t subgraph, std::vector<std::pair<std::string, uint32_t>> inputs,
    std::pair<std::string, uint32_t> output) {
  const auto map = [](const std::pair<std::string, uint32_t>& entry) {
    auto name = std::make_unique<tflite::TensorMapT>();
    name->name = entry.first;
    name->tensor_index = entry.second;
    return name;
  };
  auto signature = std::make_unique<tflite::SignatureDefT>();
  signature->signature_key = key;
  signature->subgraph_index = subgraph;
  for (const auto& input : inputs) signature->inputs.push_back(map(input));
  signature->outputs.push_back(map(output));
  return signature;
}

// Returns the bytes of the model, which has the metadata "note": "hello".
inline std::string SumModel(const SumModelOptions& options = {}) {
  tflite::ModelT model;
  model.version = 3;
  model.operator_codes.push_back(Code(options.op, options.custom_name));
  model.operator_codes.push_back(Code(tflite::BuiltinOperator_MUL));

  std::vector<std::unique_ptr<tflite::TensorT>> sum_tensors, square_tensors;
  for (const char* name : {"a", "b", "sum"}) sum_tensors.push_back(FloatTensor(name, {2}));
  for (const char* name : {"x", "square"}) square_tensors.push_back(FloatTensor(name, {2}));
  auto add = Node(0, {0, 1}, {2});
  if (options.op == tflite::BuiltinOperator_ADD) add->builtin_options.Set(tflite::AddOptionsT());
  auto multiply = Node(1, {0, 0}, {1});
  multiply->builtin_options.Set(tflite::MulOptionsT());
  model.subgraphs.push_back(Subgraph("main", std::move(sum_tensors), std::move(add)));
  model.subgraphs.push_back(Subgraph("", std::move(square_tensors), std::move(multiply)));
  model.subgraphs[1]->inputs = {0};

  model.buffers.push_back(std::make_unique<tflite::BufferT>());
  model.buffers.push_back(std::make_unique<tflite::BufferT>());
  model.buffers[1]->data = {'h', 'e', 'l', 'l', 'o'};
  auto note = std::make_unique<tflite::MetadataT>();
  note->name = "note";
  note->buffer = 1;
  model.metadata.push_back(std::move(note));
  if (options.has_signatures) {
    model.signature_defs.push_back(Signature("add", 0, {{"left", 0}, {"right", 1}}, {"total", 2}));
    model.signature_defs.push_back(Signature("square", 1, {{"value", 0}}, {"result", 1}));
  }
  flatbuffers::FlatBufferBuilder out;
  tflite::FinishModelBuffer(out, tflite::Model::Pack(out, &model));
  return std::string(reinterpret_cast<const char*>(out.GetBufferPointer()), out.GetSize());
}

}  // namespace deputy::cpp_test

#endif  // DEPUTY_TESTS_BINDINGS_CPP_SUPPORT_SUM_MODEL_H_
