// SPDX-License-Identifier: Apache-2.0
//
// Compares the attributes that MindSpore delegates read with literal values, for most operators at
// two nodes with different options.
#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <set>

#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mindspore/mindspore_support.h"

namespace deputy::mindspore_attributes_test {
namespace {

// ---- Attributes as text -------------------------------------------------------------------------

// Returns an attribute as text: "2", "[1, 2]", "true" or "0.5". Reading the attribute as another
// kind must return the default.
std::string ValueOf(const mindspore::Attributes& primitive, const char* name) {
  if (primitive.GetInt(name, 1) == primitive.GetInt(name, 2)) {
    return std::to_string(primitive.GetInt(name));
  }
  if (primitive.GetBool(name, true) == primitive.GetBool(name, false)) {
    return primitive.GetBool(name) ? "true" : "false";
  }
  if (primitive.GetFloat(name, 1) == primitive.GetFloat(name, 2)) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(primitive.GetFloat(name)));
    return text;
  }
  std::string text = "[";
  for (const int64_t value : primitive.GetInts(name)) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  }
  return text + "]";
}

// Returns all attributes as "name=value ...", sorted by name.
std::string TextOf(const mindspore::Attributes& primitive) {
  std::vector<std::string> names = primitive.names();
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : " ") + name + "=" + ValueOf(primitive, name.c_str());
  }
  return text;
}

// Splits "name=value name=[1, 2]" into attributes.
std::vector<std::string> Split(const std::string& text) {
  static const std::regex attribute("[a-z_]+=(\\[[^\\]]*\\]|[^ ]+)");
  return {std::sregex_token_iterator(text.begin(), text.end(), attribute), {}};
}

// Matches a text with all attributes of `expected`. The schema may have further ones, which no
// operator sets; no attributes are expected of a primitive without any.
MATCHER_P(HasAttributes, expected, "") {
  const std::vector<std::string> found = Split(arg), parts = Split(expected);
  if (parts.empty()) return found.empty();
  return std::all_of(parts.begin(), parts.end(), [&found](const std::string& part) {
    return std::find(found.begin(), found.end(), part) != found.end();
  });
}

// Returns the attributes of the model's only node.
std::string AttributesOf(const std::vector<uint8_t>& bytes) {
  std::string text = "no node";
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&text](DelegateModel* model) -> mindspore::Status {
    text = TextOf(model->attributes((*model->nodes())[0]));
    return mindspore::kLiteError;
  };
  TfLiteDelegate* adapted = mindspore::ToTfLiteDelegate(delegate);
  const Owned<TfLiteModel> model(TfLiteModelCreate(bytes.data(), bytes.size()));
  Owned<TfLiteInterpreter> interpreter = SilentInterpreter(model.get());
  if (interpreter != nullptr) TfLiteInterpreterModifyGraphWithDelegate(interpreter.get(), adapted);
  interpreter.reset();
  DeputyMSDelegateDeleteTfLite(adapted);
  return text;
}

// Results of the C functions for the first node of a model and its first input.
struct Facts {
  int32_t type = 0, builtin_code = 0, version = 0;
  std::string type_name, custom_name, bytes;
  std::vector<int32_t> kinds;  // kind of each attribute
  bool is_const = true;        // true if the first input is constant
};

