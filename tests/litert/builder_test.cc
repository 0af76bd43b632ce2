// SPDX-License-Identifier: Apache-2.0
//
// Tests of changes of subgraphs, as transformations of compiler plug-ins make them.
#include "litert/src/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "litert/c/litert_op_options.h"
#include "litert/src/model_serialize.h"
#include "schema_generated.h"
#include "tests/support/model_builder.h"

extern "C" LiteRtStatus LiteRtBuilderBuildShloCompositeOpOption(
    LiteRtBuilder builder, LiteRtOp op, const char* name, int32_t* decomposition_subgraph_index,
    int32_t* version, const uint8_t* attributes, size_t size);

namespace deputy::litert::builder_test {
namespace {

constexpr auto kInvalid = kLiteRtStatusErrorInvalidArgument;
constexpr auto kBroken = kLiteRtStatusErrorInvalidGraphInvariant;

// y = x + {1, 2}; z = relu(y).
std::vector<uint8_t> ModelFile() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {2}, {1, 2}, "c");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, c}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinRelu, {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

LiteRtRankedTensorType FloatType(std::vector<int32_t> shape) {
  LiteRtRankedTensorType type = {};
  type.element_type = kLiteRtElementTypeFloat32;
  type.layout.rank = static_cast<unsigned>(shape.size()) & 0x7f;
  std::copy_n(shape.begin(), std::min<size_t>(shape.size(), 8), type.layout.dimensions);
  return type;
}

class Builder : public testing::Test {
 protected:
  void SetUp() override {
    builder_.reset();
    LiteRtDestroyModel(model_);
    model_ = nullptr;
    ASSERT_EQ(LiteRtCreateModelFromBuffer(nullptr, file_.data(), file_.size(), &model_),
              kLiteRtStatusOk);
    subgraph_ = model_->subgraphs[0].get();
    builder_ = std::make_unique<LiteRtBuilderT>(model_, subgraph_);
  }
  void TearDown() override {
    builder_.reset();
    LiteRtDestroyModel(model_);
  }

  LiteRtTensor Tensor(size_t index) { return subgraph_->tensors[index].get(); }
  LiteRtOp Op(size_t index) { return subgraph_->ops[index].get(); }

  LiteRtTensor AddTensor(const char* name, LiteRtWeights weights = nullptr,
                         std::vector<int32_t> shape = {2}) {
    LiteRtTensor tensor = nullptr;
    EXPECT_EQ(LiteRtBuilderBuildTensor(builder_.get(), kLiteRtRankedTensorType,
                                       FloatType(std::move(shape)), {}, weights,
                                       kLiteRtQuantizationNone, {}, {}, {}, name, &tensor),
              kLiteRtStatusOk);
    return tensor;
  }

  LiteRtTensor AddConstant(const char* name, const std::vector<float>& values) {
    LiteRtTensor tensor = AddTensor(name);
    LiteRtWeights weights = nullptr;
    EXPECT_EQ(
        LiteRtBuilderBuildWeights(builder_.get(), reinterpret_cast<const uint8_t*>(values.data()),
                                  values.size() * sizeof(float), tensor, &weights),
        kLiteRtStatusOk);
    EXPECT_EQ(weights, &tensor->weights);
    return tensor;
  }

  LiteRtStatus TryOp(LiteRtOpCode code, std::vector<LiteRtTensor> inputs,
                     std::vector<LiteRtTensor> outputs, LiteRtOp* out_op) {
    return LiteRtBuilderBuildOp(builder_.get(), code, inputs.size(), inputs.data(), outputs.size(),
                                outputs.data(), out_op);
  }

  LiteRtOp AddOp(LiteRtOpCode code, std::vector<LiteRtTensor> inputs = {},
                 std::vector<LiteRtTensor> outputs = {}) {
    LiteRtOp op = nullptr;
    EXPECT_EQ(TryOp(code, std::move(inputs), std::move(outputs), &op), kLiteRtStatusOk);
    return op;
  }

  std::vector<uint8_t> Serialize() {
    SerializedModel file;
    EXPECT_EQ(SerializeModel(*model_, {}, 1, &file), kLiteRtStatusOk);
    std::vector<uint8_t> bytes(file.block, file.block + file.size);
    free(file.block);
    return bytes;
  }

  // Runs the model in TFLite's API.
  std::vector<float> Run(std::vector<float> inputs) {
    const std::vector<uint8_t> file = Serialize();
    TfLiteModel* const model = TfLiteModelCreate(file.data(), file.size());
    TfLiteInterpreter* const interpreter = TfLiteInterpreterCreate(model, nullptr);
    std::vector<float> outputs(2);
    EXPECT_NE(interpreter, nullptr);
    if (interpreter == nullptr) return {};
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), inputs.data(), 8);
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), outputs.data(), 8);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return outputs;
  }

  // Expects that Apply fails and that the model keeps its bytes.
  void ExpectBroken() {
    const std::vector<uint8_t> before = Serialize();
    EXPECT_EQ(builder_->Apply(), kBroken);
    EXPECT_EQ(Serialize(), before);
  }

  const std::vector<uint8_t> file_ = ModelFile();
  LiteRtModel model_ = nullptr;
  LiteRtSubgraph subgraph_ = nullptr;
  std::unique_ptr<LiteRtBuilderT> builder_;
};

