// SPDX-License-Identifier: Apache-2.0
//
// Tests the loading of models: the contents of a description and the location of its data.
#include "core/model/model.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "tests/support/load_result.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/sample_model.h"

namespace deputy::model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Writes an int64 vector whose elements are aligned to 4 bytes only, as FlatBuffers allow.
flatbuffers::Offset<flatbuffers::Vector<int64_t>> MisalignedLongs(
    flatbuffers::FlatBufferBuilder& fbb, const std::vector<int64_t>& values) {
  // Offsets count from the end of the file, whose size is a multiple of 8.
  fbb.Align(8);
  fbb.PushElement<uint32_t>(0);
  for (size_t i = values.size(); i-- > 0;) {
    fbb.PushElement(static_cast<int32_t>(values[i] >> 32));
    fbb.PushElement(static_cast<int32_t>(values[i]));
  }
  // The length precedes the elements. StartVector has other parameters since FlatBuffers 23.
  return fbb.PushElement(static_cast<uint32_t>(values.size()));
}

// ---- Descriptions ------------------------------------------------------------------------------

TEST(Description, equals_the_file) {
  const std::vector<uint8_t> bytes = SampleModel();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr) << testing::PrintToString(result.reports);
  EXPECT_THAT(result.reports, IsEmpty());
  const ModelDesc& desc = result.model->desc();
  EXPECT_EQ(desc.schema_version, 3u);
  EXPECT_STREQ(desc.description, "made for a test");
  ASSERT_EQ(desc.operator_codes.size(), 4u);
  EXPECT_EQ(desc.operator_codes[0].code, kTfLiteBuiltinAdd);
  EXPECT_EQ(desc.operator_codes[0].version, 2);
  EXPECT_EQ(desc.operator_codes[0].custom_name, nullptr);
  EXPECT_EQ(desc.operator_codes[1].code, kTfLiteBuiltinIf);
  EXPECT_EQ(desc.operator_codes[2].code, kTfLiteBuiltinCustom);
  EXPECT_STREQ(desc.operator_codes[2].custom_name, "Mine");
  EXPECT_EQ(desc.operator_codes[2].version, 3);

  ASSERT_EQ(desc.subgraphs.size(), 2u);
  EXPECT_STREQ(desc.subgraphs[1].name, "branch");
  EXPECT_THAT(desc.subgraphs[0].inputs, ElementsAre(0, 3));
  EXPECT_THAT(desc.subgraphs[0].outputs, ElementsAre(4));
  EXPECT_TRUE(desc.subgraphs[0].complete);
  EXPECT_EQ(desc.subgraphs[0].inconsistency, "");

  ASSERT_EQ(desc.signatures.size(), 1u);
  EXPECT_STREQ(desc.signatures[0].key, "serving_default");
  ASSERT_EQ(desc.signatures[0].inputs.size(), 2u);
  EXPECT_STREQ(desc.signatures[0].inputs[1].name, "flag");
  EXPECT_EQ(desc.signatures[0].inputs[1].tensor_index, 3);
  EXPECT_STREQ(desc.signatures[0].outputs.at(0).name, "scores");
  ASSERT_EQ(desc.metadata.size(), 1u);
  EXPECT_STREQ(desc.metadata[0].name, "min_runtime_version");
  EXPECT_THAT(desc.metadata[0].data, ElementsAre('1', '.', '5'));
}

