// SPDX-License-Identifier: Apache-2.0
//
// Tests one broken model per check: each is refused, or its subgraph is marked, with one sentence
// that describes the error. Every case breaks one property of a valid model.
#include "core/model/model_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/load_result.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::model_check_test {
namespace {

using testing::HasSubstr;

struct Case {
  std::string name;
  std::function<void(ModelBuilder&)> build;
  std::string text;  // part of the error message, or of the inconsistency
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

std::string CaseName(const testing::TestParamInfo<Case>& info) { return info.param.name; }

// ---- Refusals -----------------------------------------------------------------------------------

class Refusal : public testing::TestWithParam<Case> {};

TEST_P(Refusal, reports_the_fault) {
  ModelBuilder m;
  GetParam().build(m);
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  EXPECT_EQ(result.model, nullptr);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_THAT(result.reports[0], HasSubstr(GetParam().text));
}

TensorExtras Quantized(std::vector<float> scale, std::vector<int64_t> zero_point,
                       int32_t dimension = 0) {
  TensorExtras extras;
  extras.scale = std::move(scale);
  extras.zero_point = std::move(zero_point);
  extras.quantized_dimension = dimension;
  return extras;
}

TensorExtras Detailed(ModelBuilder& m, int32_t scales, int32_t zero_points) {
  TensorExtras extras;
  const auto details = schema::CreateBlockwiseQuantization(m.fbb(), scales, zero_points, 32);
  extras.quantization = schema::CreateQuantizationParameters(
      m.fbb(), 0, 0, 0, 0, schema::QuantizationDetails::BlockwiseQuantization, details.Union());
  return extras;
}

const Case kTensorRefusals[] = {
    {"negative_dimension",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteFloat32, {1, -1, 3}, "x");
     },
     "subgraph 0 tensor 0 'x': shape[1]: expected 0 or more, found -1"},
    {"negative_dimension_of_strings",
     [](ModelBuilder& m) { m.AddTensor(kTfLiteString, {-5}, "s"); },
     "tensor 0 's': shape[0]: expected 0 or more, found -5"},
    {"shape_product_overflows",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {1 << 30, 1 << 30, 1 << 30}, "x");
     },
     "tensor 0 'x': shape: expected a size that fits 64 bits"},
    {"byte_product_overflows",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt64, {1 << 30, 1 << 30, 8}, "x");
     },
     "tensor 0 'x': shape: expected a size that fits 64 bits"},
    {"signature_of_another_rank",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteFloat32, {1, 2}, "x", {.signature = {-1}});
     },
     "tensor 0 'x': shape signature: expected 2 dimensions like the shape, found 1"},
    {"unknown_type",
     [](ModelBuilder& m) {
       const std::vector<int32_t> shape = {1};
       m.AddRawTensor(schema::CreateTensorDirect(m.fbb(), &shape,
                                                 static_cast<schema::TensorType>(99), 0, "x"));
     },
     "tensor 0 'x': type: expected 0..22, found 99"},
    {"buffer_out_of_range",
     [](ModelBuilder& m) { m.AddTensorOfBuffer(kTfLiteFloat32, {1}, 7, "x"); },
     "tensor 0 'x': buffer index: expected one of 1 buffers, found 7"},
    {"data_too_short",
     [](ModelBuilder& m) {
       m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 2, 3}, "w");
     },
     "tensor 0 'w': data: expected 16 bytes, found 12"},
    {"int4_too_short",
     [](ModelBuilder& m) {
       m.AddConstant<uint8_t>(kTfLiteInt4, {5}, {1, 2}, "w");
     },
     "tensor 0 'w': data: expected 3 bytes, found 2"},
    {"int2_too_short", [](ModelBuilder& m) { m.AddConstant<uint8_t>(kTfLiteInt2, {5}, {1}, "w"); },
     "tensor 0 'w': data: expected 2 bytes, found 1"},
    {"trailing_data_past_the_end",
     [](ModelBuilder& m) {
       const uint32_t buffer = m.AddRawBuffer(schema::CreateBuffer(m.fbb(), 0, 1u << 20, 4));
       m.AddTensorOfBuffer(kTfLiteFloat32, {1}, buffer, "w");
     },
     "tensor 0 'w': buffer: expected to end within the file's"},
    {"trailing_data_wraps_around",
     [](ModelBuilder& m) {
       const uint32_t buffer =
           m.AddRawBuffer(schema::CreateBuffer(m.fbb(), 0, 16, ~uint64_t{0} - 12));
       m.AddTensorOfBuffer(kTfLiteFloat32, {1}, buffer, "w");
     },
     "found offset 16 size 18446744073709551603"},
    {"variable_with_data",
     [](ModelBuilder& m) {
       m.AddConstant<float>(kTfLiteFloat32, {1}, {1}, "v", {.is_variable = true});
     },
     "tensor 0 'v': expected a variable without data, found 4 bytes"},
    {"tensor_of_the_second_subgraph",
     [](ModelBuilder& m) {
       m.AddSubgraph();
       m.AddTensor(kTfLiteFloat32, {1}, "a");
       m.AddTensor(kTfLiteFloat32, {-2}, "b");
     },
     "subgraph 1 tensor 1 'b': shape[0]: expected 0 or more, found -2"},
};
INSTANTIATE_TEST_SUITE_P(Tensors, Refusal, testing::ValuesIn(kTensorRefusals), CaseName);