TEST_F(Builder, ReplacesAnOperator) {
  EXPECT_EQ(Run({-4, 5}), (std::vector<float>{0, 7}));
  LiteRtOp mul = AddOp(kLiteRtOpCodeTflMul, {Tensor(0), AddConstant("w", {-2, 3})}, {Tensor(2)});
  uint32_t activation = 0;
  ASSERT_EQ(LiteRtBuilderBuildMulOpOption(builder_.get(), mul, &activation), kLiteRtStatusOk);
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(0)), kLiteRtStatusOk);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  EXPECT_EQ(Run({-4, 5}), (std::vector<float>{8, 15}));
  ASSERT_EQ(subgraph_->ops.size(), 2U);
  EXPECT_EQ(Op(0), mul);
  EXPECT_EQ(Tensor(2)->name, "z");  // "c" is not used any more
  EXPECT_EQ(subgraph_->tensors.size(), 4U);
  EXPECT_EQ(Tensor(0)->uses.size(), 1U);
  EXPECT_EQ(Tensor(0)->uses[0].op, mul);
  EXPECT_EQ(Tensor(1)->producer, mul);
}

TEST_F(Builder, ChangesNothingBeforeApply) {
  const std::vector<uint8_t> before = Serialize();
  AddOp(kLiteRtOpCodeTflMul, {Tensor(0), AddConstant("w", {-2, 3})}, {Tensor(2)});
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(0)), kLiteRtStatusOk);
  EXPECT_EQ(Serialize(), before);
  builder_.reset();
  EXPECT_EQ(Serialize(), before);
  EXPECT_EQ(Run({-4, 5}), (std::vector<float>{0, 7}));
}

TEST_F(Builder, SharesWeightsOfTheModel) {
  LiteRtTensor shared = AddTensor("shared", &Tensor(1)->weights);
  LiteRtTensor sum = AddTensor("sum");
  AddOp(kLiteRtOpCodeTflSub, {Tensor(0), shared}, {sum});
  LiteRtOp relu = AddOp(kLiteRtOpCodeTflRelu, {sum}, {Tensor(3)});
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(1)), kLiteRtStatusOk);
  EXPECT_EQ(sum->uses[0].op, relu);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  EXPECT_EQ(Run({4, 5}), (std::vector<float>{3, 3}));
  const auto* const file = schema::GetModel(file_.data());
  const std::vector<uint8_t> bytes = Serialize();
  EXPECT_EQ(schema::GetModel(bytes.data())->buffers()->size(), file->buffers()->size());
}

TEST_F(Builder, DataHaveNumbersOfTheirOwn) {
  int32_t old_number = 0, first = 0, second = 0;
  LiteRtGetWeightsBufferId(&Tensor(1)->weights, &old_number);
  LiteRtGetWeightsBufferId(&AddConstant("a", {1, 2})->weights, &first);
  LiteRtGetWeightsBufferId(&AddConstant("b", {1, 2})->weights, &second);
  EXPECT_EQ(old_number, 1);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 3);
}

