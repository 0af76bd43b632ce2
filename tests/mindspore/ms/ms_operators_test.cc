// SPDX-License-Identifier: Apache-2.0
//
// Tests the supported primitives of .ms models: most of them as the only node of a file, with
// results computed by hand or by plain loops. Each file is also damaged at every byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "mindspore/ms/convert.h"
#include "schema_generated.h"
#include "tests/mindspore/ms/ms_writer.h"
#include "tests/support/test_interpreter.h"

namespace deputy::ms::ms_operators_test {
namespace {

using Builtin = schema::BuiltinOperator;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::FloatNear;
using testing::Pointwise;
using Floats = std::vector<float>;

constexpr float kNear = 2e-5F;

// Changes every byte of the file in three manners: the result is arbitrary or an error, without a
// sanitizer report.
void Damage(std::vector<uint8_t> bytes) {
  for (uint8_t& byte : bytes) {
    const uint8_t good = byte;
    for (const int value : {0xff, 0x00, good ^ 1}) {
      byte = static_cast<uint8_t>(value);
      std::string error;
      const std::vector<uint8_t> tflite = ConvertMsModel(bytes, {}, &error);
      EXPECT_EQ(tflite.empty(), !error.empty());
    }
    byte = good;
  }
}

std::vector<uint8_t> Converted(MsWriter& writer) {
  const std::vector<uint8_t> bytes = writer.Finish();
  std::string error;
  std::vector<uint8_t> tflite = ConvertMsModel(bytes, {}, &error);
  EXPECT_EQ(error, "");
  Damage(bytes);
  return tflite;
}

// Returns the only node of a model, which must have the operator `code`.
const schema::Operator& NodeOf(const std::vector<uint8_t>& tflite, schema::BuiltinOperator code) {
  const schema::Model* model = schema::GetModel(tflite.data());
  EXPECT_EQ(model->operator_codes()->Get(0)->builtin_code(), code);
  EXPECT_EQ(model->subgraphs()->Get(0)->operators()->size(), 1U);
  return *model->subgraphs()->Get(0)->operators()->Get(0);
}

// Returns the outputs of a model for its float32 inputs, concatenated; nothing if it is refused.
template <typename T = float>
std::vector<T> RunModel(MsWriter& writer, const std::vector<Floats>& inputs) {
  TestInterpreter interpreter(Converted(writer));
  std::vector<T> all;
  if (interpreter.get() == nullptr || interpreter.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << interpreter.log();
    return all;
  }
  for (size_t i = 0; i < inputs.size(); ++i) interpreter.Set(static_cast<int>(i), inputs[i]);
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  const int outputs = TfLiteInterpreterGetOutputTensorCount(interpreter.get());
  for (int i = 0; i < outputs; ++i) {
    const std::vector<T> values = interpreter.Get<T>(i);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<int> OutputShape(const std::vector<uint8_t>& ms) {
  std::string error;
  TestInterpreter interpreter(ConvertMsModel(ms, {}, &error));
  if (interpreter.get() == nullptr || interpreter.Allocate() != kTfLiteOk) return {};
  return TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0));
}

Floats Counted(size_t count, float step = 1, float first = 1) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

using Attribute = std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)>;

const Attribute kPlain = [](auto& fbb) { return NoAttributes(&fbb).Union(); };

// Runs one node with an input (and a second one unless it is empty) of the output's shape.
Floats RunOne(file::PrimitiveType value, const Attribute& attributes, const Floats& x,
              const Floats& y = {}, std::vector<int32_t> dims = {}) {
  MsWriter w;
  if (dims.empty()) dims = {1, static_cast<int32_t>(x.size())};
  std::vector<uint32_t> inputs = {w.Input(dims)};
  std::vector<Floats> values = {x};
  if (!y.empty()) {
    inputs.push_back(w.Input(dims));
    values.push_back(y);
  }
  const uint32_t output = w.Output(dims);
  w.Node(value, inputs, {output}, flatbuffers::Offset<file::Abs>(attributes(w.fbb()).o));
  return RunModel(w, values);
}

// ---- Element by element -------------------------------------------------------------------------

TEST(MsOperators, functions_of_one_value) {
  const struct {
    file::PrimitiveType value;
    float (*function)(float);
  } rows[] = {
      {file::PrimitiveType_Cos, [](float x) { return std::cos(x); }},
      {file::PrimitiveType_Sin, [](float x) { return std::sin(x); }},
      {file::PrimitiveType_Log, [](float x) { return std::log(x); }},
      {file::PrimitiveType_Sqrt, [](float x) { return std::sqrt(x); }},
      {file::PrimitiveType_Rsqrt, [](float x) { return 1 / std::sqrt(x); }},
      {file::PrimitiveType_Square, [](float x) { return x * x; }},
      {file::PrimitiveType_Abs, [](float x) { return std::abs(x); }},
      {file::PrimitiveType_Neg, [](float x) { return -x; }},
      {file::PrimitiveType_Floor, [](float x) { return std::floor(x); }},
      {file::PrimitiveType_Ceil, [](float x) { return std::ceil(x); }},
      {file::PrimitiveType_Round, [](float x) { return std::nearbyint(x); }},
      {file::PrimitiveType_Reciprocal, [](float x) { return 1 / x; }},
      {file::PrimitiveType_ZerosLike, [](float) { return 0.0F; }},
  };
  const Floats x = {0.25F, 1.5F, 2.75F, 8};
  for (const auto& row : rows) {
    Floats expected;
    for (const float each : x) expected.push_back(row.function(each));
    EXPECT_THAT(RunOne(row.value, kPlain, x), Pointwise(FloatNear(kNear), expected))
        << file::EnumNamePrimitiveType(row.value);
  }
}

TEST(MsOperators, functions_of_two_values) {
  const Floats x = {7, -2, 3, 4}, y = {2, 4, 3, -3};
  const Attribute fused = [](auto& fbb) { return file::CreateAddFusion(fbb).Union(); };
  const Attribute relu = [](auto& fbb) {
    return file::CreateAddFusion(fbb, file::ActivationType_RELU).Union();
  };
  const Attribute sigmoid = [](auto& fbb) {
    return file::CreateAddFusion(fbb, file::ActivationType_SIGMOID).Union();
  };
  const Attribute power = [](auto& fbb) { return file::CreatePowFusion(fbb, 2, 1).Union(); };
  const struct {
    file::PrimitiveType value;
    Attribute attributes;
    Floats expected;
  } rows[] = {
      {file::PrimitiveType_AddFusion, fused, {9, 2, 6, 1}},
      {file::PrimitiveType_AddFusion, relu, {9, 2, 6, 1}},
      {file::PrimitiveType_SubFusion, relu, {5, 0, 0, 7}},
      {file::PrimitiveType_SubFusion, sigmoid, {0.9933071F, 0.0024726F, 0.5F, 0.9990889F}},
      {file::PrimitiveType_MulFusion, fused, {14, -8, 9, -12}},
      {file::PrimitiveType_DivFusion, fused, {3.5F, -0.5F, 1, -1.3333333F}},
      {file::PrimitiveType_RealDiv, kPlain, {3.5F, -0.5F, 1, -1.3333333F}},
      {file::PrimitiveType_BiasAdd, kPlain, {9, 2, 6, 1}},
      {file::PrimitiveType_FloorDiv, kPlain, {3, -1, 1, -2}},
      {file::PrimitiveType_FloorMod, kPlain, {1, 2, 0, -2}},
      {file::PrimitiveType_Maximum, kPlain, {7, 4, 3, 4}},
      {file::PrimitiveType_Minimum, kPlain, {2, -2, 3, -3}},
      {file::PrimitiveType_SquaredDifference, kPlain, {25, 36, 0, 49}},
      {file::PrimitiveType_PowFusion, power, {225, 81, 343, 1.0F / 729}},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(RunOne(row.value, row.attributes, x, y), Pointwise(FloatNear(kNear), row.expected))
        << file::EnumNamePrimitiveType(row.value);
  }
}

TEST(MsOperators, elementwise_of_three_inputs_is_a_chain) {
  for (const auto& [mode, expected] :
       std::vector<std::pair<file::EltwiseMode, Floats>>{{file::EltwiseMode_PROD, {-8, 15}},
                                                         {file::EltwiseMode_SUM, {5, 9}},
                                                         {file::EltwiseMode_MAXIMUM, {4, 5}}}) {
    MsWriter w;
    const uint32_t a = w.Input({2}), b = w.Input({2}), c = w.Input({2}), y = w.Output({2});
    w.Node(file::PrimitiveType_Eltwise, {a, b, c}, {y}, file::CreateEltwise(w.fbb(), mode));
    EXPECT_EQ(RunModel(w, {{2, 5}, {-1, 3}, {4, 1}}), expected);
  }
}

TEST(MsOperators, comparisons) {
  const struct {
    file::PrimitiveType value;
    std::vector<bool> expected;
  } rows[] = {
      {file::PrimitiveType_Equal, {false, true, false}},
      {file::PrimitiveType_NotEqual, {true, false, true}},
      {file::PrimitiveType_Greater, {false, false, true}},
      {file::PrimitiveType_GreaterEqual, {false, true, true}},
      {file::PrimitiveType_Less, {true, false, false}},
      {file::PrimitiveType_LessEqual, {true, true, false}},
  };
  for (const auto& row : rows) {
    MsWriter w;
    const uint32_t x = w.Input({3}), y = w.Input({3}), out = w.Output({3}, kMsBool);
    w.Node(row.value, {x, y}, {out});
    const std::vector<uint8_t> result = RunModel<uint8_t>(w, {{1, 2, 3}, {2, 2, 2}});
    EXPECT_THAT(result, ElementsAreArray(row.expected.begin(), row.expected.end()))
        << file::EnumNamePrimitiveType(row.value);
  }
}

TEST(MsOperators, logic_selection_and_casts) {
  MsWriter w;
  const uint32_t x = w.Input({4}), zero = w.Constant<float>({1}, {0}),
                 two = w.Constant<float>({1}, {2});
  const uint32_t above = w.Tensor({4}, kMsBool), below = w.Tensor({4}, kMsBool);
  const uint32_t both = w.Tensor({4}, kMsBool), either = w.Tensor({4}, kMsBool);
  const uint32_t neither = w.Tensor({4}, kMsBool), number = w.Tensor({4});
  const uint32_t chosen = w.Output({4}), where = w.Output({4});
  w.Node(file::PrimitiveType_Greater, {x, zero}, {above});
  w.Node(file::PrimitiveType_Less, {x, two}, {below});
  w.Node(file::PrimitiveType_LogicalAnd, {above, below}, {both});
  w.Node(file::PrimitiveType_LogicalOr, {above, below}, {either});
  w.Node(file::PrimitiveType_LogicalNot, {both}, {neither});
  w.Node(file::PrimitiveType_Cast, {either}, {number});
  w.Node(file::PrimitiveType_Select, {both, x, number}, {chosen});
  w.Node(file::PrimitiveType_Where, {neither, zero, x}, {where});
  EXPECT_THAT(RunModel(w, {{-1, 1, 2, 3}}), ElementsAre(1, 1, 1, 1, 0, 1, 0, 0));
}

TEST(MsOperators, powers_of_a_base) {
  const auto with = [](float base, float scale, float shift) -> Attribute {
    return [=](auto& fbb) { return file::CreateExpFusion(fbb, base, scale, shift).Union(); };
  };
  EXPECT_THAT(RunOne(file::PrimitiveType_ExpFusion, with(-1, 1, 0), {0, 1}),
              Pointwise(FloatNear(kNear), Floats{1, 2.7182818F}));
  EXPECT_THAT(RunOne(file::PrimitiveType_ExpFusion, with(2, 3, 1), {0, 1}),
              Pointwise(FloatNear(kNear), Floats{2, 16}));
}

TEST(MsOperators, activations) {
  const Floats x = {-4, -1, -0.5F, 0, 0.5F, 1, 7};
  const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  const std::pair<file::ActivationType, std::function<float(float)>> rows[] = {
      {file::ActivationType_NO_ACTIVATION, [](float v) { return v; }},
      {file::ActivationType_RELU, [](float v) { return std::max(v, 0.0F); }},
      {file::ActivationType_SIGMOID, sigmoid},
      {file::ActivationType_RELU6, [](float v) { return std::clamp(v, 0.0F, 6.0F); }},
      {file::ActivationType_ELU, [](float v) { return v > 0 ? v : 0.5F * std::expm1(v); }},
      {file::ActivationType_LEAKY_RELU, [](float v) { return v > 0 ? v : 0.5F * v; }},
      {file::ActivationType_ABS, [](float v) { return std::abs(v); }},
      {file::ActivationType_RELU1, [](float v) { return std::clamp(v, -1.0F, 1.0F); }},
      {file::ActivationType_SOFTSIGN, [](float v) { return v / (1 + std::abs(v)); }},
      {file::ActivationType_SOFTPLUS, [](float v) { return std::log1p(std::exp(v)); }},
      {file::ActivationType_TANH, [](float v) { return std::tanh(v); }},
      {file::ActivationType_SELU,
       [](float v) { return 1.0507010F * (v > 0 ? v : 1.6732632F * std::expm1(v)); }},
      {file::ActivationType_HSWISH, [](float v) { return v * std::clamp(v + 3, 0.0F, 6.0F) / 6; }},
      {file::ActivationType_HSIGMOID, [](float v) { return std::clamp(v + 3, 0.0F, 6.0F) / 6; }},
      {file::ActivationType_LINEAR, [](float v) { return v; }},
      {file::ActivationType_HARD_TANH, [](float v) { return std::clamp(v, -0.75F, 2.0F); }},
      {file::ActivationType_SIGN, [](float v) { return static_cast<float>((v > 0) - (v < 0)); }},
      {file::ActivationType_SWISH, [sigmoid](float v) { return v * sigmoid(v); }},
      {file::ActivationType_GELU,
       [](float v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0F))); }},
  };
  for (const auto& [activation, function] : rows) {
    const file::ActivationType type = activation;
    Floats expected;
    for (const float each : x) expected.push_back(function(each));
    const Attribute attributes = [type](auto& fbb) {
      return file::CreateActivation(fbb, type, 0.5F, -0.75F, 2).Union();
    };
    EXPECT_THAT(RunOne(file::PrimitiveType_Activation, attributes, x),
                Pointwise(FloatNear(kNear), expected))
        << file::EnumNameActivationType(type);
  }
}