Facts FactsOf(const DeputyMSGraph* graph) {
  const DeputyMSKernel* kernel = DeputyMSGraphKernelAt(graph, 0);
  const DeputyMSPrimitive* primitive = DeputyMSGraphGetPrimitive(graph, kernel);
  Facts facts;
  facts.type = DeputyMSPrimitiveType(primitive);
  facts.type_name = DeputyMSPrimitiveTypeName(primitive);
  facts.builtin_code = DeputyMSPrimitiveBuiltinCode(primitive);
  facts.version = DeputyMSPrimitiveVersion(primitive);
  facts.custom_name = DeputyMSPrimitiveCustomName(primitive);
  for (size_t i = 0; i < DeputyMSPrimitiveAttributeCount(primitive); ++i) {
    facts.kinds.push_back(DeputyMSPrimitiveAttributeKindOf(primitive, i));
  }
  const void* bytes = nullptr;
  size_t size = 0;
  if (DeputyMSPrimitiveGetBytes(primitive, "custom_options", &bytes, &size) == kMSStatusSuccess) {
    facts.bytes.assign(static_cast<const char*>(bytes), size);
  }
  const MSTensorHandle input = DeputyMSKernelInputs(kernel).handle_list[0];
  const MSTensorHandle again = DeputyMSTensorRetain(input);
  facts.is_const = DeputyMSTensorIsConst(again);
  DeputyMSTensorRelease(again);
  return facts;
}

Facts FactsOf(const std::vector<uint8_t>& bytes) {
  Facts facts;
  DeputyMSDelegate delegate = {};
  delegate.struct_size = sizeof delegate;
  delegate.abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION;
  delegate.user_data = &facts;
  delegate.build = [](void* to, DeputyMSGraph* graph) {
    *static_cast<Facts*>(to) = FactsOf(graph);
    return static_cast<int>(kMSStatusLiteError);
  };
  TfLiteDelegate* adapted = DeputyMSDelegateCreateTfLite(&delegate);
  TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(
      options, [](void*, const char*, va_list) {}, nullptr);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
  EXPECT_NE(interpreter, nullptr);
  if (interpreter != nullptr) TfLiteInterpreterModifyGraphWithDelegate(interpreter, adapted);
  TfLiteInterpreterDelete(interpreter);
  TfLiteInterpreterOptionsDelete(options);
  TfLiteModelDelete(model);
  DeputyMSDelegateDeleteTfLite(adapted);
  return facts;
}

// ---- Models of one node -------------------------------------------------------------------------

struct Tensor {
  std::vector<int32_t> shape;
  TfLiteType type = kTfLiteFloat32;
  std::vector<int32_t> values = {};  // contents of an int32 constant
};

template <typename Options = schema::AbsOptions>
std::string Attributes(
    TfLiteBuiltinOperator code, const std::vector<Tensor>& inputs,
    const std::vector<Tensor>& outputs,
    const std::function<flatbuffers::Offset<Options>(ModelBuilder*)>& options = nullptr) {
  ModelBuilder m;
  std::vector<int> from, to, given;
  for (const Tensor& tensor : inputs) {
    if (!tensor.values.empty()) {
      from.push_back(m.AddConstant<int32_t>(kTfLiteInt32, tensor.shape, tensor.values));
      continue;
    }
    from.push_back(m.AddTensor(tensor.type, tensor.shape));
    given.push_back(from.back());
  }
  for (const Tensor& tensor : outputs) to.push_back(m.AddTensor(tensor.type, tensor.shape));
  if (options == nullptr) {
    m.AddOp(code, from, to);
  } else {
    m.AddOp(code, from, to, options(&m));
  }
  m.SetInputs(given);
  m.SetOutputs(to);
  return AttributesOf(m.Finish());
}

