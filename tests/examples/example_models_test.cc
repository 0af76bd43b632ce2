// SPDX-License-Identifier: Apache-2.0
//
// The source of the small models in examples/, which are stored as files so that the examples run
// without tools. DEPUTY_WRITE_EXAMPLES=1 writes them; otherwise the test compares them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace deputy::example_models_test {
namespace {

// A model of Conv2D -> Logistic -> Conv2D -> Mean -> Softmax on images of 8 x 8 pixels and 3
// channels. A delegate that runs Conv2D and Mean has two partitions, of one node and of two.
std::vector<uint8_t> ConvMeanModel() {
  ModelBuilder m;
  const auto weights = [&](const std::vector<int32_t>& shape, const char* name) {
    size_t count = 1;
    for (int32_t dim : shape) count *= static_cast<size_t>(dim);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 29 % 17) / 16 - 0.5f;
    return m.AddConstant<float>(kTfLiteFloat32, shape, values, name);
  };
  const auto tensor = [&](const std::vector<int32_t>& shape, const char* name) {
    return m.AddTensor(kTfLiteFloat32, shape, name);
  };
  const auto conv = [&](schema::Padding padding, int stride,
                        schema::ActivationFunctionType activation) {
    return schema::CreateConv2DOptions(m.fbb(), padding, stride, stride, activation);
  };
  // The options are created before the weights, because compilers evaluate a call's arguments in
  // different orders.
  const int image = tensor({1, 8, 8, 3}, "image");
  const int first = tensor({1, 4, 4, 4}, "first");
  const auto first_options = conv(schema::Padding::SAME, 2, schema::ActivationFunctionType::NONE);
  m.AddOp(kTfLiteBuiltinConv2d, {image, weights({4, 3, 3, 3}, "w1"), weights({4}, "b1")}, {first},
          first_options);
  const int squashed = tensor({1, 4, 4, 4}, "squashed");
  m.AddOp(kTfLiteBuiltinLogistic, {first}, {squashed});
  const int second = tensor({1, 3, 3, 5}, "second");
  const auto second_options = conv(schema::Padding::VALID, 1, schema::ActivationFunctionType::RELU);
  m.AddOp(kTfLiteBuiltinConv2d, {squashed, weights({5, 2, 2, 4}, "w2"), weights({5}, "b2")},
          {second}, second_options);
  const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2}, "axes");
  const int mean = tensor({1, 5}, "mean");
  m.AddOp(kTfLiteBuiltinMean, {second, axes}, {mean}, schema::CreateReducerOptions(m.fbb()));
  const int result = tensor({1, 5}, "result");
  m.AddOp(kTfLiteBuiltinSoftmax, {mean}, {result}, schema::CreateSoftmaxOptions(m.fbb(), 1));
  m.SetInputs({image});
  m.SetOutputs({result});
  return m.Finish();
}

// A model of x - relu(x * y + 0.5) as MUL -> ADD -> NEG -> ADD on 2 x 3 elements. A delegate that
// runs ADD and MUL has two partitions, of two nodes and of one.
std::vector<uint8_t> MultiplyAddModel() {
  ModelBuilder m;
  const std::vector<int32_t> shape = {2, 3};
  const auto tensor = [&](const char* name) { return m.AddTensor(kTfLiteFloat32, shape, name); };
  const int x = tensor("x");
  const int y = tensor("y");
  const int half = m.AddConstant<float>(kTfLiteFloat32, shape, std::vector<float>(6, 0.5f), "half");
  const int product = tensor("product");
  const int sum = tensor("sum");
  const int negated = tensor("negated");
  const int result = tensor("result");
  m.AddOp(kTfLiteBuiltinMul, {x, y}, {product}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {product, half}, {sum},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.AddOp(kTfLiteBuiltinNeg, {sum}, {negated});
  m.AddOp(kTfLiteBuiltinAdd, {negated, x}, {result}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, y});
  m.SetOutputs({result});
  return m.Finish();
}

// Compares a file with a model, or writes it.
void ExpectFile(const std::string& name, const std::vector<uint8_t>& model) {
  const std::string path = SourcePath(name);
  if (std::getenv("DEPUTY_WRITE_EXAMPLES") != nullptr) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(model.data()),
               static_cast<std::streamsize>(model.size()));
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> found{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(found == model) << path << " is not what this test builds";
}

TEST(ExampleModels, conv_mean_equals_the_generated_model) {
  ExpectFile("examples/conv_mean.tflite", ConvMeanModel());
}

TEST(ExampleModels, multiply_add_is_made_from_this) {
  ExpectFile("examples/cpp_delegate/multiply_add.tflite", MultiplyAddModel());
}

}  // namespace
}  // namespace deputy::example_models_test
