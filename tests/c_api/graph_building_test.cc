// SPDX-License-Identifier: Apache-2.0
//
// Tests graphs that are built in code: values, contents of tensors, variables, constants, plans,
// and each error. Expected values are literals; the rules are upstream's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/built_interpreter.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::graph_building_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const TfLiteRegistration* AddKernel() { return DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1); }

void* AddOptions(TfLiteFusedActivation activation) {
  auto* const options = static_cast<TfLiteAddParams*>(calloc(1, sizeof(TfLiteAddParams)));
  options->activation = activation;
  return options;
}

// Builds y = relu(x + c) with the constant c.
void BuildAdd(BuiltInterpreter* t, const std::vector<float>& constant) {
  t->AddFloats(3, {1, 4});
  DeputyTensorParameters c = BuiltInterpreter::Floats({1, 4});
  const std::vector<int> dims = {1, 4};
  c.dims = dims.data();
  c.data = constant.data();
  c.bytes = 4 * sizeof(float);
  ASSERT_EQ(t->Set(1, c), kTfLiteOk);
  ASSERT_EQ(t->AddNode({0, 1}, {2}, AddKernel(), AddOptions(kTfLiteActRelu)), kTfLiteOk);
  t->SetInputs({0});
  t->SetOutputs({2});
}

TEST(GraphBuilding, EmptyInterpreterHasOneSubgraphAndRuns) {
  BuiltInterpreter t;
  ASSERT_NE(t.get(), nullptr);
  EXPECT_EQ(DeputyInterpreterGetSubgraphCount(t.get()), 1);
  EXPECT_EQ(DeputyInterpreterGetTensorCount(t.get(), 0), 0);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(t.log(), "Invoke called on model that is not ready.\n");
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  int32_t count = -1;
  EXPECT_EQ(DeputyInterpreterGetInputs(t.get(), 0, &count), nullptr);
  EXPECT_EQ(count, 0);
}

TEST(GraphBuilding, BuiltinKernelComputesLiterals) {
  const std::vector<float> c = {1, 2, 3, 4};
  BuiltInterpreter t;
  BuildAdd(&t, c);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, {1, -5, 0.5f, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(2), ElementsAre(2, 0, 3.5f, 0));
  EXPECT_EQ(t.Tensor(1)->data.raw_const, reinterpret_cast<const char*>(c.data()));
  EXPECT_EQ(TfLiteInterpreterGetInputTensorCount(t.get()), 1);
  EXPECT_EQ(TfLiteInterpreterGetOutputTensor(t.get(), 0), t.Tensor(2));
  int32_t count = 0;
  EXPECT_EQ(DeputyInterpreterGetOutputs(t.get(), 0, &count)[0], 2);
  EXPECT_EQ(count, 1);
  const DeputyNode* const node = DeputyInterpreterGetNode(t.get(), 0, 0);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->registration.builtin_code, kTfLiteBuiltinAdd);
  EXPECT_EQ(node->node.inputs->data[1], 1);
  EXPECT_EQ(DeputyInterpreterGetNode(t.get(), 0, 1), nullptr);
}

// Adds a convolution of tensor 0 with tensors 1 and 2 into tensor 3. Its output is 3 x + 5.
void AddConv(BuiltInterpreter* t) {
  t->AddFloats(6, {1, 4, 4, 16});
  static const std::vector<float> weights = [] {
    std::vector<float> values(16 * 16);
    for (size_t i = 0; i < 16; ++i) values[i * 16 + i] = 3;
    return values;
  }();
  static const std::vector<float> bias(16, 5);
  const std::vector<int> weights_dims = {16, 1, 1, 16}, bias_dims = {16};
  DeputyTensorParameters constant = BuiltInterpreter::Floats(weights_dims);
  constant.data = weights.data();
  constant.bytes = weights.size() * sizeof(float);
  ASSERT_EQ(t->Set(1, constant), kTfLiteOk);
  constant = BuiltInterpreter::Floats(bias_dims);
  constant.data = bias.data();
  constant.bytes = bias.size() * sizeof(float);
  ASSERT_EQ(t->Set(2, constant), kTfLiteOk);
  auto* const conv = static_cast<TfLiteConvParams*>(calloc(1, sizeof(TfLiteConvParams)));
  conv->padding = kTfLitePaddingValid;
  conv->stride_width = conv->stride_height = 1;
  conv->dilation_width_factor = conv->dilation_height_factor = 1;
  ASSERT_EQ(t->AddNode({0, 1, 2}, {3}, DeputyFindBuiltinKernel(kTfLiteBuiltinConv2d, 1), conv),
            kTfLiteOk);
}