TEST(MsOperators, activations_that_are_primitives) {
  const Attribute half = [](auto& fbb) { return file::CreateElu(fbb, 0.5F).Union(); };
  EXPECT_THAT(RunOne(file::PrimitiveType_LeakyRelu, half, {-2, 4}), ElementsAre(-1, 4));
  EXPECT_THAT(RunOne(file::PrimitiveType_Elu, half, {-2, 4}),
              Pointwise(FloatNear(kNear), Floats{0.5F * std::expm1(-2.0F), 4}));
  const auto clip = [](float least, float greatest) -> Attribute {
    return [=](auto& fbb) { return file::CreateClip(fbb, greatest, least).Union(); };
  };
  EXPECT_THAT(RunOne(file::PrimitiveType_Clip, clip(-1, 2), {-2, 0, 4}), ElementsAre(-1, 0, 2));
  EXPECT_THAT(RunOne(file::PrimitiveType_Clip, clip(0, 6), {-2, 4, 8}), ElementsAre(0, 4, 6));
  MsWriter w;
  const uint32_t x = w.Input({1, 2, 2}), slope = w.Constant<float>({2}, {0.5F, 2}),
                 y = w.Output({1, 2, 2});
  w.Node(file::PrimitiveType_PReLUFusion, {x, slope}, {y});
  EXPECT_THAT(RunModel(w, {{-2, -2, 3, -1}}), ElementsAre(-1, -4, 3, -2));
}