// Returns the contents of a string tensor with two texts, "ab" and "c", as 32-bit words.
std::vector<int32_t> StringWords() { return {2, 16, 18, 19, 0x00636261}; }

std::function<void(ModelBuilder&)> Strings(size_t word, int32_t value) {
  return [=](ModelBuilder& m) {
    std::vector<int32_t> words = StringWords();
    words[word] = value;
    m.AddConstant<int32_t>(kTfLiteString, {2}, words, "s");
  };
}

const Case kStringRefusals[] = {
    {"no_table", [](ModelBuilder& m) { m.AddConstant<int32_t>(kTfLiteString, {0}, {0}, "s"); },
     "tensor 0 's': string data: expected at least 8 bytes, found 4"},
    {"count_of_another_shape", Strings(0, 1), "string data: expected 2 strings, found 1"},
    {"count_negative", Strings(0, -2), "string data: expected 2 strings, found -2"},
    {"truncated_table",
     [](ModelBuilder& m) {
       m.AddConstant<int32_t>(kTfLiteString, {2}, {2, 16, 16}, "s");
     },
     "string data: expected a table of 16 bytes, found 12 bytes in all"},
    {"first_offset_in_the_table", Strings(1, 8), "offset 0: expected 16..20, found 8"},
    {"offset_descends", Strings(2, 15), "offset 1: expected 16..20, found 15"},
    {"offset_negative", Strings(1, -1), "offset 0: expected 16..20, found -1"},
    {"offset_past_the_end", Strings(3, 21), "offset 2: expected 18..20, found 21"},
};
INSTANTIATE_TEST_SUITE_P(Strings, Refusal, testing::ValuesIn(kStringRefusals), CaseName);

const Case kQuantizationRefusals[] = {
    {"fewer_zero_points",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2, 3}, "q", Quantized({1, 2, 3}, {0, 0}, 1));
     },
     "tensor 0 'q': zero points: expected 3 like the scales, found 2"},
    {"no_zero_points",
     [](ModelBuilder& m) {
       const std::vector<float> scale = {1};
       TensorExtras extras;
       extras.quantization =
           schema::CreateQuantizationParametersDirect(m.fbb(), nullptr, nullptr, &scale);
       m.AddTensor(kTfLiteInt8, {2}, "q", extras);
     },
     "zero points: expected 1 like the scales, found 0"},
    {"dimension_out_of_range",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2, 3}, "q", Quantized({1}, {0}, 2));
     },
     "quantized dimension: expected one of 2 dimensions, found 2"},
    {"dimension_negative",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2, 3}, "q", Quantized({1}, {0}, -1));
     },
     "quantized dimension: expected one of 2 dimensions, found -1"},
    {"scales_of_another_dimension",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2, 3}, "q", Quantized({1, 2, 3}, {0, 0, 0}, 0));
     },
     "scales: expected 1 or 2, found 3"},
    {"zero_point_too_large",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2}, "q", Quantized({1, 2}, {0, int64_t{1} << 31}));
     },
     "zero point 1: expected 32 bits, found 2147483648"},
    {"zero_point_too_small",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteInt8, {2}, "q", Quantized({1}, {-(int64_t{1} << 31) - 1}));
     },
     "zero point 0: expected 32 bits, found -2147483649"},
    {"blockwise_scales_out_of_range",
     [](ModelBuilder& m) { m.AddTensor(kTfLiteInt4, {64}, "q", Detailed(m, 1, -1)); },
     "tensor of scales: expected 0..0, found 1"},
    {"blockwise_zero_points_out_of_range",
     [](ModelBuilder& m) { m.AddTensor(kTfLiteInt4, {64}, "q", Detailed(m, 0, -2)); },
     "tensor of zero points: expected -1..0, found -2"},
};
INSTANTIATE_TEST_SUITE_P(Quantization, Refusal, testing::ValuesIn(kQuantizationRefusals), CaseName);