// Returns a function that creates options with the builder: OPTIONS(Conv2D, schema::Padding::SAME,
// 1, 1).
#define OPTIONS(name, ...) \
  std::function(           \
      [](ModelBuilder* m) { return schema::Create##name##Options(m->fbb(), __VA_ARGS__); })

using Activation = schema::ActivationFunctionType;
using schema::Padding;

TEST(MindSporeAttributes, convolutions) {
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinConv2d, {{{1, 9, 7, 2}}, {{3, 3, 2, 2}}, {{3}}}, {{{1, 5, 7, 3}}},
                 OPTIONS(Conv2D, Padding::SAME, 1, 2, Activation::RELU6, 1, 1)),
      HasAttributes(
          "activation_type=3 dilation=[1, 1] format=1 group=1 in_channel=2 kernel_size=[3, 2] "
          "out_channel=3 pad_list=[1, 1, 0, 1] pad_mode=1 stride=[2, 1]"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinConv2d, {{{1, 9, 9, 4}}, {{6, 2, 3, 2}}, {{6}}}, {{{1, 7, 3, 6}}},
                 OPTIONS(Conv2D, Padding::VALID, 1, 1, Activation::NONE, 3, 2)),
      HasAttributes(
          "activation_type=0 dilation=[2, 3] format=1 group=2 in_channel=4 kernel_size=[2, 3] "
          "out_channel=6 pad_list=[0, 0, 0, 0] pad_mode=2 stride=[1, 1]"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinDepthwiseConv2d, {{{1, 9, 7, 3}}, {{1, 3, 2, 6}}, {{6}}},
                 {{{1, 5, 4, 6}}},
                 OPTIONS(DepthwiseConv2D, Padding::SAME, 2, 2, 2, Activation::RELU, 1, 1)),
      HasAttributes(
          "activation_type=1 dilation=[1, 1] format=1 group=3 in_channel=3 kernel_size=[3, 2] "
          "out_channel=6 pad_list=[1, 1, 0, 1] pad_mode=1 stride=[2, 2]"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinDepthwiseConv2d, {{{1, 9, 9, 2}}, {{1, 2, 3, 2}}, {{2}}},
                 {{{1, 7, 3, 2}}},
                 OPTIONS(DepthwiseConv2D, Padding::VALID, 1, 1, 1, Activation::RELU_N1_TO_1, 3, 2)),
      HasAttributes(
          "activation_type=7 dilation=[2, 3] format=1 group=2 in_channel=2 kernel_size=[2, 3] "
          "out_channel=2 pad_list=[0, 0, 0, 0] pad_mode=2 stride=[1, 1]"));
  const Tensor filter = {{3, 2, 5, 2}};
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinTransposeConv,
                 {{{4}, kTfLiteInt32, {1, 8, 8, 3}}, filter, {{1, 4, 8, 2}}}, {{{1, 8, 8, 3}}},
                 OPTIONS(TransposeConv, Padding::SAME, 1, 2, Activation::RELU)),
      HasAttributes(
          "activation_type=1 dilation=[1, 1] format=1 group=1 in_channel=2 kernel_size=[2, 5] "
          "out_channel=3 pad_list=[0, 0, 2, 2] pad_mode=1 stride=[2, 1]"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinTransposeConv,
                 {{{4}, kTfLiteInt32, {1, 5, 14, 3}}, filter, {{1, 4, 4, 2}}}, {{{1, 5, 14, 3}}},
                 OPTIONS(TransposeConv, Padding::VALID, 3, 1, Activation::NONE)),
      HasAttributes(
          "activation_type=0 dilation=[1, 1] format=1 group=1 in_channel=2 kernel_size=[2, 5] "
          "out_channel=3 pad_list=[0, 0, 0, 0] pad_mode=2 stride=[1, 3]"));
}

TEST(MindSporeAttributes, pooling) {
  for (const auto code : {kTfLiteBuiltinAveragePool2d, kTfLiteBuiltinMaxPool2d}) {
    EXPECT_THAT(
        Attributes(code, {{{1, 9, 7, 2}}}, {{{1, 5, 7, 2}}},
                   OPTIONS(Pool2D, Padding::SAME, 1, 2, 4, 3, Activation::RELU)),
        HasAttributes("activation_type=1 format=1 global=false kernel_size=[3, 4] pad=[1, 1, 1, 2] "
                      "pad_mode=1 round_mode=0 strides=[2, 1]"));
    EXPECT_THAT(
        Attributes(code, {{{1, 9, 7, 2}}}, {{{1, 8, 2, 2}}},
                   OPTIONS(Pool2D, Padding::VALID, 3, 1, 3, 2, Activation::RELU6)),
        HasAttributes("activation_type=3 format=1 global=false kernel_size=[2, 3] pad=[0, 0, 0, 0] "
                      "pad_mode=2 round_mode=0 strides=[1, 3]"));
  }
}