// ---- Convolutions and pooling -------------------------------------------------------------------

struct ConvCase {
  int height = 5, width = 4, channels = 2, outputs = 3, kernel = 3, stride = 1, dilation = 1;
  int up = 0, down = 0, left = 0, right = 0, group = 1;
  file::PadMode mode = file::PadMode_PAD;
  file::ActivationType activation = file::ActivationType_NO_ACTIVATION;
};

Floats Noise(size_t count, uint32_t seed) {
  Floats values(count);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 16 & 255) / 64 - 2;
  }
  return values;
}

// Computes a convolution over [height, width, channels] with weights [out, kernel, kernel, inputs
// per group] by plain loops.
Floats PlainConv(const ConvCase& c, const Floats& x, const Floats& w, const Floats& bias) {
  const int depth = c.channels / c.group, extent = (c.kernel - 1) * c.dilation + 1;
  const int height = (c.height + c.up + c.down - extent) / c.stride + 1;
  const int width = (c.width + c.left + c.right - extent) / c.stride + 1;
  Floats result;
  for (int i = 0; i < height * width * c.outputs; ++i) {
    const int o = i % c.outputs, at = i / c.outputs % width, row = i / c.outputs / width;
    float sum = bias.empty() ? 0 : bias[o];
    for (int k = 0; k < c.kernel * c.kernel * depth; ++k) {
      const int d = k % depth, kx = k / depth % c.kernel, ky = k / depth / c.kernel;
      const int sy = row * c.stride - c.up + ky * c.dilation;
      const int sx = at * c.stride - c.left + kx * c.dilation;
      if (sy < 0 || sx < 0 || sy >= c.height || sx >= c.width) continue;
      const int channel = o / (c.outputs / c.group) * depth + d;
      sum += x[(sy * c.width + sx) * c.channels + channel] *
             w[((o * c.kernel + ky) * c.kernel + kx) * depth + d];
    }
    result.push_back(c.activation == file::ActivationType_TANH ? std::tanh(sum) : sum);
  }
  return result;
}

Floats MsConv(const ConvCase& c, const Floats& x, const Floats& weights, const Floats& bias) {
  MsWriter w;
  const int depth = c.channels / c.group;
  std::vector<uint32_t> inputs = {
      w.Input({1, c.height, c.width, c.channels}),
      w.Constant<float>({c.outputs, c.kernel, c.kernel, depth}, weights)};
  if (!bias.empty()) inputs.push_back(w.Constant<float>({c.outputs}, bias));
  const uint32_t y = w.Output({1, -1, -1, c.outputs});
  const auto kernel = w.Longs({c.kernel, c.kernel}), stride = w.Longs({c.stride, c.stride});
  const auto dilation = w.Longs({c.dilation, c.dilation});
  const auto pads = w.Longs({c.up, c.down, c.left, c.right});
  // The channels in the attributes are wrong, as in real files.
  w.Node(file::PrimitiveType_Conv2DFusion, inputs, {y},
         file::CreateConv2DFusion(w.fbb(), file::Format_NHWC, kernel, stride, dilation, c.mode,
                                  pads, 0, c.group, 1, 1, c.activation));
  return RunModel(w, {x});
}

TEST(MsOperators, convolutions_with_every_padding) {
  const ConvCase cases[] = {
      {},
      {.stride = 2},
      {.up = 1, .down = 1, .left = 1, .right = 1},
      {.stride = 2, .up = 1, .down = 1, .left = 1, .right = 1},
      {.kernel = 2, .up = 0, .down = 1, .left = 2, .right = 0},
      {.dilation = 2, .up = 2, .down = 2, .left = 2, .right = 2},
      {.up = 1, .down = 1, .left = 1, .right = 1, .activation = file::ActivationType_TANH},
      {.channels = 4, .outputs = 4, .group = 4},
      {.channels = 3, .outputs = 6, .stride = 2, .up = 1, .left = 1, .group = 3},
      {.channels = 4, .outputs = 6, .group = 2},
  };
  for (const ConvCase& c : cases) {
    const auto x = Noise(static_cast<size_t>(c.height * c.width * c.channels), 1);
    const auto weights =
        Noise(static_cast<size_t>(c.outputs * c.kernel * c.kernel * c.channels / c.group), 2);
    const auto bias = Noise(static_cast<size_t>(c.outputs), 3);
    EXPECT_THAT(MsConv(c, x, weights, bias),
                Pointwise(FloatNear(1e-4F), PlainConv(c, x, weights, bias)))
        << c.stride << c.up << c.group;
    EXPECT_THAT(MsConv(c, x, weights, {}),
                Pointwise(FloatNear(1e-4F), PlainConv(c, x, weights, {})));
  }
}

TEST(MsOperators, convolution_pads_as_tensorflow_does) {
  ConvCase same{.stride = 2, .mode = file::PadMode_SAME};
  // SAME padding of a 5 x 4 image with kernel 3 and stride 2.
  ConvCase equal{.stride = 2, .up = 1, .down = 1, .left = 0, .right = 1};
  const Floats x = Noise(40, 1), weights = Noise(54, 2);
  EXPECT_THAT(MsConv(same, x, weights, {}),
              Pointwise(FloatNear(1e-4F), PlainConv(equal, x, weights, {})));
  ConvCase valid{.up = 1, .mode = file::PadMode_VALID};  // pads are ignored with VALID
  EXPECT_THAT(MsConv(valid, x, weights, {}),
              Pointwise(FloatNear(1e-4F), PlainConv({}, x, weights, {})));
}

