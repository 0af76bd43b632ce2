// SPDX-License-Identifier: Apache-2.0
//
// Compares VerifyModel with the verifier that flatc generates, on valid and damaged models.
#include "core/model/verify_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "schema_generated.h"

namespace deputy {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Options = flatbuffers::Offset<void>;

constexpr uint32_t kMaxTables = 1000000;

class VerifyModelTest : public testing::Test {
 protected:
  // Verifies a block of exactly the size of the bytes with both verifiers.
  void Compare(const std::vector<uint8_t>& bytes, const std::string& what) {
    flatbuffers::Verifier expected(bytes.data(), bytes.size());
    const bool valid = schema::VerifyModelBuffer(expected);
    ASSERT_EQ(VerifyModel(bytes, kMaxTables), valid) << what;
    ++(valid ? valid_ : damaged_);
  }

  uint32_t Below(uint32_t limit) {
    return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
  }

  // Adds a vector or a string of a random size.
  flatbuffers::uoffset_t AddSequence(Builder* builder) {
    const uint32_t size = Below(5);
    switch (Below(5)) {
      case 0:
        return builder->CreateVector(std::vector<uint8_t>(size, 1)).o;
      case 1:
        return builder->CreateVector(std::vector<uint16_t>(size, 1)).o;
      case 2:
        return builder->CreateVector(std::vector<uint32_t>(size, 1)).o;
      case 3:
        return builder->CreateVector(std::vector<uint64_t>(size, 1)).o;
      default:
        return builder->CreateString(std::string(size, 'x')).o;
    }
  }

  // Compares also with the table's first field beyond the end of the bytes.
  void CompareOptions(std::vector<uint8_t> bytes, const std::string& what) {
    ASSERT_NO_FATAL_FAILURE(Compare(bytes, what));
    const schema::Operator& op =
        *schema::GetModel(bytes.data())->subgraphs()->Get(0)->operators()->Get(0);
    const void* const options =
        op.builtin_options() != nullptr ? op.builtin_options() : op.builtin_options_2();
    const uint8_t* const vtable = static_cast<const flatbuffers::Table*>(options)->GetVTable();
    flatbuffers::WriteScalar(const_cast<uint8_t*>(vtable) + first_field_, uint16_t{0xfff0});
    Compare(bytes, what + " with a distant field");
  }

  // Adds a table of random fields. Few fields are present, so that the first ones do not decide.
  Options AddTable(Builder* builder) {
    constexpr uint32_t kMaxFields = 20;
    const flatbuffers::uoffset_t sequence = AddSequence(builder);
    const uint32_t first = Below(kMaxFields);
    const uint32_t fields = 1 + Below(2);
    first_field_ = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(first));
    const flatbuffers::uoffset_t start = builder->StartTable();
    for (uint32_t i = 0; i < fields; ++i) {
      const auto field =
          flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(first + i));
      switch (Below(5)) {
        case 0:
          builder->AddElement<uint8_t>(field, 1);
          break;
        case 1:
          builder->AddElement<uint16_t>(field, 1);
          break;
        case 2:
          builder->AddElement<uint32_t>(field, Below(64) + 1);
          break;
        case 3:
          builder->AddElement<uint64_t>(field, Below(64) + 1);
          break;
        default:
          builder->AddOffset(field, Options(sequence));
          break;
      }
    }
    return {builder->EndTable(start)};
  }

  template <typename CreateOptions>
  static std::vector<uint8_t> ModelWith(const CreateOptions& create_operator) {
    Builder builder;
    const auto op = create_operator(&builder);
    const auto subgraph = schema::CreateSubGraph(builder, 0, 0, 0, builder.CreateVector(&op, 1));
    const auto subgraphs = builder.CreateVector(&subgraph, 1);
    builder.Finish(schema::CreateModel(builder, 3, 0, subgraphs), schema::ModelIdentifier());
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
  }

  std::mt19937 random_{1};
  flatbuffers::voffset_t first_field_ = 0;  // of the last table
  int valid_ = 0, damaged_ = 0;
};

constexpr int kTablesPerMember = 400;

TEST_F(VerifyModelTest, OptionsOfBothUnions) {
  for (int type = 0; type <= static_cast<int>(schema::BuiltinOptions::MAX) + 1; ++type) {
    for (int i = 0; i < kTablesPerMember; ++i) {
      const auto bytes = ModelWith([&](Builder* builder) {
        const Options options = AddTable(builder);
        return schema::CreateOperator(*builder, 0, 0, 0, static_cast<schema::BuiltinOptions>(type),
                                      options);
      });
      ASSERT_NO_FATAL_FAILURE(CompareOptions(bytes, "BuiltinOptions " + std::to_string(type)));
    }
  }
  for (int type = 0; type <= static_cast<int>(schema::BuiltinOptions2::MAX) + 1; ++type) {
    for (int i = 0; i < kTablesPerMember; ++i) {
      const auto bytes = ModelWith([&](Builder* builder) {
        const Options options = AddTable(builder);
        schema::OperatorBuilder op(*builder);
        op.add_builtin_options_2(options);
        op.add_builtin_options_2_type(static_cast<schema::BuiltinOptions2>(type));
        return op.Finish();
      });
      ASSERT_NO_FATAL_FAILURE(CompareOptions(bytes, "BuiltinOptions2 " + std::to_string(type)));
    }
  }
  EXPECT_GT(valid_, 10000);
  EXPECT_GT(damaged_, 1000);
}