// y = conv(x) + z.
TEST(GraphBuilding, NodesAreFusedLikeThoseOfAModel) {
  BuiltInterpreter t;
  AddConv(&t);
  ASSERT_EQ(t.AddNode({3, 4}, {5}, AddKernel()), kTfLiteOk);
  t.SetInputs({0, 4});
  t.SetOutputs({5});
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, std::vector<float>(256, 2));
  t.Write(4, std::vector<float>(256, 1));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(5), Each(12));
  DeputyNodeRun run{};
  run.struct_size = sizeof run;
  ASSERT_EQ(DeputyInterpreterGetNodeRun(t.get(), 0, 1, &run), kTfLiteOk);
  EXPECT_EQ(run.group_size, 2);
  EXPECT_EQ(run.group_head, 0);
}

// The convolution reads x before a client's kernel doubles it in place.
TEST(GraphBuilding, LayersReadTensorsBeforeLaterNodesWriteThem) {
  const TfLiteRegistration doubler = Doubler::Registration();
  BuiltInterpreter t;
  AddConv(&t);
  ASSERT_EQ(t.AddNode({0}, {0}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.AddNode({0}, {4}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.AddNode({3, 4}, {5}, AddKernel()), kTfLiteOk);
  t.SetInputs({0});
  t.SetOutputs({5});
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, std::vector<float>(256, 2));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(5), Each(3 * 2 + 5 + 8));
}

TEST(GraphBuilding, ClientsKernelIsCalledAndFreed) {
  const TfLiteRegistration doubler = Doubler::Registration();
  {
    BuiltInterpreter t;
    t.AddFloats(3, {2});
    ASSERT_EQ(t.AddNode({0}, {1}, &doubler), kTfLiteOk);
    ASSERT_EQ(t.AddNode({1}, {2}, &doubler), kTfLiteOk);
    EXPECT_EQ(Doubler::alive, 2);
    t.SetInputs({0});
    t.SetOutputs({2});
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(Doubler::prepared, 2);
    t.Write(0, {1, 2});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(Doubler::invoked, 2);
    EXPECT_THAT(t.Read(2), ElementsAre(4, 8));
    const int three = 3;
    ASSERT_EQ(DeputyInterpreterResizeInput(t.get(), 0, 0, &three, 1, false), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Write(0, {1, 2, 3});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Read(2), ElementsAre(4, 8, 12));
  }
  EXPECT_EQ(Doubler::alive, 0);
}