TEST(MsOperators, transposed_convolutions) {
  struct Case {
    int stride, before, after, extra;
    file::PadMode mode;
  };
  // The expected result adds every input element times the weights to the output. The input is an
  // image of 3 x 2 with two channels, the kernel is 3 x 3, the output has two channels.
  const Floats x = Noise(12, 4), weights = Noise(2 * 9 * 2, 5), bias = {0.5F, -1};
  for (const Case& c : {Case{2, 0, 0, 0, file::PadMode_PAD}, Case{2, 1, 1, 0, file::PadMode_PAD},
                        Case{2, 1, 1, 1, file::PadMode_PAD}, Case{1, 1, 1, 0, file::PadMode_PAD},
                        Case{2, 0, 1, 0, file::PadMode_SAME}}) {
    const int height = 2 * c.stride + 3 - c.before - c.after + c.extra;
    const int width = c.stride + 3 - c.before - c.after + c.extra;
    Floats expected(static_cast<size_t>(height * width * 2));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = bias[i % 2];
    for (int i = 0; i < 12 * 18; ++i) {
      const int from = i / 18, o = i % 2, kx = i / 2 % 3, ky = i / 6 % 3;
      const int row = from / 4 * c.stride + ky - c.before,
                at = from / 2 % 2 * c.stride + kx - c.before;
      if (row < 0 || at < 0 || row >= height || at >= width) continue;
      expected[(row * width + at) * 2 + o] +=
          x[from] * weights[(from % 2 * 9 + ky * 3 + kx) * 2 + o];
    }
    MsWriter w;
    const uint32_t input = w.Input({1, 3, 2, 2}), filter = w.Constant<float>({2, 3, 3, 2}, weights);
    const uint32_t b = w.Constant<float>({2}, bias), y = w.Output({1, height, width, 2});
    const auto stride = w.Longs({c.stride, c.stride});
    const auto pads = w.Longs({c.before, c.after, c.before, c.after}),
               extra = w.Longs({c.extra, c.extra});
    file::Conv2dTransposeFusionBuilder attributes(w.fbb());
    attributes.add_stride(stride);
    attributes.add_pad_mode(c.mode);
    attributes.add_pad_list(pads);
    attributes.add_output_paddings(extra);
    attributes.add_group(1);
    w.Node(file::PrimitiveType_Conv2dTransposeFusion, {input, filter, b}, {y}, attributes.Finish());
    EXPECT_THAT(RunModel(w, {x}), Pointwise(FloatNear(1e-4F), expected))
        << c.stride << c.before << c.extra;
  }
}

struct PoolCase {
  int kernel = 2, stride = 2, before = 0, after = 0;
  file::PadMode mode = file::PadMode_PAD;
  file::RoundMode round = file::RoundMode_FLOOR;
  bool global = false;
  int size = 5;
};

Floats MsPool(file::PrimitiveType value, const PoolCase& c, const Floats& x, int size) {
  MsWriter w;
  const uint32_t input = w.Input({1, size, size, 1}), y = w.Output({1, -1, -1, 1});
  const auto kernel = w.Longs({c.kernel, c.kernel}), strides = w.Longs({c.stride, c.stride});
  const auto pad = w.Longs({c.before, c.after, c.before, c.after});
  w.Node(value, {input}, {y},
         file::CreateAvgPoolFusion(w.fbb(), kernel, strides, pad, c.mode, c.round,
                                   file::Format_NHWC, c.global));
  return RunModel(w, {x});
}

// Pools windows over a square image by plain loops; only elements inside the image count.
Floats PlainPool(bool average, const PoolCase& c, const Floats& x, int size) {
  const int room = size + c.before + c.after - c.kernel;
  const int steps = (c.round == file::RoundMode_CEIL ? (room + c.stride - 1) : room) / c.stride + 1;
  Floats result;
  for (int i = 0; i < steps * steps; ++i) {
    float sum = 0, greatest = -INFINITY;
    int count = 0;
    for (int k = 0; k < c.kernel * c.kernel; ++k) {
      const int row = i / steps * c.stride - c.before + k / c.kernel;
      const int at = i % steps * c.stride - c.before + k % c.kernel;
      if (row < 0 || at < 0 || row >= size || at >= size) continue;
      sum += x[row * size + at];
      greatest = std::max(greatest, x[row * size + at]);
      ++count;
    }
    result.push_back(average ? sum / static_cast<float>(count) : greatest);
  }
  return result;
}

TEST(MsOperators, pools_with_every_padding_and_rounding) {
  const auto ceil = file::RoundMode_CEIL;
  const PoolCase cases[] = {
      {},
      {.kernel = 3},
      {.round = ceil},
      {.kernel = 3, .stride = 2, .round = ceil},
      {.kernel = 3, .stride = 1, .before = 1, .after = 1},
      {.kernel = 3, .stride = 2, .before = 1, .after = 1},
      {.kernel = 3, .stride = 2, .before = 0, .after = 1, .round = ceil},
      {.kernel = 3, .stride = 3, .round = ceil},
  };
  for (const PoolCase& c : cases) {
    for (const int size : {5, 6}) {
      const Floats x = Noise(static_cast<size_t>(size * size), 7);
      EXPECT_THAT(MsPool(file::PrimitiveType_MaxPoolFusion, c, x, size),
                  Pointwise(FloatNear(kNear), PlainPool(false, c, x, size)))
          << c.kernel << c.stride << c.before << size;
      EXPECT_THAT(MsPool(file::PrimitiveType_AvgPoolFusion, c, x, size),
                  Pointwise(FloatNear(kNear), PlainPool(true, c, x, size)))
          << c.kernel << c.stride << c.before << size;
    }
  }
  const PoolCase all{.global = true};
  EXPECT_THAT(MsPool(file::PrimitiveType_AvgPoolFusion, all, {1, 2, 3, 6}, 2), ElementsAre(3));
  EXPECT_THAT(MsPool(file::PrimitiveType_MaxPoolFusion, all, {1, 2, 3, 6}, 2), ElementsAre(6));
}

// ---- Matrices -----------------------------------------------------------------------------------

TEST(MsOperators, full_connection_flattens_from_its_axis) {
  MsWriter w;
  const uint32_t x = w.Input({2, 1, 2}), m = w.Constant<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const uint32_t b = w.Constant<float>({3}, {0, 0, 1}), y = w.Output({2, 3});
  w.Node(file::PrimitiveType_FullConnection, {x, m, b}, {y},
         file::CreateFullConnection(w.fbb(), true, true, 1));
  EXPECT_THAT(RunModel(w, {{1, 1, 0, 2}}), ElementsAre(3, 7, 12, 4, 8, 13));
}

TEST(MsOperators, matrix_products_with_and_without_constants) {
  // With a = [[1, 2, 3], [4, 5, 6]] and b = [[1, 0], [0, 2], [1, 1]], a b = [[4, 7], [10, 16]].
  const Floats a = {1, 2, 3, 4, 5, 6}, a_turned = {1, 4, 2, 5, 3, 6};
  const Floats b = {1, 0, 0, 2, 1, 1}, b_turned = {1, 0, 1, 0, 2, 1};
  for (int i = 0; i < 16; ++i) {
    const bool turn_a = (i & 1) != 0, turn_b = (i & 2) != 0, constant = (i & 4) != 0;
    const bool biased = (i & 8) != 0;
    MsWriter w;
    const std::vector<int32_t> left =
        turn_a ? std::vector<int32_t>{3, 2} : std::vector<int32_t>{2, 3};
    const std::vector<int32_t> right =
        turn_b ? std::vector<int32_t>{2, 3} : std::vector<int32_t>{3, 2};
    const Floats& matrix = turn_b ? b_turned : b;
    std::vector<uint32_t> inputs = {w.Input(left)};
    inputs.push_back(constant ? w.Constant<float>(right, matrix) : w.Input(right));
    if (biased) inputs.push_back(w.Constant<float>({2}, {-5, 1}));
    w.Node(file::PrimitiveType_MatMulFusion, inputs, {w.Output({2, 2})},
           file::CreateMatMulFusion(w.fbb(), turn_a, turn_b, file::ActivationType_RELU));
    std::vector<Floats> values = {turn_a ? a_turned : a};
    if (!constant) values.push_back(matrix);
    EXPECT_THAT(RunModel(w, values), biased ? ElementsAre(0, 8, 5, 17) : ElementsAre(4, 7, 10, 16))
        << i;
  }
}