// Sparsity of a 4 × 6 matrix in blocks of 2 × 3: dense rows of blocks, sparse columns. Blocks
// (0,1), (1,0) and (1,1) are stored, 6 values each.
struct Sparse {
  std::vector<int32_t> shape = {4, 6};
  std::vector<int32_t> traversal = {0, 1, 2, 3};
  std::vector<int32_t> block_map = {0, 1};
  int32_t rows = 2;
  std::vector<int32_t> segments = {0, 1, 3};
  std::vector<int32_t> indices = {1, 0, 1};
  int32_t block_rows = 2, block_columns = 3;
  size_t values = 18;
  bool last_level_described = true;
  int format = 1;
  TfLiteType type = kTfLiteFloat32;
};

int AddSparse(ModelBuilder& m, const Sparse& s) {
  flatbuffers::FlatBufferBuilder& fbb = m.fbb();
  const auto dense = [&fbb](int32_t size) {
    return schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, size);
  };
  const auto segments = schema::CreateInt32VectorDirect(fbb, &s.segments);
  const std::vector<uint8_t> narrow(s.indices.begin(), s.indices.end());
  const auto indices = schema::CreateUint8VectorDirect(fbb, &narrow);
  std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels;
  levels.push_back(dense(s.rows));
  levels.push_back(schema::CreateDimensionMetadata(
      fbb, static_cast<schema::DimensionType>(s.format), 0, schema::SparseIndexVector::Int32Vector,
      segments.Union(), schema::SparseIndexVector::Uint8Vector, indices.Union()));
  levels.push_back(dense(s.block_rows));
  if (s.last_level_described) levels.push_back(dense(s.block_columns));
  TensorExtras extras;
  extras.sparsity =
      schema::CreateSparsityParametersDirect(fbb, &s.traversal, &s.block_map, &levels);
  return m.AddConstant<float>(s.type, s.shape, std::vector<float>(s.values), "w", extras);
}

std::function<void(ModelBuilder&)> SparseWith(const std::function<void(Sparse&)>& change) {
  return [change](ModelBuilder& m) {
    Sparse sparse;
    change(sparse);
    AddSparse(m, sparse);
  };
}