// Init receives init_data, or else the builtin options, as upstream does.
TEST(GraphBuilding, InitReceivesDataOrOptions) {
  static std::vector<char> received;
  static const char* pointer;
  TfLiteRegistration registration{};
  registration.builtin_code = kTfLiteBuiltinCustom;
  registration.custom_name = "Init";
  registration.init = [](TfLiteContext*, const char* data, size_t bytes) -> void* {
    received.assign(data, data + bytes);
    pointer = data;
    return nullptr;
  };
  BuiltInterpreter t;
  t.AddFloats(2, {1});
  const int tensors[] = {0, 1};
  DeputyNodeParameters node{};
  node.struct_size = sizeof node;
  node.inputs = &tensors[0];
  node.outputs = &tensors[1];
  node.input_count = node.output_count = 1;
  node.init_data = "abc";
  node.init_data_size = 3;
  node.registration = &registration;
  int index = -1;
  ASSERT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, &index), kTfLiteOk);
  EXPECT_EQ(index, 0);
  EXPECT_THAT(received, ElementsAre('a', 'b', 'c'));
  const DeputyNode* const added = DeputyInterpreterGetNode(t.get(), 0, 0);
  EXPECT_EQ(added->node.custom_initial_data, node.init_data);
  EXPECT_EQ(added->node.custom_initial_data_size, 3);
  node.init_data = nullptr;
  node.init_data_size = 0;
  node.builtin_data = malloc(8);
  const void* const options = node.builtin_data;
  ASSERT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, &index), kTfLiteOk);
  EXPECT_EQ(pointer, options);
  EXPECT_EQ(DeputyInterpreterGetNode(t.get(), 0, 1)->node.builtin_data, options);
  registration.init = [](TfLiteContext*, const char*, size_t) { return TfLiteKernelInitFailed(); };
  node.builtin_data = malloc(8);
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, &index), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 2);
}

TEST(GraphBuilding, OperatorObjectWorksAsKernel) {
  TfLiteOperator* const op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Nine", 1, nullptr);
  TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
    TfLiteOpaqueTensor* const output = TfLiteOpaqueNodeGetOutput(context, node, 0);
    *static_cast<float*>(TfLiteOpaqueTensorData(output)) = 9;
    return kTfLiteOk;
  });
  TfLiteRegistration registration{};
  registration.builtin_code = kTfLiteBuiltinCustom;
  registration.custom_name = "Nine";
  registration.registration_external = op;
  {
    BuiltInterpreter t;
    t.AddFloats(2, {1});
    ASSERT_EQ(t.AddNode({0}, {1}, &registration), kTfLiteOk);
    t.SetInputs({0});
    t.SetOutputs({1});
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Read(1), ElementsAre(9));
  }
  TfLiteOperatorDelete(op);
}

// ---- Tensors ------------------------------------------------------------------------------------

TEST(GraphBuilding, VariablesAreResetToZeroOrTheZeroPoint) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 2, nullptr), kTfLiteOk);
  const std::vector<int> dims = {3};
  DeputyTensorParameters variable = BuiltInterpreter::Floats(dims);
  variable.is_variable = 1;
  ASSERT_EQ(t.Set(0, variable), kTfLiteOk);
  auto* const affine =
      static_cast<TfLiteAffineQuantization*>(calloc(1, sizeof(TfLiteAffineQuantization)));
  affine->scale = TfLiteFloatArrayCreate(1);
  affine->scale->data[0] = 0.5f;
  affine->zero_point = TfLiteIntArrayCreate(1);
  affine->zero_point->data[0] = -3;
  affine->quantized_dimension = 1234;
  variable.type = kTfLiteInt8;
  variable.quantization = {kTfLiteAffineQuantization, affine};
  ASSERT_EQ(t.Set(1, variable), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Tensor(1)->params.scale, 0.5f);
  EXPECT_EQ(t.Tensor(1)->params.zero_point, -3);
  const int one = 1;
  ASSERT_EQ(DeputyInterpreterSetVariables(t.get(), 0, &one, 1), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(0), ElementsAre(0, 0, 0));
  t.Write(0, {1, 2, 3});
  memset(t.Tensor(1)->data.raw, 7, 3);
  ASSERT_EQ(DeputyInterpreterResetVariables(t.get(), 0), kTfLiteOk);
  EXPECT_THAT(t.Read(0), ElementsAre(0, 0, 0));
  EXPECT_EQ(t.Tensor(1)->data.int8[2], -3);
  int32_t count = 0;
  const int32_t* const variables = DeputyInterpreterGetVariables(t.get(), 0, &count);
  EXPECT_THAT(std::vector<int>(variables, variables + count), ElementsAre(1, 0));
}