TEST(MsOperators, matrix_products_keep_outer_dimensions) {
  MsWriter w;
  const uint32_t x = w.Input({2, 1, 2}), m = w.Constant<float>({2, 1}, {10, 1});
  w.Node(file::PrimitiveType_MatMulFusion, {x, m}, {w.Output({2, 1, 1})},
         file::CreateMatMulFusion(w.fbb()));
  const std::vector<uint8_t> bytes = w.Finish();
  EXPECT_THAT(OutputShape(bytes), ElementsAre(2, 1, 1));
}

// ---- Normalisation and reductions ---------------------------------------------------------------

TEST(MsOperators, scale_and_batch_norms) {
  {
    MsWriter w;
    const uint32_t x = w.Input({1, 2, 2}), s = w.Constant<float>({2}, {2, 3}),
                   o = w.Constant<float>({2}, {1, -9});
    w.Node(file::PrimitiveType_ScaleFusion, {x, s, o}, {w.Output({1, 2, 2})},
           file::CreateScaleFusion(w.fbb(), 1, file::ActivationType_RELU));
    EXPECT_THAT(RunModel(w, {{1, 2, 3, 4}}), ElementsAre(3, 5, 0, 3));
  }
  {
    MsWriter w;
    const uint32_t x = w.Input({1, 2}), s = w.Constant<float>({2}, {2, 1}),
                   o = w.Constant<float>({2}, {1, 0});
    const uint32_t mean = w.Constant<float>({2}, {1, 2}), var = w.Constant<float>({2}, {3, 8});
    w.Node(file::PrimitiveType_FusedBatchNorm, {x, s, o, mean, var}, {w.Output({1, 2})},
           file::CreateFusedBatchNorm(w.fbb(), 1));
    EXPECT_THAT(RunModel(w, {{5, 5}}), Pointwise(FloatNear(kNear), Floats{5, 1}));
  }
  {
    MsWriter w;
    const uint32_t x = w.Input({1, 2}), mean = w.Constant<float>({2}, {1, 2});
    const uint32_t var = w.Constant<float>({2}, {3, 8});
    w.Node(file::PrimitiveType_BatchNorm, {x, mean, var}, {w.Output({1, 2})},
           file::CreateInstanceNorm(w.fbb(), 1));
    EXPECT_THAT(RunModel(w, {{5, 5}}), Pointwise(FloatNear(kNear), Floats{2, 1}));
  }
}

TEST(MsOperators, instance_and_layer_norms) {
  // The mean of 1, 3 is 2, the variance 1; the mean of 2, 6 is 4, the variance 4.
  for (const bool first : {false, true}) {
    MsWriter w;
    const std::vector<int32_t> dims =
        first ? std::vector<int32_t>{1, 2, 1, 2} : std::vector<int32_t>{1, 1, 2, 2};
    const uint32_t x = w.Input(dims), s = w.Constant<float>({2}, {1, 10}),
                   o = w.Constant<float>({2}, {0, 5});
    if (first) w.tensors[x].layout = file::Format_NCHW;
    w.Node(file::PrimitiveType_InstanceNorm, {x, s, o}, {w.Output(dims)},
           file::CreateInstanceNorm(w.fbb(), 0));
    EXPECT_THAT(RunModel(w, {first ? Floats{1, 3, 2, 6} : Floats{1, 2, 3, 6}}),
                Pointwise(FloatNear(kNear), first ? Floats{-1, 1, -5, 15} : Floats{-1, -5, 1, 15}));
  }
  MsWriter w;
  const uint32_t x = w.Input({2, 2}), s = w.Constant<float>({2}, {1, 10}),
                 o = w.Constant<float>({2}, {0, 5});
  w.Node(file::PrimitiveType_LayerNormFusion, {x, s, o}, {w.Output({2, 2})},
         file::CreateLayerNormFusion(w.fbb(), -1, 0, true, -1));
  EXPECT_THAT(RunModel(w, {{1, 3, 2, 6}}), Pointwise(FloatNear(kNear), Floats{-1, 15, -1, 15}));
}

TEST(MsOperators, l2_and_local_normalization) {
  MsWriter w;
  w.Node(file::PrimitiveType_L2NormalizeFusion, {w.Input({1, 2})}, {w.Output({1, 2})},
         file::CreateL2NormalizeFusion(w.fbb(), w.Longs({-1}), 1e-6F));
  EXPECT_THAT(RunModel(w, {{3, 4}}), Pointwise(FloatNear(kNear), Floats{0.6F, 0.8F}));
  // LRN becomes LOCAL_RESPONSE_NORMALIZATION; only the conversion of its attributes is checked.
  MsWriter local;
  local.Node(file::PrimitiveType_LRN, {local.Input({1, 1, 1, 3})}, {local.Output({1, 1, 1, 3})},
             file::CreateLRN(local.fbb(), 2, 3, 4, 5));
  const std::vector<uint8_t> bytes = Converted(local);
  const schema::Operator& node = NodeOf(bytes, Builtin::LOCAL_RESPONSE_NORMALIZATION);
  const auto* options = node.builtin_options_as_LocalResponseNormalizationOptions();
  EXPECT_EQ(options->radius(), 2);
  EXPECT_THAT((Floats{options->bias(), options->alpha(), options->beta()}), ElementsAre(3, 4, 5));
}

TEST(MsOperators, softmax_along_any_axis) {
  const float e = std::exp(1.0F), low = 1 / (1 + e), high = e / (1 + e);
  for (const int axis : {0, 1, -1}) {
    MsWriter w;
    w.Node(file::PrimitiveType_Softmax, {w.Input({2, 2})}, {w.Output({2, 2})},
           file::CreateSoftmax(w.fbb(), w.Longs({axis})));
    const Floats x = axis == 0 ? Floats{0, 3, 1, 4} : Floats{0, 1, 3, 4};
    const Floats expected = axis == 0 ? Floats{low, low, high, high} : Floats{low, high, low, high};
    EXPECT_THAT(RunModel(w, {x}), Pointwise(FloatNear(kNear), expected)) << axis;
    MsWriter log;
    log.Node(file::PrimitiveType_LogSoftmax, {log.Input({2, 2})}, {log.Output({2, 2})},
             file::CreateConcat(log.fbb(), axis));
    Floats logs;
    for (const float each : expected) logs.push_back(std::log(each));
    EXPECT_THAT(RunModel(log, {x}), Pointwise(FloatNear(kNear), logs)) << axis;
  }
}