TEST(Description, holds_every_kind_of_tensor) {
  const std::vector<uint8_t> bytes = SampleModel();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  const std::vector<TensorDesc>& tensors = result.model->desc().subgraphs[0].tensors;
  ASSERT_EQ(tensors.size(), 11u);
  EXPECT_STREQ(tensors[0].name, "x");
  EXPECT_EQ(tensors[0].type, kTfLiteFloat32);
  EXPECT_THAT(tensors[0].shape, ElementsAre(1, 2));
  EXPECT_TRUE(tensors[0].has_signature);
  EXPECT_THAT(tensors[0].signature, ElementsAre(-1, 2));
  EXPECT_EQ(tensors[0].data, nullptr);
  EXPECT_EQ(tensors[0].quantization.type, kTfLiteNoQuantization);

  EXPECT_FALSE(tensors[1].has_signature);
  ASSERT_EQ(tensors[1].bytes, 8u);
  EXPECT_EQ(reinterpret_cast<const float*>(tensors[1].data)[1], -2.5f);

  EXPECT_EQ(tensors[2].quantization.type, kTfLiteAffineQuantization);
  EXPECT_THAT(tensors[2].quantization.scale, ElementsAre(0.5f, 0.25f));
  EXPECT_THAT(tensors[2].quantization.zero_point, ElementsAre(3, -4));
  EXPECT_EQ(tensors[2].quantization.dimension, 1);
  EXPECT_THAT(tensors[3].shape, IsEmpty());
  EXPECT_EQ(tensors[5].type, kTfLiteString);
  EXPECT_EQ(tensors[5].bytes, 4u + 3 * 4 + 3);
  EXPECT_TRUE(tensors[6].is_variable);
  ASSERT_NE(tensors[7].sparsity, nullptr);
  EXPECT_THAT(tensors[7].sparsity->dimensions[1].indices, ElementsAre(0, 1));
  ASSERT_EQ(tensors[8].bytes, 12u);
  EXPECT_EQ(reinterpret_cast<const float*>(tensors[8].data)[2], 6.0f);
  EXPECT_EQ(tensors[9].quantization.type, kTfLiteBlockwiseQuantization);
  EXPECT_EQ(tensors[9].quantization.scales_tensor, 1);
  EXPECT_EQ(tensors[9].quantization.zero_points_tensor, -1);
  EXPECT_EQ(tensors[9].quantization.block_size, 32);
  EXPECT_EQ(tensors[10].quantization.type, kTfLiteMultiAxisQuantization);
  EXPECT_THAT(tensors[10].quantization.dimensions, ElementsAre(0, 1));
}

TEST(Description, holds_nodes_with_their_options) {
  const std::vector<uint8_t> bytes = SampleModel();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  const std::vector<OperatorDesc>& nodes = result.model->desc().subgraphs[0].operators;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_THAT(nodes[0].inputs, ElementsAre(0, 1));
  EXPECT_THAT(nodes[0].outputs, ElementsAre(2));
  const OptionsKind add = {1, static_cast<uint8_t>(schema::BuiltinOptions::AddOptions)};
  EXPECT_EQ(nodes[0].options.kind(), add);
  EXPECT_EQ(nodes[0].options.Activation(0), kTfLiteActRelu6);
  EXPECT_TRUE(nodes[0].options.Bool(1, true)) << "absent fields read as the default";
  EXPECT_TRUE(nodes[0].options.As(add).present());
  EXPECT_FALSE(nodes[1].options.As(add).present());
  EXPECT_EQ(nodes[1].options.Int(0), 1);
  EXPECT_THAT(nodes[2].inputs, ElementsAre(4, -1));
  EXPECT_THAT(nodes[2].custom_options, ElementsAre(9, 8, 7));
  EXPECT_FALSE(nodes[2].options.present());
}

TEST(Description, of_an_empty_model_is_empty) {
  flatbuffers::FlatBufferBuilder fbb;
  schema::FinishModelBuffer(fbb, schema::CreateModel(fbb, 7));
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr) << "what is missing is refused when an interpreter is created";
  EXPECT_EQ(result.model->desc().schema_version, 7u);
  EXPECT_TRUE(result.model->desc().subgraphs.empty());
}

TEST(Description, detects_subgraphs_without_tables) {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs = {
      schema::CreateSubGraph(fbb)};
  schema::FinishModelBuffer(fbb, schema::CreateModelDirect(fbb, 3, nullptr, &subgraphs));
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_FALSE(result.model->desc().subgraphs[0].complete);
}

