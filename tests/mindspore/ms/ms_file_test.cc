// SPDX-License-Identifier: Apache-2.0
//
// Tests .ms files as untrusted input: each error has a message, and damaged files cause no crash.
// Damaged files are in blocks of exactly their size, so that a sanitizer detects the first byte
// read beyond the end; a file that can be converted is loaded and, if possible, run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>

#include "mindspore/ms/convert.h"
#include "tests/mindspore/ms/ms_writer.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::ms::ms_file_test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::vector<uint8_t>& bytes, const DeputyLimits& limits = {}) {
  std::string error;
  EXPECT_TRUE(ConvertMsModel(bytes, limits, &error).empty());
  EXPECT_NE(error, "");
  return error;
}
std::string ErrorOf(MsWriter& writer, const DeputyLimits& limits = {}) {
  return ErrorOf(writer.Finish(), limits);
}

// A model with primitives of several kinds: a convolution with padding and a stride, a reshape to
// an inferred size, a matrix product.
std::vector<uint8_t> SmallModel() {
  MsWriter w;
  const uint32_t x = w.Input({1, 3, 3, 1}), conv = w.Tensor({1, 2, 2, 2});
  const uint32_t filter = w.Constant<int8_t>({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  w.tensors[filter].scales = {{0.5, 1}, {0.25, 0}};
  const auto pair = w.Longs({2, 2}), pads = w.Longs({0, 1, 0, 1});
  w.Node(file::PrimitiveType_Conv2DFusion, {x, filter}, {conv},
         file::CreateConv2DFusion(w.fbb(), file::Format_NHWC, pair, pair, 0, file::PadMode_PAD,
                                  pads, 0, 1, 1, 2, file::ActivationType_TANH));
  const uint32_t flat = w.Tensor({1, 8}),
                 matrix = w.Constant<float>({8, 1}, std::vector<float>(8, 1));
  const uint32_t y = w.Output({1, 1});
  w.Node(file::PrimitiveType_Reshape, {conv, w.Ints({0, -1})}, {flat});
  w.Node(file::PrimitiveType_MatMulFusion, {flat, matrix}, {y}, file::CreateMatMulFusion(w.fbb()));
  return w.Finish();
}

// Returns true if the file can be converted. A converted file is loaded and run, or refused with a
// report.
bool ConvertsSafely(const std::vector<uint8_t>& bytes) {
  const std::unique_ptr<uint8_t[]> block(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), block.get());
  std::string error;
  std::vector<uint8_t> tflite = ConvertMsModel({block.get(), bytes.size()}, {}, &error);
  EXPECT_EQ(tflite.empty(), !error.empty());
  // For a delegate, the nodes that are refused above become custom operators.
  ConvertedModel kept;
  if (ConvertMsModel({block.get(), bytes.size()}, {}, Unmapped::kKeep, &kept, &error)) {
    EXPECT_EQ(tflite.empty(), !kept.unmapped.empty());
    const TestInterpreter loaded(std::move(kept.tflite));
  } else {
    EXPECT_TRUE(tflite.empty());
  }
  if (tflite.empty()) return false;
  TestInterpreter interpreter(std::move(tflite));
  if (interpreter.get() == nullptr) {
    EXPECT_NE(interpreter.log(), "");
    return true;
  }
  constexpr size_t kLargest = 1 << 20;
  if (interpreter.Allocate() != kTfLiteOk) return true;
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  if (TfLiteTensorByteSize(output) < kLargest) interpreter.Invoke();
  return true;
}

TEST(MsFile, is_recognised_by_its_identifier) {
  const std::vector<uint8_t> bytes = SmallModel();
  EXPECT_TRUE(IsMsModel(bytes));
  EXPECT_FALSE(IsMsModel({bytes.data(), 7}));
  std::vector<uint8_t> other = bytes;
  other[4] = 'T';
  EXPECT_FALSE(IsMsModel(other));
}

TEST(MsFile, small_model_runs_from_any_address) {
  const std::vector<uint8_t> bytes = SmallModel();
  std::vector<uint8_t> moved(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), moved.begin() + 1);
  std::string error;
  TestInterpreter interpreter(ConvertMsModel({moved.data() + 1, bytes.size()}, {}, &error));
  EXPECT_EQ(error, "");
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  interpreter.Set<float>(0, std::vector<float>(9, 0));
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_THAT(interpreter.Get<float>(0), ElementsAre(0));
}

