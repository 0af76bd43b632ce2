// SPDX-License-Identifier: Apache-2.0
//
// Tests the bridge to ONNX Runtime with a test double of its library (tests/doubles/onnxruntime):
// functions that fail, versions, options, the models that are written, interpreters and shapes.
// The target "onnxruntime" of conformance_test covers single operators with the real library.
#include "tests/doubles/onnxruntime/double.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::onnxruntime_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string DoublePath() { return BuildPath("tests/doubles/libonnxruntime.so"); }
std::string Plugin() { return BuildPath("libdeputy_onnxruntime.so"); }

template <typename Function>
Function* OfDouble(Function*, const char* name) {
  void* const library = dlopen(DoublePath().c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define OF_DOUBLE(function) OfDouble(static_cast<decltype(&function)>(nullptr), #function)

class OnnxRuntime : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    OF_DOUBLE(OrtDoubleReset)();
  }
  void TearDown() override {
    EXPECT_EQ(OF_DOUBLE(OrtDoubleAlive)(), 0);
    QuietTest::TearDown();
  }
  static Handle Make(Options pairs = {}) {
    pairs.emplace_back("library", DoublePath());
    Handle delegate(CreateExternal(Plugin(), pairs), &TfLiteExternalDelegateDelete);
    EXPECT_NE(delegate, nullptr) << DeputyLastError();
    return delegate;
  }
  static std::string Text() { return OF_DOUBLE(OrtDoubleText)(); }
  static int Runs() { return OF_DOUBLE(OrtDoubleRuns)(); }
};

// ADD of a constant, MUL, ABS, NEG; with `is_split`, a custom operator that no delegate supports is
// between MUL and ABS. The shape is [2, 3].
std::vector<uint8_t> Chain(bool is_split = false) {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {2, 3}); };
  const int x = tensor(), a = tensor(), b = tensor(), c = tensor(), d = tensor(), y = tensor();
  const int one = m.AddConstant<float>(kTfLiteFloat32, {3}, {1, -2, 3});
  m.AddOp(kTfLiteBuiltinAdd, {x, one}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {a, x}, {b}, schema::CreateMulOptions(m.fbb()));
  if (is_split) m.AddCustomOp("Backwards", {b}, {c});
  m.AddOp(kTfLiteBuiltinAbs, {is_split ? c : b}, {d});
  m.AddOp(kTfLiteBuiltinNeg, {d}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TestInterpreter::Configure Policy(DeputyDelegatePolicy policy) {
  return [policy](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
  };
}

TfLiteStatus Apply(TestInterpreter* t, const Handle& delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get());
}

int Delegated(TestInterpreter* t) {
  int32_t delegated = 0;
  DeputyInterpreterCheckDelegation(t->get(), kDeputyRequireNothing, &delegated, nullptr);
  return delegated;
}

std::vector<float> Infer(TestInterpreter* t, float first = 0.25F) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  const TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t->get(), 0);
  std::vector<float> x(TfLiteTensorByteSize(input) / sizeof(float));
  for (size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i);
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

std::vector<float> OnCpu(const std::vector<int>& dims = {2, 3}, float first = 0.25F,
                         bool is_split = false) {
  TestInterpreter cpu(Chain(is_split));
  EXPECT_EQ(cpu.Resize(0, dims), kTfLiteOk);
  return Infer(&cpu, first);
}

// Returns the delegate's reason for a node.
std::string ReasonOf(TestInterpreter* t, int node) {
  DeputyNodeSupport support = {};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t->get(), 0, node, 0, &support), kTfLiteOk);
  return support.text == nullptr ? "" : support.text;
}

// ---- The library --------------------------------------------------------------------------------

TEST_F(OnnxRuntime, without_a_library_no_node_is_claimed_and_each_has_the_reason) {
  const std::vector<float> expected = OnCpu();
  const auto check = [&](const char* library, const std::string& reason) {
    const Handle delegate(CreateExternal(Plugin(), {{"library", library}}),
                          &TfLiteExternalDelegateDelete);
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    TestInterpreter t(Chain());
    EXPECT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Infer(&t), expected);
    EXPECT_EQ(Delegated(&t), 0);
    for (int node = 0; node < 4; ++node) EXPECT_THAT(ReasonOf(&t, node), HasSubstr(reason));
  };
  const std::string named =
      "ONNX Runtime's library, '" + DoublePath() + "', which the options name";
  check("/nowhere/libonnxruntime.so",
        "'/nowhere/libonnxruntime.so', which the options name, cannot be opened: ");
  check(Plugin().c_str(), ", has no OrtGetApiBase");
  OF_DOUBLE(OrtDoubleSetVersion)(18);
  check(DoublePath().c_str(), named + ", is too old: expected version 1.19 or later, found 1.18.0");
  OF_DOUBLE(OrtDoubleSetVersion)(0);
  for (const char* function : {"Run", "ReleaseStatus", "AddSessionConfigEntry", "CreateEnv"}) {
    OF_DOUBLE(OrtDoubleHide)(function);
    check(DoublePath().c_str(), named + ", lacks " + function);
  }
  OF_DOUBLE(OrtDoubleHide)("");
  for (const std::string function : {"CreateEnv", "CreateCpuMemoryInfo"}) {
    OF_DOUBLE(OrtDoubleFail)(function.c_str());
    check(DoublePath().c_str(), named + ", fails: " + function + ": this function fails (7)");
  }
  EXPECT_EQ(Runs(), 0);
}