TEST_F(Builder, OperatorsFollowTheirProducers) {
  // The new operator takes the position of ADD, but reads what follows it.
  LiteRtTensor first = AddTensor("first"), last = AddTensor("last");
  LiteRtOp neg = AddOp(kLiteRtOpCodeTflNeg, {last}, {Tensor(3)});
  LiteRtOp abs = AddOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {first});
  LiteRtOp relu = AddOp(kLiteRtOpCodeTflRelu, {first}, {last});
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(0)), kLiteRtStatusOk);
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(1)), kLiteRtStatusOk);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  ASSERT_EQ(subgraph_->ops.size(), 3U);
  EXPECT_EQ(Op(0), abs);
  EXPECT_EQ(Op(1), relu);
  EXPECT_EQ(Op(2), neg);
  EXPECT_EQ(Run({-4, 5}), (std::vector<float>{-4, -5}));
}

// Operators without results for each other, such as those on variables, keep a chosen order.
TEST_F(Builder, OperatorsTakeThePositionOfAnErasedOne) {
  LiteRtOp late = AddOp(kLiteRtOpCodeTflTanh, {Tensor(0)}, {Tensor(3)});
  LiteRtOp early = AddOp(kLiteRtOpCodeTflNeg, {Tensor(0)}, {AddTensor("w")});
  builder_->PlaceAt(late, Op(1));
  builder_->PlaceAt(early, Op(0));
  for (size_t i : {0, 1}) ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(i)), kLiteRtStatusOk);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  ASSERT_EQ(subgraph_->ops.size(), 2U);
  EXPECT_EQ(Op(0), early);
  EXPECT_EQ(Op(1), late);
}

TEST_F(Builder, InputsOfTheSubgraphAreKeptWithoutUse) {
  AddOp(kLiteRtOpCodeTflAbs, {AddConstant("w", {-2, 3})}, {Tensor(3)});
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(0)), kLiteRtStatusOk);
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), Op(1)), kLiteRtStatusOk);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  ASSERT_EQ(subgraph_->tensors.size(), 3U);
  EXPECT_EQ(subgraph_->inputs[0], Tensor(0));
  EXPECT_EQ(Run({-4, 5}), (std::vector<float>{2, 3}));
}

TEST_F(Builder, NewOperatorsCanBeErased) {
  LiteRtTensor unused = AddTensor("unused");
  LiteRtOp abs = AddOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {unused});
  ASSERT_EQ(LiteRtBuilderEraseOp(builder_.get(), abs), kLiteRtStatusOk);
  const std::vector<uint8_t> before = Serialize();
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  EXPECT_EQ(Serialize(), before);
}

TEST_F(Builder, BrokenGraphsAreRefused) {
  LiteRtBuilderEraseOp(builder_.get(), Op(0));  // RELU reads what ADD computes
  ExpectBroken();
  SetUp();
  LiteRtBuilderEraseOp(builder_.get(), Op(1));  // the subgraph's output
  ExpectBroken();
  SetUp();
  AddOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {Tensor(2)});  // two producers
  ExpectBroken();
  SetUp();
  LiteRtTensor a = AddTensor("a"), b = AddTensor("b");
  AddOp(kLiteRtOpCodeTflAbs, {a}, {b});  // a cycle
  AddOp(kLiteRtOpCodeTflAbs, {b}, {a});
  ExpectBroken();
  SetUp();
  LiteRtTensorT other;
  AddOp(kLiteRtOpCodeTflAbs, {&other}, {AddTensor("a")});
  ExpectBroken();
  SetUp();
  LiteRtOpT unknown;
  LiteRtBuilderEraseOp(builder_.get(), &unknown);
  ExpectBroken();
}