// FlatBuffers' verifier does not check that 64-bit lists are aligned to 8 bytes.
TEST(MsFile, lists_may_be_unaligned) {
  for (const bool shifted : {false, true}) {
    MsWriter w;
    const uint32_t x = w.Input({1, 2}), y = w.Output({2});
    if (shifted) w.fbb().PushElement<uint32_t>(0);
    w.fbb().PushElement<uint32_t>(0);
    w.fbb().PushElement<uint32_t>(0);
    // The length precedes the elements. StartVector has other parameters since FlatBuffers 23.
    const flatbuffers::Offset<flatbuffers::Vector<int64_t>> zero = w.fbb().PushElement<uint32_t>(1);
    w.Node(file::PrimitiveType_Squeeze, {x}, {y}, file::CreateSoftmax(w.fbb(), zero));
    EXPECT_TRUE(ConvertsSafely(w.Finish()));
  }
}

TEST(MsFile, other_generations_are_refused) {
  std::vector<uint8_t> bytes = SmallModel();
  bytes[7] = '1';
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("found 'MSL1'"));
  bytes[4] = 0;
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("expected the identifier MSL2"));
  EXPECT_THAT(ErrorOf(std::vector<uint8_t>{}), HasSubstr("expected the identifier MSL2"));
}

TEST(MsFile, truncated_files_are_refused) {
  const std::vector<uint8_t> bytes = SmallModel();
  for (size_t size = 0; size < bytes.size(); size += 16) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(ConvertsSafely(cut)) << size;
  }
}