TEST(MindSporeAttributes, products) {
  EXPECT_THAT(Attributes(kTfLiteBuiltinFullyConnected, {{{2, 3, 4}}, {{5, 4}}, {{5}}},
                         {{{2, 3, 5}}}, std::function([](ModelBuilder* m) {
                           return schema::CreateFullyConnectedOptions(
                               m->fbb(), Activation::RELU6,
                               schema::FullyConnectedOptionsWeightsFormat::DEFAULT, true);
                         })),
              HasAttributes("activation_type=3 axis=2 has_bias=true use_axis=true"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinFullyConnected, {{{2, 3, 4}}, {{5, 4}}}, {{{6, 5}}},
                         OPTIONS(FullyConnected, Activation::NONE)),
              HasAttributes("activation_type=0 axis=1 has_bias=false use_axis=true"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinBatchMatmul, {{{3, 2}}, {{3, 4}}}, {{{2, 4}}},
                         OPTIONS(BatchMatMul, true, false)),
              HasAttributes("activation_type=0 transpose_a=true transpose_b=false"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinBatchMatmul, {{{2, 3}}, {{4, 3}}}, {{{2, 4}}},
                         OPTIONS(BatchMatMul, false, true)),
              HasAttributes("activation_type=0 transpose_a=false transpose_b=true"));
}

TEST(MindSporeAttributes, activations) {
  const std::vector<Tensor> x = {{{2, 3}}};
  const std::map<TfLiteBuiltinOperator, std::string> plain = {
      {kTfLiteBuiltinRelu, "activation_type=1"},
      {kTfLiteBuiltinReluN1To1, "activation_type=7"},
      {kTfLiteBuiltinRelu6, "activation_type=3"},
      {kTfLiteBuiltinLogistic, "activation_type=2"},
      {kTfLiteBuiltinTanh, "activation_type=10"},
      {kTfLiteBuiltinHardSwish, "activation_type=12"},
      {kTfLiteBuiltinElu, "alpha=1"},
      {kTfLiteBuiltinExp, "base=-1 scale=1 shift=0"},
  };
  for (const auto& [code, expected] : plain)
    EXPECT_THAT(Attributes(code, x, x), HasAttributes(expected)) << code;
  EXPECT_THAT(Attributes(kTfLiteBuiltinGelu, x, x, OPTIONS(Gelu, true)),
              HasAttributes("activation_type=19 approximate=true"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinGelu, x, x, OPTIONS(Gelu, false)),
              HasAttributes("activation_type=19 approximate=false"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinLeakyRelu, x, x, OPTIONS(LeakyRelu, 0.25F)),
              HasAttributes("negative_slope=0.25"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinLeakyRelu, x, x, OPTIONS(LeakyRelu, 0.5F)),
              HasAttributes("negative_slope=0.5"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinPrelu, {{{2, 3}}, {{3}}}, x),
              HasAttributes("channel_shared=false"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinPow, {{{2, 3}}, {{2, 3}}}, x),
              HasAttributes("scale=1 shift=0"));
}