TEST(OperatorCodes, are_the_maximum_of_the_old_and_new_fields) {
  ModelBuilder m;
  const auto code = [&m](int8_t old_code, int new_code) {
    m.AddRawOperatorCode(schema::CreateOperatorCode(
        m.fbb(), old_code, 0, 1, static_cast<schema::BuiltinOperator>(new_code)));
  };
  code(9, 0);      // code as in an old file
  code(9, 9);      // code as in a current file
  code(127, 150);  // a number that does not fit into the old field
  code(-1, 0);
  code(-1, -1);
  code(0, 100000);
  code(32, 0);  // a custom operator without a name
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  const std::vector<OperatorCodeDesc>& codes = result.model->desc().operator_codes;
  EXPECT_EQ(codes[0].code, kTfLiteBuiltinFullyConnected);
  EXPECT_EQ(codes[1].code, kTfLiteBuiltinFullyConnected);
  EXPECT_EQ(codes[2].code, kTfLiteBuiltinGelu);
  EXPECT_EQ(codes[3].code, kTfLiteBuiltinAdd);
  EXPECT_EQ(static_cast<int>(codes[4].code), 255);
  EXPECT_EQ(static_cast<int>(codes[5].code), 255);
  EXPECT_STREQ(codes[6].custom_name, "");
}

TEST(Options, of_unknown_union_members_are_absent) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1});
  m.AddTensor(kTfLiteFloat32, {1});
  const auto options = schema::CreateAddOptions(m.fbb());
  const uint32_t code = m.AddOperatorCode(kTfLiteBuiltinAbs, nullptr, 1);
  const std::vector<int32_t> inputs = {0}, outputs = {1};
  m.AddRawOperator(schema::CreateOperatorDirect(
      m.fbb(), code, &inputs, &outputs, static_cast<schema::BuiltinOptions>(250), options.Union()));
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_FALSE(result.model->desc().subgraphs[0].operators[0].options.present());
}

TEST(Options, read_every_kind_of_field) {
  ModelBuilder m;
  for (int i = 0; i < 2; ++i) m.AddTensor(kTfLiteFloat32, {1});
  const std::vector<int32_t> shape = {2, -1};
  const std::vector<float> boundaries = {0.5f, 1.5f};
  const std::vector<uint8_t> attributes = {1, 2, 3};
  m.AddOp(kTfLiteBuiltinReshape, {0}, {1}, schema::CreateReshapeOptionsDirect(m.fbb(), &shape));
  m.AddOp(kTfLiteBuiltinBucketize, {0}, {1},
          schema::CreateBucketizeOptionsDirect(m.fbb(), &boundaries));
  m.AddOp(kTfLiteBuiltinVarHandle, {0}, {1},
          schema::CreateVarHandleOptionsDirect(m.fbb(), nullptr, "shared"));
  m.AddOp(kTfLiteBuiltinRandomUniform, {0}, {1},
          schema::CreateRandomOptions(m.fbb(), int64_t{5} << 40, -6));
  m.AddOp(kTfLiteBuiltinSoftmax, {0}, {1}, schema::CreateSoftmaxOptions(m.fbb(), 0.75f));
  m.AddOp(kTfLiteBuiltinCast, {0}, {1},
          schema::CreateCastOptions(m.fbb(), schema::TensorType::UINT8,
                                    static_cast<schema::TensorType>(77)));
  m.AddOp(kTfLiteBuiltinStablehloComposite, {0}, {1},
          schema::CreateStableHLOCompositeOptionsDirect(m.fbb(), "gelu", 0, &attributes));
  m.AddOp(kTfLiteBuiltinConv2d, {0}, {1},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 2, 3,
                                      static_cast<schema::ActivationFunctionType>(6)));
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  const std::vector<OperatorDesc>& nodes = result.model->desc().subgraphs[0].operators;
  EXPECT_THAT(nodes[0].options.Ints(0), ElementsAre(2, -1));
  EXPECT_THAT(nodes[1].options.Floats(0), ElementsAre(0.5f, 1.5f));
  EXPECT_EQ(nodes[2].options.String(0), nullptr);
  EXPECT_STREQ(nodes[2].options.String(1), "shared");
  EXPECT_EQ(nodes[3].options.Long(0), int64_t{5} << 40);
  EXPECT_EQ(nodes[3].options.Long(1), -6);
  EXPECT_EQ(nodes[4].options.Float(0), 0.75f);
  EXPECT_EQ(nodes[5].options.Type(0), kTfLiteUInt8);
  EXPECT_EQ(nodes[5].options.Type(1), kTfLiteNoType);
  EXPECT_EQ(nodes[5].options.Type(2, kTfLiteInt64), kTfLiteInt64);
  const OptionsKind composite = {
      2, static_cast<uint8_t>(schema::BuiltinOptions2::StableHLOCompositeOptions)};
  EXPECT_EQ(nodes[6].options.kind(), composite);
  EXPECT_STREQ(nodes[6].options.String(0), "gelu");
  EXPECT_THAT(nodes[6].options.Bytes(2), ElementsAre(1, 2, 3));
  EXPECT_EQ(nodes[7].options.Padding(0), kTfLitePaddingValid);
  EXPECT_EQ(nodes[7].options.Int(2), 3);
  EXPECT_EQ(nodes[7].options.Activation(3), kTfLiteActNone) << "6 is no activation of the schema";
  EXPECT_EQ(nodes[7].options.Int(4, 1), 1);

  const OpOptions absent;
  EXPECT_FALSE(absent.present());
  EXPECT_EQ(absent.Int(0, 5), 5);
  EXPECT_EQ(absent.String(0), nullptr);
  EXPECT_THAT(absent.Ints(0), IsEmpty());
  EXPECT_THAT(absent.Longs(0), IsEmpty());
  EXPECT_EQ(absent.Type(0, kTfLiteInt32), kTfLiteInt32);
}

