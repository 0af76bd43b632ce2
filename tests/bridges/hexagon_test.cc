// SPDX-License-Identifier: Apache-2.0
//
// Tests the Hexagon delegate with a test double of Qualcomm's library (tests/doubles/hexagon),
// which proves nothing about real devices: loading, the order of calls, claimed nodes and reasons
// of refusals, and results compared with the CPU's, where the nodes must run in the delegate.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bridges/hexagon/hexagon_nn.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_plugin.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::hexagon_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string Plugin() { return BuildPath("libdeputy_hexagon.so"); }
std::string DoublePath() { return BuildPath("tests/doubles/hexagon/libhexagon_interface.so"); }

template <typename Function>
Function OfDouble(const char* name) {
  void* const library = dlopen(DoublePath().c_str(), RTLD_LAZY | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(library, name));
}
std::string Log() { return OfDouble<const char* (*)()>("hexagon_double_log")(); }
int Graphs() { return OfDouble<int (*)()>("hexagon_double_graphs")(); }
void Reset(const char* failing = "") {
  OfDouble<void (*)(const char*)>("hexagon_double_reset")(failing);
}

size_t CountIn(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Hexagon : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    Reset();
  }
  static Handle Make(Options pairs = {}) {
    pairs.emplace_back("interface_library", DoublePath());
    Handle delegate(CreateExternal(Plugin(), pairs), &TfLiteExternalDelegateDelete);
    EXPECT_NE(delegate, nullptr) << DeputyLastError();
    return delegate;
  }
  static std::string DefaultCreationError() {
    return CreationError(Plugin(), {{"interface_library", DoublePath()}});
  }
};

TEST_F(Hexagon, missing_functions_are_reported_by_name) {
  const std::vector<uint8_t> whole = ReadBytes(DoublePath());
  const std::string copy = ScratchFile("hexagon_interface.so");
  int count = 0;
#define NAME_OF(name, result, parameters) "hexagon_nn_" #name,
  for (const std::string symbol : {DEPUTY_HEXAGON_FUNCTIONS(NAME_OF)}) {
#undef NAME_OF
    // Renames the function in the copy's symbol table, where NULs delimit the name.
    const std::string entry = std::string(1, '\0') + symbol + std::string(1, '\0');
    std::vector<uint8_t> bytes = whole;
    for (auto at = bytes.begin();;) {
      at = std::search(at, bytes.end(), entry.begin(), entry.end());
      if (at == bytes.end()) break;
      at[static_cast<std::ptrdiff_t>(symbol.size())] = '#';
      ++at;
    }
    const std::string path = copy + "." + std::to_string(count++);
    WriteBytes(path, bytes);
    EXPECT_THAT(CreationError(Plugin(), {{"interface_library", path}}),
                HasSubstr("it has no function " + symbol + ")"));
    std::remove(path.c_str());
  }
  EXPECT_EQ(count, 20);
  EXPECT_THAT(CreationError(Plugin(), {{"interface_library", "/nowhere/lib.so"}}),
              HasSubstr("cannot open /nowhere/lib.so"));
}

TEST_F(Hexagon, connection_is_open_while_any_delegate_exists) {
  Handle first = Make();
  EXPECT_THAT(Log(), testing::StartsWith("global_init\nversion\n"));
  Handle second = Make();
  first.reset();
  EXPECT_EQ(CountIn(Log(), "global_init"), 1u);
  EXPECT_EQ(CountIn(Log(), "global_teardown"), 0u);
  second.reset();
  EXPECT_THAT(Log(), EndsWith("global_teardown\n"));
  Make().reset();
  EXPECT_EQ(CountIn(Log(), "global_init"), 2u);
  EXPECT_EQ(CountIn(Log(), "global_teardown\n"), 2u);
}

TEST_F(Hexagon, unsupported_devices_are_rejected_and_released) {
  for (const auto& [failing, text] : Options{{"version", "found version 137730"},
                                             {"is_device_supported", "this device is not"},
                                             {"op_id_to_name", "operation 59: expected Reshape"}}) {
    Reset(failing.c_str());
    EXPECT_THAT(DefaultCreationError(), HasSubstr(text));
    EXPECT_THAT(Log(), EndsWith("global_teardown\n"));
  }
}

// ---- Models -------------------------------------------------------------------------------------