// Checks the number of each fused activation; the CPU has no kernel for SIGN_BIT.
TEST(MindSporeAttributes, arithmetic) {
  const std::vector<Tensor> two = {{{2, 3}}, {{2, 3}}}, one = {{{2, 3}}};
  EXPECT_THAT(Attributes(kTfLiteBuiltinAdd, two, one, OPTIONS(Add, Activation::RELU)),
              HasAttributes("activation_type=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinAdd, two, one, OPTIONS(Add, Activation::NONE)),
              HasAttributes("activation_type=0"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinAdd, two, one, OPTIONS(Add, Activation::TANH)),
              HasAttributes("activation_type=10"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinAdd, two, one, OPTIONS(Add, Activation::SIGN_BIT)),
              HasAttributes("activation_type=17"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSub, two, one, OPTIONS(Sub, Activation::RELU6)),
              HasAttributes("activation_type=3"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSub, two, one, OPTIONS(Sub, Activation::RELU)),
              HasAttributes("activation_type=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinMul, two, one, OPTIONS(Mul, Activation::RELU_N1_TO_1)),
              HasAttributes("activation_type=7"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinMul, two, one, OPTIONS(Mul, Activation::RELU)),
              HasAttributes("activation_type=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinDiv, two, one, OPTIONS(Div, Activation::RELU6)),
              HasAttributes("activation_type=3"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinDiv, two, one, OPTIONS(Div, Activation::RELU)),
              HasAttributes("activation_type=1"));
}

TEST(MindSporeAttributes, normalisation) {
  const std::vector<Tensor> x = {{{2, 3}}};
  EXPECT_THAT(Attributes(kTfLiteBuiltinSoftmax, x, x, OPTIONS(Softmax, 0.5F)),
              HasAttributes("axis=-1 beta=0.5"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSoftmax, x, x, OPTIONS(Softmax, 2.0F)),
              HasAttributes("axis=-1 beta=2"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinLogSoftmax, x, x), HasAttributes("axis=-1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinL2Normalization, x, x, OPTIONS(L2Norm, Activation::NONE)),
              HasAttributes("axis=-1 epsilon=1e-06"));
  const std::vector<Tensor> image = {{{1, 2, 2, 8}}};
  EXPECT_THAT(Attributes(kTfLiteBuiltinLocalResponseNormalization, image, image,
                         OPTIONS(LocalResponseNormalization, 2, 0.5F, 0.25F, 0.75F)),
              HasAttributes("alpha=0.25 beta=0.75 bias=0.5 depth_radius=2"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinLocalResponseNormalization, image, image,
                         OPTIONS(LocalResponseNormalization, 5, 1.5F, 2.5F, 3.5F)),
              HasAttributes("alpha=2.5 beta=3.5 bias=1.5 depth_radius=5"));
}

TEST(MindSporeAttributes, reductions) {
  const std::map<TfLiteBuiltinOperator, std::string> modes = {
      {kTfLiteBuiltinMean, "0"},      {kTfLiteBuiltinReduceMax, "1"},
      {kTfLiteBuiltinReduceMin, "2"}, {kTfLiteBuiltinReduceProd, "3"},
      {kTfLiteBuiltinSum, "4"},       {kTfLiteBuiltinReduceAll, "7"}};
  const Tensor axis = {{1}, kTfLiteInt32, {1}};
  for (const auto& [code, mode] : modes) {
    const TfLiteType type = code == kTfLiteBuiltinReduceAll ? kTfLiteBool : kTfLiteFloat32;
    EXPECT_THAT(Attributes(code, {{{2, 3}, type}, axis}, {{{2, 1}, type}}, OPTIONS(Reducer, true)),
                HasAttributes("coeff=1 keep_dims=true mode=" + mode + " reduce_to_end=false"));
    EXPECT_THAT(Attributes(code, {{{2, 3}, type}, axis}, {{{2}, type}}, OPTIONS(Reducer, false)),
                HasAttributes("coeff=1 keep_dims=false mode=" + mode + " reduce_to_end=false"));
  }
  for (const auto code : {kTfLiteBuiltinArgMax, kTfLiteBuiltinArgMin}) {
    for (const int32_t at : {0, 1}) {
      const Tensor along = {{1}, kTfLiteInt32, {at}};
      EXPECT_THAT(Attributes(code, {{{3, 3}}, along}, {{{3}, kTfLiteInt64}},
                             OPTIONS(ArgMax, schema::TensorType::INT64)),
                  HasAttributes("axis=" + std::to_string(at) +
                                " keep_dims=false out_max_value=false top_k=1"));
    }
  }
  EXPECT_THAT(Attributes(kTfLiteBuiltinTopkV2, {{{2, 3}}, {{1}, kTfLiteInt32, {2}}},
                         {{{2, 2}}, {{2, 2}, kTfLiteInt32}}),
              HasAttributes("axis=-1 largest=1 sorted=true"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinCumsum, {{{2, 3}}, axis}, {{{2, 3}}}, OPTIONS(Cumsum, true, false)),
      HasAttributes("exclusive=true reverse=false"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinCumsum, {{{2, 3}}, axis}, {{{2, 3}}}, OPTIONS(Cumsum, false, true)),
      HasAttributes("exclusive=false reverse=true"));
}

TEST(MindSporeAttributes, joins_and_splits) {
  const std::vector<Tensor> two = {{{2, 2}}, {{2, 2}}};
  EXPECT_THAT(Attributes(kTfLiteBuiltinConcatenation, two, {{{2, 4}}},
                         OPTIONS(Concatenation, 1, Activation::NONE)),
              HasAttributes("activation_type=0 axis=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinConcatenation, two, {{{4, 2}}},
                         OPTIONS(Concatenation, 0, Activation::RELU)),
              HasAttributes("activation_type=1 axis=0"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinPack, two, {{{2, 2, 2}}}, OPTIONS(Pack, 2, 1)),
              HasAttributes("axis=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinPack, two, {{{2, 2, 2}}}, OPTIONS(Pack, 2, 2)),
              HasAttributes("axis=2"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinUnpack, {{{2, 2}}}, {{{2}}, {{2}}}, OPTIONS(Unpack, 2, 1)),
              HasAttributes("axis=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinUnpack, {{{2, 2}}}, {{{2}}, {{2}}}, OPTIONS(Unpack, 2, 0)),
              HasAttributes("axis=0"));
  const Tensor axis = {{1}, kTfLiteInt32, {1}};
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinSplit, {axis, {{2, 4}}}, {{{2, 2}}, {{2, 2}}}, OPTIONS(Split, 2)),
      HasAttributes("axis=1 output_num=2"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSplit, {axis, {{2, 3}}}, {{{2, 1}}, {{2, 1}}, {{2, 1}}},
                         OPTIONS(Split, 3)),
              HasAttributes("axis=1 output_num=3"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSplitV, {{{2, 3}}, {{2}, kTfLiteInt32, {1, 2}}, axis},
                         {{{2, 1}}, {{2, 2}}}, OPTIONS(SplitV, 2)),
              HasAttributes("axis=1 output_num=2"));
}

TEST(MindSporeAttributes, movements) {
  const auto squeeze = [](const std::vector<int32_t>& axes) {
    return std::function(
        [axes](ModelBuilder* m) { return schema::CreateSqueezeOptionsDirect(m->fbb(), &axes); });
  };
  EXPECT_THAT(Attributes(kTfLiteBuiltinSqueeze, {{{1, 2, 1}}}, {{{2, 1}}}, squeeze({0})),
              HasAttributes("axis=0"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSqueeze, {{{1, 2, 1}}}, {{{2}}}, squeeze({0, 2})),
              HasAttributes("axis=[0, 2]"));
  const Tensor indices = {{2}, kTfLiteInt32};
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinGather, {{{2, 3}}, indices}, {{{2, 2}}}, OPTIONS(Gather, 1, 0)),
      HasAttributes("axis=1 batch_dims=0"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinGather, {{{2, 3}}, {{2, 1}, kTfLiteInt32}}, {{{2, 1}}},
                         OPTIONS(Gather, 1, 1)),
              HasAttributes("axis=1 batch_dims=1"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinGather, {{{2, 3}}, indices}, {{{2, 3}}}, OPTIONS(Gather, 0, 0)),
      HasAttributes("axis=0 batch_dims=0"));
  const std::vector<Tensor> slice = {{{4, 4}},
                                     {{2}, kTfLiteInt32, {0, 0}},
                                     {{2}, kTfLiteInt32, {2, 2}},
                                     {{2}, kTfLiteInt32, {1, 1}}};
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinStridedSlice, slice, {{{2}}}, OPTIONS(StridedSlice, 1, 2, 0, 0, 1)),
      HasAttributes("begin_mask=1 ellipsis_mask=0 end_mask=2 new_axis_mask=0 shrink_axis_mask=1"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinStridedSlice, slice, {{{1, 4, 2}}},
                 OPTIONS(StridedSlice, 2, 1, 2, 1, 0)),
      HasAttributes("begin_mask=2 ellipsis_mask=2 end_mask=1 new_axis_mask=1 shrink_axis_mask=0"));
  const Tensor borders = {{2, 2}, kTfLiteInt32, {1, 1, 1, 1}};
  for (const auto code : {kTfLiteBuiltinPad, kTfLiteBuiltinPadv2}) {
    const std::vector<Tensor> inputs = {{{2, 2}}, borders, {{1}}};
    EXPECT_THAT(
        Attributes(code, {inputs.begin(), inputs.begin() + (code == kTfLiteBuiltinPad ? 2 : 3)},
                   {{{4, 4}}}),
        HasAttributes("padding_mode=0"));
  }
  EXPECT_THAT(Attributes(kTfLiteBuiltinMirrorPad, {{{2, 2}}, borders}, {{{4, 4}}},
                         OPTIONS(MirrorPad, schema::MirrorPadMode::REFLECT)),
              HasAttributes("padding_mode=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinMirrorPad, {{{2, 2}}, borders}, {{{4, 4}}},
                         OPTIONS(MirrorPad, schema::MirrorPadMode::SYMMETRIC)),
              HasAttributes("padding_mode=2"));
  const std::vector<Tensor> one_hot = {
      {{2}, kTfLiteInt32}, {{}, kTfLiteInt32, {3}}, {{}, kTfLiteFloat32}, {{}, kTfLiteFloat32}};
  EXPECT_THAT(Attributes(kTfLiteBuiltinOneHot, one_hot, {{{2, 3}}}, OPTIONS(OneHot, -1)),
              HasAttributes("axis=-1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinOneHot, one_hot, {{{3, 2}}}, OPTIONS(OneHot, 0)),
              HasAttributes("axis=0"));
}

TEST(MindSporeAttributes, images) {
  const std::vector<Tensor> x = {{{1, 4, 6, 4}}, {{2}, kTfLiteInt32, {8, 9}}};
  const std::vector<Tensor> y = {{{1, 8, 9, 4}}};
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinResizeBilinear, x, y, OPTIONS(ResizeBilinear, false, false)),
      HasAttributes("coordinate_transform_mode=0 format=1 method=0 new_height=8 new_width=9"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinResizeBilinear, x, y, OPTIONS(ResizeBilinear, true, false)),
      HasAttributes("coordinate_transform_mode=1 format=1 method=0 new_height=8 new_width=9"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinResizeBilinear, x, y, OPTIONS(ResizeBilinear, false, true)),
      HasAttributes("coordinate_transform_mode=2 format=1 method=0 new_height=8 new_width=9"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinResizeNearestNeighbor, x, y,
                 OPTIONS(ResizeNearestNeighbor, true, false)),
      HasAttributes("coordinate_transform_mode=1 format=1 method=1 new_height=8 new_width=9"));
  EXPECT_THAT(
      Attributes(kTfLiteBuiltinResizeNearestNeighbor, x, y,
                 OPTIONS(ResizeNearestNeighbor, false, true)),
      HasAttributes("coordinate_transform_mode=2 format=1 method=1 new_height=8 new_width=9"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinDepthToSpace, {{{1, 2, 2, 16}}}, {{{1, 4, 4, 4}}},
                         OPTIONS(DepthToSpace, 2)),
              HasAttributes("block_size=2 format=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinDepthToSpace, {{{1, 2, 2, 16}}}, {{{1, 8, 8, 1}}},
                         OPTIONS(DepthToSpace, 4)),
              HasAttributes("block_size=4 format=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSpaceToDepth, {{{1, 4, 4, 1}}}, {{{1, 2, 2, 4}}},
                         OPTIONS(SpaceToDepth, 2)),
              HasAttributes("block_size=2 format=1"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinSpaceToDepth, {{{1, 4, 4, 1}}}, {{{1, 1, 1, 16}}},
                         OPTIONS(SpaceToDepth, 4)),
              HasAttributes("block_size=4 format=1"));
}