TEST(GraphBuilding, StringsAreDynamic) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, nullptr), kTfLiteOk);
  const std::vector<int> dims = {1};
  DeputyTensorParameters text = BuiltInterpreter::Floats(dims);
  text.type = kTfLiteString;
  ASSERT_EQ(t.Set(0, text), kTfLiteOk);
  EXPECT_EQ(t.Tensor(0)->allocation_type, kTfLiteDynamic);
  text.is_variable = 1;
  EXPECT_EQ(t.Set(0, text), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("String variable tensor isn't supported."));
}

TEST(GraphBuilding, ConstantIsReplacedWhileReady) {
  const std::vector<float> first = {1, 2, 3, 4}, second = {10, 20, 30, 40};
  BuiltInterpreter t;
  BuildAdd(&t, first);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1, 1, 1, 1});
  const std::vector<int> dims = {1, 4};
  DeputyTensorParameters c = BuiltInterpreter::Floats(dims);
  c.data = second.data();
  c.bytes = 16;
  ASSERT_EQ(t.Set(1, c), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(2), ElementsAre(11, 21, 31, 41));
  // A constant of another shape requires allocation.
  const std::vector<int> other = {4};
  c.dims = other.data();
  c.rank = 1;
  ASSERT_EQ(t.Set(1, c), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

TEST(GraphBuilding, UnalignedConstantIsCopied) {
  std::vector<char> bytes(17);
  const float values[] = {1, 2, 3, 4};
  memcpy(bytes.data() + 1, values, 16);
  BuiltInterpreter t;
  BuildAdd(&t, {9, 9, 9, 9});
  const std::vector<int> dims = {1, 4};
  DeputyTensorParameters c = BuiltInterpreter::Floats(dims);
  c.data = bytes.data() + 1;
  c.bytes = 16;
  ASSERT_EQ(t.Set(1, c), kTfLiteOk);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.Tensor(1)->data.raw) % alignof(float), 0u);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1, 1, 1, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(2), ElementsAre(2, 3, 4, 5));
}

TEST(GraphBuilding, SizesThatOverflowAreRefused) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, nullptr), kTfLiteOk);
  const std::vector<int> huge = {1 << 30, 1 << 30};
  ASSERT_EQ(t.Set(0, BuiltInterpreter::Floats(huge)), kTfLiteOk);
  const std::vector<int> bytes = {1 << 30, 1 << 30, 1 << 2};
  EXPECT_EQ(t.Set(0, BuiltInterpreter::Floats(bytes)), kTfLiteError);
  EXPECT_THAT(t.log(), EndsWith("BytesRequired number of bytes overflowed.\n\n"));
  const std::vector<int> elements = {1 << 30, 1 << 30, 1 << 2, 1 << 4};
  EXPECT_EQ(t.Set(0, BuiltInterpreter::Floats(elements)), kTfLiteError);
  EXPECT_THAT(t.log(), EndsWith("BytesRequired number of elements overflowed.\n\n"));
  const std::vector<int> negative = {2, -1};
  EXPECT_EQ(t.Set(0, BuiltInterpreter::Floats(negative)), kTfLiteError);
  EXPECT_EQ(t.Tensor(0)->dims->size, 2);
  EXPECT_EQ(t.Tensor(0)->dims->data[1], 1 << 30);
  DeputyTensorParameters constant = BuiltInterpreter::Floats(huge);
  constant.data = &huge;
  constant.bytes = 4;
  EXPECT_EQ(t.Set(0, constant), kTfLiteError);
  t.SetInputs({0});
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

TEST(GraphBuilding, ConstantOfTooFewBytesIsRefused) {
  BuiltInterpreter t;
  BuildAdd(&t, {1, 2, 3, 4});
  const std::vector<int> dims = {1, 4};
  const float short_data[3] = {};
  DeputyTensorParameters c = BuiltInterpreter::Floats(dims);
  c.data = short_data;
  c.bytes = sizeof short_data;
  EXPECT_EQ(t.Set(1, c), kTfLiteError);
  c.data = nullptr;
  c.bytes = 16;
  c.is_constant = 1;
  EXPECT_EQ(t.Set(1, c), kTfLiteError);
  c.bytes = 0;
  EXPECT_EQ(t.Set(1, c), kTfLiteError);
  const std::vector<int> empty = {0, 4};
  c.dims = empty.data();
  EXPECT_EQ(t.Set(1, c), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Tensor(1)->allocation_type, kTfLiteMmapRo);
}