TEST_F(OnnxRuntime, the_variable_names_the_library) {
  ASSERT_EQ(setenv("DEPUTY_ONNXRUNTIME_LIBRARY", DoublePath().c_str(), 1), 0);
  const Handle delegate(CreateExternal(Plugin(), {}), &TfLiteExternalDelegateDelete);
  unsetenv("DEPUTY_ONNXRUNTIME_LIBRARY");
  TestInterpreter t(Chain());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(Infer(&t), OnCpu());
  EXPECT_EQ(Runs(), 1);
}

TEST_F(OnnxRuntime, failures_while_a_session_is_created_fall_back_to_the_cpu) {
  const std::vector<float> expected = OnCpu();
  for (const std::string function :
       {"CreateSessionOptions", "SetSessionLogSeverityLevel", "SetSessionGraphOptimizationLevel",
        "AddSessionConfigEntry", "SetIntraOpNumThreads", "CreateSessionFromArray"}) {
    const Handle delegate = Make();
    TestInterpreter t(Chain(), Policy(kDeputyPolicyHot));
    OF_DOUBLE(OrtDoubleFail)(function.c_str());
    EXPECT_NE(Apply(&t, delegate), kTfLiteOk) << function;
    EXPECT_THAT(t.log(),
                StartsWith("deputy_onnxruntime: " + function + ": this function fails (7)"));
    EXPECT_EQ(Infer(&t), expected) << function;
    EXPECT_EQ(Delegated(&t), 0) << function;
    OF_DOUBLE(OrtDoubleFail)("");
  }
}

TEST_F(OnnxRuntime, failures_of_a_run_are_errors_or_fall_back_to_the_cpu) {
  const std::vector<float> expected = OnCpu();
  for (const std::string function : {"CreateTensorWithDataAsOrtValue", "Run"}) {
    const Handle delegate = Make();
    TestInterpreter strict(Chain()), hot(Chain(), Policy(kDeputyPolicyHot));
    for (TestInterpreter* t : {&strict, &hot}) {
      ASSERT_EQ(Apply(t, delegate), kTfLiteOk) << t->log();
      ASSERT_EQ(Delegated(t), 4);
      EXPECT_EQ(Infer(t), expected);
    }
    OF_DOUBLE(OrtDoubleFail)(function.c_str());
    EXPECT_NE(strict.Invoke(), kTfLiteOk);
    EXPECT_THAT(strict.log(),
                HasSubstr("deputy_onnxruntime: " + function + ": this function fails (7)"));
    EXPECT_EQ(Infer(&hot), expected);
    OF_DOUBLE(OrtDoubleFail)("");
    EXPECT_EQ(Infer(&strict), expected);
  }
}

// ---- Options ------------------------------------------------------------------------------------

TEST_F(OnnxRuntime, options_reach_the_session) {
  const auto settings = [](const Options& options) {
    OF_DOUBLE(OrtDoubleReset)();
    const Handle delegate = Make(options);
    TestInterpreter t(Chain());
    EXPECT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    return Text().substr(0, Text().find('\n'));
  };
  const std::string end = " log 4 session.disable_quant_qdq=1";
  EXPECT_EQ(settings({}), "session level 99 threads 1" + end);
  EXPECT_EQ(settings({{"num_threads", "3"}}), "session level 99 threads 3" + end);
  EXPECT_EQ(settings({{"optimization", "none"}}), "session level 0 threads 1" + end);
  EXPECT_EQ(settings({{"optimization", "basic"}}), "session level 1 threads 1" + end);
  EXPECT_EQ(settings({{"optimization", "extended"}}), "session level 2 threads 1" + end);
  EXPECT_EQ(settings({{"optimization", "all"}}), "session level 99 threads 1" + end);
}

TEST_F(OnnxRuntime, small_partitions_are_left_to_the_cpu) {
  const std::vector<uint8_t> model = Chain(true);
  const std::vector<float> expected = OnCpu({2, 3}, 0.25F, true);
  for (const auto& [min_nodes, nodes] :
       std::vector<std::pair<const char*, int>>{{"1", 4}, {"2", 4}, {"3", 0}}) {
    const Handle delegate = Make({{"min_nodes", min_nodes}});
    TestInterpreter t(model);
    ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Infer(&t), expected);
    EXPECT_EQ(Delegated(&t), nodes) << min_nodes;
  }
}