TEST_F(Builder, QuantizationIsCopiedAndWritten) {
  std::vector<float> scales = {0.5F, 2};
  std::vector<int64_t> points = {3, -4};
  LiteRtTensor tensor = nullptr, per_tensor = nullptr;
  const auto build = [&](LiteRtQuantizationTypeId kind, LiteRtTensor* out) {
    return LiteRtBuilderBuildTensor(builder_.get(), kLiteRtRankedTensorType, FloatType({-1, 2}), {},
                                    nullptr, kind, {.scale = 0.25F, .zero_point = 7},
                                    {.quantized_dimension = 1,
                                     .num_channels = 2,
                                     .scales = scales.data(),
                                     .zero_points = points.data()},
                                    {}, "quantized", out);
  };
  ASSERT_EQ(build(kLiteRtQuantizationPerChannel, &tensor), kLiteRtStatusOk);
  ASSERT_EQ(build(kLiteRtQuantizationPerTensor, &per_tensor), kLiteRtStatusOk);
  EXPECT_EQ(build(kLiteRtQuantizationBlockWise, &per_tensor), kInvalid);  // without scales
  EXPECT_EQ(build(static_cast<LiteRtQuantizationTypeId>(77), &per_tensor), kInvalid);
  LiteRtQuantizationPerChannel copied = {};
  ASSERT_EQ(LiteRtGetPerChannelQuantization(tensor, &copied), kLiteRtStatusOk);
  EXPECT_NE(copied.scales, scales.data());
  EXPECT_NE(copied.zero_points, points.data());
  scales = {};
  points = {};
  AddOp(kLiteRtOpCodeTflAbs, {tensor}, {per_tensor});
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  const std::vector<uint8_t> bytes = Serialize();
  const auto* const tensors = schema::GetModel(bytes.data())->subgraphs()->Get(0)->tensors();
  ASSERT_EQ(tensors->size(), 6U);
  const auto* const written = tensors->Get(4);
  EXPECT_EQ(written->quantization()->scale()->Get(0), 0.5F);
  EXPECT_EQ(written->quantization()->scale()->Get(1), 2);
  EXPECT_EQ(written->quantization()->zero_point()->Get(1), -4);
  EXPECT_EQ(written->quantization()->quantized_dimension(), 1);
  EXPECT_EQ(written->shape()->Get(0), 1);
  EXPECT_EQ(written->shape_signature()->Get(0), -1);
  EXPECT_EQ(written->shape_signature()->Get(1), 2);
  EXPECT_EQ(tensors->Get(5)->quantization()->scale()->Get(0), 0.25F);
  EXPECT_EQ(tensors->Get(5)->quantization()->zero_point()->Get(0), 7);
}

TEST_F(Builder, ScalesOfBlocksAreKept) {
  LiteRtTensor scales = AddConstant("scales", {1, 2}), tensor = nullptr;
  ASSERT_EQ(LiteRtBuilderBuildTensor(builder_.get(), kLiteRtRankedTensorType, FloatType({2}), {},
                                     nullptr, kLiteRtQuantizationBlockWise, {}, {},
                                     {.scales = scales, .zero_points = nullptr, .block_size = 32},
                                     "blocks", &tensor),
            kLiteRtStatusOk);
  AddOp(kLiteRtOpCodeTflAbs, {tensor}, {AddTensor("out")});
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  const std::vector<uint8_t> bytes = Serialize();
  const auto* const tensors = schema::GetModel(bytes.data())->subgraphs()->Get(0)->tensors();
  ASSERT_EQ(tensors->size(), 7U);
  const auto* const blocks = tensors->Get(5)->quantization()->details_as_BlockwiseQuantization();
  EXPECT_EQ(tensors->Get(static_cast<uint32_t>(blocks->scales()))->name()->str(), "scales");
  EXPECT_EQ(blocks->zero_points(), -1);
  EXPECT_EQ(blocks->block_size(), 32);
}