// Each quantisation is freed, which LeakSanitizer checks.
TEST(GraphBuilding, InvalidQuantizationIsRefusedAndFreed) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, nullptr), kTfLiteOk);
  const std::vector<int> dims = {2, 3};
  const auto set = [&](int scales, int zero_points, int dimension) {
    auto* const affine =
        static_cast<TfLiteAffineQuantization*>(calloc(1, sizeof(TfLiteAffineQuantization)));
    if (scales > 0) affine->scale = TfLiteFloatArrayCreate(scales);
    if (zero_points > 0) affine->zero_point = TfLiteIntArrayCreate(zero_points);
    for (int i = 0; i < scales; ++i) affine->scale->data[i] = 1;
    for (int i = 0; i < zero_points; ++i) affine->zero_point->data[i] = 0;
    affine->quantized_dimension = dimension;
    DeputyTensorParameters parameters = BuiltInterpreter::Floats(dims);
    parameters.type = kTfLiteInt8;
    parameters.quantization = {kTfLiteAffineQuantization, affine};
    return t.Set(0, parameters);
  };
  EXPECT_EQ(set(3, 3, 1), kTfLiteOk);
  EXPECT_EQ(set(2, 2, 0), kTfLiteOk);
  EXPECT_EQ(set(3, 1, 1), kTfLiteError);
  EXPECT_EQ(set(3, 0, 1), kTfLiteError);
  EXPECT_EQ(set(2, 2, 1), kTfLiteError);
  EXPECT_EQ(set(3, 3, 2), kTfLiteError);
  EXPECT_EQ(set(3, 3, -1), kTfLiteError);
  EXPECT_EQ(set(0, 0, 0), kTfLiteOk);
  EXPECT_EQ(t.Tensor(0)->quantization.type, kTfLiteNoQuantization);
}

TEST(GraphBuilding, StrictResizeFollowsTheSignature) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, nullptr), kTfLiteOk);
  const std::vector<int> dims = {1, 1, 3}, signature = {-1, -1, 3};
  DeputyTensorParameters parameters = BuiltInterpreter::Floats(dims);
  parameters.signature_dims = signature.data();
  parameters.signature_rank = 3;
  ASSERT_EQ(t.Set(0, parameters), kTfLiteOk);
  t.SetInputs({0});
  const auto resize = [&](const std::vector<int>& to) {
    return DeputyInterpreterResizeInput(t.get(), 0, 0, to.data(), static_cast<int32_t>(to.size()),
                                        true);
  };
  EXPECT_EQ(resize({1, 2, 3}), kTfLiteOk);
  EXPECT_EQ(t.Tensor(0)->bytes, 24u);
  EXPECT_EQ(resize({1, 2, 4}), kTfLiteError);
  EXPECT_EQ(resize({8}), kTfLiteError);
  parameters.signature_rank = 2;
  EXPECT_EQ(t.Set(0, parameters), kTfLiteError);
}

// ---- Errors -------------------------------------------------------------------------------------