const Case kSparsityRefusals[] = {
    {"type_without_size", SparseWith([](Sparse& s) { s.type = kTfLiteString; }),
     "sparsity: expected a type of fixed size"},
    {"traversal_too_short", SparseWith([](Sparse& s) {
       s.traversal = {0, 1, 2};
     }),
     "sparsity: expected 4 levels, found 3 in the traversal order and 4 described"},
    {"levels_missing", SparseWith([](Sparse& s) { s.last_level_described = false; }),
     "sparsity: expected 4 levels, found 4 in the traversal order and 3 described"},
    {"traversal_repeats", SparseWith([](Sparse& s) {
       s.traversal = {0, 0, 2, 3};
     }),
     "traversal order[1]: expected a permutation, found 0"},
    {"traversal_mixes_block_and_shape", SparseWith([](Sparse& s) {
       s.traversal = {0, 2, 1, 3};
     }),
     "traversal order[1]: expected a permutation, found 2"},
    {"traversal_negative", SparseWith([](Sparse& s) {
       s.traversal = {0, 1, -1, 3};
     }),
     "traversal order[2]: expected a permutation, found -1"},
    {"traversal_out_of_range", SparseWith([](Sparse& s) {
       s.traversal = {0, 1, 2, 4};
     }),
     "traversal order[3]: expected a permutation, found 4"},
    {"block_map_descends", SparseWith([](Sparse& s) {
       s.block_map = {1, 0};
     }),
     "block map[1]: expected 2..1, found 0"},
    {"block_map_out_of_range", SparseWith([](Sparse& s) {
       s.block_map = {0, 2};
     }),
     "block map[1]: expected 1..1, found 2"},
    {"block_size_zero", SparseWith([](Sparse& s) { s.block_rows = 0; }),
     "level 2: expected a dense block that divides 4, found one of 0"},
    {"block_does_not_divide", SparseWith([](Sparse& s) { s.block_columns = 4; }),
     "level 3: expected a dense block that divides 6, found one of 4"},
    {"dense_level_too_large", SparseWith([](Sparse& s) { s.rows = 3; }),
     "level 0: expected a size of 0..2, found 3"},
    {"dense_level_negative", SparseWith([](Sparse& s) { s.rows = -1; }),
     "level 0: expected a size of 0..2, found -1"},
    {"unknown_format", SparseWith([](Sparse& s) { s.format = 2; }),
     "sparsity level 1: expected format 0 or 1, found 2"},
    {"segments_missing", SparseWith([](Sparse& s) { s.segments = {}; }),
     "level 1: expected 3 segments, found 0"},
    {"segments_too_few", SparseWith([](Sparse& s) {
       s.segments = {0, 3};
     }),
     "level 1: expected 3 segments, found 2"},
    {"first_segment_not_zero", SparseWith([](Sparse& s) {
       s.segments = {1, 1, 3};
     }),
     "level 1: segment 0: expected 0..0, found 1"},
    {"segments_descend", SparseWith([](Sparse& s) {
       s.segments = {0, 3, 2};
     }),
     "level 1: segment 2: expected 3..3, found 2"},
    {"segments_past_the_indices", SparseWith([](Sparse& s) {
       s.segments = {0, 1, 4};
     }),
     "level 1: segment 2: expected 1..3, found 4"},
    {"unused_indices", SparseWith([](Sparse& s) {
       s.segments = {0, 1, 2};
     }),
     "level 1: expected the last segment to end at 3, found 2"},
    {"index_out_of_range", SparseWith([](Sparse& s) {
       s.indices = {1, 0, 2};
     }),
     "level 1: index 2: expected 0..1, found 2"},
    {"values_missing", SparseWith([](Sparse& s) { s.values = 17; }),
     "sparse data: expected 18 values, found 68 bytes"},
};
INSTANTIATE_TEST_SUITE_P(Sparsity, Refusal, testing::ValuesIn(kSparsityRefusals), CaseName);

TEST(Sparsity, valid_sparsity_is_accepted_and_widened) {
  ModelBuilder m;
  AddSparse(m, Sparse());
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr) << testing::PrintToString(result.reports);
  const SparsityDesc& sparsity = *result.model->desc().subgraphs[0].tensors[0].sparsity;
  ASSERT_EQ(sparsity.dimensions.size(), 4u);
  EXPECT_FALSE(sparsity.dimensions[0].sparse_csr);
  EXPECT_EQ(sparsity.dimensions[0].dense_size, 2);
  EXPECT_TRUE(sparsity.dimensions[1].sparse_csr);
  EXPECT_THAT(sparsity.dimensions[1].segments, testing::ElementsAre(0, 1, 3));
  EXPECT_THAT(sparsity.dimensions[1].indices, testing::ElementsAre(1, 0, 1));
  EXPECT_THAT(sparsity.block_map, testing::ElementsAre(0, 1));
}