TEST(Options, map_every_type_of_the_schema) {
  for (int number = 0; number <= static_cast<int>(schema::TensorType::MAX); ++number) {
    EXPECT_NE(TypeFromSchema(static_cast<int8_t>(number)), kTfLiteNoType) << number;
  }
  EXPECT_EQ(TypeFromSchema(static_cast<int8_t>(schema::TensorType::FLOAT16)), kTfLiteFloat16);
  EXPECT_EQ(TypeFromSchema(static_cast<int8_t>(schema::TensorType::UINT4)), kTfLiteUInt4);
  EXPECT_EQ(TypeFromSchema(static_cast<int8_t>(schema::TensorType::FLOAT8_E5M2)),
            kTfLiteFloat8E5M2);
  EXPECT_EQ(TypeFromSchema(-1), kTfLiteNoType);
  EXPECT_EQ(TypeFromSchema(23), kTfLiteNoType);
}

// ---- Location of data --------------------------------------------------------------------------

bool IsInside(const void* pointer, const std::vector<uint8_t>& bytes) {
  const auto* p = static_cast<const uint8_t*>(pointer);
  return p >= bytes.data() && p < bytes.data() + bytes.size();
}

TEST(Bytes, of_an_aligned_caller_are_used_in_place) {
  const std::vector<uint8_t> bytes = SampleModel();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_EQ(result.model->bytes().data(), bytes.data());
  EXPECT_EQ(result.model->bytes().size(), bytes.size());
  EXPECT_EQ(result.model->file_descriptor(), -1);
  for (const int constant : {1, 5, 7, 8}) {
    EXPECT_TRUE(IsInside(result.model->desc().subgraphs[0].tensors[constant].data, bytes));
  }
}

TEST(Bytes, of_an_unaligned_caller_are_copied) {
  const std::vector<uint8_t> original = SampleModel();
  for (size_t shift = 1; shift < 16; ++shift) {
    std::vector<uint8_t> bytes(shift);
    bytes.insert(bytes.end(), original.begin(), original.end());
    ReportLog log;
    const auto model = Model::FromBuffer(bytes.data() + shift, original.size(), log.reporter());
    ASSERT_NE(model, nullptr) << shift << ": " << log.all();
    EXPECT_FALSE(IsInside(model->bytes().data(), bytes));
    bytes.assign(bytes.size(), 0xAB);  // the model has a copy
    EXPECT_STREQ(model->desc().subgraphs[0].tensors[1].name, "w");
    EXPECT_EQ(reinterpret_cast<const float*>(model->desc().subgraphs[0].tensors[1].data)[0], 1.5f);
  }
}