// A small network of `type`; float32 has no quantisation. CONV_2D with RELU, DEPTHWISE_CONV_2D,
// ADD, AVERAGE_POOL_2D, RESHAPE, FULLY_CONNECTED, SOFTMAX; with one node only CONV_2D.
std::vector<uint8_t> Network(TfLiteType type, int nodes = 7) {
  ModelBuilder m;
  const bool quantized = type != kTfLiteFloat32;
  const int64_t zero = type == kTfLiteUInt8 ? 128 : 0;
  const auto tensor = [&](std::vector<int32_t> shape, float scale, int64_t zero_point) {
    const TensorExtras extras = {.scale = {scale}, .zero_point = {zero_point}};
    return m.AddTensor(type, shape, "", quantized ? extras : TensorExtras());
  };
  const auto constant = [&](std::vector<int32_t> shape, size_t count, int32_t dimension,
                            size_t channels) {
    if (!quantized) return m.AddConstant<float>(type, shape, std::vector<float>(count, 0.1f));
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rand() % 256);
    TensorExtras extras = {.scale = {}, .zero_point = {}, .quantized_dimension = dimension};
    for (size_t c = 0; c < (type == kTfLiteInt8 ? channels : 1); ++c) {
      extras.scale.push_back(0.01f * static_cast<float>(c + 1));
      extras.zero_point.push_back(zero);
    }
    return m.AddConstant<uint8_t>(type, shape, bytes, "", extras);
  };
  const auto bias = [&](int count) {
    if (!quantized) {
      return m.AddConstant<float>(type, {count}, std::vector<float>(static_cast<size_t>(count)));
    }
    std::vector<int32_t> values;
    for (int i = 0; i < count; ++i) values.push_back(300 * i - 200);
    return m.AddConstant<int32_t>(kTfLiteInt32, {count}, values, "",
                                  {.scale = {0.0005f}, .zero_point = {0}});
  };
  srand(7);
  const int x = tensor({1, 6, 6, 3}, 0.05f, zero);
  const int conv = tensor({1, 3, 3, 4}, 0.08f, zero - 128);
  const int depth = tensor({1, 3, 3, 4}, 0.2f, zero);
  const int sum = tensor({1, 3, 3, 4}, 0.25f, zero);
  const int pool = tensor({1, 1, 1, 4}, 0.25f, zero);
  const int row = tensor({1, 4}, 0.25f, zero);
  const int product = tensor({1, 5}, 0.3f, zero);
  const int result = tensor({1, 5}, 1.0f / 256, zero - 128);
  const int filter = constant({4, 3, 3, 3}, 108, 0, 4), filter_bias = bias(4);
  const int columns = constant({1, 3, 3, 4}, 36, 3, 4), columns_bias = bias(4);
  const int weights = constant({5, 4}, 20, 0, 1), weights_bias = bias(5);
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 4});
  flatbuffers::FlatBufferBuilder& b = m.fbb();
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, filter_bias}, {conv},
          schema::CreateConv2DOptions(b, schema::Padding::SAME, 2, 2,
                                      schema::ActivationFunctionType::RELU));
  if (nodes > 1) {
    m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {conv, columns, columns_bias}, {depth},
            schema::CreateDepthwiseConv2DOptions(b, schema::Padding::SAME, 1, 1, 1));
    m.AddOp(kTfLiteBuiltinAdd, {conv, depth}, {sum}, schema::CreateAddOptions(b));
    m.AddOp(kTfLiteBuiltinAveragePool2d, {sum}, {pool},
            schema::CreatePool2DOptions(b, schema::Padding::VALID, 3, 3, 3, 3));
    m.AddOp(kTfLiteBuiltinReshape, {pool, shape}, {row}, schema::CreateReshapeOptions(b));
    m.AddOp(kTfLiteBuiltinFullyConnected, {row, weights, weights_bias}, {product},
            schema::CreateFullyConnectedOptions(b));
    m.AddOp(kTfLiteBuiltinSoftmax, {product}, {result}, schema::CreateSoftmaxOptions(b, 1));
  }
  m.SetInputs({x});
  m.SetOutputs({nodes > 1 ? result : conv});
  return m.Finish();
}

// Runs one inference on random bytes and returns the results as ints.
std::vector<int> Infer(TestInterpreter* t, bool is_signed) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  std::vector<uint8_t> bytes(TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(t->get(), 0)));
  srand(11);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rand() % 256);
  t->Set<uint8_t>(0, bytes);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  std::vector<int> values;
  for (const uint8_t byte : t->Get<uint8_t>(0)) {
    values.push_back(is_signed ? static_cast<int8_t>(byte) : byte);
  }
  return values;
}

