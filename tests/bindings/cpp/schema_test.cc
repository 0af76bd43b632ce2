// SPDX-License-Identifier: Apache-2.0
//
// Tests the generated schema header and its helpers.
#include <flatbuffers/minireflect.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tensorflow/lite/schema/mutable/schema_generated.h"
#include "tensorflow/lite/schema/schema_utils.h"
#include "tflite/converter/schema/schema_conversion_utils.h"

namespace deputy::schema_test {
namespace {

using tflite::BuiltinOperator_ADD;
using tflite::BuiltinOperator_STABLEHLO_CASE;

TEST(SchemaTest, operator_codes_have_a_new_and_an_old_field) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(tflite::CreateOperatorCode(builder, BuiltinOperator_STABLEHLO_CASE));
  const auto* code = flatbuffers::GetRoot<tflite::OperatorCode>(builder.GetBufferPointer());
  EXPECT_EQ(code->deprecated_builtin_code(), 127);
  EXPECT_EQ(code->version(), 1);
  EXPECT_EQ(tflite::GetBuiltinCode(code), BuiltinOperator_STABLEHLO_CASE);

  tflite::OperatorCodeT old;
  old.deprecated_builtin_code = 3;
  EXPECT_EQ(tflite::GetBuiltinCode(&old), tflite::BuiltinOperator_CONV_2D);

  builder.Clear();
  builder.Finish(
      tflite::CreateOperatorCodeDirect(builder, tflite::BuiltinOperator_CUSTOM, "Mine", 7));
  code = flatbuffers::GetRoot<tflite::OperatorCode>(builder.GetBufferPointer());
  EXPECT_EQ(code->custom_code()->str(), "Mine");
  EXPECT_EQ(code->version(), 7);
  EXPECT_EQ(tflite::ConvertBuiltinCodeToDeprecatedBuiltinCode(BuiltinOperator_ADD), 0);
}

TEST(SchemaTest, names_of_operators_end_with_the_newest) {
  EXPECT_STREQ(tflite::EnumNameBuiltinOperator(BuiltinOperator_ADD), "ADD");
  EXPECT_STREQ(tflite::EnumNameBuiltinOperator(BuiltinOperator_STABLEHLO_CASE), "STABLEHLO_CASE");
  EXPECT_STREQ(tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(-1)), "");
  EXPECT_STREQ(tflite::EnumNameTensorType(tflite::TensorType_FLOAT16), "FLOAT16");
  EXPECT_STREQ(tflite::EnumNamesBuiltinOperator()[tflite::BuiltinOperator_MAX], "STABLEHLO_CASE");
}

TEST(SchemaTest, models_are_written_read_changed_and_printed) {
  tflite::ModelT model;
  model.version = 3;
  model.description = "before";
  model.subgraphs.push_back(std::make_unique<tflite::SubGraphT>());
  model.subgraphs[0]->tensors.push_back(std::make_unique<tflite::TensorT>());
  model.subgraphs[0]->tensors[0]->type = tflite::TensorType_INT8;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(tflite::CreateModel(builder, &model), tflite::ModelIdentifier());
  EXPECT_TRUE(tflite::ModelBufferHasIdentifier(builder.GetBufferPointer()));
  flatbuffers::Verifier verifier(builder.GetBufferPointer(), builder.GetSize());
  EXPECT_TRUE(tflite::VerifyModelBuffer(verifier));
  tflite::GetMutableModel(builder.GetBufferPointer())->mutate_version(4);
  const std::unique_ptr<tflite::ModelT> read(
      tflite::GetModel(builder.GetBufferPointer())->UnPack());
  EXPECT_EQ(read->version, 4u);
  EXPECT_EQ(read->subgraphs[0]->tensors[0]->type, tflite::TensorType_INT8);
  const std::string text =
      flatbuffers::FlatBufferToString(builder.GetBufferPointer(), tflite::ModelTypeTable());
  EXPECT_NE(text.find("type: INT8"), std::string::npos) << text;
}

TEST(SchemaTest, sizes_of_elements) {
  EXPECT_EQ(tflite::TensorTypeGetSize(tflite::TensorType_COMPLEX128), 16u);
  EXPECT_EQ(tflite::TensorTypeGetSize(tflite::TensorType_FLOAT16), 2u);
  EXPECT_EQ(tflite::TensorTypeGetSize(tflite::TensorType_BOOL), 1u);
  EXPECT_EQ(tflite::TensorTypeGetSize(tflite::TensorType_INT4), 0u);
  EXPECT_EQ(tflite::TensorTypeGetSize(tflite::TensorType_STRING), 0u);
}

}  // namespace
}  // namespace deputy::schema_test
