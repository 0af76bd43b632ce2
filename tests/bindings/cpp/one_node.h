// SPDX-License-Identifier: Apache-2.0
//
// Runs models of one node with libdeputy in reference arithmetic.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_ONE_NODE_H_
#define DEPUTY_TESTS_BINDINGS_CPP_ONE_NODE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "deputy/deputy.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace deputy {

template <typename T>
constexpr tflite::TensorType TensorTypeOf() {
  return std::is_same_v<T, float>     ? tflite::TensorType_FLOAT32
         : std::is_same_v<T, int8_t>  ? tflite::TensorType_INT8
         : std::is_same_v<T, uint8_t> ? tflite::TensorType_UINT8
         : std::is_same_v<T, int16_t> ? tflite::TensorType_INT16
         : std::is_same_v<T, int64_t> ? tflite::TensorType_INT64
                                      : tflite::TensorType_INT32;
}

// A tensor with its elements. Several scales belong to dimension `channel_dimension`.
template <typename T>
struct Values {
  std::vector<int32_t> shape;
  std::vector<T> data;
  std::vector<float> scales = {};
  int64_t zero_point = 0;
  int channel_dimension = 0;

  float scale() const { return scales[0]; }
  int32_t zero() const { return static_cast<int32_t>(zero_point); }
};

inline int CountOf(const std::vector<int32_t>& shape) {
  int count = 1;
  for (int32_t dim : shape) count *= dim;
  return count;
}

// Returns a tensor of random elements in [low, high].
template <typename T>
inline Values<T> RandomValues(std::vector<int32_t> shape, double low, double high,
                              std::vector<float> scales = {}, int64_t zero_point = 0,
                              int channel_dimension = 0) {
  static std::mt19937 engine(1);
  std::uniform_real_distribution<double> distribution(low, high);
  Values<T> values{std::move(shape), {}, std::move(scales), zero_point, channel_dimension};
  for (int i = CountOf(values.shape); i > 0; --i) {
    values.data.push_back(static_cast<T>(distribution(engine)));
  }
  return values;
}

// Builds a model of one node. Inputs are constants, except the first.
class OneNode {
 public:
  template <typename Options>
  OneNode(tflite::BuiltinOperator op, tflite::BuiltinOptions type, Options options,
          int32_t version = 2) {
    auto code = std::make_unique<tflite::OperatorCodeT>();
    code->builtin_code = op;
    code->deprecated_builtin_code = static_cast<int8_t>(op < 127 ? op : 127);
    code->version = version;
    model_.version = 3;
    model_.operator_codes.push_back(std::move(code));
    model_.buffers.push_back(std::make_unique<tflite::BufferT>());
    graph_ = std::make_unique<tflite::SubGraphT>();
    node_ = std::make_unique<tflite::OperatorT>();
    node_->builtin_options.type = type;
    if (type != tflite::BuiltinOptions_NONE) {
      node_->builtin_options.value = new Options(std::move(options));
    }
  }

  template <typename T>
  OneNode& Input(const Values<T>& values) {
    AddTensor(values);
    node_->inputs.push_back(static_cast<int32_t>(graph_->tensors.size()) - 1);
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data.data());
    std::vector<uint8_t> data(bytes, bytes + values.data.size() * sizeof(T));
    if (graph_->inputs.empty()) {
      graph_->inputs.push_back(0);
      input_ = std::move(data);
      return *this;
    }
    graph_->tensors.back()->buffer = static_cast<uint32_t>(model_.buffers.size());
    model_.buffers.push_back(std::make_unique<tflite::BufferT>());
    model_.buffers.back()->data = std::move(data);
    return *this;
  }

  // Returns the output, whose shape and quantisation are those of `output`; empty after an error.
  template <typename T>
  std::vector<T> Run(const Values<T>& output) {
    AddTensor(output);
    node_->outputs.push_back(static_cast<int32_t>(graph_->tensors.size()) - 1);
    graph_->outputs = node_->outputs;
    graph_->operators.push_back(std::move(node_));
    model_.subgraphs.push_back(std::move(graph_));
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(tflite::CreateModel(builder, &model_), tflite::ModelIdentifier());
    std::vector<T> result(static_cast<size_t>(CountOf(output.shape)));
    if (!Invoke(builder.GetBufferPointer(), builder.GetSize(), result.data(),
                result.size() * sizeof(T))) {
      result.clear();
    }
    return result;
  }

 private:
  template <typename T>
  void AddTensor(const Values<T>& values) {
    auto tensor = std::make_unique<tflite::TensorT>();
    tensor->shape = values.shape;
    tensor->type = TensorTypeOf<T>();
    if (!values.scales.empty()) {
      tensor->quantization = std::make_unique<tflite::QuantizationParametersT>();
      tensor->quantization->scale = values.scales;
      tensor->quantization->zero_point.assign(values.scales.size(), values.zero_point);
      tensor->quantization->quantized_dimension = values.channel_dimension;
    }
    graph_->tensors.push_back(std::move(tensor));
  }

  bool Invoke(const void* bytes, size_t size, void* output, size_t output_size) {
    TfLiteModel* model = TfLiteModelCreate(bytes, size);
    TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
    TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
    bool success =
        interpreter != nullptr && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    success = success && TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0),
                                                    input_.data(), input_.size()) == kTfLiteOk;
    success = success && TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
    success = success && TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0),
                                                  output, output_size) == kTfLiteOk;
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return success;
  }

  tflite::ModelT model_;
  std::unique_ptr<tflite::SubGraphT> graph_;
  std::unique_ptr<tflite::OperatorT> node_;
  std::vector<uint8_t> input_;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_BINDINGS_CPP_ONE_NODE_H_