TEST(MsFile, changed_bytes_do_not_crash) {
  const std::vector<uint8_t> bytes = SmallModel();
  ASSERT_TRUE(ConvertsSafely(bytes));
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0xff, 0x00, bytes[at] ^ 1, bytes[at] ^ 0x80}) {
      std::vector<uint8_t> changed = bytes;
      changed[at] = static_cast<uint8_t>(value);
      if (!ConvertsSafely(changed)) ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

// Every primitive gets an empty attribute table and one to five inputs, which are rarely those that
// it expects: only verified data may be read.
TEST(MsFile, primitives_with_other_attributes_do_not_crash) {
  for (int number = 0; number < 256; ++number) {
    for (int inputs = 0; inputs < 6; ++inputs) {
      MsWriter w;
      std::vector<uint32_t> in = {w.Input({1, 2, 2, 2})};
      for (int i = 1; i < inputs; ++i) in.push_back(w.Ints({i, 0}));
      w.Node(static_cast<file::PrimitiveType>(number), in, {w.Output({1, 2, 2, 2}), w.Output({1})});
      ConvertsSafely(w.Finish());
    }
  }
}

TEST(MsFile, primitives_without_a_mapping_are_named) {
  const std::pair<file::PrimitiveType, const char*> rows[] = {
      {file::PrimitiveType_LSTM, "node 0 'n0' LSTM: this primitive is not supported"},
      {file::PrimitiveType_PartialFusion, "PartialFusion: this primitive is not supported"},
      {file::PrimitiveType_CropAndResize, "CropAndResize: this primitive is not supported"},
      {file::PrimitiveType_MaxPoolGrad, "MaxPoolGrad: this is a training graph"},
      {file::PrimitiveType_Adam, "Adam: this is a training graph"},
      {file::PrimitiveType_SparseSoftmaxCrossEntropyWithLogits,
       "WithLogits: this is a training graph"},
      {static_cast<file::PrimitiveType>(250), "primitive 250: this primitive is not supported"},
  };
  for (const auto& [value, text] : rows) {
    MsWriter w;
    w.Node(value, {w.Input({1})}, {w.Output({1})});
    EXPECT_THAT(ErrorOf(w), HasSubstr(text));
  }
}

// ---- Invalid graphs -----------------------------------------------------------------------------

TEST(MsFile, cycles_are_refused_and_any_order_is_accepted) {
  MsWriter w;
  const uint32_t x = w.Input({1}), a = w.Tensor({1}), b = w.Tensor({1}), y = w.Output({1});
  w.Node(file::PrimitiveType_AddFusion, {x, b}, {a}, file::CreateAddFusion(w.fbb()));
  w.Node(file::PrimitiveType_Abs, {a}, {b});
  w.Node(file::PrimitiveType_Abs, {b}, {y});
  EXPECT_THAT(ErrorOf(w), HasSubstr("node 0 'n0' AddFusion: depends on its own output"));
  MsWriter back;
  const uint32_t in = back.Input({1}), middle = back.Tensor({1}), out = back.Output({1});
  back.Node(file::PrimitiveType_Neg, {middle}, {out});
  back.Node(file::PrimitiveType_Abs, {in}, {middle});
  EXPECT_TRUE(ConvertsSafely(back.Finish()));
}

TEST(MsFile, wrong_graphs_are_refused_with_a_message) {
  using Change = std::function<void(MsWriter&)>;
  const std::pair<Change, const char*> rows[] = {
      {[](MsWriter& w) { w.inputs = {99}; }, "expected an index below 2, found 99"},
      {[](MsWriter& w) { w.outputs = {2}; }, "expected an index below 2, found 2"},
      {[](MsWriter& w) {
         w.plan = {0, 7};
       },
       "expected an index below 1, found 7"},
      {[](MsWriter& w) {
         w.plan = {0, 0};
       },
       "is in the subgraph twice"},
      {[](MsWriter& w) { w.plan = {}; }, "expected nodes, found none"},
      {[](MsWriter& w) { w.inputs = {}; }, "expected inputs and outputs"},
      {[](MsWriter& w) { w.outputs = {}; }, "expected inputs and outputs"},
      {[](MsWriter& w) {
         w.inputs = {0, 0};
       },
       "is an input of the model twice"},
      {[](MsWriter& w) {
         w.inputs = {0, 1};
       },
       "is an output of node 0"},
      {[](MsWriter& w) { w.outputs = {0}; }, "no node computes this output"},
      {[](MsWriter& w) { w.inputs = {w.Tensor({1})}; }, "nothing computes its input tensor 0 't0'"},
      {[](MsWriter& w) { w.tensors[0].data.resize(16); }, "an input of the model has data"},
      {[](MsWriter& w) { w.tensors[1].data.resize(16); }, "its output tensor 1 't1' is a constant"},
      {[](MsWriter& w) { w.tensors[0].type = 12; }, "inputs of type 12 are not supported"},
      {[](MsWriter& w) { w.tensors[1].type = 0; }, "type 0 is not supported"},
      {[](MsWriter& w) { w.tensors[0].dims = {-2}; }, "shape [-2] is negative"},
      {[](MsWriter& w) { w.tensors[0].dims.resize(9); }, "expected at most 8 dimensions, found 9"},
      {[](MsWriter& w) { w.tensors[0].location = "weights.msw"; }, "is in another file"},
      {[](MsWriter& w) { w.Node(file::PrimitiveType_Abs, {0}, {1}); },
       "is also an output of node 0"},
      {[](MsWriter& w) { w.Node(file::PrimitiveType_Abs, {0}, {}); },
       "expected outputs, found none"},
      {[](MsWriter& w) { w.Node(file::PrimitiveType_Abs, {5}, {1}); },
       "expected an index below 2, found 5"},
      {[](MsWriter& w) {
         w.tensors[0].scales = {{0, 0}};
       },
       "expected a positive scale, found 0"},
  };
  for (const auto& [change, text] : rows) {
    MsWriter w;
    const uint32_t x = w.Input({4}), y = w.Output({4});
    w.Node(file::PrimitiveType_Abs, {x}, {y});
    change(w);
    EXPECT_THAT(ErrorOf(w), HasSubstr(text));
  }
}

TEST(MsFile, constants_match_their_shape) {
  const auto with = [](const std::function<void(MsTensor&)>& change) {
    MsWriter w;
    const uint32_t x = w.Input({4}), c = w.Constant<float>({4}, {1, 2, 3, 4}), y = w.Output({4});
    w.Node(file::PrimitiveType_AddFusion, {x, c}, {y}, file::CreateAddFusion(w.fbb()));
    change(w.tensors[c]);
    return ErrorOf(w);
  };
  EXPECT_THAT(
      with([](MsTensor& t) { t.dims = {5}; }),
      HasSubstr("tensor 1 't1': shape [5] of FLOAT32: expected 20 bytes of data, found 16"));
  EXPECT_THAT(with([](MsTensor& t) {
                t.dims = {1 << 30, 1 << 30, 1 << 30};
              }),
              HasSubstr("shape ["));
  EXPECT_THAT(with([](MsTensor& t) { t.dims = {-1}; }), HasSubstr("of a constant"));
  EXPECT_THAT(with([](MsTensor& t) { t.compression = 4; }), HasSubstr("compressed (kind 4)"));
  EXPECT_THAT(with([](MsTensor& t) { t.type = 12; }), HasSubstr("type 12"));
  EXPECT_THAT(with([](MsTensor& t) { t.has_dims = false; }), HasSubstr("expected 4 bytes"));
}

TEST(MsFile, attributes_out_of_range_are_refused) {
  const auto conv = [](int64_t stride, int64_t pad, int64_t group) {
    MsWriter w;
    const uint32_t x = w.Input({1, 4, 4, 1}), f = w.Constant<float>({1, 1, 1, 1}, {1});
    const auto strides = w.Longs({stride, stride}), pads = w.Longs({pad, pad, pad, pad});
    w.Node(file::PrimitiveType_Conv2DFusion, {x, f}, {w.Output({1, 4, 4, 1})},
           file::CreateConv2DFusion(w.fbb(), file::Format_NHWC, 0, strides, 0, file::PadMode_PAD,
                                    pads, 0, group));
    return ErrorOf(w);
  };
  EXPECT_THAT(conv(0, 0, 1), HasSubstr("attribute stride: expected 1 to 1048576, found 0"));
  EXPECT_THAT(conv(1, -1, 1), HasSubstr("attribute pad_list: expected 0 to"));
  EXPECT_THAT(conv(int64_t{1} << 40, 0, 1), HasSubstr("found 1099511627776"));
  EXPECT_THAT(conv(1, 0, 3), HasSubstr("expected output channels for 3 groups, found 1"));
  MsWriter axis;
  axis.Node(file::PrimitiveType_Concat, {axis.Input({2})}, {axis.Output({2})},
            file::CreateConcat(axis.fbb(), 1));
  EXPECT_THAT(ErrorOf(axis), HasSubstr("axis 1: expected -1 to 0"));
}

TEST(MsFile, wrong_numbers_of_inputs_are_refused) {
  MsWriter w;
  const uint32_t x = w.Input({1});
  w.Node(file::PrimitiveType_Abs, {x, x}, {w.Output({1})});
  EXPECT_THAT(ErrorOf(w), HasSubstr("node 0 'n0' Abs: expected 1 to 1 inputs, found 2"));
}

// ---- Sizes --------------------------------------------------------------------------------------

TEST(MsFile, limits_are_respected) {
  const std::vector<uint8_t> bytes = SmallModel();
  DeputyLimits few_tensors = {}, few_nodes = {}, few_bytes = {};
  few_tensors.max_tensors = 3;
  few_nodes.max_nodes = 2;
  few_bytes.max_block_bytes = 64;
  EXPECT_THAT(ErrorOf(bytes, few_tensors), HasSubstr("7 tensors are more than the limit of 3"));
  EXPECT_THAT(ErrorOf(bytes, few_nodes), HasSubstr("3 nodes are more than the limit of 2"));
  EXPECT_THAT(ErrorOf(bytes, few_bytes), HasSubstr("exceeds the size limit"));
}

// Several nodes share one large constant, and each needs a changed copy of it.
TEST(MsFile, shared_constants_do_not_multiply) {
  MsWriter w;
  const uint32_t x = w.Input({1, 1 << 16});
  const uint32_t m = w.Constant<float>({1 << 16, 1}, std::vector<float>(1 << 16));
  for (int i = 0; i < 2000; ++i) {
    w.Node(file::PrimitiveType_MatMulFusion, {x, m}, {w.Output({1, 1})},
           file::CreateMatMulFusion(w.fbb()));
  }
  EXPECT_THAT(ErrorOf(w), HasSubstr("exceeds the size limit"));
}

// All tensors share one table with a long name, and a node has 65536 inputs.
TEST(MsFile, shared_lists_do_not_multiply) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto shape = fbb.CreateVector(std::vector<int32_t>{1});
  const auto name = fbb.CreateString(std::string(1 << 16, 'x'));
  const auto tensor =
      file::CreateTensor(fbb, 2, kMsFloat32, shape, file::Format_NHWC, 0, 0, 0, 0, 0, name);
  const auto many = fbb.CreateVector(std::vector<uint32_t>(1 << 16, 0));
  const auto one = fbb.CreateVector(std::vector<uint32_t>{0}),
             two = fbb.CreateVector(std::vector<uint32_t>{1});
  const auto primitive =
      file::CreatePrimitive(fbb, file::PrimitiveType_Concat, file::CreateConcat(fbb).Union());
  const auto node = file::CreateCNode(fbb, 0, primitive, many, two);
  const auto main =
      file::CreateSubGraph(fbb, 0, one, two, fbb.CreateVector(std::vector<uint32_t>{0}));
  const auto nodes = fbb.CreateVector(std::vector{node});
  const auto tensors = fbb.CreateVector(std::vector(1 << 16, tensor));
  const auto graphs = fbb.CreateVector(std::vector{main});
  fbb.Finish(file::CreateMetaGraph(fbb, 0, 0, 0, one, two, 0, nodes, tensors, graphs), "MSL2");
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("refers to more data than its"));
}