int Delegated(TestInterpreter* t) {
  int32_t delegated = 0;
  DeputyInterpreterCheckDelegation(t->get(), kDeputyRequireNothing, &delegated, nullptr);
  return delegated;
}

TEST_F(Hexagon, a_network_runs_in_one_graph_and_agrees_with_the_cpu) {
  for (const TfLiteType type : {kTfLiteUInt8, kTfLiteInt8}) {
    Reset();
    Handle delegate = Make();
    {
      TestInterpreter cpu(Network(type)), t(Network(type));
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
          << t.log();
      EXPECT_EQ(Delegated(&t), 7);
      const std::vector<int> expected = Infer(&cpu, type == kTfLiteInt8);
      const std::vector<int> found = Infer(&t, type == kTfLiteInt8);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 4) << i;
      EXPECT_EQ(CountIn(Log(), "execute_new"), 1u);
      for (const char* name : {" Supernode_8x8p32to8", "DepthwiseSupernode", "QuantizedMatMul"}) {
        EXPECT_EQ(CountIn(Log(), name), 1u) << name;
      }
      // All seven nodes are in one graph, which is deleted with the interpreter.
      EXPECT_EQ(Graphs(), 1);
    }
    EXPECT_EQ(Graphs(), 0);
    delegate.reset();
    EXPECT_THAT(Log(), EndsWith("teardown\nglobal_teardown\n"));
  }
}

TEST_F(Hexagon, float_models_stay_on_the_cpu_with_a_reason) {
  const Handle delegate = Make();
  TestInterpreter t(Network(kTfLiteFloat32));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(Delegated(&t), 0);
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  ASSERT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 0, 0, &support), kTfLiteOk);
  EXPECT_EQ(support.reason, kDeputyReasonType);
  EXPECT_THAT(support.text, HasSubstr("expected INT8 or UINT8, found FLOAT32"));
}

TEST_F(Hexagon, single_nodes_stay_on_the_cpu) {
  for (const char* least : {"2", "1"}) {
    const Handle delegate = Make({{"min_nodes_per_partition", least}});
    TestInterpreter t(Network(kTfLiteUInt8, 1));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    EXPECT_EQ(Delegated(&t), least[0] == '2' ? 0 : 1);
  }
}

// Two pairs of ADD nodes, separated by float32 nodes.
std::vector<uint8_t> TwoPairs() {
  ModelBuilder m;
  const TensorExtras quantized = {.scale = {0.5F}, .zero_point = {128}};
  std::vector<int> t;
  for (int i = 0; i < 7; ++i) {
    t.push_back(i == 3 ? m.AddTensor(kTfLiteFloat32, {1, 4, 4, 2})
                       : m.AddTensor(kTfLiteUInt8, {1, 4, 4, 2}, "", quantized));
  }
  for (const size_t at : {0, 1}) {
    m.AddOp(kTfLiteBuiltinAdd, {t[at], t[at]}, {t[at + 1]}, schema::CreateAddOptions(m.fbb()));
  }
  m.AddOp(kTfLiteBuiltinDequantize, {t[2]}, {t[3]});
  m.AddOp(kTfLiteBuiltinQuantize, {t[3]}, {t[4]});
  for (const size_t at : {4, 5}) {
    m.AddOp(kTfLiteBuiltinAdd, {t[at], t[at]}, {t[at + 1]}, schema::CreateAddOptions(m.fbb()));
  }
  m.SetInputs({t[0]});
  m.SetOutputs({t[6]});
  return m.Finish();
}

TEST_F(Hexagon, option_limits_the_number_of_partitions) {
  for (const char* most : {"4", "1"}) {
    const Handle delegate = Make({{"max_delegated_partitions", most}});
    TestInterpreter t(TwoPairs());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    EXPECT_EQ(Delegated(&t), most[0] == '4' ? 4 : 2);
  }
}

TEST_F(Hexagon, failing_functions_fall_back_to_the_cpu) {
  TestInterpreter cpu(Network(kTfLiteInt8));
  const std::vector<int> expected = Infer(&cpu, true);
  for (const char* failing : {"config", "init", "set_debug_level", "set_powersave_level",
                              "append_node", "append_const_node", "prepare", "execute_new"}) {
    Reset();
    const Handle delegate = Make();
    Reset(failing);
    {
      TestInterpreter t(Network(kTfLiteInt8), [](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
      });
      (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get());
      EXPECT_EQ(Infer(&t, true), expected) << failing;
      EXPECT_THAT(t.log(), HasSubstr(failing));
    }
    EXPECT_EQ(Graphs(), 0) << failing;
    Reset();
  }
}