TEST(GraphBuilding, InvalidIndexMakesTheSubgraphInconsistent) {
  const int five = 5;
  const TfLiteRegistration doubler = Doubler::Registration();
  for (int what = 0; what < 5; ++what) {
    BuiltInterpreter t;
    t.AddFloats(2, {1});
    TfLiteStatus status = kTfLiteOk;
    if (what == 0) status = DeputyInterpreterSetInputs(t.get(), 0, &five, 1);
    if (what == 1) status = DeputyInterpreterSetOutputs(t.get(), 0, &five, 1);
    if (what == 2) status = DeputyInterpreterSetVariables(t.get(), 0, &five, 1);
    if (what == 3) status = t.AddNode({3}, {0}, &doubler);
    if (what == 4) status = t.AddNode({0}, {-2}, &doubler);
    EXPECT_EQ(status, kTfLiteError) << what;
    EXPECT_THAT(t.log(), HasSubstr("Invalid tensor index ")) << what;
    EXPECT_THAT(t.log(), HasSubstr(". The subgraph has 2 tensors\n")) << what;
    EXPECT_EQ(t.Allocate(), kTfLiteError) << what;
    EXPECT_THAT(t.log(), HasSubstr("AllocateTensors() called on inconsistent model."));
    EXPECT_EQ(t.Invoke(), kTfLiteError) << what;
    EXPECT_THAT(t.log(), HasSubstr("Invoke called on model that is not consistent."));
    int32_t count = -1;
    EXPECT_EQ(DeputyInterpreterGetInputs(t.get(), 0, &count), nullptr);
    EXPECT_EQ(count, 0);
  }
}

