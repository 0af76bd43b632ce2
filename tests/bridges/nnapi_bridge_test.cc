// SPDX-License-Identifier: Apache-2.0
//
// Tests the bridge to NNAPI with a test double of NNAPI's library (tests/doubles/nnapi), which
// proves nothing about real devices: functions that fail, feature levels, the models that are
// built, interpreters and shapes. The target "nnapi" of conformance_test covers single operators.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/nnapi_delegate_c_api.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::nnapi_bridge_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string DoublePath() { return BuildPath("tests/doubles/libneuralnetworks.so"); }

// The library of the test double, or a copy of it that lacks functions; each copy has its own
// state.
class Double {
 public:
  explicit Double(const std::string& path = DoublePath())
      : path_(path), library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << path;
    Reset();
  }
  const std::string& path() const { return path_; }
  void Fail(const std::string& function, int code) const {
    Find<void (*)(const char*, int)>("NnapiDoubleFail")(function.c_str(), code);
  }
  void SetLevel(int level) const { Find<void (*)(int)>("NnapiDoubleSetLevel")(level); }
  int Count(const char* what) const { return Find<int (*)(const char*)>("NnapiDoubleCount")(what); }
  std::string Dump() const { return Find<const char* (*)()>("NnapiDoubleDump")(); }
  std::string FirstError() const { return Find<const char* (*)()>("NnapiDoubleFirstError")(); }
  void Reset() const { Find<void (*)()>("NnapiDoubleReset")(); }

 private:
  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  std::string path_;
  void* library_;
};

// Returns a copy in which these functions cannot be found.
Double Without(const std::string& name, const std::vector<std::string>& functions) {
  std::vector<uint8_t> bytes = ReadBytes(DoublePath());
  for (const std::string& function : functions) {
    const std::string symbol = '\0' + ("ANeuralNetworks" + function) + '\0';
    const auto at = std::search(bytes.begin(), bytes.end(), symbol.begin(), symbol.end());
    EXPECT_NE(at, bytes.end()) << function;
    if (at != bytes.end()) *(at + 1) = 'B';
  }
  const std::string path = ScratchFile(name + ".so");
  WriteBytes(path, bytes);
  return Double(path);
}

Handle Make(const Double& library, Options pairs = {}) {
  pairs.emplace_back("library", library.path());
  Handle delegate(CreateExternal(BuildPath("libdeputy_nnapi.so"), pairs),
                  &TfLiteExternalDelegateDelete);
  EXPECT_NE(delegate, nullptr) << DeputyLastError();
  return delegate;
}

// ADD of a constant, since feature level 27; SUB, since 28; ABS, since 29; ELU, since 30. The shape
// is [2, 3].
std::vector<uint8_t> Chain() {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {2, 3}); };
  const int x = tensor(), a = tensor(), b = tensor(), c = tensor(), y = tensor();
  const int one = m.AddConstant<float>(kTfLiteFloat32, {1, 3}, {1, -2, 3});
  m.AddOp(kTfLiteBuiltinAdd, {x, one}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSub, {a, x}, {b}, schema::CreateSubOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAbs, {b}, {c});
  m.AddOp(kTfLiteBuiltinElu, {c}, {y});
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

std::vector<float> OnCpu(const std::vector<int>& dims = {2, 3}, float first = 0.25F) {
  TestInterpreter cpu(Chain());
  EXPECT_EQ(cpu.Resize(0, dims), kTfLiteOk);
  return Infer(&cpu, first);
}

class NnapiBridge : public QuietTest {};

// ---- Functions that fail ------------------------------------------------------------------------

struct Failing {
  const char* function;
  Options options;
};

const std::vector<Failing> kPreparing = {
    {"Model_create", {}},
    {"Model_addOperand", {}},
    {"Model_setOperandValue", {}},
    {"Model_addOperation", {}},
    {"Model_identifyInputsAndOutputs", {}},
    {"Model_relaxComputationFloat32toFloat16", {{"allow_fp16", "true"}}},
    {"Model_finish", {}},
    {"Memory_createFromFd", {{"shared_memory", "true"}}},
    {"Model_setOperandValueFromMemory", {{"shared_memory", "true"}}},
    {"Compilation_create", {}},
    {"Compilation_createForDevices", {{"disable_cpu", "true"}}},
    {"Compilation_setPreference", {{"execution_preference", "low_power"}}},
    {"Compilation_setPriority", {{"execution_priority", "low"}}},
    {"Compilation_setTimeout", {{"disable_cpu", "true"}, {"compilation_timeout_us", "5"}}},
    {"Compilation_setCaching", {{"cache_dir", "/tmp"}, {"model_token", "chain"}}},
    {"Compilation_finish", {}},
    {"Burst_create", {{"use_burst_mode", "true"}}},
};