TEST(Bytes, after_the_flatbuffer_are_found_by_offset_and_size) {
  ModelBuilder m;
  std::vector<int32_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  m.AddConstant<int32_t>(kTfLiteInt32, {1000}, values, "a", {.trailing = true});
  m.AddConstant<int32_t>(kTfLiteInt32, {1000}, values, "b", {.trailing = true});
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  const std::vector<TensorDesc>& tensors = result.model->desc().subgraphs[0].tensors;
  for (const TensorDesc& tensor : tensors) {
    ASSERT_EQ(tensor.bytes, 4000u);
    EXPECT_EQ(reinterpret_cast<const int32_t*>(tensor.data)[999], 999);
  }
  EXPECT_EQ(tensors[1].data + 4000, bytes.data() + bytes.size());
}

// Three tensors use data at an odd offset of the file.
TEST(Bytes, not_aligned_to_their_element_are_copied_once) {
  ModelBuilder m;
  const uint32_t buffer = m.AddRawBuffer(schema::CreateBuffer(m.fbb(), 0, 5, 16));
  m.AddTensorOfBuffer(kTfLiteFloat32, {4}, buffer, "floats");
  m.AddTensorOfBuffer(kTfLiteFloat64, {2}, buffer, "doubles");
  m.AddTensorOfBuffer(kTfLiteInt8, {16}, buffer, "bytes");
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr) << testing::PrintToString(result.reports);
  const std::vector<TensorDesc>& tensors = result.model->desc().subgraphs[0].tensors;
  EXPECT_FALSE(IsInside(tensors[0].data, bytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensors[0].data) % 16, 0u);
  EXPECT_EQ(tensors[1].data, tensors[0].data);
  EXPECT_EQ(tensors[2].data, bytes.data() + 5);
  EXPECT_EQ(std::memcmp(tensors[0].data, bytes.data() + 5, 16), 0);
}

TEST(Bytes, of_misaligned_zero_points_and_options_are_read_correctly) {
  ModelBuilder m;
  const auto zero_points = MisalignedLongs(m.fbb(), {-5, 100});
  const std::vector<float> scales = {1, 2};
  const auto scale_vector = m.fbb().CreateVector(scales);
  m.AddTensor(kTfLiteInt8, {2}, "q",
              {.quantization =
                   schema::CreateQuantizationParameters(m.fbb(), 0, 0, scale_vector, zero_points)});
  m.AddTensor(kTfLiteInt8, {2}, "r");
  const auto low = MisalignedLongs(m.fbb(), {1, -2, int64_t{3} << 33});
  m.AddOp(kTfLiteBuiltinStablehloPad, {0}, {1}, schema::CreateStablehloPadOptions(m.fbb(), low));
  const std::vector<uint8_t> bytes = m.Finish();
  const auto* file = schema::GetModel(bytes.data())->subgraphs()->Get(0);
  const auto* in_file = file->tensors()->Get(0)->quantization()->zero_point()->Data();
  ASSERT_EQ(reinterpret_cast<uintptr_t>(in_file) % 8, 4u) << "this test's own mistake";
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr) << testing::PrintToString(result.reports);
  const SubgraphDesc& subgraph = result.model->desc().subgraphs[0];
  EXPECT_THAT(subgraph.tensors[0].quantization.zero_point, ElementsAre(-5, 100));
  EXPECT_THAT(subgraph.operators[0].options.Longs(0), ElementsAre(1, -2, int64_t{3} << 33));
}

TEST(Bytes, of_large_custom_options_follow_the_flatbuffer) {
  ModelBuilder m;
  const uint32_t code = m.AddOperatorCode(kTfLiteBuiltinCustom, "Mine", 1);
  m.AddRawOperator(schema::CreateOperator(m.fbb(), code, 0, 0, schema::BuiltinOptions::NONE, 0, 0,
                                          schema::CustomOptionsFormat::FLEXBUFFERS, 0, 0, 4, 4));
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_THAT(result.model->desc().subgraphs[0].operators[0].custom_options,
              ElementsAre('T', 'F', 'L', '3'));
}