TEST(GraphBuilding, BuiltinMustNotWorkInPlace) {
  BuiltInterpreter t;
  t.AddFloats(2, {1});
  EXPECT_EQ(t.AddNode({0, 1}, {1}, AddKernel()), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Tensor 1 is both input 1 and output 0\n"));
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

// Builtin kernels rely on one producer per tensor; kernels of clients may write a tensor that other
// kernels of clients write.
TEST(GraphBuilding, BuiltinsWriteTensorsWithoutAnotherProducer) {
  const TfLiteRegistration doubler = Doubler::Registration();
  const float zero = 0;
  struct Node {
    std::vector<int> inputs, outputs;
    bool is_builtin;
  };
  const struct {
    std::vector<Node> nodes;
    const char* fault;  // null: the graph is valid
  } cases[] = {
      {{{{0}, {3}, false}, {{0, 1}, {3}, true}}, "expected an output without another producer"},
      {{{{0, 1}, {3}, true}, {{0}, {3}, false}}, "expected an output without another producer"},
      {{{{0, 1}, {3}, true}, {{1, 1}, {3}, true}}, "expected an output without another producer"},
      {{{{2}, {3}, false}, {{0, 1}, {2}, true}}, "expected an output that no earlier node reads"},
      {{{{0, 0}, {1}, true}}, "expected an output that is no input of the subgraph"},
      {{{{0, 1}, {4}, true}}, "expected an output that is no constant, found tensor 4 'x'"},
      {{{{0, 1}, {3}, true}}, nullptr},
  };
  for (const auto& test : cases) {
    BuiltInterpreter t;
    t.AddFloats(5, {1});
    const std::vector<int> dims = {1};
    DeputyTensorParameters constant = BuiltInterpreter::Floats(dims);
    constant.data = &zero;
    constant.bytes = 4;
    EXPECT_EQ(t.Set(4, constant), kTfLiteOk);
    t.SetInputs({0, 1});
    t.SetOutputs({3});
    for (const Node& node : test.nodes) {
      EXPECT_EQ(t.AddNode(node.inputs, node.outputs, node.is_builtin ? AddKernel() : &doubler),
                kTfLiteOk);
    }
    EXPECT_EQ(t.Allocate(), test.fault == nullptr ? kTfLiteOk : kTfLiteError);
    if (test.fault != nullptr) {
      EXPECT_THAT(t.log(), HasSubstr(test.fault));
    }
  }
}

TEST(GraphBuilding, TwoProducersOfAClientRun) {
  const TfLiteRegistration doubler = Doubler::Registration();
  BuiltInterpreter t;
  t.AddFloats(3, {1});
  t.SetInputs({0, 1});
  t.SetOutputs({2});
  ASSERT_EQ(t.AddNode({0}, {2}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.AddNode({1}, {2}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, {1});
  t.Write(1, {5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(2), ElementsAre(10));
}

TEST(GraphBuilding, PlanIsReorderedAndCutWhileReady) {
  const TfLiteRegistration doubler = Doubler::Registration();
  BuiltInterpreter t;
  t.AddFloats(4, {1});
  t.SetInputs({0, 1});
  t.SetOutputs({2, 3});
  ASSERT_EQ(t.AddNode({0}, {2}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.AddNode({1}, {3}, &doubler), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1});
  t.Write(1, {2});
  const auto set = [&](const std::vector<int>& plan) {
    return DeputyInterpreterSetExecutionPlan(t.get(), 0, plan.data(),
                                             static_cast<int32_t>(plan.size()));
  };
  ASSERT_EQ(set({1, 0}), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(1, 0));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(2), ElementsAre(2));
  EXPECT_THAT(t.Read(3), ElementsAre(4));
  Doubler::invoked = 0;
  ASSERT_EQ(set({1}), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Doubler::invoked, 1);
  ASSERT_EQ(set({}), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Doubler::invoked, 1);
  EXPECT_EQ(set({0, 0}), kTfLiteError);
  EXPECT_EQ(set({2}), kTfLiteError);
  EXPECT_EQ(set({-1}), kTfLiteError);
  EXPECT_THAT(t.Plan(), IsEmpty());
}

TEST(GraphBuilding, InvalidArgumentsAreRefused) {
  BuiltInterpreter t;
  t.AddFloats(2, {1});
  const int zero = 0;
  const TfLiteRegistration doubler = Doubler::Registration();
  EXPECT_EQ(DeputyInterpreterAddTensors(t.get(), 0, -1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 2'000'000'000, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterAddTensors(t.get(), 1, 1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterAddTensors(nullptr, 0, 1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterAddSubgraphs(t.get(), -1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterAddSubgraphs(t.get(), std::numeric_limits<int>::max(), nullptr),
            kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetInputs(t.get(), 0, nullptr, 1), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetInputs(t.get(), 0, &zero, -1), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetInputs(t.get(), -1, &zero, 1), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetTensor(t.get(), 0, 0, nullptr), kTfLiteError);
  EXPECT_EQ(t.Set(2, BuiltInterpreter::Floats(std::vector<int>{1})), kTfLiteError);
  EXPECT_EQ(t.Set(-1, BuiltInterpreter::Floats(std::vector<int>{1})), kTfLiteError);
  DeputyTensorParameters tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.type = kTfLiteFloat32;
  tensor.rank = 1;
  EXPECT_EQ(t.Set(0, tensor), kTfLiteError);
  tensor.rank = -1;
  EXPECT_EQ(t.Set(0, tensor), kTfLiteError);
  tensor.rank = 0;
  tensor.type = kTfLiteNoType;
  EXPECT_EQ(t.Set(0, tensor), kTfLiteError);
  tensor.type = static_cast<TfLiteType>(77);
  EXPECT_EQ(t.Set(0, tensor), kTfLiteError);
  tensor.type = kTfLiteFloat32;
  tensor.quantization = {static_cast<TfLiteQuantizationType>(9), malloc(8)};
  EXPECT_EQ(t.Set(0, tensor), kTfLiteError);
  tensor.quantization = {};
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(t.AddNode({0}, {1}, nullptr, malloc(4)), kTfLiteError);
  EXPECT_EQ(t.AddNode({0}, {1}, &doubler, malloc(4), 7), kTfLiteError);
  DeputyNodeParameters node{};
  node.struct_size = sizeof node;
  node.registration = &doubler;
  node.input_count = 1;
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, nullptr), kTfLiteError);
  node.input_count = -1;
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, nullptr), kTfLiteError);
  node.input_count = 0;
  node.init_data_size = 1;
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, nullptr), kTfLiteError);
  node.init_data = &zero;
  node.init_data_size = size_t{1} << 40;
  EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 0);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << "refused arguments change nothing";
}