const std::vector<Failing> kRunning = {
    {"Execution_create", {}},
    {"Execution_setInput", {}},
    {"Execution_setOutput", {}},
    {"Execution_setInputFromMemory", {{"shared_memory", "true"}}},
    {"Execution_setOutputFromMemory", {{"shared_memory", "true"}}},
    {"Execution_setTimeout", {{"disable_cpu", "true"}, {"execution_timeout_us", "5"}}},
    {"Execution_compute", {}},
    {"Execution_burstCompute", {{"use_burst_mode", "true"}}},
};

TEST_F(NnapiBridge, compile_failures_are_reported_and_fall_back_to_the_cpu) {
  const Double library;
  const std::vector<float> expected = OnCpu();
  for (const auto& [function, options] : kPreparing) {
    const Handle delegate = Make(library, options);
    {
      TestInterpreter t(Chain(), Policy(kDeputyPolicyHot));
      library.Fail(function, 5);
      EXPECT_NE(Apply(&t, delegate), kTfLiteOk) << function;
      EXPECT_THAT(t.log(), StartsWith("deputy_nnapi: "));
      EXPECT_THAT(t.log(), HasSubstr(": ANEURALNETWORKS_OP_FAILED (5)"));
      EXPECT_THAT(t.log(), HasSubstr("ANeuralNetworks" + std::string(function) + ": "));
      EXPECT_EQ(Infer(&t), expected) << function;
      library.Reset();
      EXPECT_EQ(Delegated(&t), 0) << function;
    }
    EXPECT_EQ(library.Count("alive"), 0) << function;
  }
}

TEST_F(NnapiBridge, run_failures_are_reported_and_fall_back_to_the_cpu) {
  const Double library;
  const std::vector<float> expected = OnCpu();
  for (const auto& [function, options] : kRunning) {
    const Handle delegate = Make(library, options);
    {
      TestInterpreter t(Chain(), Policy(kDeputyPolicyHot));
      ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
      ASSERT_EQ(Delegated(&t), 4) << function;
      library.Fail(function, 5);
      EXPECT_EQ(Infer(&t), expected) << function;
      EXPECT_THAT(t.log(), HasSubstr("deputy_nnapi: ANeuralNetworks" + std::string(function) +
                                     ": ANEURALNETWORKS_OP_FAILED (5)"));
      library.Reset();
      EXPECT_EQ(Infer(&t), expected) << function;
      EXPECT_EQ(library.Count("operations"), 4) << function;  // NNAPI runs all 4 nodes again
    }
    EXPECT_EQ(library.Count("alive"), 0) << function;
  }
}

TEST_F(NnapiBridge, each_error_code_has_a_name) {
  const Double library;
  const char* const kNames[] = {"OUT_OF_MEMORY",
                                "INCOMPLETE",
                                "UNEXPECTED_NULL",
                                "BAD_DATA",
                                "OP_FAILED",
                                "BAD_STATE",
                                "UNMAPPABLE",
                                "OUTPUT_INSUFFICIENT_SIZE",
                                "UNAVAILABLE_DEVICE",
                                "MISSED_DEADLINE_TRANSIENT",
                                "MISSED_DEADLINE_PERSISTENT",
                                "RESOURCE_EXHAUSTED_TRANSIENT",
                                "RESOURCE_EXHAUSTED_PERSISTENT",
                                "DEAD_OBJECT"};
  const Handle delegate = Make(library);
  TestInterpreter t(Chain());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  const std::vector<float> expected = Infer(&t);
  int code = 0;
  for (const char* name : kNames) {
    library.Fail("Execution_compute", ++code);
    t.ClearLog();
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("ANeuralNetworksExecution_compute: ANEURALNETWORKS_" +
                                   std::string(name) + " (" + std::to_string(code) + ")"));
    library.Fail("Execution_compute", 0);
    EXPECT_EQ(Infer(&t), expected) << name;
  }
  library.Fail("Execution_compute", 15);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("unknown result (15)"));
}