TEST(MsFile, huge_shapes_are_refused_or_fail_at_run_time) {
  MsWriter w;
  const int huge = 0x7fffffff;
  const uint32_t x = w.Input({huge, huge, huge, huge}), y = w.Output({huge, huge, huge, huge});
  const auto kernel = w.Longs({3, 3}), pad = w.Longs({1, 1, 1, 1});
  w.Node(file::PrimitiveType_AvgPoolFusion, {x}, {y},
         file::CreateAvgPoolFusion(w.fbb(), kernel, kernel, pad));
  EXPECT_FALSE(ConvertsSafely(w.Finish()));
}

TEST(MsFile, long_chains_are_linear) {
  MsWriter w;
  uint32_t x = w.Input({1});
  for (int i = 0; i < 20000; ++i) {
    const uint32_t y = i == 19999 ? w.Output({1}) : w.Tensor({1});
    w.Node(file::PrimitiveType_Abs, {x}, {y});
    x = y;
  }
  std::reverse(w.plan.begin(), w.plan.end());
  EXPECT_TRUE(ConvertsSafely(w.Finish()));
}

// ---- Models that run ----------------------------------------------------------------------------

// Computes the small model with plain loops: a convolution over 2 x 2 with padding below and on the
// right.
float SmallResult(const std::vector<float>& x) {
  const float filters[2][4] = {{0, 0.5F, 1, 1.5F}, {1.25F, 1.5F, 1.75F, 2}};
  float sum = 0;
  for (int row = 0; row < 4; row += 2) {
    for (int column = 0; column < 4; column += 2) {
      for (const float(&filter)[4] : filters) {
        float product = 0;
        for (int k = 0; k < 4; ++k) {
          const int y = row + k / 2, at = column + k % 2;
          if (y < 3 && at < 3) product += filter[k] * x[static_cast<size_t>(3 * y + at)];
        }
        sum += std::tanh(product);
      }
    }
  }
  return sum;
}

TEST(MsFile, small_model_runs) {
  std::string error;
  TestInterpreter interpreter(ConvertMsModel(SmallModel(), {}, &error));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << error << interpreter.log();
  const std::vector<float> x = {0.1F, -0.2F, 0.3F, -0.4F, 0.5F, -0.6F, 0.7F, -0.8F, 0.9F};
  interpreter.Set<float>(0, x);
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_THAT(interpreter.Get<float>(0), ElementsAre(testing::FloatNear(SmallResult(x), 1e-5F)));
}

// ---- Real models, if present --------------------------------------------------------------------

TEST(MsFile, real_models_run) {
  const std::filesystem::path folder = SourcePath("../shared/models/ms");
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no " << folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(stream), {}};
    std::string error;
    TestInterpreter interpreter(ConvertMsModel(bytes, {}, &error));
    EXPECT_EQ(error, "") << entry.path();
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << entry.path() << interpreter.log();
    EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << entry.path();
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
    EXPECT_THAT(TestInterpreter::Shape(output), AnyOf(ElementsAre(1, 2), ElementsAre(2, 10)));
  }
}

}  // namespace
}  // namespace deputy::ms::ms_file_test