// ---- Operator by operator -----------------------------------------------------------------------

// A model of one node with a [1,4,4,3] input. `steps` is the maximum difference, in quantisation
// steps, between its results in the delegate and on the CPU.
struct OperatorCase {
  const char* name;
  int steps;
  std::vector<int32_t> result;
  float in_scale, out_scale;
  int out_zero;  // zero point of the output for int8
  void (*add)(ModelBuilder* m, int x, int other, int y);
};

void AddPlain(ModelBuilder* m, TfLiteBuiltinOperator code, int x, int y) {
  m->AddOp(code, {x}, {y}, 2);
}

const OperatorCase kOperatorCases[] = {
    {"RELU",
     1,
     {1, 4, 4, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) { AddPlain(m, kTfLiteBuiltinRelu, x, y); }},
    {"RELU6",
     1,
     {1, 4, 4, 3},
     0.08f,
     6 / 255.0f,
     -128,
     [](ModelBuilder* m, int x, int, int y) { AddPlain(m, kTfLiteBuiltinRelu6, x, y); }},
    {"LOGISTIC",
     1,
     {1, 4, 4, 3},
     0.05f,
     1 / 256.0f,
     -128,
     [](ModelBuilder* m, int x, int, int y) { AddPlain(m, kTfLiteBuiltinLogistic, x, y); }},
    {"TANH",
     1,
     {1, 4, 4, 3},
     0.02f,
     1 / 128.0f,
     0,
     [](ModelBuilder* m, int x, int, int y) { AddPlain(m, kTfLiteBuiltinTanh, x, y); }},
    {"QUANTIZE",
     1,
     {1, 4, 4, 3},
     0.05f,
     0.07f,
     5,
     [](ModelBuilder* m, int x, int, int y) {
       m->AddOp(kTfLiteBuiltinQuantize, {x}, {y}, schema::CreateQuantizeOptions(m->fbb()), 2);
     }},
    {"SUB",
     2,
     {1, 4, 4, 3},
     0.05f,
     0.1f,
     0,
     [](ModelBuilder* m, int x, int o, int y) {
       m->AddOp(kTfLiteBuiltinSub, {x, o}, {y}, schema::CreateSubOptions(m->fbb()), 2);
     }},
    {"MUL",
     1,
     {1, 4, 4, 3},
     0.05f,
     0.3f,
     0,
     [](ModelBuilder* m, int x, int o, int y) {
       m->AddOp(kTfLiteBuiltinMul, {x, o}, {y}, schema::CreateMulOptions(m->fbb()), 2);
     }},
    {"MAXIMUM",
     1,
     {1, 4, 4, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int o, int y) {
       m->AddOp(kTfLiteBuiltinMaximum, {x, o}, {y}, schema::CreateMaximumMinimumOptions(m->fbb()),
                2);
     }},
    {"MINIMUM",
     1,
     {1, 4, 4, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int o, int y) {
       m->AddOp(kTfLiteBuiltinMinimum, {x, o}, {y}, schema::CreateMaximumMinimumOptions(m->fbb()),
                2);
     }},
    {"MAX_POOL_2D",
     0,
     {1, 2, 2, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) {
       m->AddOp(kTfLiteBuiltinMaxPool2d, {x}, {y},
                schema::CreatePool2DOptions(m->fbb(), schema::Padding::SAME, 2, 2, 3, 3), 2);
     }},
    {"CONCATENATION",
     1,
     {1, 4, 4, 6},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int o, int y) {
       m->AddOp(kTfLiteBuiltinConcatenation, {x, o}, {y},
                schema::CreateConcatenationOptions(m->fbb(), 3), 2);
     }},
    {"PAD",
     0,
     {1, 6, 7, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) {
       const int amounts = m->AddConstant<int32_t>(kTfLiteInt32, {4, 2}, {0, 0, 1, 1, 1, 2, 0, 0});
       m->AddOp(kTfLiteBuiltinPad, {x, amounts}, {y}, schema::CreatePadOptions(m->fbb()), 2);
     }},
    {"RESIZE_BILINEAR",
     1,
     {1, 8, 7, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) {
       const int size = m->AddConstant<int32_t>(kTfLiteInt32, {2}, {8, 7});
       m->AddOp(kTfLiteBuiltinResizeBilinear, {x, size}, {y},
                schema::CreateResizeBilinearOptions(m->fbb()), 2);
     }},
    {"MEAN",
     2,
     {1, 3},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) {
       const int axes = m->AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
       m->AddOp(kTfLiteBuiltinMean, {x, axes}, {y}, schema::CreateReducerOptions(m->fbb(), false),
                2);
     }},
    {"TRANSPOSE",
     0,
     {1, 3, 4, 4},
     0.05f,
     0.05f,
     0,
     [](ModelBuilder* m, int x, int, int y) {
       const int order = m->AddConstant<int32_t>(kTfLiteInt32, {4}, {0, 3, 2, 1});
       m->AddOp(kTfLiteBuiltinTranspose, {x, order}, {y}, schema::CreateTransposeOptions(m->fbb()),
                2);
     }},
};