TEST_F(NnapiBridge, older_feature_levels_wait_for_an_event) {
  const Double library = Without("nnapi_events", {"Execution_compute"});
  const Handle delegate = Make(library);
  {
    TestInterpreter t(Chain(), Policy(kDeputyPolicyHot));
    ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    const std::vector<float> expected = OnCpu();
    EXPECT_EQ(Infer(&t), expected);
    EXPECT_EQ(library.Count("Event_wait"), 1);
    for (const char* function : {"Execution_startCompute", "Event_wait"}) {
      library.Fail(function, 14);
      EXPECT_EQ(Infer(&t), expected);
      EXPECT_THAT(t.log(), HasSubstr("ANeuralNetworks" + std::string(function) +
                                     ": ANEURALNETWORKS_DEAD_OBJECT (14)"));
      library.Fail(function, 0);
    }
  }
  EXPECT_EQ(library.Count("alive"), 0);
}

TEST_F(NnapiBridge, failing_device_functions_create_no_delegate) {
  const Double library;
  for (const char* function : {"_getDeviceCount", "_getDevice", "Device_getName", "Device_getType",
                               "Device_getFeatureLevel"}) {
    library.Fail(function, 5);
    EXPECT_THAT(
        CreationError(BuildPath("libdeputy_nnapi.so"),
                      {{"library", library.path()}, {"disable_cpu", "true"}}),
        HasSubstr("ANeuralNetworks" + std::string(function) + ": ANEURALNETWORKS_OP_FAILED"));
    library.Reset();
  }
}

// ---- Claimed nodes and built models -------------------------------------------------------------

TEST_F(NnapiBridge, feature_level_limits_the_operators) {
  const Double library;
  const std::vector<float> expected = OnCpu();
  for (const auto& [level, nodes] :
       std::vector<std::pair<int, int>>{{27, 1}, {28, 2}, {29, 3}, {30, 4}, {31, 4}}) {
    library.Reset();
    library.SetLevel(level);
    const Handle delegate = Make(library);
    TestInterpreter t(Chain());
    ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Delegated(&t), nodes) << level;
    EXPECT_EQ(Infer(&t), expected) << level;
    EXPECT_EQ(library.Count("operations"), nodes) << level;
    EXPECT_EQ(library.FirstError(), "") << level;
  }
  // A library without feature level 31 does not report its level, so the bridge searches for
  // functions introduced with levels 30, 29 and 28.
  int nodes = 4;
  for (const std::vector<std::string>& missing : std::vector<std::vector<std::string>>{
           {"_getRuntimeFeatureLevel"},
           {"_getRuntimeFeatureLevel", "Compilation_setPriority"},
           {"_getRuntimeFeatureLevel", "_getDeviceCount"},
           {"_getRuntimeFeatureLevel", "Model_relaxComputationFloat32toFloat16"}}) {
    const Double older = Without("nnapi_level_" + std::to_string(nodes), missing);
    const Handle delegate = Make(older);
    TestInterpreter t(Chain());
    ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Delegated(&t), nodes--);
    EXPECT_EQ(Infer(&t), expected);
  }
}

// SQUEEZE of a tensor without dimensions of 1 has no axes, and NNAPI accepts no empty list.
TEST_F(NnapiBridge, an_empty_list_of_axes_stays_on_the_cpu) {
  const Double library;
  const Handle delegate = Make(library);
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}), y = m.AddTensor(kTfLiteFloat32, {2, 3});
  m.AddOp(kTfLiteBuiltinSqueeze, {x}, {y}, schema::CreateSqueezeOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(Delegated(&t), 0);
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  ASSERT_EQ(DeputyInterpreterGetNodeSupport(t.get(), 0, 0, 0, &support), kTfLiteOk);
  EXPECT_STREQ(support.text, "expected values, found none");
  EXPECT_THAT(Infer(&t), testing::ElementsAre(0.25F, 1.25F, 2.25F, 3.25F, 4.25F, 5.25F));
}

// Android refuses RESIZE_NEAREST_NEIGHBOR without the layout, which RESIZE_BILINEAR may omit.
TEST_F(NnapiBridge, resizing_to_the_nearest_pixel_states_the_layout) {
  const Double library;
  const Handle delegate = Make(library);
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1, 2, 1}),
            y = m.AddTensor(kTfLiteFloat32, {1, 3, 4, 1});
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {3, 4});
  m.AddOp(kTfLiteBuiltinResizeNearestNeighbor, {x, size}, {y},
          schema::CreateResizeNearestNeighborOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_THAT(library.Dump(), HasSubstr("operand 1 INT32 = 4\n"
                                        "operand 2 INT32 = 3\n"
                                        "operand 3 BOOL = 0\n"));
  EXPECT_THAT(library.Dump(), HasSubstr("RESIZE_NEAREST_NEIGHBOR 0,1,2,3 -> 4\n"));
  EXPECT_EQ(library.FirstError(), "");
  EXPECT_THAT(Infer(&t), testing::ElementsAre(0.25F, 0.25F, 1.25F, 1.25F, 0.25F, 0.25F, 1.25F,
                                              1.25F, 0.25F, 0.25F, 1.25F, 1.25F));
}