const Case kOtherRefusals[] = {
    {"operator_code_out_of_range",
     [](ModelBuilder& m) { m.AddRawOperator(schema::CreateOperator(m.fbb(), 3)); },
     "subgraph 0 node 0: operator code index: expected one of 0 codes, found 3"},
    {"custom_options_past_the_end",
     [](ModelBuilder& m) {
       const uint32_t code = m.AddOperatorCode(kTfLiteBuiltinCustom, "mine", 1);
       m.AddRawOperator(schema::CreateOperator(m.fbb(), code, 0, 0, schema::BuiltinOptions::NONE, 0,
                                               0, schema::CustomOptionsFormat::FLEXBUFFERS, 0, 0,
                                               1000000, 8));
     },
     "node 0: custom options: expected to end within the file's"},
    {"signature_of_a_missing_subgraph", [](ModelBuilder& m) { m.AddSignature("serve", {}, {}, 1); },
     "signature 0 'serve': subgraph index: expected one of 1 subgraphs, found 1"},
    {"signature_input_out_of_range",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteFloat32, {1});
       m.AddSignature("serve", {{"a", 1}}, {});
     },
     "signature 0 'serve': input 'a': expected a tensor index 0..0, found 1"},
    {"signature_output_beyond_31_bits",
     [](ModelBuilder& m) {
       m.AddTensor(kTfLiteFloat32, {1});
       m.AddSignature("serve", {{"a", 0}}, {{"b", 0xFFFFFFFFu}});
     },
     "output 'b': expected a tensor index 0..0, found -1"},
    {"signature_without_key",
     [](ModelBuilder& m) { m.AddRawSignature(schema::CreateSignatureDef(m.fbb())); },
     "signature 0: expected a key, found none"},
    {"signature_tensor_without_name",
     [](ModelBuilder& m) {
       const std::vector<flatbuffers::Offset<schema::TensorMap>> maps = {
           schema::CreateTensorMap(m.fbb(), 0, 0)};
       m.AddRawSignature(schema::CreateSignatureDefDirect(m.fbb(), &maps, nullptr, "serve"));
     },
     "signature 0: input 0: expected a name, found none"},
    {"metadata_buffer_out_of_range", [](ModelBuilder& m) { m.AddMetadataOfBuffer("meta", 9); },
     "metadata 0: buffer index: expected one of 1 buffers, found 9"},
};
INSTANTIATE_TEST_SUITE_P(Others, Refusal, testing::ValuesIn(kOtherRefusals), CaseName);

// ---- Inconsistencies ----------------------------------------------------------------------------

class Inconsistency : public testing::TestWithParam<Case> {};

// Each case's model begins with three tensors, 0, 1 and 2; the case adds the inconsistency.
TEST_P(Inconsistency, is_recorded_and_the_model_loads) {
  ModelBuilder m;
  for (int i = 0; i < 3; ++i) m.AddTensor(kTfLiteFloat32, {1});
  GetParam().build(m);
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  EXPECT_THAT(result.model->desc().subgraphs[0].inconsistency, HasSubstr(GetParam().text));
  for (size_t i = 1; i < result.model->desc().subgraphs.size(); ++i) {
    EXPECT_EQ(result.model->desc().subgraphs[i].inconsistency, "");
  }
}

// Returns a function that adds a node that calls a subgraph that does not exist; the model has two
// subgraphs.
template <typename Options>
std::function<void(ModelBuilder&)> Calling(TfLiteBuiltinOperator code, Options options) {
  return [=](ModelBuilder& m) {
    m.AddOp(code, {0}, {1}, options(m.fbb()));
    m.AddSubgraph();
  };
}
constexpr char kNoSuchSubgraph[] = "expected a subgraph index 0..1, found 2";