// ---- Files --------------------------------------------------------------------------------------

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "deputy-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::vector<uint8_t>& bytes) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(Files, are_mapped_and_their_descriptor_kept) {
  const std::string path = Write("model.tflite", SampleModel());
  ReportLog log;
  std::shared_ptr<const Model> model = Model::FromFile(path.c_str(), log.reporter());
  ASSERT_NE(model, nullptr) << log.all();
  const int descriptor = model->file_descriptor();
  ASSERT_GE(descriptor, 0);
  EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  struct stat of_file, of_descriptor;
  ASSERT_EQ(stat(path.c_str(), &of_file), 0);
  ASSERT_EQ(fstat(descriptor, &of_descriptor), 0);
  EXPECT_EQ(of_file.st_ino, of_descriptor.st_ino);
  EXPECT_EQ(model->desc().subgraphs.size(), 2u);
  model.reset();
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1) << "deleting the model closes it";
}

// Parts are read in place or copied; data beyond the file or a part of another one is refused.
TEST_F(Files, that_are_mapped_are_read_in_parts) {
  const std::vector<uint8_t> bytes = SampleModel();
  const std::string path = Write("model.tflite", bytes);
  ReportLog log;
  const auto model = Model::FromFile(path.c_str(), log.reporter());
  ASSERT_NE(model, nullptr) << log.all();
  const uint8_t* const first = model->bytes().data();
  std::vector<uint8_t> copy(bytes.size() + 1);
  for (size_t from : {size_t{0}, size_t{5}, bytes.size() - 3, bytes.size()}) {
    const void* const read = model->ReadPart(first + from, bytes.size() - from, copy.data());
    ASSERT_TRUE(read == first + from || read == copy.data()) << from;
    EXPECT_EQ(std::memcmp(read, bytes.data() + from, bytes.size() - from), 0) << from;
    EXPECT_EQ(model->ReadPart(first + from, bytes.size() - from + 1, copy.data()), nullptr) << from;
  }
  EXPECT_EQ(model->ReadPart(copy.data(), 0, copy.data()), nullptr);
  EXPECT_EQ(model->ReadPart(nullptr, 1, copy.data()), nullptr);
  EXPECT_EQ(model->ReadPart(first + 1, SIZE_MAX, copy.data()), nullptr);
  // Released pages are read from the file again.
  model->ReleasePages(first, bytes.size());
  model->ReleasePages(copy.data(), copy.size());
  EXPECT_EQ(std::memcmp(first, bytes.data(), bytes.size()), 0);
  // Data of a truncated file cannot be read; a model in memory is read by its user.
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(model->ReadPart(first, 17, copy.data()), nullptr);
  const auto borrowed = Model::FromBuffer(bytes.data(), bytes.size(), log.reporter());
  EXPECT_EQ(borrowed->ReadPart(borrowed->bytes().data(), 1, copy.data()), nullptr);
  EXPECT_EQ(Model::Empty()->ReadPart(first, 0, copy.data()), nullptr);
}

TEST_F(Files, loaded_by_copy_may_shrink) {
  const std::vector<uint8_t> bytes = SampleModel();
  const std::string path = Write("model.tflite", bytes);
  ReportLog log;
  const auto model = Model::FromFileByCopy(path.c_str(), log.reporter());
  ASSERT_NE(model, nullptr) << log.all();
  EXPECT_EQ(model->file_descriptor(), -1);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(std::memcmp(model->bytes().data(), bytes.data(), bytes.size()), 0);
}

TEST_F(Files, that_are_missing_are_reported_by_name) {
  const std::string path = folder_ / "none.tflite";
  for (const auto load : {&Model::FromFile, &Model::FromFileByCopy}) {
    ReportLog log;
    EXPECT_EQ(load(path.c_str(), log.reporter(), Limits()), nullptr);
    ASSERT_EQ(log.texts().size(), 1u);
    EXPECT_THAT(log.texts()[0], StartsWith("Could not open '" + path + "'."));
  }
}