// Checks all operands, in NNAPI's order, of an int8 convolution with scales per channel, padding
// and strides.
TEST_F(NnapiBridge, quantised_convolution_is_translated_exactly) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1, 4, 4, 1}, "", {.scale = {0.5F}, .zero_point = {3}});
  const int y = m.AddTensor(kTfLiteInt8, {1, 2, 2, 2}, "", {.scale = {0.75F}, .zero_point = {-4}});
  const int filter = m.AddConstant<int8_t>(kTfLiteInt8, {2, 1, 1, 1}, {7, -9}, "",
                                           {.scale = {0.25F, 2}, .zero_point = {0, 0}});
  const int bias = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {5, -6}, "",
                                          {.scale = {0.125F, 1}, .zero_point = {0, 0}});
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {y},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 2, 2,
                                      schema::ActivationFunctionType::RELU6),
          3);
  m.SetInputs({x});
  m.SetOutputs({y});
  const Double library;
  const Handle delegate = Make(library, {{"execution_preference", "sustained_speed"},
                                         {"execution_priority", "high"},
                                         {"accelerator_name", "double-npu"},
                                         {"compilation_timeout_us", "7"}});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(library.Dump(),
            "model\n"
            "operand 0 TENSOR_QUANT8_ASYMM_SIGNED[1,4,4,1] scale 0.5 zero 3\n"
            "operand 1 TENSOR_QUANT8_SYMM_PER_CHANNEL[2,1,1,1] channel 0 scales 0.25,2 = 7,-9\n"
            "operand 2 TENSOR_INT32[2] = 5,-6\n"
            "operand 3 INT32 = 1\n"
            "operand 4 INT32 = 2\n"
            "operand 5 INT32 = 2\n"
            "operand 6 INT32 = 3\n"
            "operand 7 TENSOR_QUANT8_ASYMM_SIGNED[1,2,2,2] scale 0.75 zero -4\n"
            "CONV_2D 0,1,2,3,4,5,6 -> 7\n"
            "inputs 0\n"
            "outputs 7\n"
            "compilation device double-npu preference 2 priority 110 timeout 7000\n");
}

TEST_F(NnapiBridge, shared_memory_and_bursts_compute_the_same) {
  const Double library;
  const std::vector<float> expected = OnCpu();
  for (const Options& options :
       {Options{{"shared_memory", "true"}}, Options{{"use_burst_mode", "true"}},
        Options{{"shared_memory", "true"}, {"use_burst_mode", "true"}, {"allow_fp16", "true"}}}) {
    library.Reset();
    const Handle delegate = Make(library, options);
    TestInterpreter t(Chain());
    ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Infer(&t), expected);
    EXPECT_EQ(library.Count("operations"), 4);
    EXPECT_EQ(library.Count("Execution_burstCompute"),
              options.back().first == "shared_memory" ? 0 : 1);
    EXPECT_EQ(library.FirstError(), "");
  }
}

// ---- Interpreters and shapes --------------------------------------------------------------------

TEST_F(NnapiBridge, two_interpreters_share_a_delegate) {
  const Double library;
  const Handle delegate = Make(library);
  TestInterpreter first(Chain());
  ASSERT_EQ(Apply(&first, delegate), kTfLiteOk) << first.log();
  {
    TestInterpreter second(Chain());
    ASSERT_EQ(Apply(&second, delegate), kTfLiteOk) << second.log();
    EXPECT_EQ(Infer(&first, 1), OnCpu({2, 3}, 1));
    EXPECT_EQ(Infer(&second, 2), OnCpu({2, 3}, 2));
  }
  EXPECT_EQ(Infer(&first, 3), OnCpu({2, 3}, 3));
  EXPECT_EQ(library.Count("Compilation_finish"), 2);
  EXPECT_EQ(library.Count("operations"), 12);
}