// Structs of 104, 88 and 64 bytes are those of the first release's clients. Smaller ones are
// invalid; fields beyond the size that a client states are not read.
TEST(GraphBuilding, StructsAreReadAsFarAsTheClientHasFields) {
  BuiltInterpreter t;
  t.AddFloats(1, {1});
  const TfLiteRegistration doubler = Doubler::Registration();
  struct {
    DeputyTensorParameters tensor{};
    DeputyNodeParameters node{};
    DeputySignature signature{};
    char garbage[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  } client;
  client.tensor.type = kTfLiteFloat32;
  client.node.registration = &doubler;
  client.signature.key = "key";
  for (size_t delta : {0, 8, 16}) {
    const TfLiteStatus expected = delta == 0 ? kTfLiteError : kTfLiteOk;
    client.tensor.struct_size = 104 - 8 + delta;
    client.node.struct_size = 88 - 8 + delta;
    client.signature.struct_size = 64 - 8 + delta;
    client.signature.key = delta == 8 ? "first" : "second";
    EXPECT_EQ(t.Set(0, client.tensor), expected) << delta;
    EXPECT_EQ(DeputyInterpreterAddNode(t.get(), 0, &client.node, nullptr), expected) << delta;
    EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &client.signature), expected) << delta;
  }
}

// A builtin kernel that reads tensors which were never described fails in prepare.
TEST(GraphBuilding, UndescribedTensorsAreRefusedByKernels) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 3, nullptr), kTfLiteOk);
  ASSERT_EQ(t.AddNode({0, 1}, {2}, AddKernel()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
}

TEST(GraphBuilding, FirstTensorsDoNotMove) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, nullptr), kTfLiteOk);
  const TfLiteTensor* const first = t.Tensor(0);
  int index = -1;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 100, &index), kTfLiteOk);
  EXPECT_EQ(index, 1);
  EXPECT_EQ(t.Tensor(0), first);
}

// ---- Graphs of models ---------------------------------------------------------------------------

TEST(GraphBuilding, NodeIsAddedToAModel) {
  const TfLiteRegistration doubler = Doubler::Registration();
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2});
  const int y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  int added = -1;
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), 0, 1, &added), kTfLiteOk);
  const std::vector<int> dims = {2};
  const DeputyTensorParameters parameters = BuiltInterpreter::Floats(dims);
  ASSERT_EQ(DeputyInterpreterSetTensor(t.get(), 0, added, &parameters), kTfLiteOk);
  DeputyNodeParameters node{};
  node.struct_size = sizeof node;
  node.inputs = &y;
  node.outputs = &added;
  node.input_count = node.output_count = 1;
  node.registration = &doubler;
  ASSERT_EQ(DeputyInterpreterAddNode(t.get(), 0, &node, nullptr), kTfLiteOk) << t.log();
  ASSERT_EQ(DeputyInterpreterSetOutputs(t.get(), 0, &added, 1), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 8));
}

// ---- Kernels ------------------------------------------------------------------------------------

TEST(GraphBuilding, BuiltinKernelsAreFoundByVersion) {
  const TfLiteRegistration* const add = DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1);
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1), add);
  EXPECT_EQ(add->builtin_code, kTfLiteBuiltinAdd);
  EXPECT_EQ(add->version, 1);
  const TfLiteRegistration* const second = DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 2);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, add);
  EXPECT_EQ(second->version, 2);
  EXPECT_EQ(DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1000), nullptr);
  EXPECT_EQ(DeputyFindBuiltinKernel(static_cast<TfLiteBuiltinOperator>(9999), 1), nullptr);
  const TfLiteRegistration* const custom =
      DeputyFindCustomKernel("TFLite_Detection_PostProcess", 1);
  ASSERT_NE(custom, nullptr);
  EXPECT_STREQ(custom->custom_name, "TFLite_Detection_PostProcess");
  EXPECT_EQ(DeputyFindCustomKernel("NoSuchOperator", 1), nullptr);
  EXPECT_EQ(DeputyFindCustomKernel(nullptr, 1), nullptr);
}

}  // namespace
}  // namespace deputy::graph_building_test