// A model with every table of the schema but options, and all members of the other unions.
std::vector<uint8_t> CompleteModel() {
  Builder b;
  const std::vector<int32_t> ints = {1, 2};
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<uint16_t> shorts = {1, 2};
  const auto Untyped = [](auto offset) { return offset.Union(); };
  const std::pair<schema::SparseIndexVector, Options> indices[] = {
      {schema::SparseIndexVector::Int32Vector, Untyped(schema::CreateInt32VectorDirect(b, &ints))},
      {schema::SparseIndexVector::Uint16Vector,
       Untyped(schema::CreateUint16VectorDirect(b, &shorts))},
      {schema::SparseIndexVector::Uint8Vector,
       Untyped(schema::CreateUint8VectorDirect(b, &bytes))}};
  const std::pair<schema::QuantizationDetails, Options> details[] = {
      {schema::QuantizationDetails::CustomQuantization,
       Untyped(schema::CreateCustomQuantizationDirect(b, &bytes))},
      {schema::QuantizationDetails::BlockwiseQuantization,
       Untyped(schema::CreateBlockwiseQuantization(b, 1, 2, 3))},
      {schema::QuantizationDetails::MultiAxisQuantization,
       Untyped(schema::CreateMultiAxisQuantizationDirect(b, 1, 2, 3, &ints))}};
  const std::vector<float> floats = {1.0f};
  const std::vector<int64_t> longs = {1};
  std::vector<flatbuffers::Offset<schema::Tensor>> tensors;
  for (size_t i = 0; i < std::size(details); ++i) {
    const std::vector levels = {schema::CreateDimensionMetadata(
        b, schema::DimensionType::SPARSE_CSR, 2, indices[i].first, indices[i].second,
        indices[2 - i].first, indices[2 - i].second)};
    const std::vector variants = {
        schema::CreateVariantSubTypeDirect(b, &ints, schema::TensorType::INT8, true)};
    const auto quantization = schema::CreateQuantizationParametersDirect(
        b, &floats, &floats, &floats, &longs, details[i].first, details[i].second, 1);
    const auto sparsity = schema::CreateSparsityParametersDirect(b, &ints, &ints, &levels);
    tensors.push_back(schema::CreateTensorDirect(b, &ints, schema::TensorType::INT8, 1, "tensor",
                                                 quantization, true, sparsity, &ints, true,
                                                 &variants));
  }
  const std::vector operators = {
      schema::CreateOperatorDirect(b, 0, &ints, &ints, schema::BuiltinOptions::ReshapeOptions,
                                   schema::CreateReshapeOptionsDirect(b, &ints).Union(), &bytes,
                                   schema::CustomOptionsFormat::FLEXBUFFERS, &bytes, &ints)};
  const std::vector subgraphs = {
      schema::CreateSubGraphDirect(b, &tensors, &ints, &ints, &operators, "main")};
  const std::vector codes = {schema::CreateOperatorCodeDirect(b, 1, "custom", 1)};
  const std::vector buffers = {schema::CreateBufferDirect(b, &bytes, 2, 3)};
  const std::vector metadata = {schema::CreateMetadataDirect(b, "metadata", 1)};
  const std::vector maps = {schema::CreateTensorMapDirect(b, "map", 1)};
  const std::vector signatures = {
      schema::CreateSignatureDefDirect(b, &maps, &maps, "signature", 0)};
  const std::vector groups = {schema::CreateExternalBufferGroupDirect(b, "group")};
  const std::vector external = {schema::CreateExternalBufferDirect(b, 1, 0, 2, 3, "packing")};
  b.Finish(schema::CreateModelDirect(b, 3, &codes, &subgraphs, "description", &buffers, &ints,
                                     &metadata, &signatures, &groups, &external),
           schema::ModelIdentifier());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

TEST_F(VerifyModelTest, DamagedTables) {
  const std::vector<uint8_t> model = CompleteModel();
  ASSERT_NO_FATAL_FAILURE(Compare(model, "undamaged"));
  ASSERT_EQ(valid_, 1);
  for (size_t size = 0; size < model.size(); ++size) {
    ASSERT_NO_FATAL_FAILURE(
        Compare({model.begin(), model.begin() + static_cast<int64_t>(size)}, "truncated"));
  }
  // Every byte takes every value; pairs of bytes take random ones.
  for (size_t i = 0; i < model.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> damaged = model;
      damaged[i] = static_cast<uint8_t>(value);
      ASSERT_NO_FATAL_FAILURE(
          Compare(damaged, "byte " + std::to_string(i) + " = " + std::to_string(value)));
      const size_t other = Below(static_cast<uint32_t>(model.size()));
      damaged[other] = static_cast<uint8_t>(Below(256));
      ASSERT_NO_FATAL_FAILURE(
          Compare(damaged, "bytes " + std::to_string(i) + " and " + std::to_string(other)));
    }
  }
  EXPECT_GT(valid_, 10000);
  EXPECT_GT(damaged_, 10000);
}

TEST_F(VerifyModelTest, CountsTables) {
  const std::vector<uint8_t> model = CompleteModel();
  int accepted = 0;
  for (uint32_t limit = 0; limit < 60; ++limit) {
    flatbuffers::Verifier::Options options;
    options.max_tables = limit;
    flatbuffers::Verifier expected(model.data(), model.size(), options);
    const bool valid = schema::VerifyModelBuffer(expected);
    EXPECT_EQ(VerifyModel(model, limit), valid) << limit;
    if (valid) ++accepted;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 60);
}

}  // namespace
}  // namespace deputy