TEST_F(NnapiBridge, new_shapes_are_recompiled) {
  const Double library;
  const Handle delegate = Make(library);
  TestInterpreter t(Chain());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  Infer(&t);
  const int alive = library.Count("alive");
  for (const int rows : {5, 1, 2}) {
    ASSERT_EQ(t.Resize(0, {rows, 3}), kTfLiteOk);
    EXPECT_EQ(Infer(&t), OnCpu({rows, 3})) << rows;
    EXPECT_EQ(Delegated(&t), 4);
    EXPECT_EQ(library.Count("alive"), alive);
  }
  EXPECT_EQ(library.Count("operations"), 16);
}

// ---- NNAPI functions of TensorFlow Lite's C API -------------------------------------------------

// Sets the plug-in search path and the variable that names NNAPI's library, "" for none.
class NnapiInCApi : public testing::Test {
 protected:
  void SetUp() override {
    setenv("DEPUTY_PLUGIN_PATH", BuildPath("libdeputy_nnapi.so").c_str(), 1);
    DeputySetDefaultReporter(
        [](void* text, const char* format, va_list arguments) {
          char line[500];
          std::vsnprintf(line, sizeof line, format, arguments);
          static_cast<std::string*>(text)->append(line);
        },
        &reported_);
  }
  void TearDown() override {
    DeputySetDefaultReporter(nullptr, nullptr);
    unsetenv("DEPUTY_PLUGIN_PATH");
    unsetenv("DEPUTY_NNAPI_LIBRARY");
  }
  static Handle Create(const std::string& library, const TfLiteNnapiDelegateOptions* options) {
    setenv("DEPUTY_NNAPI_LIBRARY", library.c_str(), 1);
    Handle delegate(TfLiteNnapiDelegateCreate(options), &TfLiteNnapiDelegateDelete);
    EXPECT_NE(delegate, nullptr);
    return delegate;
  }
  // Returns how many of the four nodes the delegate claims.
  static int Taken(const Handle& delegate) {
    TestInterpreter t(Chain());
    EXPECT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
    EXPECT_EQ(Infer(&t), OnCpu());
    return Delegated(&t);
  }
  std::string reported_;
};

TEST_F(NnapiInCApi, creates_the_bridge_if_the_environment_names_a_library) {
  const Double library;
  EXPECT_EQ(Taken(Create(library.path(), nullptr)), 4);
  EXPECT_THAT(library.Dump(), HasSubstr("compilation device double-npu\n"));
  library.Reset();
  TfLiteNnapiDelegateOptions options = TfLiteNnapiDelegateOptionsDefault();
  options.execution_preference = TfLiteNnapiDelegateOptions::kFastSingleAnswer;
  options.accelerator_name = "double-cpu";
  options.cache_dir = "/nowhere";
  options.model_token = "chain";
  options.allow_fp16 = 1;
  options.max_number_delegated_partitions = -1;
  EXPECT_EQ(Taken(Create(library.path(), &options)), 4);
  EXPECT_THAT(library.Dump(),
              HasSubstr("compilation device double-cpu preference 1 cache /nowhere token "));
  EXPECT_EQ(library.Count("Model_relaxComputationFloat32toFloat16"), 1);
  EXPECT_EQ(library.Count("alive"), 0);
  EXPECT_EQ(reported_, "");
}

// An empty name is none: the default library is opened, which Debian does not have.
TEST_F(NnapiInCApi, an_empty_name_is_not_blamed_for_a_missing_library) {
  for (const char* name : {"", static_cast<const char*>(nullptr)}) {
    name == nullptr ? unsetenv("DEPUTY_NNAPI_LIBRARY") : setenv("DEPUTY_NNAPI_LIBRARY", name, 1);
    const Handle delegate(CreateExternal(BuildPath("libdeputy_nnapi.so"), {}),
                          &TfLiteExternalDelegateDelete);
    EXPECT_EQ(delegate, nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr("'libneuralnetworks.so', its default name"));
  }
}

TEST_F(NnapiInCApi, claims_nothing_without_a_library) {
  EXPECT_EQ(Taken(Create("", nullptr)), 0);
  EXPECT_EQ(reported_, "");
  EXPECT_EQ(Taken(Create("/nowhere/libneuralnetworks.so", nullptr)), 0);
  EXPECT_THAT(reported_, HasSubstr("'/nowhere/libneuralnetworks.so', which DEPUTY_NNAPI_LIBRARY"));
  reported_.clear();
  setenv("DEPUTY_PLUGIN_PATH", "/nowhere", 1);
  EXPECT_EQ(Taken(Create(DoublePath(), nullptr)), 0);
  EXPECT_THAT(reported_, HasSubstr("nnapi"));
  TfLiteNnapiDelegateDelete(nullptr);
}

}  // namespace
}  // namespace deputy::nnapi_bridge_test