const Case kInconsistencies[] = {
    {"subgraph_input_out_of_range",
     [](ModelBuilder& m) {
       m.SetInputs({0, 3});
     },
     "subgraph 0 subgraph input 1: expected a tensor index -1..2, found 3"},
    {"subgraph_output_absent", [](ModelBuilder& m) { m.SetOutputs({-1}); },
     "subgraph 0 subgraph output 0: expected a tensor index 0..2, found -1"},
    {"node_input_out_of_range",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinAdd, {0, 1}, {2});
       m.AddOp(kTfLiteBuiltinMul, {0, 5}, {2});
     },
     "subgraph 0 node 1 MUL: input 1: expected a tensor index -1..2, found 5"},
    {"node_input_below_absent",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinAdd, {-2, 1}, {2});
     },
     "node 0 ADD: input 0: expected a tensor index -1..2, found -2"},
    {"node_output_absent",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinAdd, {0, 1}, {-1});
     },
     "node 0 ADD: output 0: expected a tensor index 0..2, found -1"},
    {"node_intermediate_out_of_range",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinUnidirectionalSequenceLstm, {0}, {1},
               schema::CreateUnidirectionalSequenceLSTMOptions(m.fbb()), 1, {2, 3});
     },
     "node 0 UNIDIRECTIONAL_SEQUENCE_LSTM: intermediate 1: expected a tensor index -1..2, found 3"},
    {"custom_node_output_out_of_range", [](ModelBuilder& m) { m.AddCustomOp("Mine", {0}, {3}); },
     "node 0 Mine: output 0: expected a tensor index 0..2, found 3"},
    {"builtin_input_is_output",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinAdd, {0, 1}, {1});
     },
     "node 0 ADD: expected outputs that are no inputs, found tensor 1 in both"},
    {"if_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinIf, [](auto& fbb) { return schema::CreateIfOptions(fbb, 1, 2); }),
     kNoSuchSubgraph},
    {"if_calls_a_negative_subgraph",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinIf, {0}, {1}, schema::CreateIfOptions(m.fbb(), -1, 1));
       m.AddSubgraph();
     },
     "node 0 IF: expected a subgraph index 0..1, found -1"},
    {"while_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinWhile, [](auto& fbb) { return schema::CreateWhileOptions(fbb, 2, 1); }),
     kNoSuchSubgraph},
    {"call_once_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinCallOnce,
             [](auto& fbb) { return schema::CreateCallOnceOptions(fbb, 2); }),
     kNoSuchSubgraph},
    {"reduce_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloReduce,
             [](auto& fbb) { return schema::CreateStablehloReduceOptions(fbb, 0, 2); }),
     kNoSuchSubgraph},
    {"scatter_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloScatter,
             [](auto& fbb) {
               return schema::CreateStablehloScatterOptions(fbb, false, 0, 0, 0, 0, false, 2);
             }),
     kNoSuchSubgraph},
    {"reduce_window_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloReduceWindow,
             [](auto& fbb) {
               return schema::CreateStablehloReduceWindowOptions(fbb, 0, 0, 0, 0, 0, 2);
             }),
     kNoSuchSubgraph},
    {"sort_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloSort,
             [](auto& fbb) { return schema::CreateStablehloSortOptions(fbb, 0, false, 2); }),
     kNoSuchSubgraph},
    {"stablehlo_while_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloWhile,
             [](auto& fbb) { return schema::CreateStablehloWhileOptions(fbb, 1, 2); }),
     kNoSuchSubgraph},
    {"composite_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloComposite,
             [](auto& fbb) { return schema::CreateStableHLOCompositeOptions(fbb, 0, 2); }),
     kNoSuchSubgraph},
    {"case_calls_a_missing_subgraph",
     Calling(kTfLiteBuiltinStablehloCase,
             [](auto& fbb) {
               const std::vector<int32_t> branches = {1, 1, 2};
               return schema::CreateStablehloCaseOptionsDirect(fbb, &branches);
             }),
     kNoSuchSubgraph},
    {"subgraph_calls_itself",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinCallOnce, {}, {}, schema::CreateCallOnceOptions(m.fbb(), 0));
     },
     "subgraph 0: expected calls of subgraphs at most 64 deep, found more or a cycle"},
    {"options_of_another_operator_read_as_zero",
     [](ModelBuilder& m) {
       m.AddOp(kTfLiteBuiltinIf, {0}, {1}, schema::CreateWhileOptions(m.fbb(), 7, 7));
     },
     "subgraph 0: expected calls of subgraphs at most 64 deep, found more or a cycle"},
};
INSTANTIATE_TEST_SUITE_P(Nodes, Inconsistency, testing::ValuesIn(kInconsistencies), CaseName);

TEST(Consistency, absent_inputs_and_custom_nodes_in_place_are_fine) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1});
  m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinAdd, {0, -1}, {1});
  m.AddCustomOp("InPlace", {0}, {0});
  m.SetInputs({0, -1});
  m.SetOutputs({1});
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_EQ(result.model->desc().subgraphs[0].inconsistency, "");
}

TEST(Consistency, other_operators_may_carry_any_options) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1});
  m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinAbs, {0}, {1}, schema::CreateIfOptions(m.fbb(), 7, 8));
  const std::vector<uint8_t> bytes = m.Finish();
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_EQ(result.model->desc().subgraphs[0].inconsistency, "");
}