// Attributes that are types have the numbers of MindSpore's data types.
TEST(MindSporeAttributes, types) {
  EXPECT_THAT(Attributes(kTfLiteBuiltinCast, {{{2}, kTfLiteInt32}}, {{{2}, kTfLiteFloat32}}),
              HasAttributes("dst_t=43 src_t=34"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinCast, {{{2}, kTfLiteFloat32}}, {{{2}, kTfLiteBool}}),
              HasAttributes("dst_t=30 src_t=43"));
  EXPECT_THAT(Attributes(kTfLiteBuiltinCast, {{{2}, kTfLiteUInt8}}, {{{2}, kTfLiteInt64}}),
              HasAttributes("dst_t=35 src_t=37"));
}

// ---- The C functions ----------------------------------------------------------------------------

TEST(MindSporePrimitives, of_builtin_operators) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}), y = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinSoftmax, {x}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 0.5F), 2);
  m.SetInputs({x});
  m.SetOutputs({y});
  const Facts facts = FactsOf(m.Finish());
  EXPECT_EQ(facts.type, 138);
  EXPECT_EQ(facts.type_name, "Softmax");
  EXPECT_EQ(facts.builtin_code, 25);
  EXPECT_EQ(facts.version, 2);
  EXPECT_EQ(facts.custom_name, "");
  EXPECT_THAT(facts.kinds, testing::ElementsAre(kDeputyMSAttributeInt, kDeputyMSAttributeFloat));
  EXPECT_FALSE(facts.is_const);
}