TEST_F(Builder, InvalidArgumentsAreRefused) {
  LiteRtTensor tensor = nullptr;
  const auto build = [&](LiteRtBuilder builder, int kind, LiteRtRankedTensorType type,
                         LiteRtWeights weights, LiteRtTensor* out) {
    return LiteRtBuilderBuildTensor(builder, static_cast<LiteRtTensorTypeId>(kind), type, {},
                                    weights, kLiteRtQuantizationNone, {}, {}, {}, nullptr, out);
  };
  const LiteRtRankedTensorType type = FloatType({2});
  LiteRtWeights constant = &Tensor(1)->weights;
  EXPECT_EQ(build(nullptr, kLiteRtRankedTensorType, type, nullptr, &tensor), kInvalid);
  EXPECT_EQ(build(builder_.get(), kLiteRtRankedTensorType, type, nullptr, nullptr), kInvalid);
  EXPECT_EQ(build(builder_.get(), 9, type, nullptr, &tensor), kInvalid);
  EXPECT_EQ(build(builder_.get(), kLiteRtUnrankedTensorType, type, constant, &tensor), kInvalid);
  EXPECT_EQ(build(builder_.get(), kLiteRtUnrankedTensorType, type, nullptr, &tensor),
            kLiteRtStatusErrorUnsupported);
  EXPECT_EQ(build(builder_.get(), kLiteRtRankedTensorType, type, &Tensor(0)->weights, &tensor),
            kInvalid);
  EXPECT_EQ(build(builder_.get(), kLiteRtRankedTensorType, FloatType(std::vector<int32_t>(9)),
                  nullptr, &tensor),
            kInvalid);
  LiteRtWeights weights = nullptr;
  const uint8_t byte = 1;
  tensor = AddTensor(nullptr);
  EXPECT_EQ(LiteRtBuilderBuildWeights(builder_.get(), nullptr, 1, tensor, &weights), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildWeights(builder_.get(), &byte, 1, Tensor(0), &weights), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildWeights(builder_.get(), nullptr, 0, tensor, &weights),
            kLiteRtStatusOk);
  LiteRtOp op = nullptr;
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {nullptr}, {tensor}, &op), kInvalid);
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {nullptr}, &op), kInvalid);
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {tensor, tensor}, &op), kInvalid);
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {tensor}, nullptr), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildOp(builder_.get(), kLiteRtOpCodeTflAbs, 1, nullptr, 0, nullptr, &op),
            kInvalid);
  LiteRtOp second = nullptr;
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {tensor}, &second), kLiteRtStatusOk);
  EXPECT_EQ(TryOp(kLiteRtOpCodeTflAbs, {Tensor(0)}, {tensor}, &second), kInvalid);
  EXPECT_EQ(LiteRtBuilderEraseOp(builder_.get(), nullptr), kInvalid);
  EXPECT_EQ(LiteRtBuilderEraseOp(nullptr, Op(0)), kInvalid);
  EXPECT_EQ(op, nullptr);
}

TEST_F(Builder, OptionsAreForItsOwnOperatorsWithTheRightCode) {
  uint32_t number = 0;
  LiteRtOp add = AddOp(kLiteRtOpCodeTflAdd);
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(builder_.get(), add, &number), kLiteRtStatusOk);
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(builder_.get(), Op(0), &number), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildSubOpOption(builder_.get(), add, &number), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(builder_.get(), add, nullptr), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(nullptr, add, &number), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(builder_.get(), nullptr, &number), kInvalid);
  number = 6;  // no activation has this number
  EXPECT_EQ(LiteRtBuilderBuildAddOpOption(builder_.get(), add, &number), kInvalid);
  int32_t dimension = 2;
  LiteRtOp reshape = AddOp(kLiteRtOpCodeTflReshape);
  EXPECT_EQ(LiteRtBuilderBuildReshapeOpOption(builder_.get(), reshape, &dimension, -1), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildReshapeOpOption(builder_.get(), reshape, nullptr, 1), kInvalid);
  EXPECT_EQ(LiteRtBuilderBuildReshapeOpOption(builder_.get(), reshape, nullptr, 0),
            kLiteRtStatusOk);
}

// Numbers as doubles, to compare several with one expectation.
template <typename... Args>
std::vector<double> List(Args... args) {
  return {static_cast<double>(args)...};
}

