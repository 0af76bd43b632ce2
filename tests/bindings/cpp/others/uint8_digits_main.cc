// SPDX-License-Identifier: Apache-2.0
//
// Writes the digits model with uint8 in and out, as programs expect that feed the pixels of an
// image:
//
//     uint8_digits DIGITS_INT8.tflite OUTPUT.tflite
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/lite/schema/schema_generated.h"

namespace {

// Returns the index of a uint8 tensor that has the real values of the int8 tensor `like`.
int32_t AddUint8Tensor(tflite::SubGraphT& graph, int32_t like) {
  auto tensor = std::make_unique<tflite::TensorT>(*graph.tensors[static_cast<size_t>(like)]);
  tensor->type = tflite::TensorType_UINT8;
  for (int64_t& zero : tensor->quantization->zero_point) zero += 128;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<int32_t>(graph.tensors.size()) - 1;
}

std::unique_ptr<tflite::OperatorT> NewQuantize(uint32_t code, int32_t input, int32_t output) {
  auto node = std::make_unique<tflite::OperatorT>();
  node->opcode_index = code;
  node->inputs = {input};
  node->outputs = {output};
  return node;
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream input(arguments[1], std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(input), {}};
  tflite::ModelT model;
  tflite::GetModel(content.data())->UnPackTo(&model);
  tflite::SubGraphT& graph = *model.subgraphs[0];

  const auto code = static_cast<uint32_t>(model.operator_codes.size());
  model.operator_codes.push_back(std::make_unique<tflite::OperatorCodeT>());
  model.operator_codes.back()->builtin_code = tflite::BuiltinOperator_QUANTIZE;
  model.operator_codes.back()->deprecated_builtin_code = tflite::BuiltinOperator_QUANTIZE;
  model.signature_defs.clear();

  const int32_t pixels = AddUint8Tensor(graph, graph.inputs[0]);
  const int32_t scores = AddUint8Tensor(graph, graph.outputs[0]);
  graph.operators.insert(graph.operators.begin(), NewQuantize(code, pixels, graph.inputs[0]));
  graph.operators.push_back(NewQuantize(code, graph.outputs[0], scores));
  graph.inputs = {pixels};
  graph.outputs = {scores};

  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(tflite::Model::Pack(builder, &model), tflite::ModelIdentifier());
  std::ofstream output(arguments[2], std::ios::binary);
  output.write(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  return output ? 0 : 1;
}