TEST(MindSporePrimitives, of_custom_operators) {
  ModelBuilder m;
  const int x = m.AddConstant<float>(kTfLiteFloat32, {2}, {1, 2});
  const int y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddCustomOp("Mystery", {x}, {y}, {'a', 'b', 'c'}, 3);
  m.SetOutputs({y});
  const Facts facts = FactsOf(m.Finish());
  EXPECT_EQ(facts.type, 191);
  EXPECT_EQ(facts.type_name, "Custom");
  EXPECT_EQ(facts.builtin_code, 32);
  EXPECT_EQ(facts.version, 3);
  EXPECT_EQ(facts.custom_name, "Mystery");
  EXPECT_EQ(facts.bytes, "abc");
  EXPECT_THAT(facts.kinds, testing::ElementsAre(kDeputyMSAttributeBytes, kDeputyMSAttributeBytes));
  EXPECT_TRUE(facts.is_const);
}

TEST(MindSporePrimitives, null_has_no_attributes) {
  EXPECT_EQ(DeputyMSPrimitiveType(nullptr), 0);
  EXPECT_STREQ(DeputyMSPrimitiveTypeName(nullptr), "NONE");
  EXPECT_EQ(DeputyMSPrimitiveBuiltinCode(nullptr), -1);
  EXPECT_EQ(DeputyMSPrimitiveAttributeCount(nullptr), 0U);
  EXPECT_EQ(DeputyMSPrimitiveAttributeKindOf(nullptr, 0), -1);
  EXPECT_EQ(DeputyMSPrimitiveGetBytes(nullptr, "x", nullptr, nullptr), kMSStatusLiteInvalidOpAttr);
}

}  // namespace
}  // namespace deputy::mindspore_attributes_test