TEST(MsOperators, reductions) {
  const struct {
    file::ReduceMode mode;
    Floats expected;
  } rows[] = {
      {file::ReduceMode_ReduceMean, {0, 3.5F}}, {file::ReduceMode_ReduceMax, {1, 4}},
      {file::ReduceMode_ReduceMin, {-1, 3}},    {file::ReduceMode_ReduceProd, {-1, 12}},
      {file::ReduceMode_ReduceSum, {0, 7}},     {file::ReduceMode_ReduceSumSquare, {2, 25}},
      {file::ReduceMode_ReduceASum, {2, 7}},    {file::ReduceMode_ReduceL2, {1.4142135F, 5}},
  };
  for (const auto& row : rows) {
    MsWriter w;
    const uint32_t x = w.Input({2, 2}), axes = w.Ints({-1}), y = w.Output({2});
    w.Node(file::PrimitiveType_ReduceFusion, {x, axes}, {y},
           file::CreateReduceFusion(w.fbb(), false, row.mode));
    EXPECT_THAT(RunModel(w, {{1, -1, 3, 4}}), Pointwise(FloatNear(kNear), row.expected))
        << file::EnumNameReduceMode(row.mode);
  }
  // A reduction from axis 1 to the last, whose result is multiplied by the coefficient.
  MsWriter end;
  const uint32_t x = end.Input({1, 2, 2}), axes = end.Ints({1}), y = end.Output({1});
  end.Node(file::PrimitiveType_ReduceFusion, {x, axes}, {y},
           file::CreateReduceFusion(end.fbb(), false, file::ReduceMode_ReduceSum, true, 0.5F));
  EXPECT_THAT(RunModel(end, {{1, 2, 3, 4}}), ElementsAre(5));
  MsWriter logic;
  const uint32_t bits = logic.Input({2, 2}), zero = logic.Constant<float>({1}, {0});
  const uint32_t above = logic.Tensor({2, 2}, kMsBool), each = logic.Output({2}, kMsBool);
  logic.Node(file::PrimitiveType_Greater, {bits, zero}, {above});
  logic.Node(file::PrimitiveType_ReduceFusion, {above, logic.Ints({1})}, {each},
             file::CreateReduceFusion(logic.fbb(), false, file::ReduceMode_ReduceAll));
  EXPECT_THAT(RunModel<uint8_t>(logic, {{1, 0, 3, 4}}), ElementsAre(0, 1));
  MsWriter all;  // without axes, all axes are reduced
  const uint32_t z = all.Input({2, 2}), out = all.Output({1, 1});
  all.Node(file::PrimitiveType_ReduceFusion, {z}, {out},
           file::CreateReduceFusion(all.fbb(), true, file::ReduceMode_ReduceSum));
  EXPECT_THAT(RunModel(all, {{1, 2, 3, 4}}), ElementsAre(10));
}

TEST(MsOperators, positions_of_maximum_and_minimum) {
  for (const bool keep : {false, true}) {
    MsWriter w;
    const uint32_t x = w.Input({2, 3}), most = w.Output({2}, kMsInt32),
                   least = w.Output({2}, kMsInt32);
    w.Node(file::PrimitiveType_ArgMaxFusion, {x}, {most},
           file::CreateArgMaxFusion(w.fbb(), 1, 1, keep));
    w.Node(file::PrimitiveType_ArgMinFusion, {x}, {least},
           file::CreateArgMaxFusion(w.fbb(), -1, 1, keep));
    EXPECT_THAT(RunModel<int32_t>(w, {{1, 5, 2, 9, 8, 7}}), ElementsAre(1, 0, 0, 2));
  }
  MsWriter values;
  values.Node(file::PrimitiveType_ArgMaxFusion, {values.Input({2, 3})}, {values.Output({2})},
              file::CreateArgMaxFusion(values.fbb(), 1, 1, false, true));
  EXPECT_THAT(RunModel(values, {{1, 5, 2, 9, 8, 7}}), ElementsAre(5, 9));
  MsWriter top;
  const uint32_t x = top.Input({1, 4}), k = top.Constant<int32_t>({1}, {2});
  const uint32_t best = top.Output({1, 2}), where = top.Tensor({1, 2}, kMsInt32);
  top.Node(file::PrimitiveType_TopKFusion, {x, k}, {best, where},
           file::CreateTopKFusion(top.fbb(), true, -1, 1));
  EXPECT_THAT(RunModel(top, {{3, 9, 1, 5}}), ElementsAre(9, 5));
}

TEST(MsOperators, cumulative_sums) {
  MsWriter w;
  const uint32_t x = w.Input({1, 3}), axis = w.Constant<int32_t>({1}, {1});
  w.Node(file::PrimitiveType_CumSum, {x, axis}, {w.Output({1, 3})},
         file::CreateCumSum(w.fbb(), true, true));
  EXPECT_THAT(RunModel(w, {{1, 2, 4}}), ElementsAre(6, 4, 0));
}

// ---- Shapes -------------------------------------------------------------------------------------

// The output's values and shape of a node with one input and constants.
struct Moved {
  Floats values;
  std::vector<int> shape;
};
Moved Move(file::PrimitiveType value, const std::vector<int32_t>& dims, const Attribute& attributes,
           const std::vector<std::vector<int32_t>>& constants = {}) {
  const auto build = [&](MsWriter& w) {
    std::vector<uint32_t> inputs = {w.Input(dims)};
    for (const auto& each : constants) inputs.push_back(w.Ints(each));
    w.Node(value, inputs, {w.Output({-1})}, flatbuffers::Offset<file::Abs>(attributes(w.fbb()).o));
  };
  MsWriter w, again;
  build(w);
  build(again);
  const auto count = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
  return {RunModel(w, {Counted(static_cast<size_t>(count))}), OutputShape(again.Finish())};
}

Attribute AxesOf(const std::vector<int64_t>& axes) {
  return [=](auto& fbb) { return file::CreateSoftmax(fbb, fbb.CreateVector(axes)).Union(); };
}

