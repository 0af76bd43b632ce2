// SPDX-License-Identifier: Apache-2.0
//
// Writes model files and reads them back with the schema's accessors.
#include "core/support/model_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace deputy::model_writer_test {
namespace {

using ::testing::ElementsAre;

TEST(ModelWriter, types_have_the_numbers_of_the_schema) {
  const std::map<TfLiteType, int> numbers = {
      {kTfLiteFloat32, 0},   {kTfLiteFloat16, 1},   {kTfLiteInt32, 2},    {kTfLiteUInt8, 3},
      {kTfLiteInt64, 4},     {kTfLiteString, 5},    {kTfLiteBool, 6},     {kTfLiteInt16, 7},
      {kTfLiteComplex64, 8}, {kTfLiteInt8, 9},      {kTfLiteFloat64, 10}, {kTfLiteComplex128, 11},
      {kTfLiteUInt64, 12},   {kTfLiteResource, 13}, {kTfLiteVariant, 14}, {kTfLiteUInt32, 15},
      {kTfLiteUInt16, 16},   {kTfLiteInt4, 17},     {kTfLiteBFloat16, 18}};
  for (const auto& [type, number] : numbers) {
    EXPECT_EQ(static_cast<int>(SchemaType(type)), number);
  }
  EXPECT_EQ(static_cast<int>(SchemaType(kTfLiteNoType)), -1);
  EXPECT_EQ(static_cast<int>(SchemaType(static_cast<TfLiteType>(31))), -1);
}

TEST(ModelWriter, equal_operator_codes_are_added_once) {
  ModelWriter w;
  EXPECT_EQ(w.AddOperatorCode(3, nullptr, 1), 0u);
  EXPECT_EQ(w.AddOperatorCode(32, "Mine", 1), 1u);
  EXPECT_EQ(w.AddOperatorCode(3, nullptr, 2), 2u);
  EXPECT_EQ(w.AddRawOperatorCode(schema::CreateOperatorCode(w.fbb(), 3)), 3u);
  EXPECT_EQ(w.AddOperatorCode(203, nullptr, 1), 4u);
  EXPECT_EQ(w.AddOperatorCode(32, "Other", 1), 5u);
  EXPECT_EQ(w.AddOperatorCode(32, "Mine", 1), 1u);
  EXPECT_EQ(w.AddOperatorCode(3, nullptr, 1), 0u);
  const std::vector<uint8_t> file = w.Finish("");
  const auto& codes = *schema::GetModel(file.data())->operator_codes();
  ASSERT_EQ(codes.size(), 6u);
  // Readers from before the field was widened know numbers below 127 only.
  EXPECT_EQ(codes[4]->deprecated_builtin_code(), 127);
  EXPECT_EQ(static_cast<int>(codes[4]->builtin_code()), 203);
  EXPECT_EQ(codes[1]->custom_code()->str(), "Mine");
  EXPECT_EQ(codes[2]->version(), 2);
  EXPECT_EQ(codes[2]->custom_code(), nullptr);
}

TEST(ModelWriter, nodes_and_subgraphs_are_read_back) {
  ModelWriter w(7);
  const std::vector<int32_t> inputs = {4, -1, 2}, outputs = {3}, intermediates = {5, 6};
  const std::vector<uint8_t> custom = {9, 8};
  w.SetName("main");
  w.SetInputs({1, 2});
  EXPECT_EQ(w.AddNode({.code_index = 2,
                       .inputs = inputs,
                       .outputs = outputs,
                       .intermediates = intermediates,
                       .options_type = schema::BuiltinOptions::AddOptions,
                       .options = schema::CreateAddOptions(w.fbb()).Union()}),
            0);
  EXPECT_EQ(w.AddSubgraph("second"), 1);
  EXPECT_EQ(w.AddNode({.outputs = outputs, .custom_options = custom}), 0);
  const auto options = schema::CreateStablehloSliceOptions(w.fbb()).Union();
  EXPECT_EQ(w.AddNode({.options_2_type = schema::BuiltinOptions2::StablehloSliceOptions,
                       .options = options}),
            1);
  w.SelectSubgraph(0);
  w.SetOutputs({3});
  const std::vector<uint8_t> file = w.Finish("text");
  flatbuffers::Verifier verifier(file.data(), file.size());
  ASSERT_TRUE(schema::VerifyModelBuffer(verifier));
  const schema::Model& model = *schema::GetModel(file.data());
  EXPECT_EQ(model.version(), 7u);
  EXPECT_EQ(model.description()->str(), "text");
  EXPECT_EQ(model.buffers()->size(), 1u);
  EXPECT_EQ(model.metadata(), nullptr);
  EXPECT_EQ(model.signature_defs(), nullptr);
  ASSERT_EQ(model.subgraphs()->size(), 2u);
  const schema::SubGraph &first = *model.subgraphs()->Get(0), &second = *model.subgraphs()->Get(1);
  EXPECT_EQ(first.name()->str(), "main");
  EXPECT_THAT(*first.inputs(), ElementsAre(1, 2));
  EXPECT_THAT(*first.outputs(), ElementsAre(3));
  ASSERT_EQ(first.operators()->size(), 1u);
  const schema::Operator& node = *first.operators()->Get(0);
  EXPECT_EQ(node.opcode_index(), 2u);
  EXPECT_THAT(*node.inputs(), ElementsAre(4, -1, 2));
  EXPECT_THAT(*node.outputs(), ElementsAre(3));
  EXPECT_THAT(*node.intermediates(), ElementsAre(5, 6));
  EXPECT_NE(node.builtin_options_as_AddOptions(), nullptr);
  EXPECT_EQ(node.custom_options(), nullptr);
  ASSERT_EQ(second.operators()->size(), 2u);
  EXPECT_EQ(second.name()->str(), "second");
  EXPECT_THAT(*second.operators()->Get(0)->custom_options(), ElementsAre(9, 8));
  EXPECT_EQ(second.operators()->Get(0)->intermediates(), nullptr);
  EXPECT_NE(second.operators()->Get(1)->builtin_options_2_as_StablehloSliceOptions(), nullptr);
  EXPECT_EQ(second.operators()->Get(1)->builtin_options(), nullptr);
}

}  // namespace
}  // namespace deputy::model_writer_test
