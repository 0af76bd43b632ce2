// SPDX-License-Identifier: Apache-2.0
//
// Tests products of integers: their import, and the reference that computes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/passes.h"
#include "tests/compiler/graph_builder.h"
#include "tests/compiler/importer.h"
#include "tests/compiler/pass_support.h"
#include "tests/support/model_builder.h"

namespace deputy::compiler::compiler_integers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TensorExtras Scale(std::vector<float> scales, std::vector<int64_t> zeros, int axis = 0) {
  return {.scale = std::move(scales), .zero_point = std::move(zeros), .quantized_dimension = axis};
}

// A FULLY_CONNECTED of quantised values: two inputs, two outputs.
struct Product {
  TfLiteType type = kTfLiteInt8, filter_type = kTfLiteInt8, output_type = kTfLiteInt8;
  int64_t zero_point = 3;
  std::vector<uint8_t> weights = {1, 2, 3, 0xfc};
  std::vector<float> filter_scales = {0.5f, 0.25f};
  std::vector<int64_t> filter_zeros = {0, 0};
  std::vector<int32_t> bias = {10, -20};
  TfLiteFusedActivation activation = kTfLiteActRelu6;

  std::vector<uint8_t> Model() const {
    ModelBuilder m;
    const int x = m.AddTensor(type, {1, 2}, "x", Scale({0.125f}, {zero_point}));
    const int w = m.AddConstant<uint8_t>(filter_type, {2, 2}, weights, "w",
                                         Scale(filter_scales, filter_zeros));
    const int b = m.AddConstant<int32_t>(kTfLiteInt32, {2}, bias, "b");
    const int y = m.AddTensor(output_type, {1, 2}, "y", Scale({0.5f}, {-4}));
    m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, b}, {y},
            schema::CreateFullyConnectedOptions(
                m.fbb(), static_cast<schema::ActivationFunctionType>(activation)));
    m.SetInputs({x});
    m.SetOutputs({y});
    return m.Finish();
  }
};

std::string Imported(const Product& product, Products products = Products::kIntegers) {
  Importer importer(product.Model(), products);
  EXPECT_EQ(importer.Refused(), "");
  EXPECT_EQ(FindFault(importer.graph), "");
  return importer.text;
}

TEST(IntegerProducts, sums_of_stored_numbers_are_scaled_limited_and_rounded) {
  // 6 in steps of 0.5 above -4 is 8; the image's scale times the filter's is 1/16 and 1/32.
  EXPECT_EQ(
      Imported({}),
      "input %0 INT8[1,2] 'x'\n"
      "%3 = matmul(%0, %1{INT8[2,2]}, %2{INT32[2]}) b transposed zero 3 INT32[1,2]  # node 0\n"
      "%5 = elementwise(%3, %4{FLOAT32[2]}) INT8(min(max(floor(((FLOAT32(a) * b) + -3.5)), "
      "-4), 8)) INT8[1,2] 'y'  # node 0\n"
      "output %5\n");
}

TEST(IntegerProducts, are_computed_as_the_formula_says) {
  Importer importer(Product{}.Model(), Products::kIntegers);
  RunPasses(&importer.graph, {});
  const int8_t x[] = {7, -125};
  // (7 - 3) * 1 + (-125 - 3) * 2 + 10 = -242; (7 - 3) * 3 + (-125 - 3) * -4 - 20 = 504.
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(x)};
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  ASSERT_TRUE(ComputeGraph(importer.graph, inputs, &outputs, &error));
  // -242 / 8 - 4 is below the smallest, -4; 504 / 16 - 4 = 27.5 is above the largest, 8.
  EXPECT_THAT(outputs[0], ElementsAre(std::byte{0xfc}, std::byte{8}));
  const int8_t near[] = {13, 3};
  // 10 + 10 = 20, and 20 / 8 - 4 = -1.5, rounded up; 30 - 20 = 10, and 10 / 16 - 4 = -3.375.
  inputs[0] = reinterpret_cast<const std::byte*>(near);
  ASSERT_TRUE(ComputeGraph(importer.graph, inputs, &outputs, &error));
  EXPECT_THAT(outputs[0], ElementsAre(std::byte{0xff}, std::byte{0xfd}));
}

TEST(IntegerProducts, reals_are_the_default) {
  EXPECT_THAT(Imported({}, Products::kReals), HasSubstr("FLOAT32[1,2]  # node 0"));
  EXPECT_THAT(Imported({}, Products::kReals), Not(HasSubstr("INT32")));
}

TEST(IntegerProducts, a_filter_of_uint8_becomes_int8) {
  Product product;
  product.filter_type = kTfLiteUInt8;
  product.weights = {0, 255, 128, 127};
  product.filter_scales = {0.5f};
  product.filter_zeros = {128};
  Importer importer(product.Model(), Products::kIntegers);
  const Operation& matmul = importer.graph.operations[0];
  ASSERT_TRUE(std::holds_alternative<MatMul>(matmul.kind)) << importer.text;
  const Value& filter = importer.graph.value(matmul.inputs[1]);
  ASSERT_EQ(filter.type, kTfLiteInt8);
  std::vector<int64_t> numbers;
  for (int i = 0; i < 4; ++i) numbers.push_back(filter.At(i).integer);
  EXPECT_THAT(numbers, ElementsAre(-128, 127, 0, -1));
}