TEST(MsOperators, changes_of_shape) {
  EXPECT_THAT(Move(file::PrimitiveType_Reshape, {2, 3}, kPlain, {{0, -1, 1}}).shape,
              ElementsAre(2, 3, 1));
  const Attribute from_two = [](auto& fbb) { return file::CreateFlatten(fbb, 2).Union(); };
  EXPECT_THAT(Move(file::PrimitiveType_Flatten, {2, 3, 4}, kPlain).shape, ElementsAre(2, 12));
  EXPECT_THAT(Move(file::PrimitiveType_Flatten, {2, 3, 4}, from_two).shape, ElementsAre(6, 4));
  EXPECT_THAT(Move(file::PrimitiveType_Squeeze, {1, 3, 1}, AxesOf({0})).shape, ElementsAre(3, 1));
  EXPECT_THAT(Move(file::PrimitiveType_Unsqueeze, {2, 3}, AxesOf({-1, 0})).shape,
              ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(Move(file::PrimitiveType_ExpandDims, {2, 3}, kPlain, {{1}}).shape,
              ElementsAre(2, 1, 3));
}

TEST(MsOperators, moves_of_dimensions) {
  EXPECT_THAT(Move(file::PrimitiveType_Transpose, {2, 3}, kPlain, {{1, 0}}).values,
              ElementsAre(1, 4, 2, 5, 3, 6));
  const auto layouts = [](file::Format from, file::Format to) -> Attribute {
    return [=](auto& fbb) { return file::CreateFormatTranspose(fbb, from, to).Union(); };
  };
  const auto nhwc = file::Format_NHWC, nchw = file::Format_NCHW;
  EXPECT_THAT(Move(file::PrimitiveType_FormatTranspose, {1, 1, 2, 2}, layouts(nhwc, nchw)).values,
              ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(Move(file::PrimitiveType_FormatTranspose, {1, 2, 1, 2}, layouts(nchw, nhwc)).values,
              ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(Move(file::PrimitiveType_FormatTranspose, {1, 2, 1, 2}, layouts(nhwc, nhwc)).values,
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Move(file::PrimitiveType_ReverseV2, {2, 1, 2}, AxesOf({0, -1})).values,
              ElementsAre(4, 3, 2, 1));
}

TEST(MsOperators, joining_and_splitting) {
  MsWriter w;
  const uint32_t x = w.Input({1, 2}), y = w.Input({1, 2});
  w.Node(file::PrimitiveType_Concat, {x, y}, {w.Output({1, 4})}, file::CreateConcat(w.fbb(), -1));
  w.Node(file::PrimitiveType_Stack, {x, y}, {w.Output({1, 2, 2})}, file::CreateConcat(w.fbb(), 2));
  EXPECT_THAT(RunModel(w, {{1, 2}, {3, 4}}), ElementsAre(1, 2, 3, 4, 1, 3, 2, 4));
  MsWriter parts;
  const uint32_t whole = parts.Input({2, 3});
  const auto out = [&parts] { return parts.Output({-1}); };
  parts.Node(file::PrimitiveType_Split, {whole}, {out(), out(), out()},
             file::CreateSplit(parts.fbb(), 3, 0, 1));
  parts.Node(file::PrimitiveType_Split, {whole}, {out(), out()},
             file::CreateSplit(parts.fbb(), 2, parts.Longs({1, 2}), -1));
  parts.Node(file::PrimitiveType_Unstack, {whole}, {out(), out()},
             file::CreateConcat(parts.fbb(), 0));
  EXPECT_THAT(RunModel(parts, {Counted(6)}),
              ElementsAre(1, 4, 2, 5, 3, 6, 1, 4, 2, 3, 5, 6, 1, 2, 3, 4, 5, 6));
}

TEST(MsOperators, blocks) {
  const Attribute to_space = [](auto& fbb) {
    return file::CreateDepthToSpaceDirect(fbb, 2, file::Format_NHWC, "DCR").Union();
  };
  const Attribute to_depth = [](auto& fbb) { return file::CreateSpaceToDepth(fbb, 2).Union(); };
  EXPECT_THAT(Move(file::PrimitiveType_DepthToSpace, {1, 1, 1, 4}, to_space).shape,
              ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(Move(file::PrimitiveType_SpaceToDepth, {1, 2, 2, 1}, to_depth).shape,
              ElementsAre(1, 1, 1, 4));
  for (const bool listed : {false, true}) {
    MsWriter w;
    const uint32_t x = w.Input({1, 2, 2, 1}), spread = w.Tensor({4, 1, 1, 1});
    std::vector<uint32_t> in = {x}, back = {spread};
    if (listed) {
      for (auto* inputs : {&in, &back}) {
        inputs->push_back(w.Ints({2, 2}));
        inputs->push_back(w.Constant<int32_t>({2, 2}, {0, 0, 0, 0}));
      }
    }
    const auto block = w.Longs({2, 2});
    const auto rows = w.Rows({{0, 0}, {0, 0}});
    w.Node(listed ? file::PrimitiveType_SpaceToBatchND : file::PrimitiveType_SpaceToBatch, in,
           {spread}, file::CreateSpaceToBatchND(w.fbb(), block, rows));
    w.Node(listed ? file::PrimitiveType_BatchToSpaceND : file::PrimitiveType_BatchToSpace, back,
           {w.Output({1, 2, 2, 1})}, file::CreateSpaceToBatchND(w.fbb(), block, rows));
    w.outputs.push_back(spread);
    EXPECT_THAT(RunModel(w, {{1, 2, 3, 4}}), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  }
}

TEST(MsOperators, tensors_made_from_shapes) {
  MsWriter w;
  const uint32_t x = w.Input({2, 3}), shape = w.Output({2}, kMsInt32),
                 rank = w.Output({}, kMsInt32);
  const uint32_t range = w.Output({3}, kMsInt32), filled = w.Output({2}, kMsInt32);
  w.Node(file::PrimitiveType_Shape, {x}, {shape});
  w.Node(file::PrimitiveType_Rank, {x}, {rank});
  w.Node(file::PrimitiveType_Range, {x}, {range}, file::CreateRange(w.fbb(), 0, 4, 10, 2));
  w.Node(file::PrimitiveType_Fill, {w.Ints({7}), w.Ints({2})}, {filled});
  EXPECT_THAT(RunModel<int32_t>(w, {Counted(6)}), ElementsAre(2, 3, 2, 4, 6, 8, 7, 7));
}

// ---- Slices and indices -------------------------------------------------------------------------

TEST(MsOperators, slices) {
  EXPECT_THAT(Move(file::PrimitiveType_SliceFusion, {2, 3}, AxesOf({1}), {{1}, {2}}).values,
              ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Move(file::PrimitiveType_SliceFusion, {2, 3}, AxesOf({}), {{1, 0}, {1, 2}}).values,
              ElementsAre(4, 5));
  const Attribute masks = [](auto& fbb) {
    return file::CreateStridedSlice(fbb, 1, 0, 0, 0, 2).Union();
  };
  // The masks make `begin` ineffective in dimension 0, and remove dimension 1.
  EXPECT_THAT(
      Move(file::PrimitiveType_StridedSlice, {3, 3}, masks, {{2, 1}, {3, 2}, {2, 1}}).values,
      ElementsAre(2, 8));
  const Attribute none = [](auto& fbb) { return file::CreateStridedSlice(fbb).Union(); };
  EXPECT_THAT(Move(file::PrimitiveType_StridedSlice, {2, 4}, none, {{0}, {4}, {1}, {2}}).values,
              ElementsAre(1, 3, 5, 7));
}

TEST(MsOperators, padding) {
  const auto with = [](file::PaddingMode mode, float value) -> Attribute {
    return [=](auto& fbb) { return file::CreatePadFusion(fbb, 0, mode, value).Union(); };
  };
  const std::vector<std::vector<int32_t>> pads = {{0, 0, 1, 2}};
  EXPECT_THAT(
      Move(file::PrimitiveType_PadFusion, {1, 3}, with(file::PaddingMode_CONSTANT, 0), pads).values,
      ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(
      Move(file::PrimitiveType_PadFusion, {1, 3}, with(file::PaddingMode_CONSTANT, 9), pads).values,
      ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(
      Move(file::PrimitiveType_PadFusion, {1, 3}, with(file::PaddingMode_REFLECT, 0), pads).values,
      ElementsAre(2, 1, 2, 3, 2, 1));
  EXPECT_THAT(
      Move(file::PrimitiveType_PadFusion, {1, 3}, with(file::PaddingMode_SYMMETRIC, 0), pads)
          .values,
      ElementsAre(1, 1, 2, 3, 3, 2));
  MsWriter w;
  const auto rows = w.Rows({{0, 0}, {1, 0}});
  w.Node(file::PrimitiveType_PadFusion, {w.Input({1, 1})}, {w.Output({1, 2})},
         file::CreatePadFusion(w.fbb(), rows));
  EXPECT_THAT(RunModel(w, {{5}}), ElementsAre(0, 5));
}

TEST(MsOperators, repetition) {
  EXPECT_THAT(Move(file::PrimitiveType_TileFusion, {1, 2}, AxesOf({}), {{2, 1}}).values,
              ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(Move(file::PrimitiveType_TileFusion, {1, 2}, AxesOf({1}), {{2}}).values,
              ElementsAre(1, 2, 1, 2));
  const Attribute shape = [](auto& fbb) {
    return file::CreateBroadcastTo(fbb, fbb.CreateVector(std::vector<int64_t>{2, -1})).Union();
  };
  EXPECT_THAT(Move(file::PrimitiveType_BroadcastTo, {1, 2}, shape).values, ElementsAre(1, 2, 1, 2));
}

TEST(MsOperators, gathering_and_scattering) {
  EXPECT_THAT(Move(file::PrimitiveType_Gather, {2, 3}, kPlain, {{2, 0}, {1}}).values,
              ElementsAre(3, 1, 6, 4));
  MsWriter w;
  const uint32_t x = w.Input({2, 2}), at = w.Constant<int32_t>({1, 2}, {1, 0}), y = w.Output({1});
  w.Node(file::PrimitiveType_GatherNd, {x, at}, {y});
  EXPECT_THAT(RunModel(w, {{1, 2, 3, 4}}), ElementsAre(3));
  // ScatterNd is only converted, not run.
  MsWriter spread;
  const uint32_t updates = spread.Input({2, 2});
  const uint32_t places = spread.Constant<int32_t>({2, 1}, {2, 0});
  const uint32_t shape = spread.Ints({3, 2});
  spread.Node(file::PrimitiveType_ScatterNd, {places, updates, shape}, {spread.Output({3, 2})});
  const std::vector<uint8_t> bytes = Converted(spread);
  const auto* names = schema::GetModel(bytes.data())->subgraphs()->Get(0)->tensors();
  std::vector<std::string> inputs;
  for (const int32_t input : *NodeOf(bytes, Builtin::SCATTER_ND).inputs()) {
    inputs.push_back(names->Get(static_cast<uint32_t>(input))->name()->str());
  }
  EXPECT_THAT(inputs, ElementsAre("t1", "t0", "t2"));
}

TEST(MsOperators, one_hot_with_separate_or_joined_values) {
  for (const bool joined : {false, true}) {
    MsWriter w;
    const uint32_t x = w.Input({2}), at = w.Tensor({2}, kMsInt32), y = w.Output({2, 3});
    std::vector<uint32_t> inputs = {at, w.Constant<int32_t>({1}, {3})};
    if (joined) {
      inputs.push_back(w.Constant<float>({2}, {-1, 5}));
    } else {
      inputs.push_back(w.Constant<float>({1}, {5}));
      inputs.push_back(w.Constant<float>({1}, {-1}));
    }
    w.Node(file::PrimitiveType_Cast, {x}, {at});
    w.Node(file::PrimitiveType_OneHot, inputs, {y}, file::CreateConcat(w.fbb(), -1));
    EXPECT_THAT(RunModel(w, {{2, 0}}), ElementsAre(-1, -1, 5, 5, -1, -1));
  }
}

TEST(MsOperators, resizing) {
  const auto with = [](file::ResizeMethod method, int64_t size,
                       file::CoordinateTransformMode mode) -> Attribute {
    return [=](auto& fbb) {
      return file::CreateResize(fbb, file::Format_NHWC, method, size, size, false, mode).Union();
    };
  };
  // The input image is 1 2 / 3 4.
  EXPECT_THAT(Move(file::PrimitiveType_Resize, {1, 2, 2, 1},
                   with(file::ResizeMethod_LINEAR, 3, file::CoordinateTransformMode_ALIGN_CORNERS))
                  .values,
              ElementsAre(1, 1.5F, 2, 2, 2.5F, 3, 3, 3.5F, 4));
  EXPECT_THAT(Move(file::PrimitiveType_Resize, {1, 2, 2, 1},
                   with(file::ResizeMethod_LINEAR, 1, file::CoordinateTransformMode_HALF_PIXEL))
                  .values,
              ElementsAre(2.5F));
  EXPECT_THAT(
      Move(file::PrimitiveType_Resize, {1, 2, 2, 1},
           with(file::ResizeMethod_NEAREST, 0, file::CoordinateTransformMode_ASYMMETRIC), {{1, 4}})
          .values,
      ElementsAre(1, 1, 2, 2));
}

// ---- Quantised values ---------------------------------------------------------------------------

TEST(MsOperators, quantized_activations_and_back) {
  MsWriter w;
  const uint32_t x = w.Input({4}), q = w.Tensor({4}, kMsInt8), y = w.Output({4});
  w.tensors[q].scales = {{0.5, -1}};
  w.Node(file::PrimitiveType_QuantDTypeCast, {x}, {q}, file::CreateQuantDTypeCast(w.fbb(), 43, 32));
  w.Node(file::PrimitiveType_QuantDTypeCast, {q}, {y}, file::CreateQuantDTypeCast(w.fbb(), 32, 43));
  EXPECT_THAT(RunModel(w, {{-0.5F, 0.3F, 2, 100}}), ElementsAre(-0.5F, 0.5F, 2, 64));
}

TEST(MsOperators, quantized_full_connection_per_channel) {
  MsWriter w;
  const uint32_t x = w.Input({1, 2}), q = w.Tensor({1, 2}, kMsInt8), r = w.Tensor({1, 2}, kMsInt8);
  const uint32_t m = w.Constant<int8_t>({2, 2}, {10, 20, 30, 40}), y = w.Output({1, 2});
  w.tensors[q].scales = {{0.5, 0}};
  w.tensors[r].scales = {{0.25, 3}};
  w.tensors[m].scales = {{0.1, 0}, {0.01, 0}};
  const uint32_t b = w.Constant<int32_t>({2}, {20, 0});  // the bias is 20 * 0.5 * 0.1 = 1, and 0
  w.Node(file::PrimitiveType_QuantDTypeCast, {x}, {q}, file::CreateQuantDTypeCast(w.fbb()));
  w.Node(file::PrimitiveType_FullConnection, {q, m, b}, {r},
         file::CreateFullConnection(w.fbb(), true));
  w.Node(file::PrimitiveType_QuantDTypeCast, {r}, {y}, file::CreateQuantDTypeCast(w.fbb()));
  // The result is [1, 2] times [[1, 2], [0.3, 0.4]] = [5, 1.1], plus the bias.
  EXPECT_THAT(RunModel(w, {{1, 2}}), Pointwise(FloatNear(0.13F), Floats{6, 1.1F}));
}

TEST(MsOperators, weights_of_8_bits_and_of_halves_become_float) {
  MsWriter w;
  const uint32_t x = w.Input({1, 2}), m = w.Constant<int8_t>({2, 2}, {1, 2, 3, 4}),
                 y = w.Tensor({1, 2});
  w.tensors[m].scales = {{0.5, 1}, {2, 0, true, 2, 0.5F}};  // m = [[0, 0.5], [12.5, 16.5]]
  const uint32_t half = w.Constant<uint16_t>({2}, {0x3C00, 0xC100}),
                 z = w.Output({1, 2});  // half = 1, -2.5
  w.Node(file::PrimitiveType_FullConnection, {x, m}, {y}, file::CreateFullConnection(w.fbb()));
  w.Node(file::PrimitiveType_AddFusion, {y, half}, {z}, file::CreateAddFusion(w.fbb()));
  EXPECT_THAT(RunModel(w, {{1, 2}}), ElementsAre(2, 43));
}

TEST(MsOperators, unused_scales_of_parameters_are_ignored) {
  MsWriter w;
  const uint32_t x = w.Input({1, 2}), m = w.Constant<float>({1, 2}, {1, 2}), y = w.Output({1, 1});
  for (MsTensor& tensor : w.tensors) tensor.scales = {{1, 0, false}};
  w.Node(file::PrimitiveType_FullConnection, {x, m}, {y}, file::CreateFullConnection(w.fbb()));
  EXPECT_THAT(RunModel(w, {{3, 4}}), ElementsAre(11));
}

TEST(MsOperators, custom_operators_keep_their_name) {
  MsWriter w;
  w.Node(file::PrimitiveType_Custom, {w.Input({1})}, {w.Output({1})},
         file::CreateCustomDirect(w.fbb(), "Mystery"));
  const std::vector<uint8_t> bytes = Converted(w);
  const auto* code = schema::GetModel(bytes.data())->operator_codes()->Get(0);
  EXPECT_EQ(code->builtin_code(), Builtin::CUSTOM);
  EXPECT_EQ(code->custom_code()->str(), "Mystery");
}

}  // namespace
}  // namespace deputy::ms::ms_operators_test