// Constants of old converters have padding; only the bytes that the shape needs are read.
TEST(Consistency, constants_may_have_spare_bytes_at_their_end) {
  for (const int spare : {1, 4, 64}) {
    for (const bool trailing : {false, true}) {
      ModelBuilder m;
      TensorExtras extras;
      extras.trailing = trailing;
      std::vector<uint8_t> four(16 + static_cast<size_t>(spare), 0x7f), shape = four;
      const float addends[] = {1, 2, 3, 4};
      const int32_t dims[] = {1, 4};
      memcpy(four.data(), addends, sizeof addends);
      memcpy(shape.data(), dims, sizeof dims);
      const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
      const int c = m.AddConstant<uint8_t>(kTfLiteFloat32, {4}, four, "c", extras);
      const int sum = m.AddTensor(kTfLiteFloat32, {4}, "sum");
      const int to = m.AddConstant<uint8_t>(kTfLiteInt32, {2}, shape, "to", extras);
      const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
      const int none = m.AddConstant<uint8_t>(kTfLiteFloat32, {0}, four, "none", extras);
      m.AddOp(kTfLiteBuiltinAdd, {x, c}, {sum}, schema::CreateAddOptions(m.fbb()));
      m.AddOp(kTfLiteBuiltinReshape, {sum, to}, {y}, schema::CreateReshapeOptions(m.fbb()));
      m.SetInputs({x});
      m.SetOutputs({y, c, none});
      TestInterpreter interpreter(m.Finish());
      ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
      interpreter.Set<float>(0, {10, 20, 30, 40});
      ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
      EXPECT_THAT(interpreter.Get<float>(0), testing::ElementsAre(11, 22, 33, 44));
      EXPECT_THAT(interpreter.Get<float>(1), testing::ElementsAre(1, 2, 3, 4));
      EXPECT_THAT(interpreter.Get<float>(2), testing::IsEmpty());
    }
  }
}

// A model of a chain of `length` subgraphs, each of which calls the next one; the last one calls
// subgraph `last`, unless `last` is -1.
std::vector<uint8_t> Chain(int length, int last) {
  ModelBuilder m;
  for (int i = 0; i < length; ++i) {
    if (i != 0) m.AddSubgraph();
    const int callee = i + 1 < length ? i + 1 : last;
    if (callee >= 0) {
      m.AddOp(kTfLiteBuiltinCallOnce, {}, {}, schema::CreateCallOnceOptions(m.fbb(), callee));
    }
  }
  return m.Finish();
}

TEST(CallDepth, is_accepted_up_to_the_limit) {
  const std::vector<uint8_t> bytes = Chain(65, -1);  // 65 subgraphs make 64 nested calls
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  for (const SubgraphDesc& subgraph : result.model->desc().subgraphs) {
    EXPECT_EQ(subgraph.inconsistency, "");
  }
}

TEST(CallDepth, marks_subgraphs_beyond_the_limit) {
  const std::vector<uint8_t> bytes = Chain(67, -1);
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  for (size_t i = 0; i < 67; ++i) {
    EXPECT_EQ(result.model->desc().subgraphs[i].inconsistency.empty(), i >= 2) << i;
  }
}

TEST(CallDepth, marks_a_cycle_and_its_callers) {
  const std::vector<uint8_t> bytes = Chain(500, 250);
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  for (const SubgraphDesc& subgraph : result.model->desc().subgraphs) {
    EXPECT_THAT(subgraph.inconsistency, HasSubstr("a cycle"));
  }
}

// ---- Descriptions without a file ----------------------------------------------------------------

TEST(Validate, checks_hand_written_descriptions) {
  ModelDesc desc;
  desc.subgraphs.resize(1);
  desc.subgraphs[0].operators.resize(1);
  ReportLog log;
  EXPECT_EQ(CheckModel(&desc, Limits(), log.reporter()), kTfLiteError);
  EXPECT_THAT(log.all(), HasSubstr("operator code index: expected one of 0 codes, found 0"));
}

TEST(Validate, respects_the_callers_limit_on_depth) {
  const std::vector<uint8_t> bytes = Chain(4, -1);
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  ModelDesc desc;
  desc.operator_codes = result.model->desc().operator_codes;
  for (const SubgraphDesc& subgraph : result.model->desc().subgraphs) {
    desc.subgraphs.emplace_back().operators = subgraph.operators;
  }
  Limits limits;
  limits.max_call_depth = 2;
  ReportLog log;
  EXPECT_EQ(CheckModel(&desc, limits, log.reporter()), kTfLiteOk);
  EXPECT_NE(desc.subgraphs[0].inconsistency, "");
  EXPECT_EQ(desc.subgraphs[1].inconsistency, "");
}

}  // namespace
}  // namespace deputy::model_check_test