TEST(IntegerProducts, reals_are_computed_where_integers_cannot_be) {
  Product wide;  // 255 - 100 exceeds int8
  wide.filter_type = kTfLiteUInt8;
  wide.weights = {100, 255, 100, 100};
  wide.filter_scales = {0.5f};
  wide.filter_zeros = {100};
  Product zeros;  // channels with different zero points
  zeros.filter_zeros = {0, 1};
  Product bias;  // a sum that may overflow
  bias.bias = {2147483647, 0};
  Product image;  // a zero point that the image's type does not have
  image.zero_point = 128;
  for (const Product& product : {wide, zeros, bias, image}) {
    const std::string text = Imported(product);
    EXPECT_THAT(text, Not(HasSubstr("INT32"))) << text;
  }
}

// Sums at the limit: |bias| + 765 * (1 + 2) = 2^31 - 1.
TEST(IntegerProducts, the_largest_sums_are_integers) {
  Product product;
  product.bias = {2147483647 - 765 * 3, 0};
  EXPECT_THAT(Imported(product), HasSubstr("INT32[1,2]"));
  ++product.bias[0];
  EXPECT_THAT(Imported(product), Not(HasSubstr("INT32")));
}

// ---- Convolutions -------------------------------------------------------------------------------

class IntegerConvolutions : public testing::Test {
 protected:
  ValueId Bytes(Shape shape, TfLiteType type = kTfLiteInt8) {
    std::vector<int8_t> numbers(static_cast<size_t>(ElementCount(shape)));
    for (int8_t& number : numbers) number = static_cast<int8_t>(random_() % 255 - 127);
    return m_.graph.AddConstantOf<int8_t>(type, std::move(shape), std::span<const int8_t>(numbers));
  }

  // Returns sums that are computed by the definition: padding has the zero point.
  std::vector<std::byte> Sums() const { return Computed(m_.graph, 1)[0]; }

  std::mt19937 random_{3};
  GraphBuilder m_;
};

Window Padded3x3() { return GraphBuilder::Window3x3(1); }

// An image with a border of the zero point has the same sums as one that the window pads.
TEST_F(IntegerConvolutions, padding_is_the_zero_point) {
  for (const TfLiteType type : {kTfLiteInt8, kTfLiteUInt8}) {
    m_ = {};
    const Number zero = {0, 5};
    const ValueId image = m_.Input({1, 4, 5, 3}, type), filter = Bytes({2, 3, 3, 3});
    const ValueId bordered = m_.Padded(image, 1, 1, 1, 1, zero);
    const ValueId a =
        m_.Add(Conv2d{Padded3x3(), 1, 5}, {image, filter}, {1, 4, 5, 2}, kTfLiteInt32);
    const ValueId b = m_.Add(Conv2d{GraphBuilder::Window3x3(), 1, 5}, {bordered, filter},
                             {1, 4, 5, 2}, kTfLiteInt32);
    const ValueId taps = Bytes({1, 3, 3, 3});
    const ValueId c =
        m_.Add(DepthwiseConv2d{Padded3x3(), 1, 5}, {image, taps}, {1, 4, 5, 3}, kTfLiteInt32);
    const ValueId d = m_.Add(DepthwiseConv2d{GraphBuilder::Window3x3(), 1, 5}, {bordered, taps},
                             {1, 4, 5, 3}, kTfLiteInt32);
    for (ValueId id : {a, b, c, d}) m_.Output(id);
    const auto sums = Computed(m_.graph, 1);
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[2], sums[3]);
    const auto before = Computed(m_.graph, 2);
    EXPECT_EQ(MergePadding(&m_.graph), 2);
    EXPECT_EQ(Computed(m_.graph, 2), before);
  }
}

TEST_F(IntegerConvolutions, a_border_of_another_number_stays) {
  const ValueId image = m_.Input({1, 4, 5, 3}, kTfLiteInt8);
  const ValueId bordered = m_.Padded(image, 1, 1, 1, 1, {0, 0});
  m_.Output(m_.Add(Conv2d{GraphBuilder::Window3x3(), 1, 5}, {bordered, Bytes({2, 3, 3, 3})},
                   {1, 4, 5, 2}, kTfLiteInt32));
  EXPECT_EQ(MergePadding(&m_.graph), 0);
}

TEST_F(IntegerConvolutions, sums_are_exact_beyond_the_digits_of_floats) {
  const ValueId image = m_.Input({1, 1, 1, 1}, kTfLiteUInt8);
  const int32_t bias[] = {(1 << 24) + 1};
  const int8_t one[] = {1};
  const ValueId filter = m_.graph.AddConstantOf<int8_t>(kTfLiteInt8, {1, 1, 1, 1}, one);
  const ValueId biases = m_.graph.AddConstantOf<int32_t>(kTfLiteInt32, {1}, bias);
  m_.Output(m_.Add(Conv2d{Window(), 1, 0}, {image, filter, biases}, {1, 1, 1, 1}, kTfLiteInt32));
  const std::byte two[] = {std::byte{2}};
  const std::byte* inputs[] = {two};
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  ASSERT_TRUE(ComputeGraph(m_.graph, inputs, &outputs, &error));
  EXPECT_EQ(LoadElement(kTfLiteInt32, outputs[0].data(), 0).integer, (1 << 24) + 3);
}

}  // namespace
}  // namespace deputy::compiler::compiler_integers_test