TEST_F(Files, that_are_not_regular_are_refused) {
  ReportLog log;
  EXPECT_EQ(Model::FromFile(folder_.c_str(), log.reporter()), nullptr);
  EXPECT_THAT(log.all(), HasSubstr("expected a regular file, found a directory"));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(Model::FromFile(pipe.c_str(), log.reporter()), nullptr) << "and nothing blocks";
  EXPECT_THAT(log.texts().back(), HasSubstr("expected a regular file, found a pipe"));
  EXPECT_EQ(Model::FromFileByCopy("/dev/zero", log.reporter()), nullptr);
  EXPECT_THAT(log.texts().back(), HasSubstr("expected a regular file, found a device"));
  EXPECT_EQ(Model::FromFile(nullptr, log.reporter()), nullptr);
  EXPECT_EQ(log.texts().size(), 4u);
}

TEST_F(Files, without_a_model_are_refused_and_closed) {
  const int before = dup(0);
  close(before);
  ReportLog log;
  EXPECT_EQ(Model::FromFile(Write("empty", {}).c_str(), log.reporter()), nullptr);
  EXPECT_EQ(Model::FromFile(Write("text", {'h', 'e', 'l', 'l', 'o'}).c_str(), log.reporter()),
            nullptr);
  ASSERT_EQ(log.texts().size(), 2u);
  for (const std::string& text : log.texts()) {
    EXPECT_THAT(text, StartsWith("The model is not a valid Flatbuffer buffer"));
  }
  const int after = dup(0);
  close(after);
  EXPECT_EQ(after, before) << "no descriptor stays open";
}

// A file of 2^31 bytes or more cannot be passed to the FlatBuffers verifier as a whole. The file is
// sparse except for its ends, so that it needs only address space.
TEST_F(Files, beyond_two_gigabytes_are_loaded) {
  const uint64_t offset = (uint64_t{1} << 31) + 4096;
  ModelBuilder m;
  const uint32_t buffer = m.AddRawBuffer(schema::CreateBuffer(m.fbb(), 0, offset, 8));
  m.AddTensorOfBuffer(kTfLiteFloat32, {2}, buffer, "far");
  const std::string path = Write("large.tflite", m.Finish());
  const int descriptor = open(path.c_str(), O_WRONLY);
  const float values[2] = {3.5f, 4.5f};
  const bool written = pwrite(descriptor, values, 8, static_cast<off_t>(offset)) == 8;
  close(descriptor);
  if (!written) GTEST_SKIP() << "no sparse files here";
  ReportLog log;
  const auto model = Model::FromFile(path.c_str(), log.reporter());
  ASSERT_NE(model, nullptr) << log.all();
  EXPECT_EQ(reinterpret_cast<const float*>(model->desc().subgraphs[0].tensors[0].data)[1], 4.5f);
}

// ---- Real models --------------------------------------------------------------------------------

// Returns the models of the folder `examples`, and those of the folder `shared/models` if present.
std::vector<std::filesystem::path> RealModelPaths() {
  const char* shared = std::getenv("DEPUTY_SHARED");
  std::vector<std::filesystem::path> paths;
  for (const std::filesystem::path& folder :
       {std::filesystem::path(SourcePath("examples")),
        shared != nullptr ? std::filesystem::path(shared) / "models"
                          : std::filesystem::path(SourcePath("../shared/models"))}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
      if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
    }
  }
  return paths;
}

TEST(RealModels, load_and_are_consistent) {
  const std::vector<std::filesystem::path> paths = RealModelPaths();
  EXPECT_GE(paths.size(), 3U);
  for (const std::filesystem::path& path : paths) {
    ReportLog log;
    const auto model = Model::FromFile(path.c_str(), log.reporter());
    ASSERT_NE(model, nullptr) << path << ": " << log.all();
    for (const SubgraphDesc& subgraph : model->desc().subgraphs) {
      EXPECT_TRUE(subgraph.complete);
      EXPECT_EQ(subgraph.inconsistency, "") << path;
    }
    EXPECT_GT(ReadAll(model->desc()), 0u);
  }
}

}  // namespace
}  // namespace deputy::model_test