// Calls a setter for a new operator; afterwards `o` are its options in the file.
#define EXPECT_OPTIONS(Name, Code, Table, Arguments, Values, ...)             \
  do {                                                                        \
    SCOPED_TRACE(#Name);                                                      \
    LiteRtOp op = AddOp(kLiteRtOpCode##Code);                                 \
    const auto set = [&](auto... args) {                                      \
      return LiteRtBuilderBuild##Name##OpOption(builder_.get(), op, args...); \
    };                                                                        \
    ASSERT_EQ(set Arguments, kLiteRtStatusOk);                                \
    const auto* const o = op->options->builtin_options_as_##Table();          \
    ASSERT_NE(o, nullptr);                                                    \
    EXPECT_EQ(List Values, (std::vector<double>{__VA_ARGS__}));               \
  } while (false)

TEST_F(Builder, OptionsHaveTheGivenValues) {
  uint32_t one = 1, three = 3;
  int32_t a = 2, b = 5, c = 7, d = 11, e = 13, f = 17;
  bool yes = true, no = false;
  float real = 0.5F;
  EXPECT_OPTIONS(Add, TflAdd, AddOptions, (&three), (o->fused_activation_function()), 3);
  EXPECT_OPTIONS(Sub, TflSub, SubOptions, (&three), (o->fused_activation_function()), 3);
  EXPECT_OPTIONS(Mul, TflMul, MulOptions, (&three), (o->fused_activation_function()), 3);
  EXPECT_OPTIONS(Div, TflDiv, DivOptions, (&three), (o->fused_activation_function()), 3);
  EXPECT_OPTIONS(LeakyRelu, TflLeakyRelu, LeakyReluOptions, (&real), (o->alpha()), 0.5);
  EXPECT_OPTIONS(Gelu, TflGelu, GeluOptions, (&yes), (o->approximate()), 1);
  EXPECT_OPTIONS(Softmax, TflSoftmax, SoftmaxOptions, (&real), (o->beta()), 0.5);
  EXPECT_OPTIONS(Cumsum, TflCumsum, CumsumOptions, (&yes, &no), (o->exclusive(), o->reverse()), 1,
                 0);
  EXPECT_OPTIONS(BatchMatmul, TflBatchMatmul, BatchMatMulOptions, (&no, &yes, &no),
                 (o->adj_x(), o->adj_y(), o->asymmetric_quantize_inputs()), 0, 1, 0);
  EXPECT_OPTIONS(FullyConnected, TflFullyConnected, FullyConnectedOptions,
                 (&three, &one, &yes, &one, &no),
                 (o->fused_activation_function(), o->weights_format(), o->keep_num_dims(),
                  o->quantized_bias_type(), o->asymmetric_quantize_inputs()),
                 3, 1, 1, 1, 0);
  EXPECT_OPTIONS(Conv2d, TflConv2d, Conv2DOptions, (&one, &a, &b, &c, &d, &three),
                 (o->padding(), o->stride_w(), o->stride_h(), o->dilation_w_factor(),
                  o->dilation_h_factor(), o->fused_activation_function()),
                 1, 2, 5, 7, 11, 3);
  EXPECT_OPTIONS(Conv3d, TflConv3d, Conv3DOptions, (&one, &a, &b, &c, &d, &e, &f, &three),
                 (o->padding(), o->stride_w(), o->stride_h(), o->stride_d(), o->dilation_w_factor(),
                  o->dilation_h_factor(), o->dilation_d_factor(), o->fused_activation_function()),
                 1, 2, 5, 7, 11, 13, 17, 3);
  EXPECT_OPTIONS(DepthwiseConv2d, TflDepthwiseConv2d, DepthwiseConv2DOptions,
                 (&one, &a, &b, &c, &three, &d, &e),
                 (o->padding(), o->stride_w(), o->stride_h(), o->depth_multiplier(),
                  o->fused_activation_function(), o->dilation_w_factor(), o->dilation_h_factor()),
                 1, 2, 5, 7, 3, 11, 13);
  EXPECT_OPTIONS(TransposeConv, TflTransposeConv, TransposeConvOptions, (&one, &a, &b, &three),
                 (o->padding(), o->stride_w(), o->stride_h(), o->fused_activation_function()), 1, 2,
                 5, 3);
#define EXPECT_POOL(Name)                                                        \
  EXPECT_OPTIONS(Name, Tfl##Name, Pool2DOptions, (&one, &a, &b, &c, &d, &three), \
                 (o->padding(), o->stride_w(), o->stride_h(), o->filter_width(), \
                  o->filter_height(), o->fused_activation_function()),           \
                 1, 2, 5, 7, 11, 3)
  EXPECT_POOL(AveragePool2d);
  EXPECT_POOL(MaxPool2d);
  EXPECT_POOL(L2Pool2d);
#define EXPECT_REDUCER(Name) \
  EXPECT_OPTIONS(Name, Tfl##Name, ReducerOptions, (&yes), (o->keep_dims()), 1)
  EXPECT_REDUCER(Sum);
  EXPECT_REDUCER(Mean);
  EXPECT_REDUCER(ReduceMax);
  EXPECT_REDUCER(ReduceMin);
  EXPECT_REDUCER(ReduceAny);
  EXPECT_REDUCER(ReduceAll);
  int32_t list[] = {4, -1, 6};
  EXPECT_OPTIONS(Reshape, TflReshape, ReshapeOptions, (list, 3),
                 (o->new_shape()->size(), o->new_shape()->Get(0), o->new_shape()->Get(1),
                  o->new_shape()->Get(2)),
                 3, 4, -1, 6);
  EXPECT_OPTIONS(Squeeze, TflSqueeze, SqueezeOptions, (list, 2),
                 (o->squeeze_dims()->size(), o->squeeze_dims()->Get(0), o->squeeze_dims()->Get(1)),
                 2, 4, -1);
  EXPECT_OPTIONS(Concatenation, TflConcatenation, ConcatenationOptions, (&three, &a),
                 (o->fused_activation_function(), o->axis()), 3, 2);
  EXPECT_OPTIONS(Split, TflSplit, SplitOptions, (&a), (o->num_splits()), 2);
  EXPECT_OPTIONS(SplitV, TflSplitV, SplitVOptions, (&a), (o->num_splits()), 2);
  EXPECT_OPTIONS(Pack, TflPack, PackOptions, (&a, &b), (o->axis(), o->values_count()), 2, 5);
  EXPECT_OPTIONS(Unpack, TflUnpack, UnpackOptions, (&a, &b), (o->axis(), o->num()), 2, 5);
  EXPECT_OPTIONS(Gather, TflGather, GatherOptions, (&a, &b), (o->axis(), o->batch_dims()), 2, 5);
  EXPECT_OPTIONS(OneHot, TflOneHot, OneHotOptions, (&a), (o->axis()), 2);
  EXPECT_OPTIONS(StridedSlice, TflStridedSlice, StridedSliceOptions, (&a, &b, &c, &d, &e, &yes),
                 (o->begin_mask(), o->end_mask(), o->ellipsis_mask(), o->new_axis_mask(),
                  o->shrink_axis_mask(), o->offset()),
                 2, 5, 7, 11, 13, 1);
  EXPECT_OPTIONS(MirrorPad, TflMirrorPad, MirrorPadOptions, (&one), (o->mode()), 1);
  EXPECT_OPTIONS(DepthToSpace, TflDepthToSpace, DepthToSpaceOptions, (&a), (o->block_size()), 2);
  EXPECT_OPTIONS(SpaceToDepth, TflSpaceToDepth, SpaceToDepthOptions, (&a), (o->block_size()), 2);
  EXPECT_OPTIONS(ResizeBilinear, TflResizeBilinear, ResizeBilinearOptions, (&yes, &no),
                 (o->align_corners(), o->half_pixel_centers()), 1, 0);
  EXPECT_OPTIONS(ResizeNearestNeighbor, TflResizeNearestNeighbor, ResizeNearestNeighborOptions,
                 (&no, &yes), (o->align_corners(), o->half_pixel_centers()), 0, 1);
}

TEST_F(Builder, CompositesHaveTheirAttributes) {
  int32_t decomposition = 1, version = 3;
  const uint8_t attributes[] = {9, 8};
  LiteRtOp op = AddOp(kLiteRtOpCodeShloComposite, {Tensor(0)}, {AddTensor("out")});
  const auto set = [&](const char* name, int32_t* subgraph, const uint8_t* data, size_t size) {
    return LiteRtBuilderBuildShloCompositeOpOption(builder_.get(), op, name, subgraph, &version,
                                                   data, size);
  };
  EXPECT_EQ(set(nullptr, &decomposition, attributes, 2), kInvalid);
  EXPECT_EQ(set("n", nullptr, attributes, 2), kInvalid);
  EXPECT_EQ(set("n", &decomposition, nullptr, 2), kInvalid);
  ASSERT_EQ(set("odml.npu_call", &decomposition, attributes, 2), kLiteRtStatusOk);
  ASSERT_EQ(builder_->Apply(), kLiteRtStatusOk);
  const std::vector<uint8_t> bytes = Serialize();
  const auto* const ops = schema::GetModel(bytes.data())->subgraphs()->Get(0)->operators();
  const auto* const options = ops->Get(2)->builtin_options_2_as_StableHLOCompositeOptions();
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->name()->str(), "odml.npu_call");
  EXPECT_EQ(options->decomposition_subgraph_index(), 1);
  EXPECT_EQ(options->version(), 3);
  ASSERT_EQ(options->composite_attributes()->size(), 2U);
  EXPECT_EQ(options->composite_attributes()->Get(0), 9);
}

}  // namespace
}  // namespace deputy::litert::builder_test