TEST_F(Hexagon, large_resized_images_stay_on_the_cpu) {
  const Handle delegate = Make({{"min_nodes_per_partition", "1"}});
  const struct {
    int rows, columns;
    bool delegated;
  } sizes[] = {{65, 65, true}, {66, 8, false}, {8, 66, false}};
  for (const auto& size : sizes) {
    SCOPED_TRACE(std::to_string(size.rows) + " x " + std::to_string(size.columns));
    ModelBuilder m;
    const TensorExtras extras = {.scale = {0.05f}, .zero_point = {0}};
    const int x = m.AddTensor(kTfLiteInt8, {1, 4, 4, 3}, "x", extras);
    const int y = m.AddTensor(kTfLiteInt8, {1, size.rows, size.columns, 3}, "y", extras);
    const int to = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {size.rows, size.columns});
    m.AddOp(kTfLiteBuiltinResizeBilinear, {x, to}, {y},
            schema::CreateResizeBilinearOptions(m.fbb()), 2);
    m.SetInputs({x});
    m.SetOutputs({y});
    TestInterpreter t(m.Finish());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    EXPECT_EQ(Delegated(&t), size.delegated ? 1 : 0);
    DeputyNodeSupport support{};
    support.struct_size = sizeof support;
    ASSERT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 0, 0, &support), kTfLiteOk);
    EXPECT_STREQ(support.text,
                 size.delegated ? "" : "expected a result of 65 rows and columns at most");
  }
}

TEST_F(Hexagon, reshape_needs_no_shape_input) {
  const Handle delegate = Make({{"min_nodes_per_partition", "1"}});
  ModelBuilder m;
  const TensorExtras extras = {.scale = {0.05f}, .zero_point = {0}};
  const int x = m.AddTensor(kTfLiteInt8, {1, 4, 4, 3}, "x", extras);
  const int y = m.AddTensor(kTfLiteInt8, {1, 2, 8, 3}, "y", extras);
  const auto shape = m.fbb().CreateVector<int32_t>({1, 2, 8, 3});
  m.AddOp(kTfLiteBuiltinReshape, {x}, {y}, schema::CreateReshapeOptions(m.fbb(), shape));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(Delegated(&t), 1) << t.log();
}

TEST_F(Hexagon, each_operator_agrees_with_the_cpu) {
  const Handle delegate = Make({{"min_nodes_per_partition", "1"}});
  for (const OperatorCase& each : kOperatorCases) {
    SCOPED_TRACE(each.name);
    ModelBuilder m;
    const TensorExtras in = {.scale = {each.in_scale}, .zero_point = {0}};
    const TensorExtras out = {.scale = {each.out_scale}, .zero_point = {each.out_zero}};
    const int x = m.AddTensor(kTfLiteInt8, {1, 4, 4, 3}, "x", in);
    std::vector<int8_t> values(48);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 37 % 256);
    const int other = m.AddConstant<int8_t>(kTfLiteInt8, {1, 4, 4, 3}, values, "o", in);
    const int y = m.AddTensor(kTfLiteInt8, each.result, "y", out);
    each.add(&m, x, other, y);
    m.SetInputs({x});
    m.SetOutputs({y});
    const std::vector<uint8_t> model = m.Finish();
    TestInterpreter cpu(model), t(model);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
        << t.log();
    EXPECT_EQ(Delegated(&t), 1);
    const std::vector<int> expected = Infer(&cpu, true), found = Infer(&t, true);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], each.steps) << i;
  }
}

}  // namespace
}  // namespace deputy::hexagon_test