TEST_F(OnnxRuntime, wrong_options_are_refused) {
  const auto error = [](const char* key, const char* value) {
    return CreationError(Plugin(), {{key, value}});
  };
  EXPECT_THAT(error("num_threads", "0"), HasSubstr("expected a whole number from 1 to 1024"));
  EXPECT_THAT(error("num_threads", "1025"), HasSubstr("expected a whole number from 1 to 1024"));
  EXPECT_THAT(error("optimization", "fast"), HasSubstr("expected none, basic, extended or all"));
  EXPECT_THAT(error("min_nodes", "-1"), HasSubstr("expected a whole number from 1"));
  EXPECT_THAT(error("speed", "1"),
              HasSubstr("expected one of 'library', 'num_threads', 'optimization', 'min_nodes'"));
}

// ---- Models -------------------------------------------------------------------------------------

// Returns the description of the model that a delegate writes for `model`.
std::string Described(std::vector<uint8_t> model, const Handle& delegate) {
  TestInterpreter t(std::move(model));
  EXPECT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  const std::string text = OF_DOUBLE(OrtDoubleText)();
  return text.substr(text.find("opset"));
}

TEST_F(OnnxRuntime, a_model_has_these_bytes) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}), y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinAbs, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  Described(m.Finish(), Make());
  size_t bytes = 0;
  const unsigned char* const model = OF_DOUBLE(OrtDoubleModel)(&bytes);
  const std::string type = "\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02";
  const std::string node =
      "\x0a\x02t0\x12\x02v0\x22\x03"
      "Abs";
  const std::string graph = "\x0a\x0d" + node + "\x62\x10\x0a\x02v0" + type + "\x5a\x10\x0a\x02t0" +
                            type + "\x12\x09partition";
  const std::string expected =
      "\x08\x08\x12\x06"
      "deputy\x42\x02\x10\x11\x3a\x3e" +
      graph;
  EXPECT_EQ(graph.size(), 0x3eU);
  EXPECT_EQ(std::string(model, model + bytes), expected);
}

// Two convolutions with RELU6, an ADD of their results, and a MAX_POOL_2D.
TEST_F(OnnxRuntime, transpositions_are_at_the_borders_of_the_partition_only) {
  ModelBuilder m;
  const auto image = [&](int extent) {
    return m.AddTensor(kTfLiteFloat32, {1, extent, extent, 2});
  };
  const int x = image(5), a = image(3), b = image(3), c = image(3), y = image(1);
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {2, 3, 3, 2}, std::vector<float>(36));
  const int depth = m.AddConstant<float>(kTfLiteFloat32, {1, 3, 3, 2}, std::vector<float>(18));
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {1, 2});
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {a},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 2, 2,
                                      schema::ActivationFunctionType::RELU6));
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {a, depth, bias}, {b},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1));
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {c}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMaxPool2d, {c}, {y},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 2, 2, 3, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  EXPECT_EQ(Described(m.Finish(), Make()),
            "opset 17\n"
            "const v1 FLOAT[2,2,3,3] 144 bytes\n"
            "const v2 FLOAT[2] 8 bytes\n"
            "const v4 FLOAT[] 4 bytes\n"
            "const v5 FLOAT[] 4 bytes\n"
            "const v7 FLOAT[2,1,3,3] 72 bytes\n"
            "input t0 FLOAT[1,5,5,2]\n"
            "v0 = Transpose(t0) perm=0,3,1,2\n"
            "v3 = Conv(v0, v1, v2) kernel_shape=3,3 strides=2,2 pads=1,1,1,1 dilations=1,1 "
            "group=1\n"
            "v6 = Clip(v3, v4, v5)\n"
            "v8 = Conv(v6, v7, v2) kernel_shape=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 "
            "group=2\n"
            "v9 = Add(v6, v8)\n"
            "v10 = MaxPool(v9) kernel_shape=2,3 strides=2,2 pads=0,0,0,0\n"
            "v11 = Transpose(v10) perm=0,2,3,1\n"
            "output v11 FLOAT[1,1,1,2]\n");
}

TEST_F(OnnxRuntime, quantised_layers_are_computed_in_float32) {
  ModelBuilder m;
  const TensorExtras extras = {.scale = {0.5F}, .zero_point = {3}};
  const int x = m.AddTensor(kTfLiteInt8, {1, 4}, "", extras);
  const int y = m.AddTensor(kTfLiteInt8, {1, 2}, "", extras);
  const int weights = m.AddConstant<int8_t>(kTfLiteInt8, {2, 4}, std::vector<int8_t>(8, 1), "",
                                            {.scale = {0.25F}, .zero_point = {0}});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  EXPECT_EQ(Described(m.Finish(), Make()),
            "opset 17\n"
            "const v0 FLOAT[] 4 bytes\n"
            "const v1 INT8[] 1 bytes\n"
            "const v3 FLOAT[2,4] 32 bytes\n"
            "const v5 FLOAT[] 4 bytes\n"
            "const v6 INT8[] 1 bytes\n"
            "input t0 INT8[1,4]\n"
            "v2 = DequantizeLinear(t0, v0, v1)\n"
            "v4 = Gemm(v2, v3) transB=1\n"
            "v7 = QuantizeLinear(v4, v5, v6)\n"
            "output v7 INT8[1,2]\n");
}

// FULLY_CONNECTED with weights that a DEQUANTIZE converts from float16.
TEST_F(OnnxRuntime, constants_of_float16_are_constants_of_the_model) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}), y = m.AddTensor(kTfLiteFloat32, {1, 3});
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x3800, 0x0001, 0x7bff, 0x0000};
  const int half = m.AddConstant<uint16_t>(kTfLiteFloat16, {3, 2}, halves);
  const int weights = m.AddTensor(kTfLiteFloat32, {3, 2});
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {weights});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  const Handle delegate = Make();
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(Delegated(&t), 1);
  EXPECT_THAT(ReasonOf(&t, 0), HasSubstr("a constant of float16, which the nodes that read it"));
  EXPECT_THAT(Text(), testing::EndsWith("opset 17\n"
                                        "const v0 FLOAT[3,2] 24 bytes\n"
                                        "input t0 FLOAT[1,2]\n"
                                        "v1 = Gemm(t0, v0) transB=1\n"
                                        "output v1 FLOAT[1,3]\n"));
  size_t bytes = 0;
  const unsigned char* const model = OF_DOUBLE(OrtDoubleModel)(&bytes);
  const float numbers[] = {1, -2, 0.5F, 0x1p-24F, 65504, 0};
  const std::string contents(reinterpret_cast<const char*>(numbers), sizeof numbers);
  EXPECT_THAT(std::string(model, model + bytes), HasSubstr(contents));
}

// ---- Interpreters, partitions and shapes --------------------------------------------------------

TEST_F(OnnxRuntime, each_partition_has_a_session) {
  const Handle delegate = Make();
  TestInterpreter t(Chain(true));
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(Infer(&t), OnCpu({2, 3}, 0.25F, true));
  EXPECT_EQ(Delegated(&t), 4);
  EXPECT_EQ(Runs(), 2);
}

TEST_F(OnnxRuntime, interpreters_share_a_delegate) {
  const Handle delegate = Make();
  TestInterpreter first(Chain()), second(Chain());
  ASSERT_EQ(Apply(&first, delegate), kTfLiteOk) << first.log();
  ASSERT_EQ(Apply(&second, delegate), kTfLiteOk) << second.log();
  for (const float value : {0.25F, -7.5F}) {
    EXPECT_EQ(Infer(&first, value), OnCpu({2, 3}, value));
    EXPECT_EQ(Infer(&second, value - 1), OnCpu({2, 3}, value - 1));
  }
  EXPECT_EQ(Runs(), 4);
}

TEST_F(OnnxRuntime, a_resize_creates_another_session) {
  const Handle delegate = Make();
  TestInterpreter t(Chain());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  int runs = 0;
  for (const int rows : {1, 5, 2}) {
    ASSERT_EQ(t.Resize(0, {rows, 3}), kTfLiteOk);
    EXPECT_EQ(Infer(&t), OnCpu({rows, 3}));
    EXPECT_EQ(Delegated(&t), 4);
    EXPECT_THAT(Text(), HasSubstr("input t0 FLOAT[" + std::to_string(rows) + ",3]"));
    EXPECT_EQ(Runs(), ++runs);
  }
}

TEST_F(OnnxRuntime, unsupported_nodes_have_reasons) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x"), a = m.AddTensor(kTfLiteFloat32, {2, 3});
  const int y = m.AddTensor(kTfLiteInt32, {2, 3});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {a},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::TANH));
  m.AddOp(kTfLiteBuiltinCast, {a}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const Handle delegate = Make();
  TestInterpreter t(m.Finish());
  EXPECT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_THAT(ReasonOf(&t, 0), HasSubstr("expected RELU, RELU6 or RELU_N1_TO_1"));
  EXPECT_THAT(ReasonOf(&t, 1), HasSubstr("expected type 1, found 2"));
  EXPECT_EQ(Delegated(&t), 0);
}

}  // namespace
}  // namespace deputy::onnxruntime_test
